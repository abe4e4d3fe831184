//! Runs the cases of a plan on several threads and journals them in order. With a store, a case that was stopped in its middle
//! goes on from there.

mod case;
mod fail_fast;
mod journal;
mod models;
mod progress;
mod rejections;
mod timings;
mod window_limit;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use compactometer_engine::tokens::TokenCounter;
use compactometer_store::Checkpoints;
use tracing::Instrument;

pub use case::run_case;
pub use fail_fast::{FailFast, FailFastModels, Stopped};
pub use journal::{Journal, JournalError, read_records, read_texts};
pub use models::Models;
pub use progress::KeepError;
use progress::Keeper;
pub use rejections::RejectedByAll;
use rejections::{Held, first_calls};
use timings::TimingsFile;

use crate::plan::Plan;
use crate::probes::judge_answers;
use crate::trace::CaseResult;

/// How a run went. What came of it stands in the journal ([`crate::run::journal::read_records`]): all records of a large plan
/// take as much memory as its conversations.
pub struct RunOutcome {
    /// Applied compactions of each case of the plan, in its order.
    pub rounds: Vec<u32>,
    /// Cases that stood in the journal already.
    pub resumed: usize,
    /// Cases that went on from the store, where an earlier process was stopped in their middle.
    pub continued: usize,
    /// Rejected requests of the cases that ran now.
    pub rejected: usize,
}

/// Runs every case of the plan that the folder's journal does not hold.
///
/// `progress` is told the number of finished cases, in case order.
///
/// # Errors
/// [`RunError`] where the journal cannot be used, or holds records of another configuration.
pub fn run<'m>(
    plan: &Plan,
    models: impl Into<Models<'m>>,
    counter: &dyn TokenCounter,
    jobs: usize,
    dir: &Path,
    progress: &dyn Fn(usize),
) -> Result<RunOutcome, RunError> {
    run_cases(&Cases { plan, models: models.into(), counter, keeper: None }, jobs, dir, progress)
}

/// The same, with each case's session in a thread `STRATEGY:KEY` of the store, so that a case that was stopped in its middle
/// goes on from there. Records are the same bytes as those of [`run`]. Threads of finished cases stay in the store.
///
/// # Errors
/// As [`run`], and [`RunError::Keep`] where the store refuses.
pub fn run_in_store<'m>(
    plan: &Plan,
    models: impl Into<Models<'m>>,
    counter: &dyn TokenCounter,
    jobs: usize,
    dir: &Path,
    store: &Checkpoints,
    progress: &dyn Fn(usize),
) -> Result<RunOutcome, RunError> {
    let keeper = Some(Keeper::new(store, dir));
    run_cases(&Cases { plan, models: models.into(), counter, keeper }, jobs, dir, progress)
}

/// What every worker needs.
struct Cases<'c> {
    plan: &'c Plan,
    models: Models<'c>,
    counter: &'c dyn TokenCounter,
    keeper: Option<Keeper<'c>>,
}

/// One case that is done.
struct Done {
    result: CaseResult,
    continued: bool,
    seconds: f64,
}

fn run_cases(cases: &Cases<'_>, jobs: usize, dir: &Path, progress: &dyn Fn(usize)) -> Result<RunOutcome, RunError> {
    let plan = cases.plan;
    let (mut journal, mut rounds) = Journal::open(dir)?;
    let keys = plan.cases.iter().map(|case| case.key.as_str()).collect::<std::collections::HashSet<_>>();
    if let Some(foreign) = rounds.keys().find(|key| !keys.contains(key.as_str())) {
        return Err(RunError::Foreign { key: foreign.clone() });
    }
    let missing =
        (0..plan.cases.len()).filter(|index| !rounds.contains_key(&plan.cases[*index].key)).collect::<Vec<_>>();
    let resumed = plan.cases.len() - missing.len();
    progress(resumed);
    let (mut continued, mut rejected, mut finished) = (0, 0, resumed);
    let mut timings = TimingsFile::open(dir);
    run_missing(cases, &missing, jobs, |mut group| {
        timings.take(group.iter_mut().map(|(_, done)| (&mut done.result.record, done.seconds)))?;
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
    })?;
    timings.write().map_err(RunError::Write)?;
    cases.keeper.iter().for_each(Keeper::all_finished);
    let rounds = plan.cases.iter().filter_map(|case| rounds.remove(&case.key)).collect();
    Ok(RunOutcome { rounds, resumed, continued, rejected })
}

/// Runs cases on `jobs` threads and hands over their results in order: all finished cases at once, so that one wait for a slow
/// disk serves many cases.
fn run_missing(
    cases: &Cases<'_>,
    missing: &[usize],
    jobs: usize,
    mut finish: impl FnMut(Vec<(usize, Done)>) -> Result<(), JournalError>,
) -> Result<(), RunError> {
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, missing.len().max(1)) {
            let sender = sender.clone();
            let (next, stop) = (&next, &stop);
            scope.spawn(move || work(cases, missing, next, stop, &sender));
        }
        drop(sender);
        let mut order = Order::default();
        let mut finish = |group: Vec<(usize, Done)>| {
            let group = group.into_iter().map(|(place, done)| (missing[place], done)).collect::<Vec<_>>();
            if group.is_empty() { Ok(()) } else { finish(group).map_err(RunError::Write) }
        };
        while let Ok(first) = receiver.recv() {
            let ended = std::iter::once(first).chain(receiver.try_iter()).try_for_each(|done| order.take(done?));
            if let Err(error) = finish(order.clear()).and(ended) {
                stop.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
        finish(order.rest())
    })
}

/// Puts cases back into order and holds them until it is clear that the model takes their requests.
#[derive(Default)]
struct Order {
    /// Cases by their place among the missing ones.
    done: BTreeMap<usize, Done>,
    /// How many left `done`.
    passed: usize,
    held: Held<(usize, Done)>,
    clear: Vec<(usize, Done)>,
}

impl Order {
    fn take(&mut self, (place, done): (usize, Done)) -> Result<(), RunError> {
        self.done.insert(place, done);
        while let Some((place, done)) = self.done.remove_entry(&self.passed) {
            self.passed += 1;
            let first = first_calls(&done.result.record);
            self.clear.extend(self.held.take((place, done), first)?);
        }
        Ok(())
    }

    /// The next cases that can be recorded, in order.
    fn clear(&mut self) -> Vec<(usize, Done)> {
        std::mem::take(&mut self.clear)
    }

    /// The last cases of the run: too few to blame the server.
    fn rest(mut self) -> Vec<(usize, Done)> {
        self.clear.extend(self.held.rest());
        self.clear
    }
}

/// One thread: a runtime of its own, one case at a time.
fn work(
    cases: &Cases<'_>,
    missing: &[usize],
    next: &AtomicUsize,
    stop: &AtomicBool,
    sender: &mpsc::Sender<Result<(usize, Done), RunError>>,
) {
    let runtime = match tokio::runtime::Builder::new_current_thread().build() {
        Ok(runtime) => runtime,
        Err(error) => return drop(sender.send(Err(RunError::Runtime(error)))),
    };
    while !stop.load(Ordering::Relaxed) {
        let place = next.fetch_add(1, Ordering::Relaxed);
        let Some(index) = missing.get(place) else { return };
        let done = runtime.block_on(cases.run(*index)).map(|done| (place, done));
        let is_last = done.is_err();
        if sender.send(done).is_err() || is_last {
            return;
        }
    }
}

impl Cases<'_> {
    async fn run(&self, index: usize) -> Result<Done, RunError> {
        let started = Instant::now();
        let case = &self.plan.cases[index];
        let span = tracing::info_span!("case", strategy = case.entrant.name, scenario = case.prepared.scenario.id);
        let models = FailFastModels::new(self.models);
        let ran = match &self.keeper {
            Some(keeper) => keeper.run_case(case, &models, self.counter).instrument(span).await,
            None => Ok((run_case(case, models.models(), self.counter).instrument(span).await, false)),
        };
        models.check()?;
        let (mut result, continued) = ran?;
        if let Some(judge) = self.models.judge {
            let judge = FailFast::new(judge);
            judge_answers(&case.prepared.scenario, case.seed, &judge, &mut result).await;
            judge.check()?;
        }
        Ok(Done { result, continued, seconds: started.elapsed().as_secs_f64() })
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
    #[error("{0}; finished cases are kept, and the same command resumes")]
    Keep(KeepError),
    /// The model cannot be asked.
    #[error("{0}; finished cases are kept, and the same command resumes")]
    Model(Stopped),
    /// The server rejects every request of this form.
    #[error("{0}")]
    Rejected(#[from] RejectedByAll),
    /// A thread's runtime cannot start.
    #[error("cannot start a worker: {0}")]
    Runtime(std::io::Error),
}

impl From<Stopped> for RunError {
    fn from(stopped: Stopped) -> Self {
        RunError::Model(stopped)
    }
}

impl From<KeepError> for RunError {
    fn from(error: KeepError) -> Self {
        match error {
            KeepError::Gone(gone) => RunError::Write(gone),
            other => RunError::Keep(other),
        }
    }
}
