//! What bounds the old values that a row holds when calls need them, whatever model summarizes.

use compactometer_formats::record::Family;
use compactometer_formats::summary::{Comparison, StrategySummary};
use compactometer_text::code::code;

use crate::data::{FULL, ORACLE, ProtocolRun};
use crate::metrics::recall::{
    ADDRESS_USE_CEILING, ADDRESS_USE_FLOOR, ADDRESS_USE_RECALL, FEWEST_USES, address_uses,
};
use crate::metrics::scores::PrimaryMetric;
use crate::numbers::{grouped, short_share};
use crate::stats::{LEVEL, quantile};
use crate::summary::comparisons::of_all_pairs;

/// How many uses of old values there are, the same for all rows.
pub(super) fn count(run: &ProtocolRun) -> Option<String> {
    let uses = run.strategies.iter().map(address_uses).fold(0.0, f64::max);
    let shown = grouped(uses);
    match uses {
        0.0 => None,
        few if few < FEWEST_USES => Some(format!(
            "at use: too few uses of old addresses ({shown}) for a share, which takes {FEWEST_USES}"
        )),
        _ => Some(format!(
            "at use: {shown} uses of addresses last said before the latest compaction of a row that keeps nothing"
        )),
    }
}

/// The bounds of each row, and which rows keep less than another under every model.
pub(super) fn notes(strategies: &[StrategySummary]) -> Vec<String> {
    let shown = |strategy: &StrategySummary| {
        let [floor, held, ceiling] = [
            &ADDRESS_USE_FLOOR,
            &ADDRESS_USE_RECALL,
            &ADDRESS_USE_CEILING,
        ]
        .map(|metric| metric.value(strategy).map(short_share));
        Some(format!(
            "{} {} {} {}",
            code(&strategy.name),
            floor?,
            held?,
            ceiling?
        ))
    };
    let rows: Vec<String> = strategies.iter().filter_map(shown).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let bounds = format!(
        "old values at use: at least (outside of what a model wrote), here, and at most (shown to a summarizer): {}",
        rows.join(", ")
    );
    std::iter::once(bounds).chain(decided(strategies)).collect()
}

/// How many pairs of strategies hold different shares, and why the others may be alike.
pub(super) fn separated(run: &ProtocolRun, strategies: &[StrategySummary]) -> Option<String> {
    let made = of_all_pairs(run, strategies, PrimaryMetric::Needed);
    let is_apart = |one: &&Comparison| one.p_holm.is_some_and(|p| p < LEVEL);
    let apart: Vec<String> = made.iter().filter(is_apart).map(sides).collect();
    let tested = made.iter().filter(|one| one.p_holm.is_some()).count();
    let names = match apart.is_empty() {
        true => String::new(),
        false => format!(" ({})", apart.join(", ")),
    };
    let alike = kept_as_said(strategies).filter(|_| apart.len() < tested);
    (tested > 0).then(|| {
        format!(
            "at use, {} of {tested} pairs of strategies hold different shares (Holm, 5 %){names}{}",
            apart.len(),
            alike.unwrap_or_default()
        )
    })
}

fn sides(made: &Comparison) -> String {
    format!("{} and {}", code(&made.strategy), code(&made.reference))
}

/// What most strategies hold alike: the old values outside of summaries.
fn kept_as_said(strategies: &[StrategySummary]) -> Option<String> {
    let of_sources = strategies
        .iter()
        .filter(|row| row.family == Family::Reference);
    let shares = of_sources.filter_map(|row| {
        Some(
            ADDRESS_USE_FLOOR.value(row)?
                / ADDRESS_USE_RECALL.value(row).filter(|all| *all > 0.0)?,
        )
    });
    let mut shares: Vec<f64> = shares.collect();
    shares.sort_by(f64::total_cmp);
    let middle = quantile(&shares, 0.5)?;
    Some(format!(
        "; so many conversations cannot tell the others apart: in the median strategy, {:.0} % of what is held is in messages that stay \
         as they were said, which most strategies have in common",
        100.0 * middle
    ))
}

/// The pairs of which one holds less at most than the other at least, by the ends of their
/// intervals.
fn decided(strategies: &[StrategySummary]) -> Option<String> {
    let less = |one: &StrategySummary, other: &StrategySummary| {
        let [most, least] = [ADDRESS_USE_CEILING.get(one), ADDRESS_USE_FLOOR.get(other)];
        let most = most.and_then(|most| most.high);
        most.zip(least.and_then(|least| least.low))
            .is_some_and(|(most, least)| most < least)
    };
    let tested = |strategy: &&StrategySummary| strategy.family.is_tested();
    // These keep what will be needed, or everything.
    let is_possible = |other: &&StrategySummary| ![ORACLE, FULL].contains(&other.name.as_str());
    let pairs = strategies.iter().filter(tested).flat_map(|one| {
        let others = strategies.iter().filter(is_possible);
        let others = others.filter(move |other| less(one, other));
        others.map(move |other| format!("{} than {}", code(&one.name), code(&other.name)))
    });
    let pairs: Vec<String> = pairs.collect();
    (!pairs.is_empty()).then(|| {
        format!(
            "under every model at these compactions, these hold fewer of them: {}",
            pairs.join(", ")
        )
    })
}
