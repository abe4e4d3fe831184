//! When a call may be made, and when again: a rate of requests, and waits that grow, with jitter.
//!
//! Own code: it is a few lines, and a wait must be known apart from an answer's latency, which it
//! is not part of.

use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroU32;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

use super::transfer::TransferLimits;

/// Gives each call its time, evenly spaced.
pub(super) struct Pace {
    between: Duration,
    next: Mutex<Option<Instant>>,
}

impl Pace {
    pub(super) fn new(a_minute: Option<NonZeroU32>) -> Self {
        let between = a_minute.map_or(Duration::ZERO, |count| {
            Duration::from_secs(60) / count.get()
        });
        Pace {
            between,
            next: Mutex::const_new(None),
        }
    }

    /// Waits until the next call may be made.
    pub(super) async fn turn(&self) {
        if self.between.is_zero() {
            return;
        }
        let mut next = self.next.lock().await;
        let at = next.map_or_else(Instant::now, |next| next.max(Instant::now()));
        *next = Some(at + self.between);
        drop(next);
        tokio::time::sleep_until(at).await;
    }
}

impl TransferLimits {
    /// The wait before a call is made for the time after `failed` failures: what the provider asks
    /// for, at least a wait that doubles, up to half of it at random, so that callers that failed
    /// together do not come back together. Nothing where there were too many failures, or the
    /// provider asks for too long a wait.
    pub(super) fn wait(&self, failed: u32, asked_ms: Option<u64>) -> Option<Duration> {
        if failed > self.repeats {
            return None;
        }
        let asked = Duration::from_millis(asked_ms.unwrap_or_default());
        let grown = self
            .first_wait
            .saturating_mul(1 << (failed - 1).min(16))
            .min(self.longest_wait);
        let jittered = grown.mul_f64(0.5 + 0.5 * chance());
        (asked <= self.longest_wait).then(|| jittered.max(asked))
    }
}

/// A number from 0 to 1 from the system's randomness: a wait is not part of a result.
fn chance() -> f64 {
    RandomState::new().hash_one(()) as f64 / u64::MAX as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_with_jitter_up_to_the_longest() {
        let limits = TransferLimits {
            repeats: 9,
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(20),
            ..TransferLimits::default()
        };
        for (failed, most) in [
            (1, 1.0),
            (2, 2.0),
            (3, 4.0),
            (5, 16.0),
            (6, 20.0),
            (9, 20.0),
        ] {
            let wait = limits
                .wait(failed, None)
                .expect("asked again")
                .as_secs_f64();
            assert!(wait >= most / 2.0 && wait <= most, "{failed}: {wait}");
        }
        assert_eq!(limits.wait(10, None), None, "too many failures");
        let waits = (0..20)
            .map(|_| limits.wait(6, None))
            .collect::<std::collections::HashSet<_>>();
        assert!(waits.len() > 1, "no jitter");
    }

    #[test]
    fn a_provider_is_obeyed_unless_it_asks_for_too_long() {
        let limits = TransferLimits {
            longest_wait: Duration::from_secs(20),
            ..TransferLimits::default()
        };
        assert_eq!(limits.wait(1, Some(15_000)), Some(Duration::from_secs(15)));
        assert_eq!(limits.wait(1, Some(20_001)), None);
    }

    #[tokio::test(start_paused = true)]
    async fn calls_are_spaced_by_the_rate() {
        let (pace, start) = (Pace::new(NonZeroU32::new(30)), Instant::now());
        for call in 0..3 {
            pace.turn().await;
            assert_eq!(start.elapsed(), Duration::from_secs(2 * call));
        }
        tokio::time::sleep(Duration::from_secs(60)).await;
        pace.turn().await;
        assert_eq!(
            start.elapsed(),
            Duration::from_secs(64),
            "an idle minute saves nothing up"
        );
    }
}
