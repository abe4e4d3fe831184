//! What the compactions of a recorded conversation lost: which values they left, which uses found
//! theirs, and what the agent did about the others.
//!
//! It judges by the same rules as a replay with `recorded`, and needs neither a strategy nor a
//! control.

mod added;
mod costs;
mod lost_beside;
mod sentences_after;

use compactometer_engine::message::{MessageId, part_text};
use compactometer_engine::tokens::TokenCounter;
use compactometer_engine::view::{Entry, View};
use compactometer_formats::losses::{
    CompactionLosses, Count, HookRun, SessionLosses, TotalLoss, UseSeen,
};
use compactometer_formats::record::{Held, ObservationKind, UseKind};
use compactometer_formats::scenario::{RecordedCompaction, Scenario};

use crate::plan::{Distance, Moment, point, points, recorded_moments};
use crate::prepare::PreparedScenario;
use crate::prepare::recorded_context::{LeftByProgram, left, written_texts};
use added::{Added, Adding};
use costs::PricedCall;

/// What the compactions of a conversation lost. `budget` is the tokens of the texts that are added
/// for comparison, and `hooks` has what each hook did, by the place of the compaction in the
/// conversation's list.
pub fn losses(
    scenario: Scenario,
    budget: u32,
    hooks: &[Vec<HookRun>],
    counter: &dyn TokenCounter,
) -> SessionLosses {
    let program = scenario
        .source
        .split(':')
        .next()
        .unwrap_or_default()
        .to_owned();
    let prepared = PreparedScenario::searched(scenario, counter);
    let left = left(&prepared, counter);
    let moments = recorded_moments(&prepared, &left);
    let seen = left
        .into_iter()
        .map(|left| SeenContext::new(&prepared, left))
        .collect::<Vec<_>>();
    let (scenario, calls) = (&prepared.scenario, costs::calls(&prepared));
    let hooks_of = |place: usize| hooks.get(place).map_or(&[][..], Vec::as_slice);
    let compactions = seen.iter().map(|seen| {
        let hooks = hooks_of(seen.left.place).to_vec();
        CompactionLosses {
            hooks,
            ..compaction(&prepared, seen, &moments, &calls, counter)
        }
    });
    let compactions = compactions.collect();
    let mut adding = Adding::new(&prepared, budget, hooks, counter);
    let added = seen.iter().map(|seen| adding.beside(&seen.left));
    let added = added.collect::<Vec<_>>();
    SessionLosses {
        session: scenario.id.clone(),
        group: scenario.group_id.clone(),
        projects: scenario.projects().map(str::to_owned).collect(),
        program,
        compactions,
        unmeasured: scenario.unmeasured.clone(),
        left_behind: scenario.log.left_behind,
        cleared_results: scenario.log.cleared.iter().map(|at| at.results).sum(),
        cleared_values: lost_beside::cleared_values(&prepared, &seen, counter),
        said: sentences_after::sentences_seen(&prepared, &seen, &added),
        uses: uses(&prepared, &seen, &moments, &added),
    }
}

/// What a compaction left, and the values that it holds.
struct SeenContext {
    left: LeftByProgram,
    /// For each fact, whether the context holds its value as it was said.
    holds: Vec<bool>,
}

impl SeenContext {
    fn new(prepared: &PreparedScenario, left: LeftByProgram) -> Self {
        let holds = holds(prepared, &left.view);
        SeenContext { left, holds }
    }
}

fn compaction(
    prepared: &PreparedScenario,
    seen: &SeenContext,
    moments: &[Moment],
    calls: &[PricedCall<'_>],
    counter: &dyn TokenCounter,
) -> CompactionLosses {
    let made = &prepared.scenario.compactions[seen.left.place];
    let (used_values, unused_values) = values(prepared, seen, moments);
    CompactionLosses {
        session: prepared.scenario.id.clone(),
        place: seen.left.place,
        after: made.after.0,
        at_ms: made.at_ms,
        trigger: made.trigger.clone(),
        version: made.version.clone(),
        compactor: made.compactor.clone(),
        reported_tokens: made.reported_tokens,
        tokens_before: seen.left.before,
        tokens_after: prepared.tool_tokens + seen.left.view.tokens(),
        unlogged_tokens: prepared.unlogged[seen.left.place].tokens,
        used_values,
        unused_values,
        open_request: open_request(prepared, seen, moments),
        total_loss: total_loss(made),
        calls_until_next: costs::calls_until_next(prepared, seen, calls),
        costs: costs::costs(prepared, seen, calls, counter),
        hooks: Vec::new(),
        written_tokens: written_texts(made)
            .map(|text| counter.count_text(text))
            .sum(),
        written: written_texts(made).map(str::to_owned).collect(),
    }
}

/// Values of the request that was open at a compaction and that later calls act on before anybody
/// says them again, and how many of them are in what it left. No program is assumed to have kept the
/// request.
fn open_request(prepared: &PreparedScenario, seen: &SeenContext, moments: &[Moment]) -> Count {
    let (left, mut count) = (&seen.left, Count::default());
    let Some(moment) = moments.iter().find(|moment| moment.length == left.length) else {
        return count;
    };
    let next = moments
        .iter()
        .map(|moment| moment.length)
        .find(|length| *length > left.length);
    let ends = [next, moment.known_until].into_iter().flatten().min();
    let end = ends.unwrap_or(prepared.messages.len());
    let pending = prepared.pending(left.length);
    for (fact, said) in (0..).zip(&prepared.mentions) {
        let before = said.partition_point(|mention| *mention < left.length);
        let is_open = before > 0 && pending.contains(said[before - 1]);
        let used_at = prepared.scenario.facts[fact as usize].used_at.iter();
        let mut used_at = used_at.map(|id| prepared.index_of(*id));
        let Some(used) = used_at.find(|index| (left.length..end).contains(index)) else {
            continue;
        };
        let is_address = prepared.uses.kind(used, fact) == UseKind::Address;
        let is_said_again = said.get(before).is_some_and(|again| *again < used);
        if is_open && !is_said_again && !prepared.is_generic(fact as usize) && is_address {
            let held =
                prepared.is_in_left(fact, seen.holds[fact as usize], &left.view, left.length);
            count.add(held != Held::OutOfSight);
        }
    }
    count
}

/// What a compaction left in place of a summary, if it left none.
fn total_loss(made: &RecordedCompaction) -> Option<TotalLoss> {
    /// How an agent's program begins to say that a request failed.
    const ERROR: &str = "API Error: ";
    let mut lines = written_texts(made).flat_map(str::lines);
    match () {
        () if made.context.is_empty() => Some(TotalLoss::Nothing),
        () if lines.any(|line| line.starts_with(ERROR)) => Some(TotalLoss::Error),
        () => None,
    }
}

/// The facts whose values a context holds: those that its messages state, and those that what was
/// written in it holds.
fn holds(prepared: &PreparedScenario, view: &View) -> Vec<bool> {
    let mut holds = vec![false; prepared.mentions.len()];
    for kept in view.entries().iter().filter_map(Entry::log_message) {
        prepared
            .stated_in
            .get(prepared.index_of(kept.id))
            .iter()
            .for_each(|fact| holds[*fact as usize] = true);
    }
    let written = view
        .entries()
        .iter()
        .filter_map(Entry::written_parts)
        .flatten();
    written
        .filter_map(|written| part_text(&written.part))
        .for_each(|text| prepared.facts.mark(text, &mut holds));
    holds
}

/// Values that were said before a compaction, those that later calls use and the others, with how
/// many of each it left.
fn values(prepared: &PreparedScenario, seen: &SeenContext, moments: &[Moment]) -> (Count, Count) {
    let (mut used, mut unused) = (Count::default(), Count::default());
    for fact in point(
        prepared,
        seen.left.length,
        Distance::Compactions(moments).into(),
        ObservationKind::Compaction,
    )
    .eligible
    {
        if prepared.is_generic(fact as usize) {
            continue;
        }
        let is_used = prepared.scenario.facts[fact as usize]
            .used_at
            .iter()
            .any(|id| prepared.index_of(*id) >= seen.left.length);
        if is_used { &mut used } else { &mut unused }.add(seen.holds[fact as usize]);
    }
    (used, unused)
}

fn uses(
    prepared: &PreparedScenario,
    seen: &[SeenContext],
    moments: &[Moment],
    added: &[Added],
) -> Vec<UseSeen> {
    let mut uses = Vec::new();
    for point in points(prepared, Distance::Compactions(moments)) {
        let Some(last) = seen
            .iter()
            .rposition(|seen| seen.left.length <= point.length)
        else {
            continue;
        };
        for fact in point.used {
            uses.push(use_seen(
                prepared,
                &seen[last],
                &added[last],
                fact,
                point.length,
            ));
        }
    }
    uses
}

fn use_seen(
    prepared: &PreparedScenario,
    seen: &SeenContext,
    added: &Added,
    fact: u32,
    message: usize,
) -> UseSeen {
    let SeenContext { left, holds } = seen;
    let row = &prepared.scenario.facts[fact as usize];
    let used = prepared.uses.by(message, fact);
    let held = prepared.is_in_left(fact, holds[fact as usize], &left.view, left.length);
    let id = |index: usize| prepared.messages[index].message.id.0;
    let said = &prepared.mentions[fact as usize];
    UseSeen {
        session: prepared.scenario.id.clone(),
        compaction: left.place,
        value: row.value.clone(),
        value_kind: row.value_kind,
        said_by: row.stated_by,
        said_at: row
            .evidence_message_ids
            .first()
            .copied()
            .unwrap_or(MessageId(0))
            .0,
        used_at: id(message),
        tool: used.map(|used| used.tool.clone()).unwrap_or_default(),
        argument: used.map(|used| used.argument.clone()).unwrap_or_default(),
        statement: said
            .first()
            .map(|first| excerpt(prepared, *first, &row.value))
            .unwrap_or_default(),
        call: excerpt(prepared, message, &row.value),
        kind: prepared.uses.kind(message, fact),
        held,
        at_most: prepared.held_at_most(fact, held, left.length),
        in_added: added.in_texts(fact),
        in_ledger_of: added
            .ledger_of
            .each_ref()
            .map(|ledger| ledger.contains(&fact)),
        in_hooks: added
            .hooks
            .iter()
            .map(|hook| hook.contains(&fact))
            .collect(),
    }
}

/// Letters before and after a value in its excerpt.
const AROUND: usize = 80;

/// The words around a value in a message.
fn excerpt(prepared: &PreparedScenario, message: usize, value: &str) -> String {
    for text in texts(&prepared.messages[message]) {
        if let Some(at) = text.find(value) {
            let before = text[..at]
                .chars()
                .rev()
                .take(AROUND)
                .collect::<Vec<_>>()
                .into_iter()
                .rev();
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
fn texts(
    counted: &compactometer_engine::tokens::CountedMessage,
) -> impl DoubleEndedIterator<Item = &str> {
    counted.message.parts.iter().filter_map(part_text)
}
