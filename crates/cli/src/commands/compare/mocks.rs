//! `compare --mocks`: how the order of the strategies changes under other mocks.

use std::path::Path;

use anyhow::anyhow;
use compactometer_engine::tokens::TokenCounter;
use compactometer_formats::manifest::{Manifest, OtherMock};
use compactometer_formats::mock::is_mock;
use compactometer_formats::record::Record;
use compactometer_harness::plan::Plan;
use compactometer_report::salience::{Recalls, agreement, metric, mocks_note, recalls};
use serde::{Deserialize, Serialize};

use super::found;
use super::reruns::Reruns;
use crate::output::failure::Failure;

const FILE: &str = "mocks.json";
/// Groups of which a conversation is run.
const GROUPS: usize = 4;
/// The mocks of a run of the program's own suite: one that fills its room with what matters, and
/// one that writes little.
const OF_DEFAULTS: [&str; 2] = ["mock:strong", "mock:lost-in-compaction-length"];

/// The recall of each strategy under several mocks.
#[derive(Serialize, Deserialize)]
pub(crate) struct Mocks {
    /// The id of the metric.
    metric: String,
    /// The conversations, by id.
    scenarios: Vec<String>,
    /// The run's own mock.
    own: UnderMock,
    /// The others.
    others: Vec<UnderMock>,
}

#[derive(Serialize, Deserialize)]
struct UnderMock {
    mock: String,
    recalls: Recalls,
}

/// The mocks to run: those that are named, otherwise some for the program's own suite.
///
/// # Errors
/// If one of them, or the run's own `summarizer`, is unknown or no mock: better before the run than
/// after it.
pub(super) fn wanted(
    named: Option<&[String]>,
    summarizer: &str,
    is_default: bool,
) -> Result<Vec<String>, Failure> {
    let wanted = match named {
        Some(named) => named.to_vec(),
        None if is_default => OF_DEFAULTS.map(str::to_owned).to_vec(),
        None => return Ok(Vec::new()),
    };
    for model in wanted.iter().map(String::as_str).chain([summarizer]) {
        if !is_mock(model) {
            return Err(Failure::usage(anyhow!(
                "`--mocks` compares mocks; `{model}` is not one (`list models`)"
            )));
        }
        compactometer_models::by_name(model).map_err(Failure::usage)?;
    }
    Ok(wanted)
}

impl Mocks {
    /// Reruns some of the plan's cases under `mocks`. `records` are the results under the run's
    /// own. Nothing if no strategy called its model.
    pub(super) fn test(
        plan: &Plan,
        records: &[Record],
        mocks: &[String],
        counter: &dyn TokenCounter,
        jobs: usize,
        quiet: bool,
    ) -> Result<Option<Self>, Failure> {
        let own = &plan.options.summarizer;
        let reruns = Reruns::new(plan, records, GROUPS);
        if reruns.is_empty() {
            return Ok(None);
        }
        let found = reruns.under(mocks, "mocks", counter, jobs, quiet)?;
        let under = |(mock, recalls): (&String, Recalls)| UnderMock {
            mock: mock.clone(),
            recalls,
        };
        Ok(Some(Mocks {
            metric: metric(&reruns.own).to_owned(),
            scenarios: reruns.scenarios(),
            own: under((own, recalls(&reruns.own))),
            others: mocks.iter().zip(found).map(under).collect(),
        }))
    }

    /// How the order under each of the others agrees with the run's own.
    fn order(&self) -> Vec<OtherMock> {
        let tau = |other: &UnderMock| agreement(&self.own.recalls, &other.recalls);
        self.others
            .iter()
            .map(|other| OtherMock {
                mock: other.mock.clone(),
                conversations: self.scenarios.len(),
                tau: tau(other),
            })
            .collect()
    }

    /// Adds what it shows to the manifest of a report.
    pub(crate) fn add_to(&self, manifest: &mut Manifest) {
        manifest.notes.push(self.note());
        manifest.other_mocks = self.order();
    }

    /// The note for the report.
    fn note(&self) -> String {
        let others = self
            .others
            .iter()
            .map(|other| (other.mock.as_str(), &other.recalls))
            .collect::<Vec<_>>();
        mocks_note(
            (&self.own.mock, &self.own.recalls),
            &others,
            &self.metric,
            self.scenarios.len(),
        )
    }

    /// Writes `mocks.json`.
    pub(super) fn write(&self, dir: &Path) -> Result<(), Failure> {
        found::write(dir, FILE, self)
    }

    /// What an earlier `compare` wrote to this folder, if anything.
    pub(crate) fn read(dir: &Path) -> anyhow::Result<Option<Self>> {
        found::read(dir, FILE, "--mocks")
    }
}
