//! What the compactions of a recorded conversation lost: which values they left, which uses found theirs, and what the agent did
//! about the others.
//!
//! It judges by the same rules as a replay with `recorded`, and needs neither a strategy nor a control.

mod added;
mod costs;

use std::sync::Arc;

use compactometer_engine::log::Log;
use compactometer_engine::message::{MessageId, part_text};
use compactometer_engine::tokens::TokenCounter;
use compactometer_engine::view::{Entry, View};
use compactometer_formats::losses::{CompactionLosses, Count, SessionLosses, UseSeen};
use compactometer_formats::record::{Held, UseKind};
use compactometer_formats::scenario::{RecordedCompaction, Scenario};

use crate::plan::{Distance, Moment, point, points, recorded_moments};
use crate::prepare::PreparedScenario;
use crate::prepare::recorded::{edits, written};
use added::Added;

/// What the compactions of a conversation lost. `budget` is the tokens of the texts that are added for comparison.
pub fn losses(scenario: Scenario, budget: u32, counter: &dyn TokenCounter) -> SessionLosses {
    let program = scenario.source.split(':').next().unwrap_or_default().to_owned();
    let prepared = PreparedScenario::searched(scenario, counter);
    let moments = recorded_moments(&prepared, counter);
    let left = what_was_left(&prepared, counter);
    let scenario = &prepared.scenario;
    let compactions = scenario.compactions.iter().zip(&left).enumerate().map(|(place, (made, left))| {
        let before = left.tokens_before;
        let values = values(&prepared, left, &moments);
        let costs = costs::costs(&prepared, place, left, counter);
        CompactionLosses {
            session: scenario.id.clone(),
            after: made.after.0,
            at_ms: made.at_ms,
            trigger: made.trigger.clone(),
            compactor: made.compactor.clone(),
            reported_tokens: made.reported_tokens,
            tokens_before: before,
            tokens_after: prepared.tool_tokens + left.view.tokens(),
            unlogged_tokens: prepared.unlogged[place].tokens,
            used_values: values.0,
            unused_values: values.1,
            costs,
            written_tokens: written(made).map(|text| counter.count_text(text)).sum(),
            written: written(made).map(str::to_owned).collect(),
        }
    });
    SessionLosses {
        session: scenario.id.clone(),
        group: scenario.group_id.clone(),
        projects: scenario.projects().map(str::to_owned).collect(),
        program,
        compactions: compactions.collect(),
        unmeasured: scenario.unmeasured.clone(),
        uses: uses(&prepared, &left, &moments, budget, counter),
    }
}

/// What a compaction left.
struct Left {
    /// Length of the log at it.
    length: usize,
    view: View,
    tokens_before: u32,
    /// For each fact, whether the view holds its value as it was said.
    holds: Vec<bool>,
}

fn what_was_left(prepared: &PreparedScenario, counter: &dyn TokenCounter) -> Vec<Left> {
    let (mut log, mut view, mut found) = (Log::default(), View::default(), Vec::new());
    let mut compactions = prepared.scenario.compactions.iter().peekable();
    for counted in &prepared.messages {
        // The suite was validated when it was read.
        let _ = log.push(Arc::clone(counted));
        view.follow(counted, &log, counter);
        let Some(made) = compactions.next_if(|made| made.after == counted.message.id) else { continue };
        let tokens_before = prepared.tool_tokens + view.tokens();
        let system = log.system().map(|system| system.message.id);
        if let Ok(left) = View::from_edits(edits(made, system, 0), &log, counter) {
            view = left;
        }
        let holds = holds(prepared, &view, made);
        found.push(Left { length: log.messages().len(), view: view.clone(), tokens_before, holds });
    }
    found
}

/// The facts whose values the messages that stayed state, or what was written holds.
fn holds(prepared: &PreparedScenario, view: &View, made: &RecordedCompaction) -> Vec<bool> {
    let mut holds = vec![false; prepared.mentions.len()];
    for kept in view.entries().iter().filter_map(Entry::kept) {
        prepared.stated_in.of(prepared.index_of(kept.id)).iter().for_each(|fact| holds[*fact as usize] = true);
    }
    written(made).for_each(|text| prepared.facts.mark(text, &mut holds));
    holds
}

/// Values that were said before a compaction, those that later calls use and the others, with how many of each it left.
fn values(prepared: &PreparedScenario, left: &Left, moments: &[Moment]) -> (Count, Count) {
    let (mut used, mut unused) = (Count::default(), Count::default());
    for fact in point(prepared, left.length, Distance::Compactions(moments), true).eligible {
        let row = &prepared.scenario.facts[fact as usize];
        if row.generic {
            continue;
        }
        let is_used = row.used_at.iter().any(|id| prepared.index_of(*id) >= left.length);
        if is_used { &mut used } else { &mut unused }.add(left.holds[fact as usize]);
    }
    (used, unused)
}

fn uses(
    prepared: &PreparedScenario,
    left: &[Left],
    moments: &[Moment],
    budget: u32,
    counter: &dyn TokenCounter,
) -> Vec<UseSeen> {
    let mut added: Vec<Option<Added>> = left.iter().map(|_| None).collect();
    let mut seen = Vec::new();
    for point in points(prepared, Distance::Compactions(moments)) {
        let Some(place) = left.iter().rposition(|left| left.length <= point.length) else { continue };
        for fact in point.used {
            let added =
                added[place].get_or_insert_with(|| Added::before(prepared, left[place].length, budget, counter));
            seen.push(use_seen(prepared, (place, &left[place]), added, fact, point.length));
        }
    }
    seen
}

fn use_seen(
    prepared: &PreparedScenario,
    (place, left): (usize, &Left),
    added: &Added,
    fact: u32,
    message: usize,
) -> UseSeen {
    let row = &prepared.scenario.facts[fact as usize];
    let used = prepared.uses.by(message, fact);
    let index = |entry: &Entry| entry.kept().map(|kept| prepared.index_of(kept.id));
    let is_named = || prepared.names.as_ref().is_some_and(|names| names.holds(fact, &left.view, index, left.length));
    let held = match left.holds[fact as usize] {
        true => Held::AsSaid,
        false if is_named() => Held::NamedOtherwise,
        false => Held::OutOfSight,
    };
    let attached = prepared.unlogged[place].attached.as_ref();
    let id = |index: usize| prepared.messages[index].message.id.0;
    let said = &prepared.mentions[fact as usize];
    let last = said[..said.partition_point(|mention| *mention < left.length)].last().copied().unwrap_or_default();
    UseSeen {
        session: prepared.scenario.id.clone(),
        compaction: place,
        value: row.value.clone(),
        value_kind: row.value_kind,
        said_by: row.stated_by,
        said_at: row.evidence_message_ids.first().copied().unwrap_or(MessageId(0)).0,
        last_said_at: id(last),
        used_at: id(message),
        tool: used.map(|used| used.tool.clone()).unwrap_or_default(),
        argument: used.map(|used| used.argument.clone()).unwrap_or_default(),
        statement: said.first().map(|first| excerpt(prepared, *first, &row.value)).unwrap_or_default(),
        call: excerpt(prepared, message, &row.value),
        kind: used.map_or(UseKind::Address, |used| used.kind),
        held,
        at_most: attached.map(|attached| held != Held::OutOfSight || attached.contains(&fact)),
        in_random: added.random.iter().map(|draw| draw.contains(&fact)).collect(),
        in_newest_text: added.newest.contains(&fact),
    }
}

/// Letters before and after a value in its excerpt.
const AROUND: usize = 80;

/// The words around a value in a message.
fn excerpt(prepared: &PreparedScenario, message: usize, value: &str) -> String {
    for text in texts(&prepared.messages[message]) {
        if let Some(at) = text.find(value) {
            let before = text[..at].chars().rev().take(AROUND).collect::<Vec<_>>().into_iter().rev();
            let after = text[at + value.len()..].chars().take(AROUND);
            return before
                .chain(value.chars())
                .chain(after)
                .map(|letter| if letter.is_control() { ' ' } else { letter })
                .collect();
        }
    }
    String::new()
}

/// The texts of a message that the conversation shows.
fn texts(counted: &compactometer_engine::tokens::CountedMessage) -> impl DoubleEndedIterator<Item = &str> {
    counted.message.parts.iter().filter_map(part_text)
}
