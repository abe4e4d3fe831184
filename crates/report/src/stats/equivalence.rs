//! Whether a mean difference is smaller than a margin: two one-sided tests (Schuirmann, 1987, "A
//! comparison of the two one-sided tests procedure and the power approach for assessing the
//! equivalence of average bioavailability").
//!
//! Absent on purpose: the margin, which whoever asks has to justify.

use super::paired::PairedSums;
use super::{LEVEL, T_ALONE, sign_flip};

/// What unit differences say about a margin on either side of 0, before Holm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Equivalence {
    /// P of such differences where the true one is minus the margin or lower: small where the loss
    /// is under the margin.
    pub(crate) p_not_worse: f64,
    /// P of such differences where the true one is the margin or higher: small where the gain is
    /// under the margin.
    pub(crate) p_not_better: f64,
}

impl Equivalence {
    /// The larger of both: at most [`LEVEL`] where the difference is supported to lie within the
    /// margin. Over several comparisons it is this p that Holm's method adjusts.
    pub(crate) fn p(&self) -> f64 {
        self.p_not_worse.max(self.p_not_better)
    }
}

/// Both tests, each a t test and, under [`T_ALONE`] units, also a sign-flip test: the larger p
/// counts.
///
/// Nothing for under two differences, where one is not a finite number, or for a margin that is not
/// over 0.
pub(crate) fn equivalent(differences: &[f64], margin: f64) -> Option<Equivalence> {
    if margin.is_nan() || margin <= 0.0 || !differences.iter().all(|value| value.is_finite()) {
        return None;
    }
    PairedSums::new(differences)?;
    let losses: Vec<f64> = differences.iter().map(|value| -value).collect();
    Some(Equivalence {
        p_not_worse: p_above(differences, -margin)?,
        p_not_better: p_above(&losses, -margin)?,
    })
}

/// P of differences as high as these where the true mean is `value`.
fn p_above(differences: &[f64], value: f64) -> Option<f64> {
    let t = PairedSums::new(differences)?.p_above(value);
    // Where the t test does not reject, the other one cannot change that.
    if differences.len() >= T_ALONE || t > LEVEL {
        return Some(t);
    }
    let shifted: Vec<f64> = differences
        .iter()
        .map(|difference| difference - value)
        .collect();
    Some(t.max(sign_flip::p_above(&shifted)))
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{Rng, SeedableRng};

    use super::*;

    fn is_within(found: Option<Equivalence>) -> bool {
        found.is_some_and(|found| found.p() <= LEVEL)
    }

    const DIFFERENCES: [f64; 8] = [-0.012, -0.003, 0.022, -0.008, -0.005, 0.011, 0.001, -0.007];

    /// Expected values: `statsmodels.stats.weightstats.DescrStatsW(...).ttost_mean(-.008, .008)`,
    /// statsmodels 0.15.0, gives .0449 and .0409; of the 256 sign patterns 10 and 12 reach the
    /// sums.
    #[test]
    fn both_tests_agree_with_statsmodels_and_the_sign_patterns() {
        let found = equivalent(&DIFFERENCES, 0.008).unwrap();
        assert!(
            (found.p_not_worse - 0.04489161025971565).abs() < 1e-12,
            "{found:?}"
        );
        assert!(
            (found.p_not_better - 12.0 / 256.0).abs() < 1e-12,
            "{found:?}"
        );
        assert!(is_within(Some(found)) && found.p() == found.p_not_better);
        assert!(!is_within(equivalent(&DIFFERENCES, 0.004)));
    }

    #[test]
    fn what_decides_nothing_supports_nothing() {
        assert_eq!(equivalent(&[0.0], 0.05), None);
        assert_eq!(equivalent(&[0.0, f64::NAN, 0.0], 0.05), None);
        for margin in [0.0, -0.05, f64::NAN] {
            assert_eq!(equivalent(&[0.0; 9], margin), None, "{margin}");
        }
        assert!(
            !is_within(equivalent(&[0.0; 4], 0.05)),
            "1 of 16 sign patterns is over 5 %"
        );
        assert!(is_within(equivalent(&[0.0; 5], 0.05)));
        let at_margin = equivalent(&[0.8 - 0.85; 12], 0.05).unwrap();
        assert!(
            at_margin.p_not_worse == 1.0 && at_margin.p_not_better < LEVEL,
            "{at_margin:?}"
        );
    }

    /// Where the true difference is the margin itself, on either side, one in twenty is the most
    /// that may be called equivalent.
    #[test]
    fn the_size_is_one_in_twenty() {
        for (units, sd) in [(6, 0.02), (12, 0.04), (16, 0.02), (40, 0.05)] {
            for true_difference in [-0.05, 0.05] {
                let share = share_equivalent(units, true_difference, sd);
                // Three standard errors of so many draws over .05.
                assert!(
                    share <= 0.0647,
                    "{units} units, {true_difference}, sd {sd}: {share}"
                );
            }
        }
        // The bound is tight, so that the test is of this level and not of a much smaller one.
        assert!(share_equivalent(40, 0.05, 0.05) > 0.035);
        assert!(
            share_equivalent(16, 0.0, 0.02) > 0.99,
            "no difference and little spread"
        );
        assert!(share_equivalent(16, 0.1, 0.02) == 0.0, "twice the margin");
    }

    const DRAWS: usize = 2_000;

    fn share_equivalent(units: usize, mean: f64, sd: f64) -> f64 {
        let mut random = ChaCha8Rng::seed_from_u64(0x707);
        let mut one = || {
            let differences: Vec<f64> = (0..units)
                .map(|_| mean + sd * normal(&mut random))
                .collect();
            is_within(equivalent(&differences, 0.05))
        };
        (0..DRAWS).filter(|_| one()).count() as f64 / DRAWS as f64
    }

    /// A standard normal number, by the method of Box and Muller.
    fn normal(random: &mut ChaCha8Rng) -> f64 {
        let mut share = || ((random.next_u64() >> 11) as f64 + 0.5) / libm::exp2(53.0);
        libm::sqrt(-2.0 * libm::log(share())) * libm::cos(std::f64::consts::TAU * share())
    }
}
