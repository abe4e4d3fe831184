//! How the values of metrics are made: of units, with intervals, or undefined with a reason.

use compactometer_formats::summary::MetricValue;

use super::unit::MetricUnit;
use crate::data::{StrategyRecords, UnitRecords};
use crate::stats::{interval, mean, nine_digits};

/// The numbers of a summary: nine digits, with their unit.
pub(crate) fn rounded(unit: MetricUnit, value: MetricValue) -> MetricValue {
    let [low, high] = [value.low, value.high].map(|end| end.map(nine_digits));
    MetricValue {
        value: value.value.map(nine_digits),
        low,
        high,
        unit: unit.name().to_owned(),
        ..value
    }
}

/// The interval cut off at the least that the value can be and, of a share, at 1.
pub(crate) fn within(unit: MetricUnit, least: f64, value: MetricValue) -> MetricValue {
    let most = if unit == MetricUnit::Share {
        1.0
    } else {
        f64::INFINITY
    };
    MetricValue {
        low: value.low.map(|low| low.max(least)),
        high: value.high.map(|high| high.min(most)),
        ..value
    }
}

/// No value; [`rounded`] adds the unit.
pub(crate) fn undefined(reason: impl Into<String>) -> MetricValue {
    MetricValue::undefined("", reason)
}

/// A value of `n` units; [`rounded`] adds the unit.
pub(crate) fn defined(value: f64, interval: Option<(f64, f64)>, n: usize) -> MetricValue {
    let (low, high) = interval.unzip();
    MetricValue {
        value: Some(value),
        low,
        high,
        n,
        unit: String::new(),
        reason: None,
    }
}

/// The mean of a number over the units that have it, with its interval.
pub(crate) fn over_units(
    strategy: &StrategyRecords,
    reason: &str,
    number: impl Fn(&UnitRecords) -> Option<f64>,
) -> MetricValue {
    let values: Vec<f64> = strategy.units.iter().filter_map(number).collect();
    let Some(value) = mean(&values) else {
        return undefined(reason);
    };
    let is_one = values.iter().all(|other| *other == values[0]);
    // The mean of equal numbers differs from them by rounding.
    defined(
        if is_one { values[0] } else { value },
        interval::of_mean(&values),
        values.len(),
    )
}

/// A statistic of units that each count so many times, with its interval; `n` of `units` carry a
/// value.
pub(crate) fn estimated(
    units: usize,
    n: usize,
    statistic: impl Fn(&[u32]) -> Option<f64>,
) -> MetricValue {
    let value = statistic(&vec![1; units]);
    MetricValue {
        value,
        ..defined(0.0, interval::of_statistic(units, n, statistic), n)
    }
}

pub(crate) fn weighted_mean(values: &[f64], times: &[u32]) -> Option<f64> {
    let drawn: u32 = times.iter().sum();
    let sum: f64 = values
        .iter()
        .zip(times)
        .map(|(value, times)| value * f64::from(*times))
        .sum();
    (drawn > 0).then(|| sum / f64::from(drawn))
}

/// `part / whole`, if `whole` is over 0.
pub(crate) fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}
