//! The two-sided sign-flip test of paired unit differences.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Up to this many units every pattern of signs is tried; above, a sample of them.
const MOST_EXACT: usize = 16;
const SAMPLE: u32 = 20_000;
const SEED: u64 = 0x51_6F11;
/// Fewer units cannot reach 5 %, whatever they show: 2 / 2^5 is more.
pub(crate) const FEWEST_UNITS: usize = 6;

/// The share of sign patterns whose mean is at least as far from 0 as that of `differences`.
pub(crate) fn p_value(differences: &[f64]) -> f64 {
    let observed = differences.iter().sum::<f64>().abs();
    // Sums of the same numbers in other signs differ by rounding where they are equal.
    let reached = |sum: f64| sum.abs() >= observed * (1.0 - 1e-12);
    if differences.len() <= MOST_EXACT {
        let patterns = 1_u32 << differences.len();
        let hits = (0..patterns).filter(|signs| reached(flipped(differences, u64::from(*signs)))).count();
        return hits as f64 / f64::from(patterns);
    }
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let hits = (0..SAMPLE).filter(|_| reached(flipped_at_random(differences, &mut random))).count();
    (hits + 1) as f64 / f64::from(SAMPLE + 1)
}

fn flipped(differences: &[f64], signs: u64) -> f64 {
    let signed = |(at, value): (usize, &f64)| if signs >> at & 1 == 1 { -value } else { *value };
    differences.iter().enumerate().map(signed).sum()
}

fn flipped_at_random(differences: &[f64], random: &mut ChaCha8Rng) -> f64 {
    differences.chunks(64).map(|chunk| flipped(chunk, random.next_u64())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values: `scipy.stats.permutation_test(..., permutation_type="samples", n_resamples=inf)`, SciPy 1.17.1.
    #[test]
    fn agrees_with_scipy() {
        assert_eq!(p_value(&[0.3, 0.1, 0.2, 0.4, 0.25, 0.15]), 2.0 / 64.0);
        assert_eq!(p_value(&[0.3, -0.1, 0.2, -0.4, 0.25, 0.15, 0.05]), 70.0 / 128.0);
    }

    #[test]
    fn many_units_are_sampled_and_agree_with_the_normal() {
        let differences: Vec<f64> = (0..40).map(|at| if at % 4 == 0 { -1.0 } else { 1.0 }).collect();
        // Sum 20 of 40 signs: P(at most 10 or at least 30 of 40 heads) = 0.00222, the exact binomial.
        assert!((p_value(&differences) - 0.00222).abs() < 0.0015);
    }
}
