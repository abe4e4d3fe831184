//! 95 % intervals of means and of other statistics over units: Student's t, reaching further on the
//! side of the longer tail (Johnson, 1978, "Modified t tests and confidence intervals for
//! asymmetrical populations").
//!
//! One method at every number of units. On recorded unit scores the BCa bootstrap covered too
//! little, still at 30 units.

use super::{LEVEL, student};

/// Where fewer units than this differ from the most frequent value, there is no interval: what such
/// a sample says of the spread is mostly chance. It also asks for four units.
const FEWEST_APART: usize = 3;
/// Values nearer than this are one value: what lies below is rounding of sums.
const TIE: f64 = 1e-9;

/// The interval of the mean of values by unit.
pub(crate) fn of_mean(values: &[f64]) -> Option<(f64, f64)> {
    let mean = super::mean(values)?;
    around(mean, values.iter().map(|value| value - mean).collect())
}

/// The interval of a statistic that gets how often each of `units` units counts, by leaving out one
/// unit after the other.
///
/// For a mean it is that of [`of_mean`]. `carrying` units have a value; the others change nothing
/// and do not count. Nothing where the statistic is undefined without one of the units.
pub(crate) fn of_statistic(
    units: usize,
    carrying: usize,
    statistic: impl Fn(&[u32]) -> Option<f64>,
) -> Option<(f64, f64)> {
    let mut times = vec![1; units];
    let estimate = statistic(&times)?;
    let mut deviations = Vec::with_capacity(units);
    let mut idle = units.saturating_sub(carrying);
    for unit in 0..units {
        times[unit] = 0;
        let deviation = estimate - statistic(&times)?;
        times[unit] = 1;
        if idle > 0 && deviation == 0.0 {
            idle -= 1;
        } else {
            deviations.push(deviation);
        }
    }
    let others = deviations.len().saturating_sub(1) as f64;
    deviations
        .iter_mut()
        .for_each(|deviation| *deviation *= others);
    around(estimate, deviations)
}

/// The interval around an estimate, from what each unit contributes to it beyond the mean.
fn around(estimate: f64, mut deviations: Vec<f64>) -> Option<(f64, f64)> {
    let mean = super::mean(&deviations)?;
    deviations.sort_by(f64::total_cmp);
    if deviations.len() - most_frequent(&deviations) < FEWEST_APART {
        return None;
    }
    let count = deviations.len() as f64;
    let sum = |power: i32| {
        deviations
            .iter()
            .map(|value| (value - mean).powi(power))
            .sum::<f64>()
    };
    let variance = sum(2) / (count - 1.0);
    let t = -student::quantile(0.5 * LEVEL, count - 1.0);
    let reach = t * libm::sqrt(variance / count);
    // The third moment over the variance, as it enters Johnson's t at the ends of the interval.
    let lean = sum(3) / count / variance * (1.0 + 2.0 * t * t) / (6.0 * count);
    let ends = (
        estimate - reach + lean.min(0.0),
        estimate + reach + lean.max(0.0),
    );
    (ends.0.is_finite() && ends.1.is_finite()).then_some(ends)
}

/// How often the most frequent of sorted values occurs.
fn most_frequent(sorted: &[f64]) -> usize {
    sorted
        .chunk_by(|one, next| next - one < TIE)
        .map(<[f64]>::len)
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SKEWED: [f64; 10] = [0.02, 0.05, 0.05, 0.11, 0.12, 0.20, 0.31, 0.44, 0.71, 0.98];

    fn near(found: (f64, f64), low: f64, high: f64) {
        assert!(
            (found.0 - low).abs() < 1e-9 && (found.1 - high).abs() < 1e-9,
            "{found:?}, not [{low}, {high}]"
        );
    }

    /// Expected values: `scipy.stats.ttest_1samp(...).confidence_interval(.95)`, SciPy 1.17.1; the
    /// upper end of the skewed ones is that of t plus Johnson's term, computed with NumPy.
    #[test]
    fn ends_are_those_of_t_and_reach_further_on_the_longer_tail() {
        near(
            of_mean(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]).unwrap(),
            0.153668569301968,
            0.546331430698033,
        );
        near(
            of_mean(&SKEWED).unwrap(),
            0.068786682276191,
            0.587430727296380,
        );
        near(
            of_mean(&SKEWED.map(|value| -value)).unwrap(),
            -0.587430727296380,
            -0.068786682276191,
        );
    }

    #[test]
    fn leaving_out_units_gives_a_mean_the_interval_of_its_values() {
        let values = [
            Some(0.3),
            None,
            Some(0.1),
            Some(0.7),
            Some(0.4),
            None,
            Some(0.9),
        ];
        let mean = |times: &[u32]| {
            let drawn = || {
                values
                    .iter()
                    .zip(times)
                    .filter_map(|(value, times)| Some(((*value)?, f64::from(*times))))
            };
            Some(
                drawn().map(|(value, times)| value * times).sum::<f64>()
                    / drawn().map(|(_, times)| times).sum::<f64>(),
            )
        };
        let expected = of_mean(&[0.3, 0.1, 0.7, 0.4, 0.9]).unwrap();
        near(of_statistic(7, 5, mean).unwrap(), expected.0, expected.1);
        assert_eq!(
            of_statistic(7, 5, |times| (times[0] > 0).then_some(1.0)),
            None,
            "undefined without a unit"
        );
    }

    /// Expected values: the jackknife's standard error about the mean of the deviations, computed in
    /// Python with t's quantile of SciPy 1.17.1. The deviations of a ratio have a mean beside 0.
    #[test]
    fn the_spread_of_a_ratio_is_about_the_mean_of_its_deviations() {
        let pairs = [(3, 4), (1, 2), (4, 9), (1, 1), (5, 6), (9, 12)];
        let ratio = |times: &[u32]| {
            let drawn = pairs.iter().zip(times);
            let (above, below) = drawn.fold((0, 0), |(above, below), (pair, times)| {
                (above + times * pair.0, below + times * pair.1)
            });
            Some(f64::from(above) / f64::from(below))
        };
        near(
            of_statistic(6, 6, ratio).unwrap(),
            0.363771995325725,
            0.911474158482859,
        );
    }

    #[test]
    fn samples_that_say_little_of_the_spread_have_none() {
        for sample in [
            &[][..],
            &[0.5],
            &[0.1, 0.5, 0.9],
            &[1.0; 16],
            &[0.0, 0.0, 0.0, 0.0, 0.2, 0.4],
        ] {
            assert_eq!(of_mean(sample), None, "{sample:?}");
        }
        assert!(of_mean(&[0.1, 0.3, 0.5, 0.9]).is_some());
        assert!(of_mean(&[0.0, 0.0, 0.0, 0.1, 0.2, 0.4]).is_some());
        // 0.1 + 0.2 is not 0.3 in the last bit.
        assert_eq!(of_mean(&[0.3, 0.1 + 0.2, 0.3, 0.5, 0.6]), None);
    }
}
