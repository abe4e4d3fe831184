//! Conversations of LoCoMo: a JSON array of samples with `conversation` and `qa`.
//!
//! The sessions of a sample are one conversation. Two people talk, so the first speaker is the
//! user, the other is the assistant, and each text begins with the name of its speaker, because the
//! questions ask by name. The first message of a session begins with the session's date. An image
//! is its caption, as the benchmark's own prompts have it, or else its link. Absent on purpose: the
//! summaries, observations and events, which other models wrote about the conversation.

use std::collections::HashMap;

use compactometer_engine::message::{Part, Role};
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::importer::Importer;
use crate::import::input::Input;
use crate::import::place::Place;
use crate::import::readers::blocks::media;
use crate::import::readers::json_value;
use crate::import::report::Recorder;
use crate::import::session::{ImportedQuestion, ReadSession, Spoken, type_name};

const ABOUT: &str = "LoCoMo: a JSON array of objects with `conversation` and `qa`";

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "locomo",
    about: ABOUT,
    source: "snap-research/locomo, data/locomo10.json",
    compactions: "None: two people talk.",
    particulars: "All sessions of a sample are one conversation; the first speaker is the user. A question is asked after the last message, and its answer is a fact only if a message of its evidence has it word for word (245 of 999 questions in the first five samples). An image with a caption is its caption, as in the benchmark's own prompts; its link is counted and left out. `event_summary`, `observation` and `session_summary` were written by models and are left out. Evidence that names no message, and questions without text or answer, are left out. The licence is CC BY-NC 4.0.",
    sessions: None,
    reattaches: None,
    by_line: false,
    recognises: |text| {
        let samples = json_value::with_keys(text, '[', &["conversation", "qa"]);
        let is_own = |sample: &Value| sample["conversation"].is_object() && sample["qa"].is_array();
        samples.is_some_and(|samples| samples.as_array().into_iter().flatten().any(is_own))
    },
    read,
};

fn read(input: &Input, recorder: &mut Recorder) -> Result<Vec<ReadSession>, ImportError> {
    let samples = json_value::read(input, ABOUT, recorder)?;
    let mut sessions = Vec::new();
    for (element, sample) in (1..).zip(samples.as_array().into_iter().flatten()) {
        if !sample["conversation"].is_object() {
            let what = format!(
                "`conversation` is {}: dropped",
                type_name(&sample["conversation"])
            );
            recorder.repair(Place::Element(element), what)?;
            continue;
        }
        let mut reader = LocomoReader {
            element,
            user: None,
            ids: HashMap::new(),
            recorder,
        };
        sessions.push(reader.session(input, sample)?);
    }
    Ok(sessions)
}

struct LocomoReader<'r> {
    element: usize,
    /// Who speaks first.
    user: Option<String>,
    /// The messages by their `dia_id`.
    ids: HashMap<String, Place>,
    recorder: &'r mut Recorder,
}

impl LocomoReader<'_> {
    fn session(&mut self, input: &Input, sample: &Value) -> Result<ReadSession, ImportError> {
        let mut messages = Vec::new();
        for (number, turns) in talks(&sample["conversation"]) {
            let date = sample["conversation"][format!("session_{number}_date_time")]
                .as_str()
                .unwrap_or_default();
            self.talk(date, turns, &mut messages)?;
        }
        let mut questions = Vec::new();
        for qa in sample["qa"].as_array().into_iter().flatten() {
            questions.extend(self.question(qa)?);
        }
        for kind in ["event_summary", "observation", "session_summary"] {
            (0..sample[kind].as_object().map_or(0, serde_json::Map::len))
                .for_each(|_| self.recorder.ignore(kind));
        }
        let name = sample["sample_id"].as_str().filter(|id| !id.is_empty());
        let stem = name.map_or_else(|| format!("{}-{}", input.stem, self.element), str::to_owned);
        Ok(ReadSession {
            questions,
            messages,
            ..ReadSession::new(input, IMPORTER.name, stem)
        })
    }

    fn talk(
        &mut self,
        date: &str,
        turns: &[Value],
        messages: &mut Vec<Spoken>,
    ) -> Result<(), ImportError> {
        let at_ms = at_ms(date);
        if at_ms.is_none() {
            let place = Place::Turn {
                element: self.element,
                message: messages.len() + 1,
            };
            self.recorder.repair(
                place,
                format!("date `{date}` of a session is not readable: left out"),
            )?;
        }
        for (at, turn) in turns.iter().enumerate() {
            let place = Place::Turn {
                element: self.element,
                message: messages.len() + 1,
            };
            let mut said = self.spoken(place, turn);
            if at == 0 {
                said.parts.insert(
                    0,
                    Part::Text {
                        text: date.to_owned(),
                    },
                );
            }
            messages.push(Spoken { at_ms, ..said });
        }
        Ok(())
    }

    fn spoken(&mut self, place: Place, turn: &Value) -> Spoken {
        let text = |key: &str| turn[key].as_str().unwrap_or_default();
        let speaker = text("speaker");
        let user = self.user.get_or_insert_with(|| speaker.to_owned());
        let role = if user == speaker {
            Role::User
        } else {
            Role::Assistant
        };
        self.ids.insert(text("dia_id").to_owned(), place);
        let mut parts = vec![Part::Text {
            text: format!("{speaker}: {}", text("text")),
        }];
        let links = turn["img_url"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|link| link.is_string());
        if text("blip_caption").is_empty() {
            parts.extend(links.map(|link| media(&Value::Null, link, false)));
        } else {
            parts.push(Part::Text {
                text: format!("[image: {}]", text("blip_caption")),
            });
            links.for_each(|_| self.recorder.ignore("link of an image with a caption"));
        }
        Spoken {
            place,
            role,
            at_ms: None,
            parts,
            usage: None,
        }
    }

    /// A question, unless it has nothing to be graded by. Category 5 asks for what was never said.
    fn question(&mut self, qa: &Value) -> Result<Option<ImportedQuestion>, ImportError> {
        /// The category of questions whose right answer is that it is not known.
        const ADVERSARIAL: u64 = 5;
        let evidence = self.evidence(qa)?;
        let gold = answer(&qa["answer"]);
        let abstains = gold.is_none() && qa["category"].as_u64() == Some(ADVERSARIAL);
        let text = qa["question"].as_str().unwrap_or_default().to_owned();
        if text.is_empty() || (gold.is_none() && !abstains) {
            let what = "question without a text or an answer: dropped".to_owned();
            self.recorder.repair(Place::Element(self.element), what)?;
            return Ok(None);
        }
        let forbidden =
            answer(&qa["adversarial_answer"]).filter(|wrong| gold.as_ref() != Some(wrong));
        Ok(Some(ImportedQuestion {
            text,
            gold,
            forbidden: forbidden.into_iter().collect(),
            abstains,
            evidence,
        }))
    }

    fn evidence(&mut self, qa: &Value) -> Result<Vec<Place>, ImportError> {
        let mut evidence = Vec::new();
        let named = qa["evidence"].as_array().into_iter().flatten();
        for named in named.filter_map(Value::as_str) {
            evidence.extend(self.places(named)?);
        }
        Ok(evidence)
    }

    /// The messages that an entry of the evidence names, of which some name several.
    fn places(&mut self, named: &str) -> Result<Vec<Place>, ImportError> {
        let mut places = Vec::new();
        for id in named.split([';', ',', ' ']).filter(|id| !id.is_empty()) {
            match self.ids.get(id) {
                Some(place) => places.push(*place),
                None => {
                    let what = format!("evidence `{id}` names no message: left out");
                    self.recorder.repair(Place::Element(self.element), what)?;
                }
            }
        }
        Ok(places)
    }
}

/// The turns of each session in the order of their numbers.
fn talks(conversation: &Value) -> Vec<(u64, &[Value])> {
    let fields = conversation.as_object().into_iter().flatten();
    let talk = |(key, turns): (&String, &'_ Value)| {
        let number = key.strip_prefix("session_")?.parse::<u64>().ok()?;
        turns.is_array().then_some(number)
    };
    let mut numbers = fields.filter_map(talk).collect::<Vec<_>>();
    numbers.sort_unstable();
    let turns = |number: u64| {
        conversation[format!("session_{number}")]
            .as_array()
            .map_or(&[][..], Vec::as_slice)
    };
    numbers
        .into_iter()
        .map(|number| (number, turns(number)))
        .collect()
}

/// A time such as `1:56 pm on 8 May, 2023`, whose zone the file does not have.
fn at_ms(date: &str) -> Option<i64> {
    let at = jiff::civil::DateTime::strptime("%I:%M %p on %d %B, %Y", date).ok()?;
    Some(
        at.to_zoned(jiff::tz::TimeZone::UTC)
            .ok()?
            .timestamp()
            .as_millisecond(),
    )
}

fn answer(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}
