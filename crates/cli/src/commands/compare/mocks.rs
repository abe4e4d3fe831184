//! `compare --mocks`: how the order of the strategies changes under other mocks.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, anyhow};
use compactometer_disk::input::{Kind, read_text};
use compactometer_disk::write_whole;
use compactometer_engine::tokens::TokenCounter;
use compactometer_formats::manifest::{Manifest, OtherMock};
use compactometer_formats::mock::is_mock;
use compactometer_formats::record::Record;
use compactometer_harness::plan::Plan;
use compactometer_report::salience::{Recalls, agreement, metric, mocks_note, recalls};
use serde::{Deserialize, Serialize};

use super::reruns::Reruns;
use crate::output::failure::Failure;

const FILE: &str = "mocks.json";
/// Groups of which a conversation is run.
const GROUPS: usize = 4;
/// The mocks of a run of the program's own suite: one that fills its room with what matters, and one that writes little.
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
pub(super) fn wanted(named: Option<&[String]>, is_default: bool) -> Vec<String> {
    match named {
        Some(named) => named.to_vec(),
        None if is_default => OF_DEFAULTS.map(str::to_owned).to_vec(),
        None => Vec::new(),
    }
}

impl Mocks {
    /// Reruns some of the plan's cases under `mocks`. `records` are the results under the run's own. Nothing if no strategy called
    /// its model.
    pub(super) fn test(
        plan: &Plan,
        records: &[Record],
        mocks: &[String],
        counter: &dyn TokenCounter,
        jobs: usize,
        quiet: bool,
    ) -> Result<Option<Self>, Failure> {
        let own = &plan.options.summarizer;
        if let Some(other) = mocks.iter().chain([own]).find(|model| !is_mock(model)) {
            return Err(Failure::usage(anyhow!("`--mocks` compares mocks; `{other}` is not one (`list models`)")));
        }
        let reruns = Reruns::new(plan, records, GROUPS);
        if reruns.is_empty() {
            return Ok(None);
        }
        let found = reruns.under(mocks, "mocks", counter, jobs, quiet)?;
        let under = |(mock, recalls): (&String, Recalls)| UnderMock { mock: mock.clone(), recalls };
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
        self.others.iter().map(|other| OtherMock { mock: other.mock.clone(), tau: tau(other) }).collect()
    }

    /// Adds what it shows to the manifest of a report.
    pub(crate) fn add_to(&self, manifest: &mut Manifest) {
        manifest.notes.push(self.note());
        manifest.other_mocks = self.order();
    }

    /// The note for the report.
    fn note(&self) -> String {
        let others = self.others.iter().map(|other| (other.mock.as_str(), &other.recalls)).collect::<Vec<_>>();
        mocks_note((&self.own.mock, &self.own.recalls), &others, &self.metric, self.scenarios.len())
    }

    /// Writes `mocks.json`.
    pub(super) fn write(&self, dir: &Path) -> Result<(), Failure> {
        let path = dir.join(FILE);
        let json = serde_json::to_string_pretty(self).map_err(Failure::failed)?;
        write_whole(&path, |out| writeln!(out, "{json}"))
            .with_context(|| format!("cannot write `{}`", path.display()))
            .map_err(Failure::failed)
    }

    /// What an earlier `compare` wrote to this folder, if anything.
    pub(crate) fn read(dir: &Path) -> anyhow::Result<Option<Self>> {
        let path = dir.join(FILE);
        let text = match read_text(&path, Kind::MANIFEST) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            read => read.with_context(|| format!("cannot read `{}`", path.display()))?,
        };
        let parsed = serde_json::from_str(&text);
        parsed.map(Some).with_context(|| format!("`{}` is damaged; delete it, or run `compare` again", path.display()))
    }
}
