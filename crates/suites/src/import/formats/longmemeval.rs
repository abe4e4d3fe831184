//! Histories of LongMemEval: a JSON array of questions, each with the chats of a user.
//!
//! The chats of a question are one conversation, in the order of the file. The first message of a
//! chat begins with the chat's date.

use compactometer_engine::message::{Part, Role};
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::importer::Importer;
use crate::import::input::Input;
use crate::import::place::Place;
use crate::import::readers::json_value;
use crate::import::readers::tabled::words;
use crate::import::report::Recorder;
use crate::import::session::{ImportedQuestion, ReadSession, Spoken};

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "longmemeval",
    about: "LongMemEval: a JSON array of objects with `question_id`, `haystack_sessions` and `haystack_dates`",
    source: "xiaowu0162/longmemeval, longmemeval_*.json",
    compactions: "None: the chats are as they were said.",
    particulars: "All chats of a question are one conversation. A question is asked after the last message; one whose id ends in `_abs` has no answer. Its evidence is the messages with `has_answer`.",
    sessions: None,
    reattaches: None,
    by_line: false,
    recognises: |text| {
        let rows = json_value::with_keys(text, '[', &["question_id", "haystack_sessions"]);
        let is_own = |row: &Value| row["haystack_sessions"].is_array();
        rows.is_some_and(|rows| rows.as_array().into_iter().flatten().any(is_own))
    },
    read,
};

fn read(input: &Input, recorder: &mut Recorder) -> Result<Vec<ReadSession>, ImportError> {
    let rows = json_value::read(input, IMPORTER.about, recorder)?;
    let mut sessions = Vec::new();
    for (element, row) in (1..).zip(rows.as_array().into_iter().flatten()) {
        let mut reader = LongMemEvalReader {
            element,
            messages: Vec::new(),
            evidence: Vec::new(),
            recorder: &mut *recorder,
        };
        let chats = row["haystack_sessions"].as_array().into_iter().flatten();
        for (number, chat) in chats.enumerate() {
            reader.chat(&row["haystack_dates"][number], chat)?;
        }
        let questions = reader.question(row)?.into_iter().collect();
        let stem = reader.stem(input, row);
        sessions.push(ReadSession {
            questions,
            messages: reader.messages,
            ..ReadSession::new(input, IMPORTER.name, stem)
        });
    }
    Ok(sessions)
}

struct LongMemEvalReader<'r> {
    element: usize,
    messages: Vec<Spoken>,
    evidence: Vec<Place>,
    recorder: &'r mut Recorder,
}

impl LongMemEvalReader<'_> {
    fn stem(&self, input: &Input, row: &Value) -> String {
        let id = row["question_id"].as_str().filter(|id| !id.is_empty());
        id.map_or_else(|| format!("{}-{}", input.stem, self.element), str::to_owned)
    }

    fn place(&self) -> Place {
        Place::Turn {
            element: self.element,
            message: self.messages.len() + 1,
        }
    }

    fn chat(&mut self, date: &Value, chat: &Value) -> Result<(), ImportError> {
        let date = date.as_str().unwrap_or_default();
        let at_ms = at_ms(date);
        if at_ms.is_none() {
            let what = format!("date `{date}` of a chat is not readable: left out");
            self.recorder.repair(self.place(), what)?;
        }
        for (number, turn) in chat.as_array().into_iter().flatten().enumerate() {
            let place = self.place();
            let role = match turn["role"].as_str() {
                Some("user") => Role::User,
                Some("assistant") => Role::Assistant,
                _ => {
                    let what = "message whose role is not known: dropped".to_owned();
                    self.recorder.repair(place, what)?;
                    continue;
                }
            };
            let dated = (number == 0 && !date.is_empty()).then(|| date.to_owned());
            let texts = dated.into_iter().chain([words(&turn["content"])]);
            if turn["has_answer"] == true {
                self.evidence.push(place);
            }
            self.messages.push(Spoken {
                place,
                role,
                at_ms,
                parts: texts.map(|text| Part::Text { text }).collect(),
                usage: None,
            });
        }
        Ok(())
    }

    fn question(&mut self, row: &Value) -> Result<Option<ImportedQuestion>, ImportError> {
        let id = row["question_id"].as_str().unwrap_or_default();
        let abstains = id.ends_with("_abs");
        let text = words(&row["question"]);
        let gold = Some(words(&row["answer"])).filter(|gold| !gold.trim().is_empty() && !abstains);
        if text.trim().is_empty() || (gold.is_none() && !abstains) {
            let what = "question without a text or an answer: dropped".to_owned();
            self.recorder.repair(Place::Element(self.element), what)?;
            return Ok(None);
        }
        Ok(Some(ImportedQuestion {
            text,
            gold,
            forbidden: Vec::new(),
            abstains,
            evidence: std::mem::take(&mut self.evidence),
        }))
    }
}

/// A time such as `2023/05/20 (Sat) 02:21`, whose zone the file does not have, or one of RFC 3339.
fn at_ms(date: &str) -> Option<i64> {
    if let Ok(at) = date.parse::<jiff::Timestamp>() {
        return Some(at.as_millisecond());
    }
    let (day, time) = (date.get(..10)?, date.get(date.len().checked_sub(5)?..)?);
    let at = format!("{} {time}", day.replace('/', "-"));
    let at = jiff::civil::DateTime::strptime("%Y-%m-%d %H:%M", at).ok()?;
    let zoned = at.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_millisecond())
}
