//! `timings.json`: measured times by case. Records do not hold them, so that a recorded run replays
//! byte for byte.
//!
//! The latency of a model within the process is an assumption, not a measurement, so it stays in
//! the record.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::record::{CallRow, Record};

/// The version that this program writes. Version 1 was a map from case keys to seconds.
pub const VERSION: u32 = 2;

/// The file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Timings {
    /// The format's version.
    pub version: u32,
    /// By case key.
    pub cases: BTreeMap<String, CaseTimings>,
}

/// The measured times of one case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CaseTimings {
    /// Wall time of the whole case, in seconds.
    pub seconds: f64,
    /// The latency of each call, in the record's order: calls for compactions, checkpoints,
    /// answers, judgements. Empty if no server was called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallTiming>,
    /// How long each turn waited for compactions, in milliseconds, in order. Empty if no server was
    /// called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_ms: Vec<u64>,
}

/// When the answer to a call came, in milliseconds after the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallTiming {
    /// The last byte.
    pub latency_ms: u64,
    /// The first token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_token_ms: Option<u64>,
}

impl Default for Timings {
    fn default() -> Self {
        Timings {
            version: VERSION,
            cases: BTreeMap::new(),
        }
    }
}

impl Timings {
    /// Reads the file's text, of this version or an earlier one.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Ok(seconds) = serde_json::from_str::<BTreeMap<String, f64>>(text)
            && !seconds.contains_key("version")
        {
            let case = |(key, seconds)| {
                (
                    key,
                    CaseTimings {
                        seconds,
                        ..CaseTimings::default()
                    },
                )
            };
            return Ok(Timings {
                version: VERSION,
                cases: seconds.into_iter().map(case).collect(),
            });
        }
        let timings: Timings =
            serde_json::from_str(text).map_err(|error| format!("expected timings: {error}"))?;
        match timings.version {
            ..=VERSION => Ok(timings),
            newer => Err(format!(
                "version `{newer}` is newer than this program's, {VERSION}; update compactometer"
            )),
        }
    }
}

impl CaseTimings {
    /// Moves measured times out of a record.
    pub fn take(record: &mut Record, seconds: f64) -> Self {
        let mut timings = CaseTimings {
            seconds,
            ..CaseTimings::default()
        };
        if !calls(record).any(|call| call.served.is_some()) {
            return timings;
        }
        for call in calls_mut(record) {
            let latency_ms = call.latency_ms.take().unwrap_or_default();
            let first_token_ms = call
                .served
                .as_mut()
                .and_then(|served| served.first_token_ms.take());
            timings.calls.push(CallTiming {
                latency_ms,
                first_token_ms,
            });
        }
        timings.waits_ms = record
            .turns
            .iter_mut()
            .map(|turn| turn.waited_ms.take().unwrap_or_default())
            .collect();
        timings
    }

    /// Puts them back. Timings that do not fit the record change nothing.
    pub fn put(&self, record: &mut Record) {
        if self.calls.len() != calls(record).count() || self.waits_ms.len() != record.turns.len() {
            return;
        }
        for (call, timing) in calls_mut(record).zip(&self.calls) {
            call.latency_ms = Some(timing.latency_ms);
            if let Some(served) = &mut call.served {
                served.first_token_ms = timing.first_token_ms;
            }
        }
        for (turn, waited) in record.turns.iter_mut().zip(&self.waits_ms) {
            turn.waited_ms = Some(*waited);
        }
    }
}

fn calls(record: &Record) -> impl Iterator<Item = &CallRow> {
    record
        .calls()
        .chain(record.probe_calls())
        .chain(record.judge_calls())
}

fn calls_mut(record: &mut Record) -> impl Iterator<Item = &mut CallRow> {
    let compactions = record.compactions.iter_mut().flat_map(|row| &mut row.calls);
    let checkpoints = record.checkpoints.iter_mut().flat_map(|row| &mut row.calls);
    let (mut answers, mut judged) = (Vec::new(), Vec::new());
    for answer in &mut record.answers {
        answers.extend(&mut answer.call);
        judged.extend(answer.judged.as_mut().map(|judged| &mut judged.call));
    }
    compactions.chain(checkpoints).chain(answers).chain(judged)
}
