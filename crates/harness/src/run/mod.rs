//! Runs the cases of a plan on several threads and journals them in order. With a store, an
//! interrupted case continues where it stopped.

mod case;
mod fail_fast;
mod journal;
mod journal_error;
mod lookup;
mod models;
mod progress;
mod refusals;
mod rejections;
mod threads;
mod timings;
mod window_limit;

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use compactometer_engine::tokens::TokenCounter;
use compactometer_formats::timings::CaseTimings;
use compactometer_store::Checkpoints;
use tracing::Instrument;

pub use case::run_case;
pub use fail_fast::{FailFastModels, Stopped};
pub use journal::{Journal, each_record, read_records, read_texts};
pub use journal_error::JournalError;
pub use lookup::{Lookup, Texts};
pub use models::Models;
pub use progress::KeepError;
use progress::Keeper;
pub use progress::StorePrices;
pub use rejections::RejectedByAll;
use threads::run_missing;
use timings::TimingsFile;

use crate::plan::Plan;
use crate::trace::CaseResult;

/// How a run went. Its records are in the journal ([`read_records`]), since the records of a large
/// plan take as much memory as its conversations.
pub struct RunOutcome {
    /// Applied compactions of each case of the plan, in its order.
    pub rounds: Vec<u32>,
    /// Cases that the journal held already.
    pub resumed: usize,
    /// Cases that an earlier process left unfinished and that continued from the store.
    pub continued: usize,
    /// Rejected requests of the cases that ran now.
    pub rejected: usize,
}

/// Runs every case of the plan that the folder's journal does not hold.
///
/// `progress` gets the number of finished cases, in case order.
///
/// # Errors
/// [`RunError`] if the journal cannot be used, or holds records of another configuration.
pub fn run<'m>(
    plan: &Plan,
    models: impl Into<Models<'m>>,
    counter: &dyn TokenCounter,
    jobs: usize,
    dir: &Path,
    progress: &dyn Fn(usize),
) -> Result<RunOutcome, RunError> {
    run_cases(
        &RunCases {
            plan,
            models: models.into(),
            counter,
            keeper: None,
        },
        jobs,
        dir,
        progress,
    )
}

/// Like [`run`], with each case's session in a thread `STRATEGY:KEY` of the store, so that an
/// interrupted case continues where it stopped. The records are byte-equal to those of [`run`].
/// Threads of finished cases stay in the store, with what each record's calls cost, where their
/// model's prices are known.
///
/// # Errors
/// As [`run`], and [`RunError::Keep`] if the store refuses.
pub fn run_in_store<'m>(
    plan: &Plan,
    models: impl Into<Models<'m>>,
    counter: &dyn TokenCounter,
    jobs: usize,
    dir: &Path,
    (store, prices): (&Checkpoints, StorePrices),
    progress: &dyn Fn(usize),
) -> Result<RunOutcome, RunError> {
    let keeper = Some(Keeper::new(store, prices, dir));
    run_cases(
        &RunCases {
            plan,
            models: models.into(),
            counter,
            keeper,
        },
        jobs,
        dir,
        progress,
    )
}

/// A finished case, with its measured times apart from its record.
pub struct FinishedCase {
    /// Its place among the plan's cases.
    pub index: usize,
    /// Its record and texts.
    pub result: CaseResult,
    /// Measured times.
    pub timings: CaseTimings,
}

/// Runs the cases at these places and hands them over in their order, for a caller that keeps them
/// itself. When `stop` is set, each thread finishes the case that it is at, and those are handed
/// over too.
///
/// # Errors
/// As [`run`], and what `keep` returns.
pub fn run_each<'m>(
    plan: &Plan,
    models: impl Into<Models<'m>>,
    counter: &dyn TokenCounter,
    (missing, jobs): (&[usize], usize),
    stop: &AtomicBool,
    mut keep: impl FnMut(Vec<FinishedCase>) -> Result<(), JournalError>,
) -> Result<(), RunError> {
    let cases = RunCases {
        plan,
        models: models.into(),
        counter,
        keeper: None,
    };
    run_missing(&cases, missing, jobs, stop, |group| {
        let finished = |(index, mut done): (usize, Done)| {
            let timings = CaseTimings::take(&mut done.result.record, done.seconds);
            FinishedCase {
                index,
                result: done.result,
                timings,
            }
        };
        keep(group.into_iter().map(finished).collect())
    })
}

/// What every worker needs.
struct RunCases<'c> {
    plan: &'c Plan,
    models: Models<'c>,
    counter: &'c dyn TokenCounter,
    keeper: Option<Keeper<'c>>,
}

/// A finished case.
struct Done {
    result: CaseResult,
    continued: bool,
    seconds: f64,
}

fn run_cases(
    cases: &RunCases<'_>,
    jobs: usize,
    dir: &Path,
    progress: &dyn Fn(usize),
) -> Result<RunOutcome, RunError> {
    let plan = cases.plan;
    let (mut journal, mut rounds) = Journal::open(dir)?;
    let keys = plan
        .cases
        .iter()
        .map(|case| case.key.as_str())
        .collect::<HashSet<_>>();
    if let Some(foreign) = rounds.keys().find(|key| !keys.contains(key.as_str())) {
        return Err(RunError::Foreign {
            key: foreign.clone(),
        });
    }
    let missing = (0..plan.cases.len())
        .filter(|index| !rounds.contains_key(&plan.cases[*index].key))
        .collect::<Vec<_>>();
    let resumed = plan.cases.len() - missing.len();
    progress(resumed);
    let (mut continued, mut rejected, mut finished) = (0, 0, resumed);
    let mut timings = TimingsFile::open(dir);
    run_missing(
        cases,
        &missing,
        jobs,
        &AtomicBool::new(false),
        |mut group| {
            timings.take(
                group
                    .iter_mut()
                    .map(|(_, done)| (&mut done.result.record, done.seconds)),
            )?;
            journal.append(group.iter().map(|(_, done)| &done.result))?;
            finished += group.len();
            for (index, done) in group {
                let case = &plan.cases[index];
                cases.keeper.iter().for_each(|keeper| keeper.finished(case));
                continued += usize::from(done.continued);
                rejected += done.result.record.rejected_calls();
                rounds.insert(case.key.clone(), done.result.record.rounds());
            }
            progress(finished);
            Ok(())
        },
    )?;
    timings.write().map_err(RunError::Write)?;
    cases.keeper.iter().for_each(Keeper::all_finished);
    let rounds = plan
        .cases
        .iter()
        .filter_map(|case| rounds.remove(&case.key))
        .collect();
    Ok(RunOutcome {
        rounds,
        resumed,
        continued,
        rejected,
    })
}

impl RunCases<'_> {
    async fn run(&self, index: usize) -> Result<Done, RunError> {
        let case = &self.plan.cases[index];
        // Not part of the case's time, since other cases of its conversation share it.
        case.prepared.checks();
        let started = Instant::now();
        let span = tracing::info_span!(
            "case",
            strategy = case.entrant.name,
            scenario = case.prepared.scenario.id
        );
        let models = FailFastModels::new(self.models);
        let ran = match &self.keeper {
            Some(keeper) => {
                keeper
                    .run_case(case, &models, self.counter)
                    .instrument(span)
                    .await
            }
            None => Ok((
                run_case(case, models.models(), self.counter)
                    .instrument(span)
                    .await,
                false,
            )),
        };
        models.check().map_err(RunError::Model)?;
        let (result, continued) = ran?;
        Ok(Done {
            result,
            continued,
            seconds: started.elapsed().as_secs_f64(),
        })
    }
}

/// A run that cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The folder belongs to another run.
    #[error("the folder holds a record (`{key}`) of another configuration; choose another `--out`")]
    Foreign {
        /// The record's key.
        key: String,
    },
    /// A record cannot be written.
    #[error(transparent)]
    Write(JournalError),
    /// A case cannot be kept in its store.
    #[error("{0}; finished replays are kept, and the same command resumes")]
    Keep(KeepError),
    /// The model cannot be asked.
    #[error("{0}; finished replays are kept, and the same command resumes")]
    Model(Stopped),
    /// The server rejects every request of this form.
    #[error("{0}")]
    Rejected(#[from] RejectedByAll),
    /// A thread's runtime cannot start.
    #[error("cannot start a worker: {0}")]
    Runtime(std::io::Error),
}
