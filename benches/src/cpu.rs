//! CPU time of the calling thread: on a shared machine the only time that says something.

use cpu_time::ThreadTime;

/// What came of the work, and the nanoseconds of CPU time that it took this thread.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let start = ThreadTime::now();
    let outcome = work();
    (outcome, u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX))
}
