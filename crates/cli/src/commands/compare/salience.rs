//! `compare --salience-draws`: the same strategies under draws of what the mock assumes: weights of
//! salience, share read, noise, and the length of replies.

use std::path::Path;

use anyhow::anyhow;
use compactometer_engine::tokens::TokenCounter;
use compactometer_formats::mock::is_mock;
use compactometer_formats::record::Record;
use compactometer_harness::plan::Plan;
use compactometer_report::salience::{StrategyOrder, metric, note, pairs, recalls};
use serde::{Deserialize, Serialize};

use super::found;
use super::reruns::Reruns;
use crate::output::failure::Failure;

const FILE: &str = "salience.json";
/// Most groups, with one conversation each.
const GROUPS: usize = 8;

/// How far the order of strategies depends on what the mock assumes.
#[derive(Serialize, Deserialize)]
pub(crate) struct Salience {
    /// The model whose parameters were drawn.
    model: String,
    /// The metric by whose values strategies are ordered; absent in files from before it could be
    /// another than CR.
    #[serde(default = "context_recall")]
    metric: String,
    /// The number of draws.
    draws: usize,
    /// The conversations, by id.
    scenarios: Vec<String>,
    /// Each pair of strategies, least stable order first.
    pairs: Vec<StrategyOrder>,
}

impl Salience {
    /// Reruns the plan's cases under `draws` draws. `records` are the results under the model's own
    /// parameters.
    pub(crate) fn test(
        plan: &Plan,
        records: &[Record],
        counter: &dyn TokenCounter,
        draws: usize,
        jobs: usize,
        quiet: bool,
    ) -> Result<Self, Failure> {
        let names = (1..=draws)
            .map(|number| drawn_name(&plan.options.summarizer, number))
            .collect::<Option<Vec<_>>>();
        let names = names.ok_or_else(|| {
            Failure::usage(anyhow!(
                "`--salience-draws` draws the parameters of a mock; `{}` is not one",
                plan.options.summarizer
            ))
        })?;
        let reruns = Reruns::new(plan, records, GROUPS);
        let drawn = reruns.under(&names, "draws", counter, jobs, quiet)?;
        Ok(Salience {
            model: plan.options.summarizer.clone(),
            metric: metric(&reruns.own).to_owned(),
            draws,
            scenarios: reruns.scenarios(),
            pairs: pairs(&recalls(&reruns.own), &drawn),
        })
    }

    /// The note for the report.
    pub(crate) fn note(&self) -> String {
        note(&self.pairs, &self.metric, self.draws, self.scenarios.len())
    }

    /// Writes `salience.json`.
    pub(crate) fn write(&self, dir: &Path) -> Result<(), Failure> {
        found::write(dir, FILE, self)
    }

    /// What an earlier `compare` wrote to this folder, if anything.
    pub(crate) fn read(dir: &Path) -> anyhow::Result<Option<Self>> {
        found::read(dir, FILE, "--salience-draws")
    }
}

fn context_recall() -> String {
    "context_recall".to_owned()
}

/// The model name of one draw of a mock's parameters; nothing for other models.
fn drawn_name(model: &str, number: usize) -> Option<String> {
    let (mock, faults) = model.find('+').map_or((model, ""), |at| model.split_at(at));
    (is_mock(mock) && !mock.contains('~')).then(|| format!("{mock}~{number}{faults}"))
}

#[cfg(test)]
mod tests {
    use super::drawn_name;

    #[test]
    fn a_draw_stands_before_the_faults() {
        assert_eq!(drawn_name("mock:weak", 7).as_deref(), Some("mock:weak~7"));
        assert_eq!(
            drawn_name("mock:weak+empty=0.1", 7).as_deref(),
            Some("mock:weak~7+empty=0.1")
        );
        assert_eq!(drawn_name("openai:x", 7), None);
        assert!(compactometer_models::by_name("mock:weak~7+empty=0.1").is_ok());
    }
}
