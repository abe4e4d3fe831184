//! CPU time of the calling thread: on a shared machine the only time that says something.

use rustix::time::{ClockId, clock_gettime};

/// What came of the work, and the nanoseconds of CPU time that it took this thread.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let start = now();
    let outcome = work();
    (outcome, now().saturating_sub(start))
}

fn now() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // The clock starts at 0 with the thread.
    u64::try_from(time.tv_sec * 1_000_000_000 + time.tv_nsec).unwrap_or_default()
}
