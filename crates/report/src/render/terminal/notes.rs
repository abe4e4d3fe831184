//! What is below the table: the few notes that change how it is read, or all of them.

use compactometer_formats::mock_name::has_mock;
use compactometer_formats::summary::{Check, Comparison, Group, StrategySummary, Sweep};
use compactometer_text::wrapping::wrapped;

use super::grid::{show, with_interval};
use crate::metrics::answered::ANSWER_RECALL;
use crate::metrics::answered::memory::{MEMORY_DOCUMENT_RECALL, MEMORY_NOTE_RECALL};
use crate::metrics::prompted::{PROMPTED_RECALL, RETRIEVED_TOKENS};
use crate::metrics::storage::STORED_SHARE;
use crate::metrics::{self, Metric};
use crate::numbers::grouped;
use crate::phrases::verdict;
use crate::render::compared::OWN_REFERENCE;
use crate::render::{compared, judged, reasons};
use crate::summary::{common_reference, difference, is_in_heading};
use crate::vocabulary;

/// Most notes beside those that all are asked for.
const NOTES: usize = 8;

/// Every failed check whatever its length, the gravest notes that fit, and where the rest is.
pub(super) fn few(
    group: &Group,
    swept: Option<&Sweep>,
    hidden: usize,
    width: usize,
    room: usize,
) -> Vec<String> {
    let failed = group
        .checks
        .iter()
        .filter(|check| check.passed == Some(false))
        .map(check_line);
    let failures = reasons::failures(group)
        .into_iter()
        .map(|line| format!("- most frequent failures of {line}"));
    let warnings = group
        .warnings
        .iter()
        .filter(|warning| !is_in_heading(warning));
    let warnings = warnings.map(|warning| format!("- {warning}"));
    let mut lines = failed
        .flat_map(|line| wrapped(&line, width))
        .collect::<Vec<_>>();
    let mut shown = 0;
    let judged = group
        .judged
        .iter()
        .flat_map(judged::lines)
        .map(|line| format!("- judge: {line}"));
    let memory = of_memory(group).map(|line| format!("- {line}"));
    for note in failures
        .chain(judged)
        .chain(memory)
        .chain(warnings)
        .take(NOTES)
    {
        let note = wrapped(&note, width);
        // The last line says where the rest is.
        if lines.len() + note.len() >= room {
            break;
        }
        lines.extend(note);
        shown += 1;
    }
    let decided = group.checks.iter().filter(|check| check.passed.is_some());
    let holding = decided
        .clone()
        .filter(|check| check.passed == Some(true))
        .count();
    let rest = (all(group, swept).len() - group.checks.len()).saturating_sub(shown);
    let rows = match hidden {
        0 => String::new(),
        1 => "; 1 more row: --all".to_owned(),
        _ => format!("; {hidden} more rows: --all"),
    };
    let notes = match rest {
        0 => "; what columns show: --notes".to_owned(),
        _ => format!("; what columns show, {rest} notes: --notes"),
    };
    let checks = format!("{holding} of {} checks hold{rows}{notes}", decided.count());
    lines.extend(wrapped(&checks, width));
    lines
}

/// Every note, then the checks.
pub(super) fn all(group: &Group, swept: Option<&Sweep>) -> Vec<String> {
    let named = metrics::ALL.iter().filter(|metric| metric.place.is_some());
    let metrics = reasons::lines(group, named).into_iter();
    let findings = swept
        .iter()
        .flat_map(|sweep| sweep.findings.iter().cloned())
        .collect::<Vec<_>>();
    let noted = findings.into_iter().chain(metrics);
    let noted = noted
        .chain(group.strategies.iter().filter_map(found_again))
        .chain(answered(group))
        .chain(of_memory(group));
    let judged = group
        .judged
        .iter()
        .flat_map(judged::lines)
        .map(|line| format!("judge: {line}"));
    let failures = reasons::failures(group)
        .into_iter()
        .map(|line| format!("most frequent failures of {line}"));
    let warnings = group.warnings.iter().cloned();
    let noted = noted
        .chain(failures)
        .chain(judged)
        .chain(warnings)
        .map(|line| format!("- {line}"));
    noted.chain(group.checks.iter().map(check_line)).collect()
}

/// Every strategy against the reference, one line each, then the same at one size where a sweep
/// allows it.
pub(super) fn compared(group: &Group, swept: Option<&Sweep>) -> Vec<String> {
    let of = |made: &[Comparison]| common_reference(made).unwrap_or(OWN_REFERENCE).to_owned();
    let is_mock = has_mock(&group.summarizer, group.target.as_deref());
    let heading = format!(
        "minus {}, paired by conversation (95 %; p by Holm; MDE: smallest found with power .80)",
        of(&group.comparisons)
    );
    let mut lines = comparison_lines(heading, &group.comparisons, is_mock);
    if let Some(sweep) = swept {
        let heading = format!(
            "minus {}, at the smaller of both sizes, read off the larger one's curve ({} of {} conversations)",
            of(&sweep.comparisons),
            sweep.conversations,
            sweep.of
        );
        lines.extend(comparison_lines(heading, &sweep.comparisons, is_mock));
    }
    lines
}

/// Under a mock a verdict would be on the mock.
fn comparison_lines(heading: String, comparisons: &[Comparison], is_mock: bool) -> Vec<String> {
    if comparisons.is_empty() {
        return Vec::new();
    }
    let name = |made: &Comparison| format!("{}, {}", made.strategy, vocabulary::name(&made.metric));
    let width = comparisons
        .iter()
        .map(|made| name(made).chars().count())
        .max()
        .unwrap_or(0);
    let line = |made: &Comparison| {
        let (p, least) = (compared::p(made.p_holm), compared::share(made.detectable));
        let (name, difference) = (name(made), difference(made));
        let verdict = if is_mock {
            compared::without_verdict(made)
        } else {
            made.verdict.name()
        };
        let size = made.tokens.map_or(String::new(), |tokens| {
            format!(" at {:>6}", grouped(tokens))
        });
        format!(
            "{name:<width$}{size}  {difference:<21} p {p:<6} MDE {least:<4} G {:<3} {verdict}",
            made.n
        )
        .trim_end()
        .to_owned()
    };
    let lines = comparisons.iter().map(line);
    std::iter::once(heading)
        .chain(lines)
        .chain([String::new()])
        .collect()
}

/// Answer recall of every strategy that has one: the grid has no room for it.
fn answered(group: &Group) -> Option<String> {
    let has = |strategy: &&StrategySummary| ANSWER_RECALL.value(strategy).is_some();
    let of = |strategy: &StrategySummary| {
        format!(
            "{} {}",
            strategy.name,
            with_interval(ANSWER_RECALL.get(strategy))
        )
    };
    let found: Vec<String> = group.strategies.iter().filter(has).map(of).collect();
    (!found.is_empty()).then(|| {
        format!(
            "questions answered right from the context: {}",
            found.join(", ")
        )
    })
}

/// What requests hold of memory, if any question asks for it.
fn of_memory(group: &Group) -> Option<String> {
    let named = |metric: &Metric, strategies: &[&StrategySummary]| {
        strategies
            .iter()
            .map(|found| format!("{} {}", found.name, show(found, metric)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let asked = group
        .strategies
        .iter()
        .filter(|strategy| MEMORY_NOTE_RECALL.value(strategy).is_some());
    let (finding, others): (Vec<_>, Vec<_>) =
        asked.partition(|found| MEMORY_NOTE_RECALL.value(found) > Some(0.0));
    let lacking = group.strategies.iter().filter(|strategy| {
        MEMORY_DOCUMENT_RECALL
            .value(strategy)
            .is_some_and(|held| held < 1.0)
    });
    let lacking = lacking.collect::<Vec<_>>();
    let notes = match (finding.as_slice(), others.len()) {
        ([], 0) => None,
        ([], _) => {
            Some("no strategy finds an answer in the notes of an earlier conversation".to_owned())
        }
        (finding, others) => {
            let rest = if others == 0 {
                String::new()
            } else {
                format!(", the other {others} find none")
            };
            Some(format!(
                "answers found in notes of an earlier conversation: {}{rest}",
                named(&MEMORY_NOTE_RECALL, finding)
            ))
        }
    };
    let document = (!lacking.is_empty()).then(|| {
        format!(
            "answers in the memory document that requests hold: {}",
            named(&MEMORY_DOCUMENT_RECALL, &lacking)
        )
    });
    let found = notes.into_iter().chain(document).collect::<Vec<_>>();
    (!found.is_empty()).then(|| format!("memory: {}", found.join("; ")))
}

/// What a strategy stores outside its context, if it retrieves any of it.
fn found_again(strategy: &StrategySummary) -> Option<String> {
    PROMPTED_RECALL.value(strategy)?;
    let stored = 100.0 * STORED_SHARE.value(strategy).filter(|share| *share > 0.0)?;
    let [found, tokens] = [PROMPTED_RECALL, RETRIEVED_TOKENS].map(|metric| show(strategy, &metric));
    Some(format!(
        "stored, not in the context ({}): {stored:.0} % of what is out of it; with what is retrieved for a question, {tokens} tokens on \
         average, prompted recall is {found}",
        strategy.name
    ))
}

fn check_line(check: &Check) -> String {
    format!(
        "{:<6} {}: {}",
        verdict(check.passed),
        check.name,
        check.detail
    )
}
