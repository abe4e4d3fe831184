//! Faults at a chosen step of this thread's file work, and the list of steps that were done.

use std::cell::RefCell;
use std::io;
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiskFault {
    /// That step fails with this; later ones work.
    Once(io::ErrorKind),
    /// Nothing happens from that step on.
    Kill,
}

#[derive(Default)]
struct FaultPlan {
    fault: Option<(usize, DiskFault)>,
    steps: Vec<String>,
}

thread_local! {
    static PLAN: RefCell<FaultPlan> = RefCell::default();
}

/// Runs with a fault at the step of this number, counted from 0; gives the steps that were asked
/// for.
pub(crate) fn with<T>(
    fault: Option<(usize, DiskFault)>,
    run: impl FnOnce() -> T,
) -> (T, Vec<String>) {
    PLAN.set(FaultPlan {
        fault,
        steps: Vec::new(),
    });
    let result = run();
    (result, PLAN.take().steps)
}

pub(super) fn step(what: &str, path: &Path) -> io::Result<()> {
    PLAN.with_borrow_mut(|plan| {
        let number = plan.steps.len();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        plan.steps.push(format!("{what} {name}"));
        match plan.fault {
            Some((at, DiskFault::Once(kind))) if at == number => Err(kind.into()),
            Some((at, DiskFault::Kill)) if at <= number => Err(io::Error::other("killed")),
            _ => Ok(()),
        }
    })
}
