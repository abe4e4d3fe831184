//! Gives cases to threads and puts their results back into order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use super::journal_error::JournalError;
use super::rejections::{HeldBack, first_calls};
use super::{Done, RunCases, RunError};

/// Runs cases on `jobs` threads and hands over their results in order. All results that are ready
/// go together, so that one wait for a slow disk serves many cases. When `stop` is set, no thread
/// begins another case.
pub(super) fn run_missing(
    cases: &RunCases<'_>,
    missing: &[usize],
    jobs: usize,
    stop: &AtomicBool,
    mut finish: impl FnMut(Vec<(usize, Done)>) -> Result<(), JournalError>,
) -> Result<(), RunError> {
    let next = AtomicUsize::new(0);
    // A failure of one thread ends this run and not its caller's others.
    let failed = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, missing.len().max(1)) {
            let sender = sender.clone();
            let (next, failed) = (&next, &failed);
            let goes_on = || !failed.load(Ordering::Relaxed) && !stop.load(Ordering::Relaxed);
            scope.spawn(move || work(cases, missing, next, goes_on, &sender));
        }
        drop(sender);
        let mut order = Order::default();
        if missing.len() < cases.plan.cases.len() {
            order.held = HeldBack::resumed();
        }
        let mut finish = |group: Vec<(usize, Done)>| {
            let group = group
                .into_iter()
                .map(|(place, done)| (missing[place], done))
                .collect::<Vec<_>>();
            if group.is_empty() {
                Ok(())
            } else {
                finish(group).map_err(RunError::Write)
            }
        };
        while let Ok(first) = receiver.recv() {
            let ended = std::iter::once(first)
                .chain(receiver.try_iter())
                .try_for_each(|done| order.take(done?));
            if let Err(error) = finish(order.clear()).and(ended) {
                failed.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
        finish(order.rest()?)
    })
}

/// Puts cases back into order and holds them until it is clear that the server takes their
/// requests.
#[derive(Default)]
struct Order {
    /// Cases by their place among the missing ones.
    done: BTreeMap<usize, Done>,
    /// How many have left `done`.
    passed: usize,
    held: HeldBack<(usize, Done)>,
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

    /// The last cases of the run, which are too few to blame the server, if it took any request.
    fn rest(mut self) -> Result<Vec<(usize, Done)>, RunError> {
        self.clear.extend(self.held.rest()?);
        Ok(self.clear)
    }
}

/// One thread with its own runtime; it runs one case at a time.
fn work(
    cases: &RunCases<'_>,
    missing: &[usize],
    next: &AtomicUsize,
    goes_on: impl Fn() -> bool,
    sender: &mpsc::Sender<Result<(usize, Done), RunError>>,
) {
    let runtime = match tokio::runtime::Builder::new_current_thread().build() {
        Ok(runtime) => runtime,
        Err(error) => return drop(sender.send(Err(RunError::Runtime(error)))),
    };
    while goes_on() {
        let place = next.fetch_add(1, Ordering::Relaxed);
        let Some(index) = missing.get(place) else {
            return;
        };
        let done = runtime
            .block_on(cases.run(*index))
            .map(|done| (place, done));
        let is_last = done.is_err();
        if sender.send(done).is_err() || is_last {
            return;
        }
    }
}
