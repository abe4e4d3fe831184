//! The same cases under other models. To keep this cheap, only one conversation of each of a few
//! groups is run, and only strategies that called the model: the others cannot change.

use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::path::Path;
use std::thread::ScopedJoinHandle;

use compactometer_engine::tokens::TokenCounter;
use compactometer_formats::record::Record;
use compactometer_harness::plan::{Plan, PlannedCase};
use compactometer_harness::run::{JournalError, each_record, run_case};
use compactometer_report::other_mocks::{NEWEST_TALK, Recalls, recalls};

use crate::output::failure::Failure;
use crate::output::progress;

/// The cases that are run again.
pub(super) struct Reruns<'p> {
    cases: Vec<&'p PlannedCase>,
    /// Their records under the run's own model.
    pub(super) own: Vec<Record>,
    /// What the newest messages kept of the same conversations.
    pub(super) newest_talk: Option<f64>,
}

impl<'p> Reruns<'p> {
    /// Those of the shortest conversations, one of a group.
    pub(super) fn new(plan: &'p Plan, dir: &Path, groups: usize) -> Result<Self, JournalError> {
        let mut cases = cases(plan, groups);
        let mut own = Vec::new();
        let keys: BTreeSet<&str> = cases.iter().map(|case| case.key.as_str()).collect();
        each_record(dir, |record| {
            if keys.contains(record.key.as_str()) {
                own.push(record);
            }
            Ok(())
        })?;
        let calls = |record: &&Record| record.compactions.iter().any(|row| !row.calls.is_empty());
        let asking: BTreeSet<String> = own
            .iter()
            .filter(calls)
            .map(|record| record.case.strategy.clone())
            .collect();
        let talk = own
            .iter()
            .filter(|record| record.case.strategy == NEWEST_TALK);
        let talk = recalls(&talk.cloned().collect::<Vec<_>>());
        cases.retain(|case| asking.contains(&case.entrant.name));
        own.retain(|record| asking.contains(&record.case.strategy));
        Ok(Reruns {
            cases,
            own,
            newest_talk: talk.get(NEWEST_TALK).copied(),
        })
    }

    /// Whether no strategy called the model.
    pub(super) fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    /// The ids of the conversations.
    pub(super) fn scenarios(&self) -> Vec<String> {
        let ids: BTreeSet<&str> = self
            .cases
            .iter()
            .map(|case| case.prepared.scenario.id.as_str())
            .collect();
        ids.into_iter().map(str::to_owned).collect()
    }

    /// The recalls under each of these models, in the same order.
    pub(super) fn under(
        &self,
        models: &[String],
        counter: &dyn TokenCounter,
        jobs: usize,
        quiet: bool,
    ) -> Result<Vec<Recalls>, Failure> {
        let bar = progress::bar(models.len(), "mocks", quiet);
        let run = |model: &String| self.under_one(model, counter).inspect(|_| bar.inc(1));
        let per_thread = models.len().div_ceil(jobs.max(1)).max(1);
        let found = std::thread::scope(|scope| {
            let threads = models.chunks(per_thread).map(|models| {
                scope.spawn(move || models.iter().map(run).collect::<Result<Vec<_>, Failure>>())
            });
            all_of(threads.collect())
        })?;
        bar.finish_and_clear();
        Ok(found.concat())
    }

    fn under_one(&self, model: &str, counter: &dyn TokenCounter) -> Result<Recalls, Failure> {
        let model = compactometer_models::by_name(model).map_err(Failure::failed)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .map_err(Failure::failed)?;
        let records = self
            .cases
            .iter()
            .map(|case| runtime.block_on(run_case(case, &*model, counter)).record);
        Ok(recalls(&records.collect::<Vec<_>>()))
    }
}

/// What all threads found, or the first failure.
fn all_of<T>(threads: Vec<ScopedJoinHandle<'_, Result<T, Failure>>>) -> Result<Vec<T>, Failure> {
    threads
        .into_iter()
        .map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
        .collect()
}

/// The cases of strategies on those conversations.
fn cases(plan: &Plan, groups: usize) -> Vec<&PlannedCase> {
    let mut suite = plan.suite.iter().collect::<Vec<_>>();
    suite.sort_by_key(|prepared| prepared.tokens_between(0, prepared.messages.len()));
    let mut chosen: Vec<(&str, &str)> = Vec::new();
    for prepared in suite {
        let (group, id) = (
            prepared.scenario.group_id.as_str(),
            prepared.scenario.id.as_str(),
        );
        if chosen.len() < groups && !chosen.iter().any(|(known, _)| *known == group) {
            chosen.push((group, id));
        }
    }
    let is_wanted = |case: &&PlannedCase| {
        case.protocol.has_limits_of_run()
            && !plan.is_swept(case)
            && (case.entrant.family.is_tested() || case.entrant.name == NEWEST_TALK)
            && chosen
                .iter()
                .any(|(_, id)| *id == case.prepared.scenario.id)
    };
    plan.cases.iter().filter(is_wanted).collect()
}
