//! `manifest.json`: what a run was resolved to, so that it can be resumed, merged and repeated.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::property::Property;
use crate::protocol::Protocol;

/// The version of manifests that this program writes. Version 2 called the summarizer
/// `model`; version 1 had one `protocol` in place of [`Manifest::protocols`].
pub const VERSION: u32 = 3;

/// How many strategies the newest messages exceed under a mock, on the same conversations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TalkUnder {
    /// The mock.
    pub mock: String,
    /// The strategies that keep less, by a margin.
    pub above: usize,
    /// All of them.
    pub of: usize,
}

/// What a run was resolved to. It holds nothing that a machine measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    /// At most [`VERSION`].
    pub version: u32,
    /// The program's version.
    pub program: String,
    /// The commit that the program was built from, or `unknown`.
    pub commit: String,
    /// The command, without `--out`.
    pub command: Vec<String>,
    /// The suite's name.
    pub suite: String,
    /// The suite's content hash.
    pub suite_hash: String,
    /// What a reader needs to know about suite and run.
    pub notes: Vec<String>,
    /// Ids of the metrics that answer what the suite is for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headline_metrics: Vec<String>,
    /// What the newest messages kept against the strategies under each mock that was tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub newest_talk: Vec<TalkUnder>,
    /// Context window, in tokens.
    pub window: u32,
    /// Trigger, in tokens.
    pub trigger: u32,
    /// Retained budget, in tokens.
    pub retained: u32,
    /// Further retained budgets of the matched protocol, in tokens, descending: points of the
    /// report's curves over size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sweep: Vec<u32>,
    /// Shares of the retained budget that a sweep gives to the verbatim tail, ascending: points of
    /// the curves over the split.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub splits: Vec<f64>,
    /// The number of cases with a further budget or split; absent in manifests from before it was
    /// kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swept_cases: Option<usize>,
    /// How budgets were set: one group of the report each, in this order.
    #[serde(alias = "protocol", deserialize_with = "one_or_more")]
    pub protocols: Vec<Protocol>,
    /// Strategies and controls, in order of the report.
    pub strategies: Vec<String>,
    /// What published limits are multiplied by.
    pub scale: f64,
    /// What the other strategies are compared with, if it was declared with the run; otherwise it
    /// is the first reference strategy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The strategies that are compared with another one than the reference, and which.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pairs: BTreeMap<String, String>,
    /// blake3 over the strategies' parameters and prompts.
    pub settings_hash: String,
    /// blake3 of each strategy's prompt, by its name; absent in manifests from before gates
    /// compared them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prompts: BTreeMap<String, String>,
    /// What each strategy under test was run with, by its name; absent in manifests from before
    /// gates named what changed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, StrategySettings>,
    /// blake3 of what the matcher finds in a fixed list of texts; absent in manifests from before
    /// it was kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub matcher: String,
    /// blake3 of the price table.
    pub prices_hash: String,
    /// The measuring counter.
    pub tokenizer: String,
    /// The summarizer; `model` in files of earlier versions.
    #[serde(alias = "model")]
    pub summarizer: String,
    /// The target model, which answers questions and takes the turns; absent if it is the
    /// summarizer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The model that writes checkpoints before turns; absent if it is the summarizer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpointer: Option<String>,
    /// The model that judged answers beside the grader; absent if none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    /// Whether the latencies of its recordings are a result. They are not if the calls were
    /// recorded on a busy machine, for example.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub latency_is_result: bool,
    /// Seed of the run.
    pub seed: u64,
    /// What was measured on the suite itself; absent in manifests that were written before it was
    /// measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub properties: Vec<Property>,
    /// The recorded program and its version at its compactions, by conversation; absent where no
    /// transcript has it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub versions: BTreeMap<String, String>,
    /// Number of cases.
    pub cases: usize,
    /// Conversations in the suite.
    pub conversations: usize,
    /// Groups in the suite: the number of units.
    pub groups: usize,
}

/// What a strategy was run with, as a user would type it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StrategySettings {
    /// The strategy that its name stands for.
    pub base: String,
    /// The version that a strategy of the user's own gives; absent for the program's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether it asks a model past the meter, by its own account.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unmetered: bool,
    /// Its parameters, before they are scaled.
    pub parameters: BTreeMap<String, String>,
    /// Those that were changed and change nothing where the run sets the limits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_effect: Vec<String>,
}

impl Manifest {
    /// The target model, which is the summarizer unless the run has another.
    pub fn target_model(&self) -> &str {
        self.target.as_deref().unwrap_or(&self.summarizer)
    }

    /// The models whose prices a conversation's cost needs: of turns and answers, of summaries, and
    /// of checkpoints before turns. One that does several of these is there several times.
    pub fn models(&self) -> impl Iterator<Item = &str> {
        [self.target_model(), &self.summarizer]
            .into_iter()
            .chain(self.checkpointer.as_deref())
    }
}

fn yes() -> bool {
    true
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_true(value: &bool) -> bool {
    *value
}

/// The list of this version, or the single value of version 1.
fn one_or_more<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Vec<Protocol>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMore {
        One(Protocol),
        More(Vec<Protocol>),
    }
    Ok(match OneOrMore::deserialize(deserializer)? {
        OneOrMore::One(protocol) => vec![protocol],
        OneOrMore::More(protocols) => protocols,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERSION_2: &str = r#"{"version":2,"program":"0.1.0","commit":"unknown","command":["compactometer"],
        "suite":"smoke","suite_hash":"b253","notes":[],"window":12000,"trigger":9600,"retained":3600,
        "protocols":["matched","published"],"strategies":["chained"],"scale":0.5,"settings_hash":"736d",
        "prices_hash":"3b06","tokenizer":"o200k_base","model":"mock","seed":0,"cases":32,"conversations":16,"groups":16}"#;

    #[test]
    fn manifests_of_earlier_versions_read() {
        let found: Manifest = serde_json::from_str(VERSION_2).expect("version 2 reads");
        assert_eq!(found.protocols, [Protocol::Matched, Protocol::Published]);
        assert_eq!(found.summarizer, "mock");
        let written = serde_json::to_string(&found).expect("it has a JSON form");
        assert_eq!(
            serde_json::from_str::<Manifest>(&written).expect("it reads back"),
            found
        );

        let list = r#""protocols":["matched","published"]"#;
        let first = VERSION_2.replace("\"version\":2", "\"version\":1");
        let first = first.replace(list, r#""protocol":"published""#);
        let expected = Manifest {
            version: 1,
            protocols: vec![Protocol::Published],
            ..found
        };
        assert_eq!(
            serde_json::from_str::<Manifest>(&first).expect("version 1 reads"),
            expected
        );

        let unknown = VERSION_2.replace(list, r#""protocols":["fair"]"#);
        assert!(serde_json::from_str::<Manifest>(&unknown).is_err());
    }
}
