//! Differences of paired units: their mean, spread, t tests and t bounds.

use super::{mean, student};

/// .80 - .85 is not -.05 in the last bit; scores are kept with nine digits.
const ROUNDING: f64 = 1e-12;

/// Differences of units, summed up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PairedSums {
    /// Units.
    pub(crate) units: usize,
    /// Mean difference.
    pub(crate) mean: f64,
    /// Standard deviation of the differences, with n - 1.
    pub(crate) sd: f64,
}

impl PairedSums {
    /// Nothing for under two differences.
    pub(crate) fn new(differences: &[f64]) -> Option<Self> {
        let mean = mean(differences).filter(|_| differences.len() > 1)?;
        let squares: f64 = differences
            .iter()
            .map(|value| (value - mean) * (value - mean))
            .sum();
        let spread = libm::sqrt(squares / (differences.len() - 1) as f64);
        // Differences that are equal on paper differ in their last bits, and a test would take that
        // for evidence.
        let largest = differences
            .iter()
            .fold(0.0_f64, |most, value| most.max(value.abs()));
        let sd = if spread <= 1e-12 * largest {
            0.0
        } else {
            spread
        };
        Some(PairedSums {
            units: differences.len(),
            mean,
            sd,
        })
    }

    /// Degrees of freedom.
    pub(crate) fn freedom(&self) -> f64 {
        (self.units - 1) as f64
    }

    /// One-sided bounds at this level: each is exceeded by the true mean, on its side, with that
    /// probability.
    pub(crate) fn bounds(&self, level: f64) -> (f64, f64) {
        let reach = student::quantile(1.0 - level, self.freedom()) * self.error();
        (self.mean - reach, self.mean + reach)
    }

    /// P of a mean at least this high where the true one is `value`.
    pub(crate) fn p_above(&self, value: f64) -> f64 {
        PairedSums {
            mean: -self.mean,
            ..*self
        }
        .p_below(-value)
    }

    /// P of a mean at most this high where the true one is `value`. Equal differences leave no
    /// doubt: 0, or 1 for a mean of the value itself, up to rounding, or above.
    pub(crate) fn p_below(&self, value: f64) -> f64 {
        let distance = self.mean - value;
        if self.sd == 0.0 {
            return if distance < -ROUNDING { 0.0 } else { 1.0 };
        }
        student::cdf(distance / self.error(), self.freedom())
    }

    /// P of a mean at least this far from 0 on either side where the true one is 0.
    pub(crate) fn p_two_sided(&self) -> f64 {
        if self.sd == 0.0 {
            return if self.mean == 0.0 { 1.0 } else { 0.0 };
        }
        2.0 * student::cdf(-self.mean.abs() / self.error(), self.freedom())
    }

    fn error(&self) -> f64 {
        self.sd / libm::sqrt(self.units as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFFERENCES: [f64; 8] = [-0.12, -0.03, 0.02, -0.08, -0.05, -0.11, 0.01, -0.07];

    /// Expected values: `scipy.stats.ttest_1samp` and its `confidence_interval(0.9)`, SciPy 1.17.1.
    #[test]
    fn tests_and_bounds_agree_with_scipy() {
        let paired = PairedSums::new(&DIFFERENCES).unwrap();
        let (low, high) = paired.bounds(0.05);
        let found = [
            paired.mean,
            paired.sd,
            low,
            high,
            paired.p_below(-0.05),
            paired.p_above(-0.05),
            paired.p_two_sided(),
        ];
        let expected = [
            -0.05375,
            0.051530157605591924,
            -0.0882666871234949,
            -0.0192333128765051,
            0.421389831203568,
            0.578610168796432,
            0.021398616373381533,
        ];
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (found - expected).abs() < 1e-12,
                "{found} is not {expected}"
            );
        }
    }

    #[test]
    fn equal_differences_have_bounds_without_width_and_no_doubt() {
        // 0.1 + 0.2 is not 0.3 in the last bit.
        let paired = PairedSums::new(&[0.3, 0.1 + 0.2, 0.3]).unwrap();
        assert_eq!(paired.sd, 0.0);
        assert_eq!(paired.bounds(0.05), (paired.mean, paired.mean));
        assert_eq!((paired.p_below(0.5), paired.p_above(0.5)), (0.0, 1.0));
        assert_eq!(PairedSums::new(&[0.0; 4]).unwrap().p_two_sided(), 1.0);
        let margin = PairedSums::new(&[0.8 - 0.85; 6]).unwrap();
        assert_eq!(
            (margin.p_above(-0.05), margin.p_below(-0.05)),
            (1.0, 1.0),
            "{}",
            margin.mean
        );
        assert_eq!(PairedSums::new(&[0.1]), None);
    }
}
