//! What a reader may take from a report, in a few sentences: what beats random old text and the
//! newest messages, what one changed idea does, where facts are lost, and what it costs.
//!
//! Absent on purpose: a winner. Under a mock no sentence says which strategy is better than another.

use std::collections::BTreeMap;

use compactometer_formats::manifest::{StrategySettings, TalkUnder};
use compactometer_formats::mock_name::has_mock;
use compactometer_formats::record::Family;
use compactometer_formats::summary::{Compared, Comparison, Group, MetricValue, StrategySummary};
use compactometer_text::code::code;

use super::comparisons::{common_reference, in_points};
use crate::data::{FULL, RECENT_TALK, SAME_SIZE, fates};
use crate::metrics::Metric;
use crate::metrics::bound::BOUND_RECALL_CORRECTED;
use crate::metrics::cost::COST_USD;
use crate::metrics::engine::TOKENS_RETAINED;
use crate::metrics::failures::{OVER_WINDOW_SHARE, is_marked};
use crate::metrics::recall::{ADDRESS_USE_LIFT, ADDRESS_USE_RECALL, ADDRESS_USES};
use crate::metrics::scores::shown_recall;
use crate::metrics::user_sentences::{SAID_RECALL, SAID_RECALL_1, SAID_RECALL_2};
use crate::numbers::{grouped, percent, percents, points, range};
use crate::stats::quantile;
use crate::stats::sign_flip::FEWEST_UNITS;

/// A difference of recall under this is none that a sentence is about.
pub(super) const MARGIN: f64 = 0.05;
/// Most sentences.
const MOST: usize = 6;
/// Most rows that a sentence names.
const NAMED: usize = 3;

/// The sentences about a run's first group. `settings` are what its rows were run with.
pub(super) fn sentences(
    group: &Group,
    settings: &BTreeMap<String, StrategySettings>,
    talk_under: &[TalkUnder],
) -> Vec<String> {
    if let Some(why) = nothing_to_compare(group) {
        return vec![why];
    }
    let has_few = group.units < FEWEST_UNITS;
    let is_mock = has_mock(&group.summarizer, group.target.as_deref());
    let beside = recorded(group).or_else(|| beside_controls(group).filter(|_| has_few));
    let tested = told_apart(group).filter(|_| !is_mock && !has_few);
    let found = [
        beside,
        over_random(group),
        tested,
        talk(group, talk_under),
        ideas(group, settings),
        sentences_left(group),
        fates(group),
        costs(group),
    ];
    found.into_iter().flatten().take(MOST).collect()
}

fn tested(group: &Group) -> impl Iterator<Item = &StrategySummary> {
    group
        .strategies
        .iter()
        .filter(|strategy| strategy.family.is_tested())
}

/// Those that are neither a recorded program nor left out of comparisons.
fn sound(group: &Group) -> impl Iterator<Item = &StrategySummary> {
    tested(group).filter(|strategy| {
        strategy.family != Family::Recorded
            && !is_marked(strategy)
            && !strategy.unmetered
            && !strategy.not_understood
    })
}

fn strategy_in<'g>(group: &'g Group, name: &str) -> Option<&'g StrategySummary> {
    group
        .strategies
        .iter()
        .find(|strategy| strategy.name == name)
}

/// Why the strategies' recall says nothing, where that is so.
fn nothing_to_compare(group: &Group) -> Option<String> {
    let number = tested(group).count();
    let metric = shown_recall(&group.strategies);
    if number == 0 {
        return Some("Only controls were run, so no strategy is measured.".to_owned());
    }
    if tested(group).all(is_marked) {
        let reasons = tested(group).flat_map(|strategy| &strategy.failures);
        let most = reasons.max_by_key(|failure| failure.count);
        let most = most.map_or(String::new(), |failure| {
            format!(", most often because of {}", code(&failure.reason))
        });
        return Some(format!(
            "Nothing can be compared: in over 5 % of compactions or turns, every strategy fails or exceeds the context window{most}."
        ));
    }
    if tested(group).all(|strategy| strategy.triggered.conversations == 0) {
        return Some("Nothing was compacted, so no strategy is measured.".to_owned());
    }
    let reason = tested(group).find_map(|strategy| metric.get(strategy)?.reason.as_deref());
    let has_none = tested(group).all(|strategy| metric.value(strategy).is_none());
    has_none.then(|| {
        format!(
            "Recall has no value: {}.",
            reason.unwrap_or("no fact was looked for")
        )
    })
}

/// What the controls of the same size keep.
const KEPT: [&str; 2] = ["as much random older text", "a list of the newest values"];

/// What the controls of the same size recall, each with its words.
fn controls(group: &Group, metric: &Metric) -> String {
    let of = |name: &str| {
        strategy_in(group, name)
            .and_then(|strategy| metric.value(strategy))
            .map(percent)
    };
    let shown = SAME_SIZE
        .into_iter()
        .zip(KEPT)
        .filter_map(|(name, what)| Some(format!("{what} {}", of(name)?)));
    shown.collect::<Vec<_>>().join(", ")
}

/// What the recorded program kept, beside random text and a list of values of the same size.
fn recorded(group: &Group) -> Option<String> {
    let recorded = group
        .strategies
        .iter()
        .find(|strategy| strategy.family == Family::Recorded)?;
    let (metric, what): (&Metric, &str) = match ADDRESS_USE_RECALL.value(recorded) {
        Some(_) => (
            &ADDRESS_USE_RECALL,
            "paths and names that later calls acted on",
        ),
        None => (shown_recall(&group.strategies), old_ones(group)),
    };
    let size = TOKENS_RETAINED
        .value(recorded)
        .map_or(String::new(), |size| {
            format!(" in {} tokens", grouped(size))
        });
    let beside = controls(group, metric);
    let beside = if beside.is_empty() {
        String::new()
    } else {
        format!("; {beside}")
    };
    Some(format!(
        "What your agent kept{size} held {} of the {what}{beside}.",
        percent(metric.value(recorded)?)
    ))
}

/// What the recall that is shown is of: without subjects, only values.
fn old_ones(group: &Group) -> &'static str {
    match shown_recall(&group.strategies).id {
        id if id == BOUND_RECALL_CORRECTED.id => "old facts",
        _ => "old values",
    }
}

/// What strategies recall, beside random text and a list of values of the same size, where more
/// cannot be said.
fn beside_controls(group: &Group) -> Option<String> {
    let metric = shown_recall(&group.strategies);
    let strategies = percents(sound(group).filter_map(|strategy| metric.value(strategy)))?;
    let beside = controls(group, metric);
    (!beside.is_empty()).then(|| {
        format!(
            "Of the {}, the strategies hold {strategies}, {beside}.",
            old_ones(group)
        )
    })
}

/// The strategies that held measurably more of what later calls needed than random text does.
fn over_random(group: &Group) -> Option<String> {
    let lifts = sound(group)
        .filter_map(|strategy| Some((strategy, ADDRESS_USE_LIFT.get(strategy)?)))
        .filter_map(|(strategy, lift)| Some((strategy, lift.value?, lift.low?)))
        .collect::<Vec<_>>();
    let (first, ..) = lifts.first()?;
    let uses = grouped(ADDRESS_USES.value(first)?);
    let mut above = lifts.clone();
    above.retain(|(_, lift, low)| *low > 0.0 && *lift >= 0.005);
    above.sort_by(|(_, one, _), (_, other, _)| other.total_cmp(one));
    let who = match (above.len(), lifts.len()) {
        (0, 1) => format!("{} does not measurably hold", code(&first.name)),
        (1, 1) => format!("{} measurably holds", code(&first.name)),
        (0, all) => format!("None of {all} strategies measurably holds"),
        (1, all) => format!("1 of {all} strategies measurably holds"),
        (some, all) => format!("{some} of {all} strategies measurably hold"),
    };
    let named = above.iter().take(NAMED);
    let names = named
        .map(|(row, lift, _)| format!("{} {}", code(&row.name), points(*lift)))
        .collect::<Vec<_>>()
        .join(", ");
    let names = match names.is_empty() {
        true => String::new(),
        false => format!(": {names} points"),
    };
    Some(format!(
        "{who} more of {uses} needed old values than random old text{names}."
    ))
}

/// What the newest talk recalls, if that is more than most strategies do.
fn talk(group: &Group, under: &[TalkUnder]) -> Option<String> {
    let metric = shown_recall(&group.strategies);
    let talk = metric.value(strategy_in(group, RECENT_TALK)?)?;
    let recalls = sound(group)
        .filter_map(|strategy| metric.value(strategy))
        .collect::<Vec<_>>();
    let above = recalls
        .iter()
        .filter(|recall| talk - **recall >= MARGIN)
        .count();
    let who = match recalls.len() {
        1 if above == 1 => "the strategy does".to_owned(),
        all if above == all => format!("all {all} strategies"),
        all if 2 * above > all => format!("{above} of {all} strategies"),
        _ => return None,
    };
    Some(format!(
        "The newest messages without a model ({}) keep {} of {}: more than {who} ({}){}.",
        code(&format!("-s {RECENT_TALK}")),
        percent(talk),
        old_ones(group),
        percents(recalls.into_iter())?,
        under_each(under)
    ))
}

/// Whether the newest messages keep more than most strategies under each mock that was tried.
fn under_each(under: &[TalkUnder]) -> String {
    let holds = |under: &&TalkUnder| 2 * under.above > under.of;
    let against = under.iter().filter(|under| !holds(under));
    let against = against.map(|under| code(&under.mock)).collect::<Vec<_>>();
    match (under.len(), against.is_empty()) {
        (0 | 1, _) => String::new(),
        (all, true) => format!(", under each of {all} simulated models"),
        (_, false) => format!(", but not under {}", against.join(" and ")),
    }
}

/// What a row that changes one idea changes of the row that it is compared with: what is measured,
/// before and after, where their intervals are apart.
pub(crate) fn changes(group: &Group, row: &StrategySummary) -> Vec<(&'static str, f64, f64)> {
    let measured = [
        (&ADDRESS_USE_RECALL, "needed values"),
        (shown_recall(&group.strategies), old_ones(group)),
        (&SAID_RECALL, "what the user said"),
    ];
    let Some(base) = base_of(group, row).filter(|base| !is_marked(base) && !is_marked(row)) else {
        return Vec::new();
    };
    let changed = measured.into_iter().filter_map(|(metric, what)| {
        let (before, after) = metric.get(base).zip(metric.get(row))?;
        is_apart(before, after).then_some((what, before.value?, after.value?))
    });
    changed.collect()
}

/// The row that one with a changed idea is compared with.
fn base_of<'g>(group: &'g Group, row: &StrategySummary) -> Option<&'g StrategySummary> {
    let mut made = group.comparisons.iter();
    let made = made.find(|made| made.strategy == row.name)?;
    strategy_in(group, &made.reference)
}

/// What one changed idea does, for each row that changes one.
fn ideas(group: &Group, settings: &BTreeMap<String, StrategySettings>) -> Option<String> {
    let rows = group.strategies.iter();
    let found = rows
        .filter(|row| row.family == Family::Idea)
        .filter_map(|row| {
            let changed = changes(group, row)
                .into_iter()
                .map(|(what, before, after)| {
                    format!("{} of {what}, not {}", percent(after), percent(before))
                });
            let changed = changed.collect::<Vec<_>>().join(", and ");
            let spec = spec(row, base_of(group, row)?, settings);
            let row = code(&format!("-s {spec}"));
            (!changed.is_empty()).then(|| format!("{row} keeps {changed}"))
        })
        .collect::<Vec<_>>();
    (!found.is_empty()).then(|| format!("One change each: {}.", found.join("; ")))
}

/// What is left of the user's sentences after one compaction and after two, where there are enough
/// conversations for intervals.
fn sentences_left(group: &Group) -> Option<String> {
    let of = |metric: &Metric| {
        let kept = sound(group).filter_map(|strategy| metric.get(strategy));
        percents(
            kept.filter(|value| value.low.is_some())
                .filter_map(|value| value.value),
        )
    };
    let once = of(&SAID_RECALL_1)?;
    let twice = of(&SAID_RECALL_2).map_or(String::new(), |twice| format!(", {twice} two"));
    Some(format!(
        "Of the user's sentences, {once} outlast one compaction{twice}."
    ))
}

/// Whether two values differ by the margin and their intervals do not touch.
fn is_apart(one: &MetricValue, other: &MetricValue) -> bool {
    let ends = |value: &MetricValue| Some((value.value?, value.low?, value.high?));
    ends(one).zip(ends(other)).is_some_and(|(one, other)| {
        (one.0 - other.0).abs() >= MARGIN && (one.2 < other.1 || other.2 < one.1)
    })
}

/// The row as `-s` takes it: a short name, the strategy, and the parameters in which it differs from
/// another row.
fn spec(
    row: &StrategySummary,
    from: &StrategySummary,
    settings: &BTreeMap<String, StrategySettings>,
) -> String {
    let (Some(own), Some(other)) = (settings.get(&row.name), settings.get(&from.name)) else {
        return row.name.clone();
    };
    let changed = own
        .parameters
        .iter()
        .filter(|(name, value)| other.parameters.get(*name) != Some(value))
        .map(|(name, value)| format!(":{name}={value}"));
    let short = row.name.strip_prefix(&format!("{}-", from.name));
    format!(
        "{}={}{}",
        short.unwrap_or(&row.name),
        own.base,
        changed.collect::<String>()
    )
}

/// What the paired comparisons show, where a model wrote the text.
fn told_apart(group: &Group) -> Option<String> {
    let first = group.comparisons.first()?;
    let made = group
        .comparisons
        .iter()
        .filter(|made| made.metric == first.metric)
        .collect::<Vec<_>>();
    let of = |verdict: Compared| {
        made.iter()
            .copied()
            .filter(move |made| made.verdict == verdict)
    };
    let shown = |made: &Comparison, more: &str| {
        format!("{} {}{more}", code(&made.strategy), in_points(made))
    };
    let mut parts = of(Compared::SupportedDifference)
        .map(|made| shown(made, ""))
        .collect::<Vec<_>>();
    parts.extend(of(Compared::Dominates).map(|made| shown(made, " with fewer tokens")));
    parts.extend(of(Compared::Dominated).map(|made| shown(made, " with more tokens")));
    let rest = [
        (Compared::Equivalent, "equivalent within .05"),
        (Compared::NoSupportedDifference, "not told apart"),
        (Compared::TooFewUnits, "too few conversations"),
        (Compared::SizesDiffer, "of another size, so not compared"),
        (Compared::Unmetered, "asking a model past the meter"),
        (
            Compared::NotUnderstood,
            "whose prompt the summarizer did not understand",
        ),
        (Compared::FailsTooOften, "failing too often"),
        (Compared::ListsValues, "a list of values"),
        (Compared::DidNotTrigger, "never compacting"),
        (Compared::Undefined, "without a value"),
    ];
    for (verdict, words) in rest {
        let names = of(verdict)
            .map(|made| code(&made.strategy))
            .collect::<Vec<_>>();
        if !names.is_empty() {
            parts.push(format!("{words}: {}", names.join(", ")));
        }
    }
    let reference = common_reference(&group.comparisons);
    let recall =
        reference.and_then(|name| shown_recall(&group.strategies).value(strategy_in(group, name)?));
    let recall = recall.map_or(String::new(), |recall| format!(" ({})", percent(recall)));
    Some(format!(
        "Against {}{recall}, {} kept, in points, in pairs over {} conversations: {}.",
        reference.map_or("each one's reference".to_owned(), code),
        old_ones(group),
        made.iter().map(|made| made.n).max().unwrap_or_default(),
        parts.join("; ")
    ))
}

/// What compacting costs against never compacting.
fn costs(group: &Group) -> Option<String> {
    let full = strategy_in(group, FULL)?;
    let whole = COST_USD.value(full)?;
    let compacting = sound(group).filter(|strategy| strategy.triggered.conversations > 0);
    let costs = range(
        compacting.filter_map(|strategy| COST_USD.value(strategy)),
        |cost| format!("${cost:.2}"),
    )?;
    let over = OVER_WINDOW_SHARE
        .value(full)
        .filter(|share| *share >= 0.005);
    let over = over.map_or(String::new(), |share| {
        format!(" ({} of turns overflow)", percent(share))
    });
    Some(format!(
        "{costs} a conversation, uncompacted ${whole:.2}{over}."
    ))
}

/// Fates of lost facts: the id and what happened.
const LOST: [(&str, &str); 3] = [
    ("unwritten", "left out"),
    ("eroded", "lost later"),
    ("dropped_unseen", "never read"),
];

/// Where facts are lost, the most frequent way first.
fn fates(group: &Group) -> Option<String> {
    let rows = sound(group)
        .filter(|strategy| fates::are_known(strategy))
        .collect::<Vec<_>>();
    if rows.is_empty() {
        return None;
    }
    let shares = |fate: &str| {
        let share =
            |strategy: &&StrategySummary| strategy.fates.get(fate).copied().unwrap_or_default();
        rows.iter().map(share).collect::<Vec<f64>>()
    };
    let mut lost = LOST.map(|(fate, what)| (shares(fate), what));
    lost.sort_by(|(one, _), (other, _)| median(other).total_cmp(&median(one)));
    let lost = lost
        .into_iter()
        .filter(|(shares, _)| shares.iter().any(|share| *share >= 0.005))
        .filter_map(|(shares, what)| Some(format!("{} {what}", percents(shares.into_iter())?)))
        .collect::<Vec<_>>();
    Some(match lost.is_empty() {
        true => "At the end no fact is lost.".to_owned(),
        false => format!("Facts lost: {}.", lost.join(", ")),
    })
}

/// The middle value; not a number if there is none.
fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    quantile(&values, 0.5).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_under_some_mocks_only_is_not_said_of_all() {
        let of = |mock: &str, above| TalkUnder {
            mock: mock.to_owned(),
            above,
            of: 8,
        };
        assert_eq!(under_each(&[of("a", 8)]), "");
        assert_eq!(
            under_each(&[of("a", 8), of("b", 5)]),
            ", under each of 2 simulated models"
        );
        assert_eq!(under_each(&[of("a", 8), of("b", 4)]), ", but not under `b`");
    }
}
