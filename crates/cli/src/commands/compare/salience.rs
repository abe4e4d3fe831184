//! `compare --salience-draws`: the same strategies under draws of what the mock assumes: weights of salience, share read, noise,
//! and the length of replies.
//!
//! To keep this cheap, only one conversation of each of the first groups is run, and only strategies that called the model: the
//! others cannot change.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::panic::resume_unwind;
use std::path::Path;

use anyhow::{Context, anyhow};
use compactometer_disk::input::{Kind, read_text};
use compactometer_disk::write_whole;
use compactometer_engine::tokens::TokenCounter;
use compactometer_formats::mock::is_mock;
use compactometer_formats::record::Record;
use compactometer_harness::plan::{Plan, PlannedCase};
use compactometer_harness::run::run_case;
use compactometer_report::salience::{Recalls, StrategyOrder, metric, note, pairs, recalls};
use serde::{Deserialize, Serialize};

use crate::output::failure::Failure;
use crate::output::progress;

const FILE: &str = "salience.json";
/// Most groups, with one conversation each.
const GROUPS: usize = 8;

/// How far the order of strategies depends on what the mock assumes.
#[derive(Serialize, Deserialize)]
pub(crate) struct Salience {
    /// The model whose parameters were drawn.
    model: String,
    /// The metric by whose values strategies are ordered; absent in files from before it could be another than CR.
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
    /// Reruns the plan's cases under `draws` draws. `records` are the results under the model's own parameters.
    pub(crate) fn test(
        plan: &Plan,
        records: &[Record],
        counter: &dyn TokenCounter,
        draws: usize,
        jobs: usize,
        quiet: bool,
    ) -> Result<Self, Failure> {
        let names = (1..=draws).map(|number| drawn_name(&plan.options.summarizer, number)).collect::<Option<Vec<_>>>();
        let names = names.ok_or_else(|| {
            Failure::usage(anyhow!(
                "`--salience-draws` draws the parameters of a mock; `{}` is not one",
                plan.options.summarizer
            ))
        })?;
        let cases = cases(plan, records);
        let keys: BTreeSet<&str> = cases.iter().map(|case| case.key.as_str()).collect();
        let own: Vec<Record> = records.iter().filter(|record| keys.contains(record.key.as_str())).cloned().collect();
        let drawn = run(&cases, &names, counter, jobs, quiet)?;
        let scenarios: BTreeSet<&str> = cases.iter().map(|case| case.prepared.scenario.id.as_str()).collect();
        Ok(Salience {
            model: plan.options.summarizer.clone(),
            metric: metric(&own).to_owned(),
            draws,
            scenarios: scenarios.into_iter().map(str::to_owned).collect(),
            pairs: pairs(&recalls(&own), &drawn),
        })
    }

    /// The note for the report.
    pub(crate) fn note(&self) -> String {
        note(&self.pairs, &self.metric, self.draws, self.scenarios.len())
    }

    /// Writes `salience.json`.
    pub(crate) fn write(&self, dir: &Path) -> Result<(), Failure> {
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
        parsed.map(Some).with_context(|| {
            format!("`{}` is damaged; delete it, or run `compare --salience-draws` again", path.display())
        })
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

/// The cases whose outcome depends on the model, for one conversation of each of the first groups.
fn cases<'p>(plan: &'p Plan, records: &[Record]) -> Vec<&'p PlannedCase> {
    let mut groups: Vec<(&str, &str)> = Vec::new();
    for prepared in &plan.suite {
        let (group, id) = (prepared.scenario.group_id.as_str(), prepared.scenario.id.as_str());
        if groups.len() < GROUPS && !groups.iter().any(|(known, _)| *known == group) {
            groups.push((group, id));
        }
    }
    let calls = |record: &&Record| record.compactions.iter().any(|row| !row.calls.is_empty());
    let asks: BTreeSet<&str> = records.iter().filter(calls).map(|record| record.case.strategy.as_str()).collect();
    let is_wanted = |case: &&PlannedCase| {
        case.protocol.has_limits_of_run()
            && !plan.is_swept(case)
            && case.entrant.family.is_tested()
            && asks.contains(case.entrant.name.as_str())
            && groups.iter().any(|(_, id)| *id == case.prepared.scenario.id)
    };
    plan.cases.iter().filter(is_wanted).collect()
}

/// The recalls under each of these models, in the same order.
fn run(
    cases: &[&PlannedCase],
    models: &[String],
    counter: &dyn TokenCounter,
    jobs: usize,
    quiet: bool,
) -> Result<Vec<Recalls>, Failure> {
    let bar = progress::bar(models.len(), "draws", quiet);
    let drawn = |model: &String| under(cases, model, counter).inspect(|_| bar.inc(1));
    let per_thread = models.len().div_ceil(jobs.max(1)).max(1);
    let drawn = std::thread::scope(|scope| {
        let threads = models
            .chunks(per_thread)
            .map(|models| scope.spawn(move || models.iter().map(drawn).collect::<Result<Vec<_>, Failure>>()));
        let threads = threads.collect::<Vec<_>>();
        let joined = threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        joined.collect::<Result<Vec<_>, Failure>>()
    })?;
    bar.finish_and_clear();
    Ok(drawn.concat())
}

fn under(cases: &[&PlannedCase], model: &str, counter: &dyn TokenCounter) -> Result<Recalls, Failure> {
    let model = compactometer_models::by_name(model).map_err(Failure::failed)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(Failure::failed)?;
    let records = cases.iter().map(|case| runtime.block_on(run_case(case, &*model, counter)).record);
    Ok(recalls(&records.collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::drawn_name;

    #[test]
    fn a_draw_stands_before_the_faults() {
        assert_eq!(drawn_name("mock:weak", 7).as_deref(), Some("mock:weak~7"));
        assert_eq!(drawn_name("mock:weak+empty=0.1", 7).as_deref(), Some("mock:weak~7+empty=0.1"));
        assert_eq!(drawn_name("openai:x", 7), None);
        assert!(compactometer_models::by_name("mock:weak~7+empty=0.1").is_ok());
    }
}
