//! Runs the cases of a plan on several threads and journals them in order.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use compactometer_engine::model::ChatModel;
use compactometer_engine::tokens::TokenCounter;
use compactometer_schema::record::Record;

use crate::journal::{Journal, JournalError};
use crate::plan::Plan;
use crate::replay::{CaseResult, run_case};

/// How a run went.
pub struct RunOutcome {
    /// A record for each case of the plan, in its order.
    pub records: Vec<Record>,
    /// Cases that stood in the journal already.
    pub resumed: usize,
    /// Seconds of wall time by case key, for the cases that ran now. Machine-measured: never part of a record.
    pub seconds: BTreeMap<String, f64>,
}

/// Runs every case of the plan that the folder's journal does not hold.
///
/// `progress` is told the number of finished cases, in case order.
///
/// # Errors
/// [`RunError`] where the journal cannot be used, or holds records of another configuration.
pub fn run(
    plan: &Plan,
    model: &dyn ChatModel,
    counter: &dyn TokenCounter,
    jobs: usize,
    dir: &Path,
    progress: &dyn Fn(usize),
) -> Result<RunOutcome, RunError> {
    let (mut journal, done) = Journal::open(dir)?;
    let mut done = done.into_iter().map(|record| (record.key.clone(), record)).collect::<HashMap<_, _>>();
    let keys = plan.cases.iter().map(|case| case.key.as_str()).collect::<std::collections::HashSet<_>>();
    if let Some(foreign) = done.keys().find(|key| !keys.contains(key.as_str())) {
        return Err(RunError::Foreign { key: foreign.clone() });
    }
    let missing = (0..plan.cases.len()).filter(|index| !done.contains_key(&plan.cases[*index].key)).collect::<Vec<_>>();
    let resumed = plan.cases.len() - missing.len();
    progress(resumed);
    let mut seconds = BTreeMap::new();
    let mut finished = resumed;
    run_cases(plan, &missing, model, counter, jobs, |index, result, elapsed| {
        journal.append(&result)?;
        seconds.insert(plan.cases[index].key.clone(), elapsed);
        done.insert(result.record.key.clone(), result.record);
        finished += 1;
        progress(finished);
        Ok(())
    })?;
    let records = plan.cases.iter().filter_map(|case| done.remove(&case.key)).collect();
    Ok(RunOutcome { records, resumed, seconds })
}

/// Runs cases on `jobs` threads and hands their results over in order.
fn run_cases(
    plan: &Plan,
    missing: &[usize],
    model: &dyn ChatModel,
    counter: &dyn TokenCounter,
    jobs: usize,
    mut finish: impl FnMut(usize, CaseResult, f64) -> std::io::Result<()>,
) -> Result<(), RunError> {
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, missing.len().max(1)) {
            let sender = sender.clone();
            let (next, stop) = (&next, &stop);
            scope.spawn(move || work(plan, missing, model, counter, next, stop, &sender));
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut place = 0;
        for done in receiver {
            let (at, result, elapsed) = match done {
                Ok(done) => done,
                Err(error) => {
                    stop.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            };
            waiting.insert(at, (result, elapsed));
            while let Some((result, elapsed)) = waiting.remove(&place) {
                if let Err(source) = finish(missing[place], result, elapsed) {
                    stop.store(true, Ordering::Relaxed);
                    return Err(RunError::Write(source));
                }
                place += 1;
            }
        }
        Ok(())
    })
}

type Done = Result<(usize, CaseResult, f64), RunError>;

/// One thread: a runtime of its own, one case at a time.
fn work(
    plan: &Plan,
    missing: &[usize],
    model: &dyn ChatModel,
    counter: &dyn TokenCounter,
    next: &AtomicUsize,
    stop: &AtomicBool,
    sender: &mpsc::Sender<Done>,
) {
    let runtime = match tokio::runtime::Builder::new_current_thread().build() {
        Ok(runtime) => runtime,
        Err(error) => return drop(sender.send(Err(RunError::Runtime(error)))),
    };
    while !stop.load(Ordering::Relaxed) {
        let place = next.fetch_add(1, Ordering::Relaxed);
        let Some(index) = missing.get(place) else { return };
        let started = Instant::now();
        let result = runtime.block_on(run_case(&plan.cases[*index], model, counter));
        if sender.send(Ok((place, result, started.elapsed().as_secs_f64()))).is_err() {
            return;
        }
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
    #[error("cannot write a record: {0}; what is finished is kept, the same command resumes")]
    Write(std::io::Error),
    /// A thread's runtime cannot start.
    #[error("cannot start a worker: {0}")]
    Runtime(std::io::Error),
}

impl From<std::io::Error> for RunError {
    fn from(error: std::io::Error) -> Self {
        RunError::Write(error)
    }
}
