//! What a reader may take from a report, in at most five sentences: what the order of strategies
//! depends on or which can be told apart, what compacting costs, where facts are lost, what size
//! and split do, and what the run does not decide.
//!
//! Absent on purpose: a winner. Under a mock no sentence says which strategy is better.

use compactometer_formats::manifest::OtherMock;
use compactometer_formats::mock::{has_mock, is_mock};
use compactometer_formats::protocol::LimitsOf;
use compactometer_formats::record::Family;
use compactometer_formats::summary::{
    Compared, Comparison, Group, StrategySummary, Sweep, SweepPoint,
};
use compactometer_text::code::code;

use super::comparisons::{common_reference, difference};
use crate::data::{FULL, RECENT_TALK, SAME_SIZE};
use crate::metrics::Metric;
use crate::metrics::compactions::WRITTEN_BUDGET;
use crate::metrics::cost::{COST_AGAINST_FULL, COST_USD};
use crate::metrics::engine::TOKENS_RETAINED;
use crate::metrics::failures::{OVER_WINDOW_SHARE, is_marked};
use crate::metrics::recall::ADDRESS_USE_RECALL;
use crate::metrics::scores::shown_recall;
use crate::numbers::{grouped, range, short_share};
use crate::stats::quantile;
use crate::stats::sign_flip::FEWEST_UNITS;

/// Most sentences. A recorded program adds one, and its run has no sweep.
const MOST: usize = 5;
/// A difference of recall under this is none that a sentence is about.
const MARGIN: f64 = 0.05;

/// The sentences about a run's first group. `mocks` are those under which the strategies were run
/// again.
pub(super) fn sentences(group: &Group, sweep: Option<&Sweep>, mocks: &[OtherMock]) -> Vec<String> {
    if let Some(why) = nothing_to_compare(group) {
        return vec![why];
    }
    let rest = [
        costs(group),
        fates(group),
        sweep.and_then(size_and_split),
        Some(undecided(group)),
    ];
    what_decides(group, mocks)
        .into_iter()
        .chain(rest.into_iter().flatten())
        .take(MOST)
        .collect()
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

fn named<'g>(group: &'g Group, name: &str) -> Option<&'g StrategySummary> {
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
            "Nothing can be compared: in over 5 % of compactions or turns, every strategy fails or exceeds the window{most}."
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

fn what_decides(group: &Group, mocks: &[OtherMock]) -> Vec<String> {
    let beside = recorded(group).or_else(|| {
        (group.units < FEWEST_UNITS)
            .then(|| beside_controls(group))
            .flatten()
    });
    let other = if has_mock(&group.summarizer, group.target.as_deref()) {
        Some(order_under_mock(
            group,
            mocks,
            group.protocol.limits() == LimitsOf::Recording,
        ))
    } else if group.units < FEWEST_UNITS {
        None
    } else {
        told_apart(group)
    };
    beside.into_iter().chain(other).collect()
}

/// What the controls of the same size keep.
const KEPT: [&str; 2] = ["as much random older text", "a list of the newest values"];

/// What the controls of the same size recall, each with its words.
fn controls(group: &Group, metric: &Metric) -> String {
    let of = |name: &str| {
        named(group, name)
            .and_then(|strategy| metric.value(strategy))
            .map(short_share)
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
        None => (shown_recall(&group.strategies), "old facts"),
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
        short_share(metric.value(recorded)?)
    ))
}

/// What strategies recall, beside random text and a list of values of the same size, where more
/// cannot be said.
fn beside_controls(group: &Group) -> Option<String> {
    let metric = shown_recall(&group.strategies);
    let strategies = range(
        sound(group).filter_map(|strategy| metric.value(strategy)),
        short_share,
    )?;
    let beside = controls(group, metric);
    (!beside.is_empty())
        .then(|| format!("Of the old facts, the strategies hold {strategies}, {beside}."))
}

fn order_under_mock(group: &Group, mocks: &[OtherMock], is_second: bool) -> String {
    let what = if is_mock(&group.summarizer) {
        "wrote the summaries"
    } else {
        "answered the questions"
    };
    let rows = if is_second { " of the strategies" } else { "" };
    let written = sound(group)
        .filter_map(|strategy| WRITTEN_BUDGET.value(strategy))
        .filter(|most| *most > 0.0);
    let length = range(written, grouped);
    let length = length.map_or(String::new(), |range| format!(" ({range} tokens at most)"));
    let more = under_others(mocks)
        .or_else(|| talk(group).map(|talk| format!(" and on how much talk fits, since {talk}")))
        .unwrap_or_default();
    format!(
        "A mock {what}{rows}, so this run names no winner: the order depends on how long its replies are{length}{more}."
    )
}

/// How the order agrees with that under other mocks.
fn under_others(mocks: &[OtherMock]) -> Option<String> {
    let other = |other: &OtherMock| {
        let whose = match other.draws {
            0 => code(&other.mock),
            draws => format!("{draws} draws of what it assumes (median)"),
        };
        match other.tau {
            Some(tau) => format!("by {} with that of {whose}", short_share(tau)),
            None => format!("in nothing with {whose}, under which there is none"),
        }
    };
    let conversations = mocks.first()?.conversations;
    let others = mocks.iter().map(other).collect::<Vec<_>>().join(" and ");
    Some(format!(
        ", and on {conversations} conversations agrees {others} (tau-b; 1 is the same order)"
    ))
}

/// What the newest talk recalls, if that is more than most strategies do.
fn talk(group: &Group) -> Option<String> {
    let metric = shown_recall(&group.strategies);
    let talk = metric.value(named(group, RECENT_TALK)?)?;
    let recalls = sound(group)
        .filter_map(|strategy| metric.value(strategy))
        .collect::<Vec<_>>();
    let above = recalls
        .iter()
        .filter(|recall| talk - **recall >= MARGIN)
        .count();
    let who = match recalls.len() {
        all if above == all => "every strategy".to_owned(),
        all if 2 * above > all => format!("{above} of {all} strategies"),
        _ => return None,
    };
    Some(format!(
        "{}, which keeps the newest talk and calls no model, recalls {} of the old facts, more than {who} ({})",
        code(RECENT_TALK),
        short_share(talk),
        range(recalls.into_iter(), short_share)?
    ))
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
        format!("{} {}{more}", code(&made.strategy), difference(made))
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
        reference.and_then(|name| shown_recall(&group.strategies).value(named(group, name)?));
    let recall = recall.map_or(String::new(), |recall| {
        format!(" (recall of old facts {})", short_share(recall))
    });
    Some(format!(
        "Recall compared with {}{recall}, in pairs over {} groups of conversations: {}.",
        reference.map_or("each one's reference".to_owned(), code),
        made.iter().map(|made| made.n).max().unwrap_or_default(),
        parts.join("; ")
    ))
}

/// What compacting costs against never compacting.
fn costs(group: &Group) -> Option<String> {
    let full = named(group, FULL)?;
    let compacting = tested(group).filter(|strategy| {
        strategy.triggered.conversations > 0 && !is_marked(strategy) && !strategy.not_understood
    });
    let costs = compacting
        .filter_map(|strategy| Some((strategy, COST_AGAINST_FULL.value(strategy)?)))
        .collect::<Vec<_>>();
    let side = |sign: f64, what: &str| {
        if let [(only, share)] = &costs[..] {
            let is_it = sign * share >= 0.005;
            return is_it.then(|| {
                format!(
                    "{} costs {:.0} % {what}",
                    code(&only.name),
                    100.0 * share.abs()
                )
            });
        }
        let those = costs.iter().filter(|(_, share)| sign * share >= 0.005);
        let (farthest, share) = those
            .clone()
            .max_by(|one, other| (sign * one.1).total_cmp(&(sign * other.1)))?;
        let (count, share) = (those.count(), 100.0 * share.abs());
        Some(format!(
            "{count} of {} strategies cost up to {share:.0} % {what} ({})",
            costs.len(),
            code(&farthest.name)
        ))
    };
    let sides = [side(-1.0, "less"), side(1.0, "more")]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>();
    let over = OVER_WINDOW_SHARE
        .value(full)
        .filter(|share| *share >= 0.005);
    let over = over.map_or(String::new(), |share| {
        format!(", with {:.0} % of its turns over the window", 100.0 * share)
    });
    (!sides.is_empty()).then(|| {
        format!(
            "Against never compacting (${:.2} a conversation{over}), {}.",
            COST_USD.value(full).unwrap_or_default(),
            sides.join(", and ")
        )
    })
}

/// Fates of lost facts: the id and what happened.
const LOST: [(&str, &str); 3] = [
    ("unwritten", "were read by a summarizer and not written"),
    ("eroded", "were written and lost later"),
    ("dropped_unseen", "were dropped unread"),
];

/// Where facts are lost, the most frequent way first.
fn fates(group: &Group) -> Option<String> {
    let rows = sound(group)
        .filter(|strategy| !strategy.fates.is_empty())
        .collect::<Vec<_>>();
    let shares = |fates: &[&str]| {
        let share = |strategy: &&StrategySummary| {
            fates
                .iter()
                .filter_map(|fate| strategy.fates.get(*fate))
                .sum()
        };
        rows.iter().map(share).collect::<Vec<f64>>()
    };
    let held = range(shares(&["verbatim", "carried"]).into_iter(), whole)?;
    let mut lost = LOST.map(|(fate, what)| (shares(&[fate]), what));
    lost.sort_by(|(one, _), (other, _)| median(other).total_cmp(&median(one)));
    let lost = lost
        .into_iter()
        .filter(|(shares, _)| shares.iter().any(|share| *share >= 0.005));
    let lost = lost.filter_map(|(shares, what)| {
        Some(format!("{} % {what}", range(shares.into_iter(), whole)?))
    });
    let lost = lost.collect::<Vec<_>>().join(", ");
    let lost = if lost.is_empty() {
        "none is lost".to_owned()
    } else {
        lost
    };
    let replaced = range(
        shares(&["superseded"])
            .into_iter()
            .filter(|share| *share >= 0.005),
        whole,
    );
    let replaced = replaced.map_or(String::new(), |share| {
        format!(", {share} % were replaced by newer ones")
    });
    let who = match &rows[..] {
        [only] => format!("{} still holds", code(&only.name)),
        _ => "the strategies still hold".to_owned(),
    };
    Some(format!(
        "At the end {who} {held} % of all facts; {lost}{replaced}."
    ))
}

/// The strategies' median recall over sizes, and without a verbatim tail.
fn size_and_split(sweep: &Sweep) -> Option<String> {
    let usable = |point: &&SweepPoint| point.family.is_tested() && point.fails.is_none();
    let at = |points: &[SweepPoint], is: &dyn Fn(&SweepPoint) -> bool| {
        let values = points
            .iter()
            .filter(usable)
            .filter(|point| is(point))
            .filter_map(|point| point.recall.value);
        Some(median(&values.collect::<Vec<_>>())).filter(|median| !median.is_nan())
    };
    let of_size = |retained: u32| {
        Some((
            retained,
            at(&sweep.sizes, &|point| point.retained == retained)?,
        ))
    };
    let mut sizes = sweep
        .sizes
        .iter()
        .map(|point| point.retained)
        .collect::<Vec<_>>();
    sizes.sort_unstable();
    let ends = [sizes.first(), Some(&sweep.retained), sizes.last()];
    let mut sizes = ends
        .into_iter()
        .flatten()
        .filter_map(|size| of_size(*size))
        .collect::<Vec<_>>();
    sizes.dedup();
    let shown = |(size, recall): &(u32, f64)| {
        format!("{} with {}", short_share(*recall), grouped((*size).into()))
    };
    let sizes = sizes.iter().map(shown).collect::<Vec<_>>().join(", ");
    let least = sweep
        .splits
        .iter()
        .filter(|point| !point.is_own_split)
        .map(|point| point.split)
        .min_by(f64::total_cmp);
    let split = least.and_then(|least| {
        let has_both = |point: &SweepPoint, is_own: bool| {
            let both = |other: &SweepPoint| usable(&other) && other.strategy == point.strategy;
            let is_there = |own: bool| {
                sweep
                    .splits
                    .iter()
                    .any(|other| both(other) && is(other, own, least))
            };
            is(point, is_own, least) && is_there(true) && is_there(false)
        };
        let [own, common] =
            [true, false].map(|own| at(&sweep.splits, &|point| has_both(point, own)));
        let kept = if least == 0.0 {
            "nothing kept verbatim (as `-s NAME:tail=0` has it)".to_owned()
        } else {
            format!("{:.0} % kept verbatim", 100.0 * least)
        };
        Some(format!(
            "with {kept} it is {} instead of {}",
            short_share(common?),
            short_share(own?)
        ))
    });
    let sizes = (!sizes.is_empty()).then(|| format!("{sizes} tokens left"));
    let parts = [sizes, split].into_iter().flatten().collect::<Vec<_>>();
    (!parts.is_empty()).then(|| {
        format!(
            "On {} of the conversations, replayed at other sizes, the strategies' median recall is {}.",
            sweep.conversations,
            parts.join("; ")
        )
    })
}

/// Whether the point has its strategy's own split, or else the common one.
fn is(point: &SweepPoint, own: bool, common: f64) -> bool {
    if own {
        point.is_own_split
    } else {
        !point.is_own_split && point.split == common
    }
}

/// What the run leaves open.
fn undecided(group: &Group) -> String {
    let mut open = Vec::new();
    if group.units < FEWEST_UNITS {
        let groups = if group.units == 1 {
            "1 group".to_owned()
        } else {
            format!("{} groups", group.units)
        };
        open.push(format!(
            "any difference between strategies ({groups} of conversations; it takes {FEWEST_UNITS})"
        ));
    } else {
        let least = group
            .comparisons
            .iter()
            .filter_map(|made| made.detectable)
            .filter(|least| *least >= 0.005);
        let least =
            range(least, short_share).map(|range| format!("differences of recall under {range}"));
        open.extend(least);
    }
    let open_model = match (
        has_mock(&group.summarizer, group.target.as_deref()),
        group.protocol.limits(),
    ) {
        (false, _) => "what another model would write",
        (true, LimitsOf::Recording) => "what a real model would write",
        (true, _) => {
            "which strategy is best with your model or on your sessions (see `compactometer losses`)"
        }
    };
    open.push(open_model.to_owned());
    open.push(
        "whether tasks succeed, since the recorded turns follow whatever was lost".to_owned(),
    );
    format!("Not decided here: {}.", open.join("; "))
}

/// A share in whole per cent, without the sign.
fn whole(share: f64) -> String {
    format!("{:.0}", 100.0 * share)
}

/// The middle value; not a number if there is none.
fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    quantile(&values, 0.5).unwrap_or(f64::NAN)
}
