//! Which scale of published limits suits the conversations of a run.

use compactometer_formats::record::{Family, Record};

use crate::data::{ProtocolRun, StrategyRecords, is_applied};

/// The strategies under test whose published trigger the median conversation never reaches, in the
/// run's order, and the largest scale at which it would, rounded down to two significant digits.
pub(crate) fn too_large<'r>(run: &ProtocolRun<'r>) -> Vec<(&'r str, f64)> {
    let tested = run
        .strategies
        .iter()
        .filter(|strategy| strategy.family == Family::Reference);
    tested
        .filter_map(|strategy| Some((strategy.name, fitting_scale(strategy, run.manifest.scale)?)))
        .collect()
}

fn fitting_scale(strategy: &StrategyRecords, scale: f64) -> Option<f64> {
    let mut sizes = strategy.records().map(largest_request).collect::<Vec<_>>();
    sizes.sort_unstable();
    let median = *sizes.get(sizes.len() / 2)?;
    let trigger = u64::from(strategy.records().next()?.case.budget.trigger);
    let fitting = two_digits(scale * median as f64 / trigger as f64);
    (median < trigger && fitting > 0.0).then_some(fitting)
}

/// Tokens of the last request, had nothing been compacted.
fn largest_request(record: &Record) -> u64 {
    let applied = record.compactions.iter().filter(|row| is_applied(row));
    let saved = applied.map(|row| {
        u64::from(
            row.event
                .tokens_before
                .saturating_sub(row.event.tokens_after),
        )
    });
    saved.sum::<u64>() + record.turns.last().map_or(0, |turn| u64::from(turn.input))
}

/// Rounded down to two significant digits. Decimal text, so that the result is the shortest number
/// of its value.
fn two_digits(value: f64) -> f64 {
    let text = format!("{value:.12e}");
    let Some((digits, exponent)) = text.split_once('e') else {
        return value;
    };
    format!("{}e{exponent}", &digits[..3])
        .parse()
        .unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_digits_are_rounded_down() {
        let found = [0.0999, 0.1, 0.5499, 1.0, 0.004_77, 12.9, 0.0, 0.19].map(two_digits);
        assert_eq!(found, [0.099, 0.1, 0.54, 1.0, 0.0047, 12.0, 0.0, 0.19]);
    }
}
