//! CPU time of the calling thread, the only meaningful time on a shared machine.

use cpu_time::ThreadTime;

/// The result of the work, and the nanoseconds of CPU time that this thread took for it.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let start = ThreadTime::now();
    let outcome = work();
    (
        outcome,
        u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX),
    )
}
