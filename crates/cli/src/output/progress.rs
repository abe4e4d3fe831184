//! A progress line on a terminal; silence elsewhere.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::terminal;

/// A bar over `total` of the named things. It is hidden if stderr is not a terminal or the command
/// is quiet.
pub(crate) fn bar(total: usize, what: &str, quiet: bool) -> ProgressBar {
    let target = if quiet {
        ProgressDrawTarget::hidden()
    } else {
        terminal::progress()
    };
    let bar = ProgressBar::with_draw_target(Some(total as u64), target);
    let style = ProgressStyle::with_template(&format!(
        "{{bar:30}} {{pos}}/{{len}} {what}, {{per_sec}}, {{eta}} left"
    ));
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Says once, soon after the start, how long the work will take, if that is over a minute. A bar is
/// shown on a terminal only.
pub(crate) struct Forecast {
    begun: Instant,
    total: usize,
    before: AtomicUsize,
    is_said: AtomicBool,
}

/// After this time a rate can be measured.
const MEASURED: Duration = Duration::from_secs(5);
/// Shorter work needs no forecast.
const LONG: Duration = Duration::from_secs(60);

impl Forecast {
    pub(crate) fn new(total: usize, quiet: bool) -> Self {
        let before = AtomicUsize::new(usize::MAX);
        Forecast {
            begun: Instant::now(),
            total,
            before,
            is_said: AtomicBool::new(quiet),
        }
    }

    /// Takes the number of things that are done, among them those of an earlier start.
    pub(crate) fn done(&self, done: usize) {
        let _ =
            self.before
                .compare_exchange(usize::MAX, done, Ordering::Relaxed, Ordering::Relaxed);
        let now = done.saturating_sub(self.before.load(Ordering::Relaxed));
        if let Some(left) = remaining(self.begun.elapsed(), now, self.total.saturating_sub(done))
            && !self.is_said.swap(true, Ordering::Relaxed)
        {
            let minutes = (left.as_secs_f64() / 60.0).ceil();
            let plural = if minutes > 1.0 { "s" } else { "" };
            terminal::note(&format!(
                "about {minutes:.0} minute{plural} left; `--sample` or fewer strategies make it shorter, and after Ctrl-C the same command resumes"
            ));
        }
    }
}

/// The time that is left at the rate so far, if it is known and long.
fn remaining(elapsed: Duration, done: usize, left: usize) -> Option<Duration> {
    let rate = done as f64 / elapsed.as_secs_f64();
    let left = Duration::try_from_secs_f64(left as f64 / rate).ok()?;
    (elapsed >= MEASURED && left + elapsed > LONG).then_some(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_work_with_a_known_rate_has_a_forecast() {
        let seconds = Duration::from_secs;
        assert_eq!(remaining(seconds(5), 10, 240), Some(seconds(120)));
        assert_eq!(remaining(seconds(5), 10, 40), None, "it is over soon");
        assert_eq!(remaining(seconds(2), 10, 1_000), None, "too early to tell");
        assert_eq!(remaining(seconds(9), 0, 1_000), None, "nothing is done yet");
    }
}
