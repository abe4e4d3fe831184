//! How a checkpoint is read from a model's answer: a ladder of readings, from JSON as asked for to
//! what was whole when the output limit cut it. The rung is recorded, so that a report can say how
//! well a model keeps to the form.
//!
//! Absent on purpose: repairs. No rung writes what the answer does not say; what cannot be read
//! without a guess is left out.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::example::{self, Examples};
use super::reader::{self, BrokenCheckpoint};
use super::{Checkpoint, shape};
use crate::model::Finish;

/// Reads a checkpoint from a model's answer, on the first rung that gives one. `examples` are the
/// values of the prompt's own shape: those that nobody said are taken out and counted.
///
/// ```
/// use compactometer_engine::checkpoint::{Examples, LadderReading, Rung, extract};
/// use compactometer_engine::model::Finish;
///
/// let answer = "Here it is:\n```json\n{\"active_goals\": [\"ship the importer\"]}\n```";
/// let (checkpoint, extraction) = extract(answer, Finish::Stop, &Examples::new("the prompt", String::new));
/// assert_eq!(checkpoint.expect("it can be read").active_goals, ["ship the importer"]);
/// assert_eq!(extraction.reading, LadderReading::Rung(Rung::Fenced));
/// ```
pub fn extract(
    answer: &str,
    finish: Finish,
    examples: &Examples<'_>,
) -> (Option<Checkpoint>, Extraction) {
    let mut missed = Extraction::new(LadderReading::Unreadable(if answer.trim().is_empty() {
        Unreadable::Empty
    } else {
        Unreadable::NoObject
    }));
    let mut is_first = true;
    for (rung, text) in rungs(answer, finish) {
        match read(rung, text, examples) {
            Ok((checkpoint, extraction)) => return (Some(checkpoint), extraction),
            Err(Some(only_example)) if only_example.leaked > 0 => missed = only_example,
            // What ails the first object is what ails the answer: those further in are its parts.
            Err(Some(why)) if is_first && missed.leaked == 0 => (missed, is_first) = (why, false),
            Err(_) => {}
        }
    }
    (None, missed)
}

/// What became of one attempt at a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Extraction {
    /// How the answer was read, or why it was not.
    #[serde(flatten)]
    pub reading: LadderReading,
    /// Values of the prompt's example that were in the answer and nowhere in the material; they
    /// were taken out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub leaked: u32,
    /// Values of a wrong type that could not be kept whole; they were left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u32,
}

impl Extraction {
    /// A reading without leaked examples and with nothing left out.
    pub(crate) fn new(reading: LadderReading) -> Self {
        Extraction {
            reading,
            leaked: 0,
            left_out: 0,
        }
    }
}

/// How an answer was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LadderReading {
    /// On this rung.
    Rung(Rung),
    /// On none, for this reason.
    Unreadable(Unreadable),
}

/// A rung of the ladder, the strictest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    /// The answer is the JSON object that was asked for and nothing else.
    Strict,
    /// The object is in a Markdown fence.
    Fenced,
    /// The object is among other text.
    Balanced,
    /// The object ends, but is not JSON, or its values are not of the types that were asked for.
    Lenient,
    /// The output limit cut the object; what was whole by then is kept.
    Partial,
}

/// Why an answer gives no checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unreadable {
    /// No answer came: the call failed or could not be made.
    NoAnswer,
    /// The answer was refused as no summary.
    Refused,
    /// No text, or only blanks.
    Empty,
    /// No JSON object in it.
    NoObject,
    /// Its JSON object is broken.
    Malformed,
    /// Its JSON object does not end, and either the output limit is not why or no value was whole
    /// by then.
    Unclosed,
    /// Its JSON object holds no value of a checkpoint's field.
    NoField,
    /// Its JSON object repeats values of the prompt's example and nothing else.
    OnlyExample,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// What to read on which rung, in order.
fn rungs(answer: &str, finish: Finish) -> impl Iterator<Item = (Rung, &str)> {
    let whole = Some(answer.trim())
        .filter(opens)
        .map(|text| (Rung::Strict, text));
    let fenced = answer.split("```").skip(1).step_by(2);
    let fenced = fenced
        .filter_map(|block| block.split_once('\n'))
        .map(|(_, body)| (Rung::Fenced, body.trim()));
    let whole_objects = reader::objects(answer).flat_map(|text| {
        let balanced = balanced(text).map(|object| (Rung::Balanced, object));
        balanced.into_iter().chain([(Rung::Lenient, text)])
    });
    let cut = reader::objects(answer)
        .filter(move |_| finish == Finish::Length)
        .map(|text| (Rung::Partial, text));
    whole
        .into_iter()
        .chain(fenced.filter(|(_, text)| opens(text)))
        .chain(whole_objects)
        .chain(cut)
}

fn opens(text: &&str) -> bool {
    text.starts_with('{')
}

/// One rung's reading. An error without a reason leaves the reason to a later rung over the same
/// text.
fn read(
    rung: Rung,
    text: &str,
    examples: &Examples<'_>,
) -> Result<(Checkpoint, Extraction), Option<Extraction>> {
    let unreadable = |why| Some(Extraction::new(LadderReading::Unreadable(why)));
    let read = match rung {
        Rung::Strict | Rung::Fenced | Rung::Balanced => {
            serde_json::from_str::<Checkpoint>(text).map_err(|_| None)?;
            reader::object(text)
        }
        Rung::Lenient => reader::object(text),
        Rung::Partial => reader::cut_object(text),
    };
    let value: Value = read.map_err(|broken| match broken {
        BrokenCheckpoint::Malformed => unreadable(Unreadable::Malformed),
        BrokenCheckpoint::Unclosed => unreadable(Unreadable::Unclosed),
    })?;
    let (checkpoint, left_out) = shape::checkpoint(value);
    if checkpoint == Checkpoint::default() {
        // Of a cut answer the reason is that it was cut.
        return Err(if rung == Rung::Partial {
            None
        } else {
            unreadable(Unreadable::NoField)
        });
    }
    let (checkpoint, leaked) = example::take_out(checkpoint, examples);
    let extraction = Extraction {
        reading: LadderReading::Rung(rung),
        leaked,
        left_out,
    };
    if checkpoint == Checkpoint::default() {
        return Err(Some(Extraction {
            reading: LadderReading::Unreadable(Unreadable::OnlyExample),
            ..extraction
        }));
    }
    Ok((checkpoint, extraction))
}

/// The balanced object at the start of a text.
fn balanced(text: &str) -> Option<&str> {
    let mut depth = 0_u32;
    let mut in_string = false;
    let mut escaped = false;
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            '{' if !in_string => depth += 1,
            '}' if !in_string => {
                depth -= 1;
                if depth == 0 {
                    return Some(&text[..=at]);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests;
