//! Sign-flip tests of paired unit differences: exact under 30 units, sampled above.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Up to this many units every pattern of signs counts; above, a sample of them.
const MOST_EXACT: usize = 29;
const SAMPLE: u32 = 20_000;
const SEED: u64 = 0x51_6F11;
/// Fewer units cannot reach 5 %, whatever they show: 2 / 2^5 is more.
pub const FEWEST_UNITS: usize = 6;

/// The share of sign patterns whose mean is at least as far from 0 as that of `differences`.
pub(crate) fn p_value(differences: &[f64]) -> f64 {
    let observed = differences.iter().sum::<f64>().abs();
    // Flipping every sign makes of each pattern its mirror image.
    (2.0 * share_reaching(differences, observed)).min(1.0)
}

/// The share of sign patterns whose mean is at least that of `differences`: small where they lie
/// above 0.
pub(crate) fn p_above(differences: &[f64]) -> f64 {
    share_reaching(differences, differences.iter().sum())
}

fn share_reaching(differences: &[f64], observed: f64) -> f64 {
    // Sums of the same numbers in other signs differ by rounding where they are equal.
    let rounding = 1e-12 * differences.iter().map(|value| value.abs()).sum::<f64>();
    let least = observed - rounding;
    if differences.len() <= MOST_EXACT {
        let patterns = libm::exp2(differences.len() as f64);
        return reaching(differences, least) as f64 / patterns;
    }
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let hits = (0..SAMPLE)
        .filter(|_| flipped_at_random(differences, &mut random) >= least)
        .count();
    (hits + 1) as f64 / f64::from(SAMPLE + 1)
}

/// How many sign patterns reach that sum: the sums of each half in order, then one walk along both.
fn reaching(differences: &[f64], least: f64) -> u64 {
    let (first, second) = differences.split_at(differences.len() / 2);
    let (first, second) = (sums(first), sums(second));
    let mut from = second.len();
    let mut count = 0;
    for sum in first {
        while from > 0 && sum + second[from - 1] >= least {
            from -= 1;
        }
        count += (second.len() - from) as u64;
    }
    count
}

/// The sums under all sign patterns, ascending.
fn sums(differences: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for size in differences.iter().map(|value| value.abs()) {
        let mut merged = Vec::with_capacity(2 * sums.len());
        let mut more = sums.iter().map(|sum| sum + size).peekable();
        for less in sums.iter().map(|sum| sum - size) {
            while let Some(smaller) = more.next_if(|more| *more < less) {
                merged.push(smaller);
            }
            merged.push(less);
        }
        merged.extend(more);
        sums = merged;
    }
    sums
}

fn flipped_at_random(differences: &[f64], random: &mut ChaCha8Rng) -> f64 {
    let flipped = |chunk: &[f64]| -> f64 {
        let signs = random.next_u64();
        let signed =
            |(at, value): (usize, &f64)| if signs >> at & 1 == 1 { -value } else { *value };
        chunk.iter().enumerate().map(signed).sum()
    };
    differences.chunks(64).map(flipped).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values: `scipy.stats.permutation_test(..., permutation_type="samples",
    /// n_resamples=inf)`, SciPy 1.17.1.
    #[test]
    fn agrees_with_scipy() {
        assert_eq!(p_value(&[0.3, 0.1, 0.2, 0.4, 0.25, 0.15]), 2.0 / 64.0);
        let mixed = [0.3, -0.1, 0.2, -0.4, 0.25, 0.15, 0.05];
        assert_eq!(p_value(&mixed), 70.0 / 128.0);
        assert_eq!(p_above(&mixed), 35.0 / 128.0);
        assert_eq!(p_above(&mixed.map(|value| -value)), 99.0 / 128.0);
        let twenty = [
            0.03, 0.06, 0.003, -0.059, -0.015, -0.069, 0.036, 0.164, -0.019, -0.032, 0.079, 0.066,
            0.041, -0.063, 0.027, 0.1, -0.104, -0.016, -0.16, -0.099,
        ];
        assert_eq!(p_above(&twenty), 560_955.0 / libm::exp2(20.0));
    }

    #[test]
    fn no_difference_is_no_evidence() {
        assert_eq!(p_value(&[0.0; 9]), 1.0);
        assert_eq!(p_above(&[0.0; 9]), 1.0);
        assert_eq!(p_above(&[0.05; 5]), 1.0 / 32.0);
    }

    #[test]
    fn many_units_are_sampled_and_agree_with_the_normal() {
        let differences: Vec<f64> = (0..40)
            .map(|at| if at % 4 == 0 { -1.0 } else { 1.0 })
            .collect();
        // Sum 20 of 40 signs: P(at most 10 or at least 30 of 40 heads) = 0.00222, the exact
        // binomial.
        assert!((p_value(&differences) - 0.00222).abs() < 0.0015);
    }
}
