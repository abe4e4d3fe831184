//! The baseline that a gate compares a run with: hashes, scores by unit, and what became of each
//! fact. It holds no text.
//!
//! The file is JSON with one line for each conversation and each unit of a strategy, so that a
//! review shows what changed.

use std::collections::BTreeMap;

use compactometer_engine::budget::Budget;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fate::Fates;
use crate::manifest::StrategySettings;
use crate::protocol::Protocol;
use crate::record::text_hash;

/// The version of baselines that this program writes. Version 2 had no settings and no matcher;
/// version 1 called the summarizer `model`.
pub const VERSION: u32 = 3;

/// What a run showed, for comparison with later runs.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct Baseline {
    /// The conditions of the run.
    pub run: Conditions,
    /// The conversations, in the run's order.
    pub scenarios: Vec<Conversation>,
    /// The strategies under test, by protocol, in the run's order.
    pub strategies: Vec<StrategyBaseline>,
}

/// What must be equal for two runs to be compared, and what else identifies a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Conditions {
    /// The program's version: engine and metrics.
    pub program: String,
    /// The commit that the program was built from, or `unknown`.
    pub commit: String,
    /// Version of its records.
    pub records: u32,
    /// The suite's name.
    pub suite: String,
    /// The suite's content hash.
    pub suite_hash: String,
    /// blake3 of the price table.
    pub prices_hash: String,
    /// The measuring counter.
    pub tokenizer: String,
    /// blake3 of what the matcher finds in a fixed list of texts; absent in files of earlier
    /// versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub matcher: String,
    /// The summarizer; `model` in files of earlier versions.
    #[serde(alias = "model")]
    pub summarizer: String,
    /// The target model; absent if it is the summarizer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The model that writes checkpoints before turns; absent if it is the summarizer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpointer: Option<String>,
    /// The models that servers reported, sorted; a mock reports none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub served: Vec<String>,
    /// Seed of the run.
    pub seed: u64,
    /// Context window, in tokens.
    pub window: u32,
    /// Trigger, in tokens.
    pub trigger: u32,
    /// Retained budget, in tokens.
    pub retained: u32,
    /// What published limits were multiplied by.
    pub scale: f64,
}

/// One conversation's facts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Conversation {
    /// The scenario's id.
    pub scenario: String,
    /// Its group: the unit of statistics.
    pub unit: String,
    /// Ids of its facts, decoys left out; fates follow this order.
    pub facts: Vec<String>,
}

/// One strategy under one protocol.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct StrategyBaseline {
    /// What was counted over all its conversations.
    #[serde(flatten)]
    pub head: StrategyHead,
    /// Its units.
    pub units: Vec<UnitBaseline>,
}

/// What was counted over all conversations of a strategy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StrategyHead {
    /// How budgets were set.
    pub protocol: Protocol,
    /// The strategy's name.
    pub strategy: String,
    /// blake3 of its prompt.
    pub prompt: String,
    /// What it was run with; absent in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<StrategySettings>,
    /// Its limits; absent in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// blake3 of its records' JSON, in the run's order.
    pub records_hash: String,
    /// Compactions that changed the view.
    pub applied: usize,
    /// Compactions that failed.
    pub failed: usize,
    /// Turns sent over the window.
    pub over_window: usize,
    /// Mean tokens retained; absent if nothing was compacted.
    pub tokens_retained: Option<f64>,
    /// Value kinds and rounds that recall corrected for chance leaves out, since chance alone finds
    /// them nearly always.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub too_likely: Vec<String>,
}

/// One unit of a strategy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnitBaseline {
    /// The group.
    pub unit: String,
    /// Its scores by metric id; a metric without a value is left out.
    pub scores: BTreeMap<String, f64>,
    /// By scenario, the fate of each fact at the last observation point.
    pub fates: BTreeMap<String, Fates>,
}

/// The file as JSON reads it.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "File")]
pub(crate) struct BaselineFile {
    /// Version of this form: see [`VERSION`].
    #[serde(rename = "version")]
    _version: u32,
    /// blake3 of what follows, in hex, first 32 characters.
    checksum: String,
    #[serde(flatten)]
    baseline: Baseline,
}

#[derive(Deserialize)]
struct Head {
    version: u32,
}

impl Baseline {
    /// The file's text: the same baseline gives the same bytes.
    ///
    /// # Errors
    /// If a number has no JSON form.
    pub fn to_text(&self) -> serde_json::Result<String> {
        let body = self.body()?;
        Ok(format!(
            "{{\"version\":{VERSION},\"checksum\":\"{}\",\n{body}",
            text_hash(&body)
        ))
    }

    fn body(&self) -> serde_json::Result<String> {
        let lines = |rows: Vec<String>| rows.join(",\n");
        let scenarios = self
            .scenarios
            .iter()
            .map(serde_json::to_string)
            .collect::<Result<Vec<_>, _>>()?;
        let strategies = self
            .strategies
            .iter()
            .map(strategy_lines)
            .collect::<Result<Vec<_>, _>>()?;
        Ok(format!(
            "\"run\":{},\n\"scenarios\":[\n{}\n],\n\"strategies\":[\n{}\n]}}\n",
            serde_json::to_string(&self.run)?,
            lines(scenarios),
            lines(strategies)
        ))
    }

    /// Reads a file that [`Baseline::to_text`] wrote. Other line ends do not count as damage.
    ///
    /// # Errors
    /// [`BaselineError`] if it is torn, edited, of a newer version, or no baseline.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let malformed = |error: serde_json::Error| BaselineError::Malformed(error.to_string());
        let head: Head = serde_json::from_str(text).map_err(malformed)?;
        if head.version > VERSION {
            return Err(BaselineError::Newer(head.version));
        }
        let BaselineFile {
            checksum,
            baseline: read,
            ..
        } = serde_json::from_str(text).map_err(malformed)?;
        let mut body = read.body().map_err(malformed)?;
        if head.version < 2 {
            body = body.replacen("\"summarizer\":", "\"model\":", 1);
        }
        if text_hash(&body) == checksum {
            Ok(read)
        } else {
            Err(BaselineError::Checksum)
        }
    }
}

/// A strategy's head on one line, each unit on its own.
fn strategy_lines(strategy: &StrategyBaseline) -> serde_json::Result<String> {
    let head = serde_json::to_string(&strategy.head)?;
    let open = head.strip_suffix('}').unwrap_or(&head);
    let units = strategy
        .units
        .iter()
        .map(serde_json::to_string)
        .collect::<Result<Vec<_>, _>>()?;
    Ok(format!("{open},\"units\":[\n{}\n]}}", units.join(",\n")))
}

/// A text that is not a baseline.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BaselineError {
    /// Not the JSON of a baseline.
    #[error("expected a baseline: {0}; rewrite it with `--update`")]
    Malformed(String),
    /// The content is not what was written.
    #[error(
        "the checksum does not match: the baseline was edited or damaged; rewrite it with `--update`"
    )]
    Checksum,
    /// Written by a later program.
    #[error("version `{0}` is newer than this program's, {VERSION}; update compactometer")]
    Newer(u32),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fate::Fate;

    fn tiny() -> Baseline {
        let run = Conditions {
            program: "0.1.0".to_owned(),
            commit: "unknown".to_owned(),
            records: 1,
            suite: "tiny".to_owned(),
            suite_hash: "5u17e".to_owned(),
            prices_hash: "91ce5".to_owned(),
            tokenizer: "o200k_base".to_owned(),
            matcher: "3a7c".to_owned(),
            summarizer: "mock:strong".to_owned(),
            target: None,
            checkpointer: None,
            served: Vec::new(),
            seed: 7,
            window: 12_000,
            trigger: 9_600,
            retained: 3_600,
            scale: 1.0,
        };
        let facts = vec!["f1".to_owned(), "f2".to_owned()];
        let head = StrategyHead {
            protocol: Protocol::Matched,
            strategy: "chained".to_owned(),
            prompt: "9409".to_owned(),
            settings: Some(StrategySettings {
                unmetered: false,
                version: None,
                base: "chained".to_owned(),
                without_effect: Vec::new(),
                parameters: BTreeMap::from([("tail".to_owned(), "10".to_owned())]),
            }),
            budget: None,
            records_hash: "4ec0".to_owned(),
            applied: 3,
            failed: 0,
            over_window: 0,
            tokens_retained: Some(3_412.5),
            too_likely: Vec::new(),
        };
        let unit = UnitBaseline {
            unit: "g".to_owned(),
            scores: BTreeMap::from([("context_recall".to_owned(), 0.333333333)]),
            fates: BTreeMap::from([("s".to_owned(), Fates(vec![Fate::Carried, Fate::Unwritten]))]),
        };
        Baseline {
            run,
            scenarios: vec![Conversation {
                scenario: "s".to_owned(),
                unit: "g".to_owned(),
                facts,
            }],
            strategies: vec![StrategyBaseline {
                head,
                units: vec![unit],
            }],
        }
    }

    #[test]
    fn baselines_read_back_and_give_the_same_bytes() {
        let text = tiny().to_text().expect("has a JSON form");
        assert_eq!(text.lines().count(), 10, "{text}");
        let read = Baseline::parse(&text).expect("reads back");
        assert_eq!(read, tiny());
        assert_eq!(read.to_text().expect("has a JSON form"), text);
        assert_eq!(
            Baseline::parse(&text.replace('\n', "\r\n")),
            Ok(tiny()),
            "line ends of another system"
        );
    }

    #[test]
    fn baselines_of_earlier_versions_read() {
        let mut old = tiny();
        old.run.matcher.clear();
        old.strategies[0].head.settings = None;
        let text = old.to_text().expect("has a JSON form");
        assert_eq!(
            Baseline::parse(&text.replacen("\"version\":3", "\"version\":2", 1)),
            Ok(old.clone())
        );
        let (_, body) = text.split_once('\n').expect("two parts");
        let body = body.replacen("\"summarizer\":", "\"model\":", 1);
        let first = format!(
            "{{\"version\":1,\"checksum\":\"{}\",\n{body}",
            text_hash(&body)
        );
        assert_eq!(Baseline::parse(&first), Ok(old));
    }

    #[test]
    fn edited_torn_and_newer_baselines_are_refused() {
        let text = tiny().to_text().expect("has a JSON form");
        assert_eq!(
            Baseline::parse(&text.replace("0.333333333", "0.133333333")),
            Err(BaselineError::Checksum)
        );
        assert_eq!(
            Baseline::parse(&text.replace("\"cu\"", "\"cc\"")),
            Err(BaselineError::Checksum)
        );
        assert_eq!(
            Baseline::parse(&text.replace("\"version\":3", "\"version\":4")),
            Err(BaselineError::Newer(4))
        );
        for broken in [
            &text[..text.len() / 2],
            "",
            "{}",
            "[]",
            &text.replace("0.333333333", "NaN"),
            &text.replace("0.333333333", "1e999"),
        ] {
            assert!(
                matches!(Baseline::parse(broken), Err(BaselineError::Malformed(_))),
                "{broken}"
            );
        }
    }
}
