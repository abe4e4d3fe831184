//! The rule of the gate for one list of unit differences.
//!
//! Absent on purpose: what the differences are of, and Holm's method over several lists, which
//! needs them all.

use crate::stats::paired::PairedSums;
use crate::stats::{FEWEST_UNITS, LEVEL, T_ALONE, sign_flip};

use super::GateVerdict;

/// Level of the lower bound and of the tests for a pass. At .05 a loss of exactly the margin passes
/// in one of twenty gates by construction, and in 5.1 % of 8,000 simulated ones; .05 is the most
/// that may.
pub(crate) const PASS_LEVEL: f64 = 0.04;

/// What the units say, before Holm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarginTest {
    pub(crate) paired: PairedSums,
    /// P of such differences where the true one is minus the margin, against a better one.
    pub(crate) p_pass: f64,
    /// The same against a larger loss.
    pub(crate) p_regression: f64,
}

impl MarginTest {
    /// One-sided bounds of the mean difference: the lower of 96 %, the upper of 95 %. The tests
    /// need none, and simulated gates are many.
    pub(crate) fn bounds(&self) -> (f64, f64) {
        (
            self.paired.bounds(PASS_LEVEL).0,
            self.paired.bounds(LEVEL).1,
        )
    }

    /// Whether the upper bound is under 0.
    fn is_worse(&self) -> bool {
        self.paired.p_below(0.0) < LEVEL
    }
}

/// Nothing for under two differences, or where one is not a finite number: every comparison with
/// such a one would be false, and read as a pass.
pub(crate) fn judge(differences: &[f64], margin: f64) -> Option<MarginTest> {
    if !differences.iter().all(|value| value.is_finite()) {
        return None;
    }
    let paired = PairedSums::new(differences)?;
    let shifted = |sign: f64| {
        differences
            .iter()
            .map(|value| sign * (value + margin))
            .collect::<Vec<_>>()
    };
    let p_pass = both(&paired, paired.p_above(-margin), PASS_LEVEL, || {
        sign_flip::p_above(&shifted(1.0))
    });
    let p_regression = both(&paired, paired.p_below(-margin), LEVEL, || {
        sign_flip::p_above(&shifted(-1.0))
    });
    Some(MarginTest {
        paired,
        p_pass,
        p_regression,
    })
}

/// The p of the t test, or the larger of both where the t test alone would decide and there are few
/// units.
fn both(paired: &PairedSums, t: f64, level: f64, flips: impl FnOnce() -> f64) -> f64 {
    if paired.units >= T_ALONE || t > level {
        t
    } else {
        t.max(flips())
    }
}

/// The fewest units that can decide anything among so many tests: the most extreme of 2^G patterns
/// of signs must be rare.
pub(crate) fn fewest(tests: usize) -> usize {
    let mut units = FEWEST_UNITS;
    while libm::exp2(-(units as f64)) * tests as f64 > LEVEL {
        units += 1;
    }
    units
}

/// The verdict, given the p of a regression after Holm over this number of tests.
pub(crate) fn verdict(judged: &MarginTest, p_holm: f64, tests: usize) -> GateVerdict {
    if judged.paired.units < fewest(tests) {
        GateVerdict::Inconclusive
    } else if p_holm <= LEVEL {
        GateVerdict::Regression
    } else if judged.p_pass > PASS_LEVEL {
        GateVerdict::Inconclusive
    } else if judged.is_worse() {
        GateVerdict::PassWorse
    } else {
        GateVerdict::Pass
    }
}

/// The verdict of a gate on these differences if all other tests find nothing: Holm's first step.
pub(crate) fn alone(differences: &[f64], margin: f64, tests: usize) -> GateVerdict {
    let found = judge(differences, margin);
    found.map_or(GateVerdict::Inconclusive, |judged| {
        verdict(
            &judged,
            (judged.p_regression * tests as f64).min(1.0),
            tests,
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(mean: f64, units: usize) -> Vec<f64> {
        (0..units)
            .map(|at| mean + 0.01 * (at % 5) as f64 - 0.02)
            .collect()
    }

    #[test]
    fn clear_differences_are_told() {
        assert_eq!(alone(&around(0.0, 15), 0.05, 1), GateVerdict::Pass);
        assert_eq!(alone(&around(-0.025, 15), 0.05, 1), GateVerdict::PassWorse);
        assert_eq!(
            alone(&around(-0.05, 15), 0.05, 1),
            GateVerdict::Inconclusive
        );
        assert_eq!(
            alone(&[0.8 - 0.85; 12], 0.05, 1),
            GateVerdict::Inconclusive,
            "a loss of the margin itself"
        );
        assert_eq!(alone(&around(-0.1, 15), 0.05, 1), GateVerdict::Regression);
    }

    #[test]
    fn a_difference_is_worse_where_its_upper_bound_is_under_0() {
        for mean in [-0.04, -0.01, -0.007, -0.006, -0.005, 0.0, 0.01] {
            let judged = judge(&around(mean, 15), 0.05).unwrap();
            assert_eq!(
                judged.is_worse(),
                judged.bounds().1 < 0.0,
                "{mean}: {judged:?}"
            );
        }
        assert!(
            judge(&[-0.01; 8], 0.05).unwrap().is_worse()
                && !judge(&[0.0; 8], 0.05).unwrap().is_worse()
        );
    }

    #[test]
    fn few_units_decide_nothing_whatever_they_show() {
        assert_eq!(alone(&[-0.9; 4], 0.05, 1), GateVerdict::Inconclusive);
        assert_eq!(alone(&[0.0; 4], 0.05, 1), GateVerdict::Inconclusive);
        assert_eq!(alone(&[0.0], 0.05, 1), GateVerdict::Inconclusive);
        assert_eq!(alone(&[], 0.05, 1), GateVerdict::Inconclusive);
        assert_eq!(alone(&[-0.9; 5], 0.05, 1), GateVerdict::Regression);
        assert_eq!(
            (fewest(1), fewest(2), fewest(8)),
            (5, 6, 8),
            "2^-5 = .031, 2 / 2^6, 8 / 2^8"
        );
        assert_eq!(alone(&[-0.9; 7], 0.05, 8), GateVerdict::Inconclusive);
    }

    /// With one outlier, neither test is clear, so the gate must not pass.
    #[test]
    fn both_tests_must_agree_under_thirty_units() {
        let mut differences = vec![0.02; 9];
        differences.push(-1.5);
        assert_eq!(alone(&differences, 0.05, 1), GateVerdict::Inconclusive);
        // The t test alone would pass these: t = 2.05 over 2.015's critical value; 3 of 64 sign
        // patterns reach them.
        let judged = judge(&[0.2, 0.2, 0.2, 0.2, 0.2, -0.06], 0.05).unwrap();
        assert!(judged.p_pass >= 1.0 / 32.0, "{judged:?}");
    }

    #[test]
    fn what_is_no_number_decides_nothing() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let found = alone(&[0.0, 0.01, bad, 0.0, 0.02, 0.01], 0.05, 1);
            assert_eq!(found, GateVerdict::Inconclusive, "{bad}");
        }
    }
}
