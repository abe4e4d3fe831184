//! What is wrong with the numbers of a spec.

use std::ops::RangeInclusive;

/// Percentages.
pub(crate) const SHARES: RangeInclusive<usize> = 0..=100;

/// Fails if a value is out of range.
pub(crate) fn within<N: PartialOrd + std::fmt::Display>(
    key: &str,
    value: N,
    range: &RangeInclusive<N>,
) -> Result<(), String> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(format!(
        "value `{value}` of `{key}` is out of range; expected `{}` to `{}`",
        range.start(),
        range.end()
    ))
}

/// Fails if one of two values is out of range, or the first is larger.
pub(crate) fn ordered(
    key: &str,
    [low, high]: [usize; 2],
    range: &RangeInclusive<usize>,
) -> Result<(), String> {
    within(key, low, range)?;
    within(key, high, range)?;
    if low > high {
        return Err(format!(
            "`{key}` is `[{low}, {high}]`; expected the smaller number first"
        ));
    }
    Ok(())
}
