//! Conversations of BEAM: the rows of its data set, or the `chat.json` of its repository.
//!
//! All batches are one conversation. The questions of a `chat.json` are in the folder
//! `probing_questions` beside it.

use std::collections::HashMap;

use compactometer_engine::message::{Part, Role};
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::importer::Importer;
use crate::import::input::Input;
use crate::import::place::Place;
use crate::import::readers::tabled::words;
use crate::import::readers::{json_lines, json_value, python};
use crate::import::report::Recorder;
use crate::import::session::{ImportedQuestion, ReadSession, Spoken};

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "beam",
    about: "BEAM: one JSON object a line with `conversation_id`, `chat` and `probing_questions`; or a `chat.json` of batches with `turns`",
    source: "mohammadtavakoli78/BEAM, chats/*/*/chat.json; Mohammadta/BEAM",
    compactions: "None: the chats are as they were said.",
    particulars: "All batches are one conversation. Its questions are asked after the last message; those about what was never said have no answer, and those without an answer in the file are counted and left out. The evidence is `source_chat_ids`. The mark `->->` with its numbers is not what the user said.",
    sessions: None,
    reattaches: None,
    by_line: false,
    recognises: |text| {
        let first = text.lines().find(|line| !line.trim().is_empty());
        let row = first.and_then(|line| json_value::with_keys(line, '{', &ROW));
        let batches = || json_value::with_keys(text, '[', &["batch_number", "turns"]);
        row.is_some_and(|row| row["chat"].is_array())
            || batches().is_some_and(|batches| batches[0]["turns"].is_array())
    },
    read,
};

const ROW: [&str; 3] = ["conversation_id", "chat", "probing_questions"];

/// The fields that have the answer, by the ability that a question tests.
const ANSWERS: [&str; 4] = ["answer", "ideal_answer", "ideal_response", "ideal_summary"];

fn read(input: &Input, recorder: &mut Recorder) -> Result<Vec<ReadSession>, ImportError> {
    if input.text.trim_start().starts_with('[') {
        let chat = json_value::read(input, IMPORTER.about, recorder)?;
        let beside = input.near("probing_questions/probing_questions.json");
        let questions = beside.first().map(|text| serde_json::from_str(text).ok());
        let session = BeamRow {
            element: 1,
            stem: input.folder_name().unwrap_or(&input.stem).to_owned(),
            chat: &chat,
            questions,
        };
        return Ok(vec![session.read(input, recorder)?]);
    }
    let rows = json_lines::read(input, recorder)?;
    let rows = (1..).zip(&rows).map(|(element, (_, row))| {
        let id = Some(words(&row["conversation_id"])).filter(|id| !id.is_empty());
        let printed = row["probing_questions"].as_str();
        let row = BeamRow {
            element,
            stem: id.unwrap_or_else(|| element.to_string()),
            chat: &row["chat"],
            questions: printed.map(python::literal),
        };
        row.read(input, recorder)
    });
    rows.collect()
}

/// A conversation with its questions, which may be absent or not readable.
struct BeamRow<'v> {
    element: usize,
    stem: String,
    chat: &'v Value,
    questions: Option<Option<Value>>,
}

impl BeamRow<'_> {
    fn read(self, input: &Input, recorder: &mut Recorder) -> Result<ReadSession, ImportError> {
        if self.questions == Some(None) {
            let what = "the questions cannot be read: left out".to_owned();
            recorder.repair(Place::Element(self.element), what)?;
        }
        let mut reader = BeamReader {
            element: self.element,
            messages: Vec::new(),
            ids: HashMap::new(),
            recorder,
        };
        reader.chat(self.chat)?;
        let questions = self.questions.flatten().unwrap_or_default();
        let questions = reader.questions(&questions);
        Ok(ReadSession {
            questions,
            messages: reader.messages,
            ..ReadSession::new(input, IMPORTER.name, format!("beam-{}", self.stem))
        })
    }
}

struct BeamReader<'r> {
    element: usize,
    messages: Vec<Spoken>,
    /// The messages by their ids, which some conversations repeat.
    ids: HashMap<u64, Vec<Place>>,
    recorder: &'r mut Recorder,
}

impl BeamReader<'_> {
    fn questions(&mut self, questions: &Value) -> Vec<ImportedQuestion> {
        let mut asked = Vec::new();
        for (ability, rows) in questions.as_object().into_iter().flatten() {
            let rows = rows.as_array().into_iter().flatten();
            asked.extend(rows.filter_map(|row| self.question(ability, row)));
        }
        asked
    }

    /// The turns of a chat, which are in lists, batches and plans.
    fn chat(&mut self, chat: &Value) -> Result<(), ImportError> {
        match chat {
            Value::Array(items) => items.iter().try_for_each(|item| self.chat(item)),
            Value::Object(fields) if fields.contains_key("role") => self.turn(chat),
            Value::Object(fields) if fields.contains_key("turns") => self.chat(&chat["turns"]),
            Value::Object(fields) => {
                let number = |name: &str| {
                    name.rsplit('-')
                        .next()
                        .and_then(|end| end.parse::<u32>().ok())
                };
                let mut plans = fields.iter().collect::<Vec<_>>();
                plans.sort_by_key(|(name, _)| number(name));
                plans.into_iter().try_for_each(|(_, plan)| self.chat(plan))
            }
            _ => Ok(()),
        }
    }

    fn turn(&mut self, turn: &Value) -> Result<(), ImportError> {
        let place = Place::Turn {
            element: self.element,
            message: self.messages.len() + 1,
        };
        let role = match turn["role"].as_str() {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            _ => {
                let what = "message whose role is not known: dropped".to_owned();
                return self.recorder.repair(place, what);
            }
        };
        if let Some(id) = turn["id"].as_u64() {
            self.ids.entry(id).or_default().push(place);
        }
        let text = without_mark(words(&turn["content"]));
        self.messages.push(Spoken {
            place,
            role,
            at_ms: turn["time_anchor"].as_str().and_then(at_ms),
            parts: vec![Part::Text { text }],
            usage: None,
        });
        Ok(())
    }

    fn question(&mut self, ability: &str, row: &Value) -> Option<ImportedQuestion> {
        let abstains = ability == "abstention";
        let answer = ANSWERS.iter().find(|key| !row[**key].is_null());
        let gold = answer.map(|key| words(&row[*key])).filter(|_| !abstains);
        let text = words(&row["question"]);
        if text.trim().is_empty() || (gold.is_none() && !abstains) {
            self.recorder
                .ignore(&format!("question of `{ability}` without an answer"));
            return None;
        }
        let mut evidence = Vec::new();
        self.evidence(&row["source_chat_ids"], &mut evidence);
        Some(ImportedQuestion {
            text,
            gold,
            forbidden: Vec::new(),
            abstains,
            evidence,
        })
    }

    fn evidence(&self, ids: &Value, evidence: &mut Vec<Place>) {
        match ids {
            Value::Array(items) => items.iter().for_each(|item| self.evidence(item, evidence)),
            Value::Object(fields) => fields
                .values()
                .for_each(|item| self.evidence(item, evidence)),
            other => {
                let places = other.as_u64().and_then(|id| self.ids.get(&id));
                evidence.extend(places.into_iter().flatten());
            }
        }
    }
}

/// A text without the mark of its place in the plan, such as `->-> 1,2`.
fn without_mark(mut text: String) -> String {
    if let Some((said, mark)) = text.rsplit_once("->->")
        && mark
            .chars()
            .all(|letter| letter.is_ascii_digit() || ", ".contains(letter))
    {
        text.truncate(said.trim_end().len());
    }
    text
}

/// A day such as `March-15-2024`, or `2024-03-15`.
fn at_ms(day: &str) -> Option<i64> {
    let date = ["%B-%d-%Y", "%Y-%m-%d"];
    let date = date
        .iter()
        .find_map(|form| jiff::civil::Date::strptime(form, day).ok())?;
    let zoned = date.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_millisecond())
}
