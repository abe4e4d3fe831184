//! Summarizers that fail or write nothing of use. A failure keeps everything in the context, and
//! must not look like memory.

use compactometer_suites::embedded::smoke;

use crate::honesty::stage::{Staged, mock, named, run};

/// A failure delays a compaction, so a fact may be rewritten once instead of twice. On smoke with
/// three seeds this moved a headline by -.067 to +.008; what failures must never earn is more than
/// that.
const DELAY: f64 = 0.015;

const STRATEGIES: [&str; 3] = ["summarize", "chained", "handoff"];

fn with(model: &str) -> Staged {
    run(smoke().unwrap(), named(&STRATEGIES), &*mock(model), None)
}

#[test]
fn failures_raise_nobodys_headline() {
    let plain = with("mock:strong");
    for model in ["mock:strong+timeout=0.9", "mock:strong+empty=0.7"] {
        let failing = with(model);
        for strategy in STRATEGIES {
            for metric in ["bound_recall_corrected", "context_recall_corrected"] {
                let [before, after] =
                    [&plain, &failing].map(|staged| staged.value(strategy, metric));
                println!("{model}: {metric} of {strategy} {before:.3} to {after:.3}");
                assert!(
                    after <= before + DELAY,
                    "{model}: {metric} of {strategy} {before} to {after}"
                );
            }
        }
        assert!(failing.value("handoff", "failed_share") > 0.05);
        let supported = failing
            .group
            .comparisons
            .iter()
            .filter(|one| one.p_holm.is_some())
            .collect::<Vec<_>>();
        assert!(supported.is_empty(), "{model}: {supported:?}");
    }
}
