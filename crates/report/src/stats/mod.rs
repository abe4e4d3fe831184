//! Intervals and tests over units of statistics. Everything random is seeded: same numbers in,
//! same numbers out, on every platform.
//!
//! Absent on purpose: what is compared with what, and verdicts.

pub(crate) mod bootstrap;
#[cfg(test)]
mod coverage;
pub(crate) mod equivalence;
pub(crate) mod family;
pub(crate) mod interval;
pub(crate) mod kendall;
pub(crate) mod normal;
pub(crate) mod paired;
pub(crate) mod planning;
pub(crate) mod proportion;
pub(crate) mod sign_flip;
mod student;
pub(crate) mod tau;

/// Level of every test for a difference or a regression. Intervals leave half of it on each side.
pub(crate) const LEVEL: f64 = 0.05;
/// Under this many units nothing is decided.
pub(crate) const FEWEST_UNITS: usize = 5;
/// Under this many units the sign-flip test must agree with the t test.
pub(crate) const T_ALONE: usize = 30;

/// The unweighted mean; nothing if there are no numbers.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Nine decimals: what lies beyond is rounding of sums, and shorter numbers read back to the same
/// bits everywhere.
pub(crate) fn nine_digits(value: f64) -> f64 {
    // Adding 0 makes a negative zero a plain one.
    (value * 1e9).round() / 1e9 + 0.0
}

/// The place between two numbers up to which `is_below` holds, found by halving.
fn halved(mut low: f64, mut high: f64, is_below: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if is_below(middle) {
            low = middle
        } else {
            high = middle
        }
    }
    0.5 * (low + high)
}

/// The quantile at `share` of sorted numbers, with linear interpolation between neighbours.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = share.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    Some(sorted[below] + (place - below as f64) * (sorted[above] - sorted[below]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values: `numpy.quantile`, numpy 2, method `linear`.
    #[test]
    fn quantiles_interpolate() {
        let sorted = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(quantile(&sorted, 0.5), Some(3.0));
        assert!((quantile(&sorted, 0.95).unwrap() - 7.4).abs() < 1e-12);
        assert_eq!(quantile(&sorted, 1.0), Some(8.0));
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(mean(&[]), None);
    }
}
