//! The gate's report as a terminal shows it.

use compactometer_formats::summary::Check;
use compactometer_text::wrapping::wrapped;

use super::power::POWER;
use super::{
    FateChange, GateReport, GateVerdict, MetricGate, SettingChange, StatedFact, StrategyGate,
};
use crate::document::shown;
use crate::numbers::percent_points;
use crate::phrases::{models, speaker_name};
use crate::vocabulary;
use crate::vocabulary::of_fate;

/// Most lines of the short form. An error takes one more.
const LINES: usize = 29;
/// Facts listed in a terminal.
const LISTED: usize = 10;
/// Strategies with a line of their own in the short form.
const ROWS: usize = 6;

/// The verdict, what was changed, what a reader needs to know, and up to ten lost values with where
/// they were said, in at most 29 lines.
pub fn terminal(report: &GateReport, width: usize) -> String {
    let model = models(&report.model, report.target.as_deref());
    let mut lines = vec![format!("verdict: {}", report.verdict.name())];
    let tolerated = format!(
        "{}, summaries by {model}; a loss of {} points is tolerated",
        report.suite,
        percent_points(report.margin)
    );
    lines.extend(wrapped(&tolerated, width));
    lines.extend(failed_checks(&report.checks).flat_map(|line| wrapped(&line, width)));
    lines.push(String::new());
    let mut strategies = report.strategies.iter().collect::<Vec<_>>();
    strategies.sort_by_key(|strategy| std::cmp::Reverse(strategy.verdict));
    for strategy in strategies.iter().take(ROWS) {
        let head = format!(
            "{} ({}): {}",
            strategy.strategy,
            strategy.protocol.name(),
            strategy.verdict.name()
        );
        lines.extend(wrapped(&head, width));
        let why = strategy
            .metrics
            .iter()
            .find(|metric| metric.verdict == strategy.verdict);
        let about = about(strategy).filter(|_| strategy.verdict > GateVerdict::PassWorse);
        for line in candidate(strategy)
            .into_iter()
            .chain(why.map(short_line))
            .chain(about)
        {
            lines.extend(wrapped(&format!("  {line}"), width));
        }
    }
    if strategies.len() > ROWS {
        lines.push(format!("and {} more", strategies.len() - ROWS));
    }
    for note in &report.notes {
        let note = wrapped(&format!("! {note}"), width);
        if lines.len() + note.len() > LINES / 2 {
            break;
        }
        lines.extend(note);
    }
    // The blank line, the heading and the last line.
    let room = LINES.saturating_sub(lines.len() + 3);
    lines.extend(lost(&strategies, room, width));
    lines.truncate(LINES - 1);
    lines.push("every number, note and changed fact: --notes".to_owned());
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// A line for each hard check that failed.
pub(super) fn failed_checks(checks: &[Check]) -> impl Iterator<Item = String> {
    let failed = checks.iter().filter(|check| check.passed == Some(false));
    failed.map(|check| format!("FAILED hard check: {}: {}", check.name, check.detail))
}

/// What was changed about a strategy; of another strategy, without the prompt and parameters that
/// go with it.
fn candidate(strategy: &StrategyGate) -> Option<String> {
    let other = strategy
        .changed
        .iter()
        .find(|change| change.setting == "strategy");
    let retained = strategy
        .changed
        .iter()
        .filter(|change| change.setting == "retained budget");
    match other {
        Some(other) => {
            let changes = std::iter::once(other)
                .chain(retained)
                .map(SettingChange::text)
                .collect::<Vec<_>>();
            let number = strategy.changed.len() - changes.len();
            let rest = if number == 0 {
                String::new()
            } else {
                format!("; {number} settings that go with it")
            };
            Some(format!("candidate: {}{rest}", changes.join("; ")))
        }
        None => changed(strategy),
    }
}

/// A metric without its tests.
fn short_line(metric: &MetricGate) -> String {
    let numbers = match (metric.baseline, metric.run, metric.difference) {
        (Some(old), Some(new), Some(difference)) => {
            format!(
                " {} to {} %, difference {} points{}",
                tenths(old),
                tenths(new),
                signed_tenths(difference),
                metric
                    .low
                    .zip(metric.high)
                    .map_or_else(String::new, |(low, high)| {
                        format!(" [{}, {}]", signed_tenths(low), signed_tenths(high))
                    })
            )
        }
        _ => String::new(),
    };
    let reason = metric
        .reason
        .as_ref()
        .map_or(String::new(), |reason| format!("; {reason}"));
    format!(
        "{}{numbers}, {} independent conversations{reason}",
        vocabulary::name(&metric.metric),
        metric.units
    )
}

/// A share in percent, to a tenth.
fn tenths(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

fn signed_tenths(share: f64) -> String {
    format!("{:+.1}", 100.0 * share)
}

/// What the strategies newly lost, those of the worst verdict first, in as many lines as there is
/// room for.
fn lost(strategies: &[&StrategyGate], room: usize, width: usize) -> Vec<String> {
    let all = || strategies.iter().flat_map(|strategy| &strategy.newly_lost);
    let (lost, kept) = (
        all().count(),
        strategies
            .iter()
            .map(|strategy| strategy.newly_kept.len())
            .sum::<usize>(),
    );
    let mut lines = Vec::new();
    let mut shown = 0;
    for change in all().take(LISTED) {
        let line = wrapped(&format!("  {}", change_line(change, str::to_owned)), width);
        if lines.len() + line.len() > room {
            break;
        }
        lines.extend(line);
        shown += 1;
    }
    if shown == 0 {
        return Vec::new();
    }
    let first = if lost > shown {
        format!("; the first {shown}")
    } else {
        String::new()
    };
    [
        String::new(),
        format!("newly lost, {lost} (newly kept, {kept}){first}:"),
    ]
    .into_iter()
    .chain(lines)
    .collect()
}

/// What was changed about a strategy, if anything was.
pub(super) fn changed(strategy: &StrategyGate) -> Option<String> {
    let changes = strategy
        .changed
        .iter()
        .map(SettingChange::text)
        .collect::<Vec<_>>();
    (!changes.is_empty()).then(|| format!("candidate: {}", changes.join("; ")))
}

/// Whether the difference is shown to be under the margin on both sides.
pub(super) fn equivalence(metric: &MetricGate, margin: f64) -> Option<String> {
    let p = metric
        .p_equivalent
        .map_or("-".to_owned(), |p| format!("{p:.4}"));
    let said = if metric.equivalent? {
        "equivalent"
    } else {
        "not shown to be equivalent"
    };
    Some(format!(
        "{said} within {} points (p {p})",
        percent_points(margin)
    ))
}

/// How likely a loss of two margins is found with these units, and how many would do.
pub(super) fn power(metric: &MetricGate, margin: f64) -> Option<String> {
    let power = metric.power?;
    let enough = metric.units_needed.filter(|_| power < POWER);
    let enough = enough.map_or(String::new(), |units| {
        format!(", which takes {units} conversations for {POWER:.2}")
    });
    Some(format!(
        "power {power:.2} for a loss of {} points{enough}",
        percent_points(2.0 * margin)
    ))
}

pub(super) fn bounds(metric: &MetricGate) -> String {
    metric
        .low
        .zip(metric.high)
        .map_or(String::new(), |(low, high)| {
            format!("[{low:+.3}, {high:+.3}]")
        })
}

pub(super) fn about(strategy: &StrategyGate) -> impl Iterator<Item = String> {
    strategy.notes.iter().cloned().chain(strategy.next.clone())
}

/// The fact and its fates. Texts from a suite are marked as what they are.
pub(super) fn change_line(change: &FateChange, mark: fn(&str) -> String) -> String {
    let FateChange { before, after, .. } = change;
    let fact = fact_line(&change.scenario, &change.fact, change.stated.as_ref(), mark);
    format!("{fact}: {} -> {}", of_fate(*before), of_fate(*after))
}

/// The fact by its value and where it was said, if that is known, and by its ids.
pub(super) fn fact_line(
    scenario: &str,
    fact: &str,
    stated: Option<&StatedFact>,
    mark: fn(&str) -> String,
) -> String {
    let [scenario, fact] = [scenario, fact].map(mark);
    let Some(StatedFact {
        subject,
        value,
        said_by,
        message,
    }) = stated
    else {
        return format!("{scenario} {fact}");
    };
    let subject = if subject.is_empty() {
        String::new()
    } else {
        format!(" ({})", short(subject))
    };
    let said = match message {
        Some(message) => format!(
            "said by {} in message {message} of {scenario}",
            speaker_name(*said_by)
        ),
        None => format!("of {scenario}"),
    };
    format!("{}{subject}, {said} [{fact}]", mark(&short(value)))
}

/// The beginning of a text from a suite, on one line.
pub(super) fn short(text: &str) -> String {
    const MOST: usize = 60;
    let text = shown(text);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= MOST {
        text
    } else {
        text.chars().take(MOST - 1).chain(['…']).collect()
    }
}

/// A number with three digits, or a dash.
pub(super) fn number(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.3}"))
}
