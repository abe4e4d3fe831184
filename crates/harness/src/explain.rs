//! One conversation step by step: what left, what was written, and what each fact went through.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use compactometer_engine::event::Outcome;
use compactometer_schema::fate::Fate;
use compactometer_schema::record::{CompactionRow, Observation, ObservationKind};
use compactometer_schema::scenario::Scenario;

use crate::replay::CaseResult;

/// Tells one case as text. `only` limits the facts to one id.
pub fn tell(scenario: &Scenario, result: &CaseResult, only: Option<&str>) -> String {
    let record = &result.record;
    let case = &record.case;
    let retained = case.budget.retained.map_or("as the strategy likes".to_owned(), |most| format!("{most} tokens"));
    let mut text = format!(
        "{} on {} ({} messages, {} facts)\nwindow {}, trigger {} tokens, retained {retained}\n",
        case.strategy,
        case.scenario,
        scenario.messages.len(),
        record.facts.iter().filter(|fact| !fact.decoy).count(),
        case.budget.window,
        case.budget.trigger,
    );
    let mut rounds = record.observations.iter().filter(|observation| observation.kind == ObservationKind::Compaction);
    let mut before: Option<&Observation> = None;
    for row in &record.compactions {
        tell_decision(&mut text, row);
        if row.event.outcome == Outcome::Applied
            && let Some(after) = rounds.next()
        {
            tell_written(&mut text, row, &result.texts);
            tell_changes(&mut text, scenario, before, after, only);
            before = Some(after);
        }
    }
    if record.compactions.is_empty() {
        text.push_str("\nno compaction: the conversation never reached the trigger\n");
    }
    tell_end(&mut text, scenario, record.observations.last(), only);
    text
}

fn tell_decision(text: &mut String, row: &CompactionRow) {
    let event = &row.event;
    let outcome = match &event.outcome {
        Outcome::Applied => "compacted".to_owned(),
        Outcome::Skipped(reason) => format!("skipped: {reason}"),
        Outcome::Failed(reason) => format!("failed: {reason}"),
    };
    let _ = write!(text, "\nafter message {}: {outcome}", event.after.0);
    if event.outcome == Outcome::Applied {
        let _ = write!(
            text,
            ", {} -> {} tokens ({} retained)",
            event.tokens_before, event.tokens_after, event.tokens_retained
        );
        if event.over_budget {
            text.push_str(", OVER BUDGET");
        }
    }
    let calls = &row.calls;
    if !calls.is_empty() {
        let input = calls.iter().map(|call| call.usage.total_input()).sum::<u64>();
        let output = calls.iter().map(|call| call.usage.output).sum::<u64>();
        let _ = write!(text, "; {} call(s), {input} tokens in, {output} out", calls.len());
    }
    text.push('\n');
    if !row.left.is_empty() {
        let runs = row.left.iter().map(|(first, last)| match first == last {
            true => first.0.to_string(),
            false => format!("{}-{}", first.0, last.0),
        });
        let _ = writeln!(text, "  left: messages {}", runs.collect::<Vec<_>>().join(", "));
    }
    if !event.unread.is_empty() {
        let _ = writeln!(text, "  unread: {} message(s) left with text that no summarizer read", event.unread.len());
    }
}

fn tell_written(text: &mut String, row: &CompactionRow, texts: &BTreeMap<String, String>) {
    for inserted in row.inserted.iter().filter_map(|hash| texts.get(hash)) {
        text.push_str("  written:\n");
        for line in inserted.lines() {
            let _ = writeln!(text, "  | {}", visible(line));
        }
    }
}

/// The facts whose fate changed since the compaction before, losses first.
fn tell_changes(
    text: &mut String,
    scenario: &Scenario,
    before: Option<&Observation>,
    after: &Observation,
    only: Option<&str>,
) {
    let mut lines = Vec::new();
    for (index, fact) in scenario.facts.iter().enumerate() {
        let earlier = before.map_or(Fate::Unstated, |observation| observation.fates.0[index]);
        let now = after.fates.0[index];
        let shown = only.map_or(fact.decoy_of.is_none(), |id| fact.id == id);
        if shown && now != earlier && now != Fate::Unstated {
            let from = if earlier == Fate::Unstated { Fate::Verbatim } else { earlier };
            if from != now {
                lines.push((
                    now.is_present(),
                    format!("  {} -> {}: {} = {}", from.name(), now.name(), fact.id, one_line(&fact.value)),
                ));
            }
        }
    }
    lines.sort_by_key(|(present, _)| *present);
    for (_, line) in lines {
        text.push_str(&line);
        text.push('\n');
    }
}

fn tell_end(text: &mut String, scenario: &Scenario, last: Option<&Observation>, only: Option<&str>) {
    let Some(last) = last else { return };
    let _ = writeln!(text, "\nat the end, after message {}:", last.after.0);
    for fate in Fate::STATED {
        let of_fate = scenario
            .facts
            .iter()
            .zip(&last.fates.0)
            .filter(|(fact, found)| *found == fate && shown(fact.decoy_of.is_some(), &fact.id, only));
        let facts = of_fate.map(|(fact, _)| fact).collect::<Vec<_>>();
        if !facts.is_empty() {
            let values =
                facts.iter().take(MOST_VALUES).map(|fact| one_line(&fact.value)).collect::<Vec<_>>().join(", ");
            let more = if facts.len() > MOST_VALUES { ", ..." } else { "" };
            let _ = writeln!(text, "  {:<15}{:>5}  {values}{more}", fate.name(), facts.len());
        }
    }
}

/// Values listed for each fate at the end.
const MOST_VALUES: usize = 6;

fn shown(decoy: bool, id: &str, only: Option<&str>) -> bool {
    only.map_or(!decoy, |only| id == only)
}

/// A value on one line, shortened.
fn one_line(value: &str) -> String {
    let safe = visible(value);
    match safe.char_indices().nth(60) {
        Some((at, _)) => format!("{}...", &safe[..at]),
        None => safe,
    }
}

/// Text of a transcript without control characters, so that it cannot steer a terminal.
fn visible(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}
