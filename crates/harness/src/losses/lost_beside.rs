//! What was lost where a program took results of tools out of its context beside compactions.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use compactometer_engine::log::Log;
use compactometer_engine::message::part_text;
use compactometer_engine::tokens::TokenCounter;
use compactometer_engine::view::{Entry, View};
use compactometer_formats::losses::Count;
use compactometer_formats::record::{Held, UseKind};

use super::{SeenContext, holds};
use crate::prepare::PreparedScenario;
use crate::prepare::cleared::ClearedUpTo;

/// Values in results that were taken out and that a call acts on before anybody says them again and
/// before the next compaction, and how many of them were held elsewhere.
pub(super) fn cleared_values(
    prepared: &PreparedScenario,
    seen: &[SeenContext],
    counter: &dyn TokenCounter,
) -> Count {
    let mut count = Count::default();
    let notes = &prepared.scenario.log;
    if notes.cleared.iter().all(|cleared| cleared.calls.is_empty()) {
        return count;
    }
    let (used, unknown) = (used_at(prepared), prepared.unmeasured().collect::<Vec<_>>());
    let (mut log, mut view, mut cleared) =
        (Log::default(), View::default(), ClearedUpTo::new(notes));
    let (mut seen, mut open) = (seen.iter().peekable(), BTreeMap::new());
    for (index, counted) in prepared.messages.iter().enumerate() {
        for fact in used.get(&index).into_iter().flatten() {
            open.remove(fact)
                .into_iter()
                .for_each(|held| count.add(held));
        }
        for fact in prepared.stated_in.get(index) {
            open.remove(fact);
        }
        // The suite was validated when it was read.
        let _ = log.push(Arc::clone(counted));
        view.follow(counted, &log, counter);
        let length = index + 1;
        if cleared.up_to(counted.message.id) {
            let gone = gone(prepared, &view, &cleared);
            view = cleared.out_of(view, &log, counter);
            let holds = holds(prepared, &view);
            open.extend(gone.into_iter().map(|fact| {
                let held = prepared.is_in_left(fact, holds[fact as usize], &view, length);
                (fact, held != Held::OutOfSight)
            }));
        }
        if let Some(compacted) = seen.next_if(|seen| seen.left.length == length) {
            view = compacted.left.view.clone();
            open.clear();
        } else if unknown.contains(&length) {
            view = View::default();
            open.clear();
        }
    }
    count
}

/// The facts whose values are in results of a view that were taken out.
fn gone(prepared: &PreparedScenario, view: &View, cleared: &ClearedUpTo<'_>) -> Vec<u32> {
    let mut gone = vec![false; prepared.mentions.len()];
    let parts = view.entries().iter().flat_map(Entry::parts);
    parts
        .filter(|(part, _)| cleared.has(part))
        .filter_map(|(part, _)| part_text(part))
        .for_each(|text| prepared.facts.mark(text, &mut gone));
    let gone = (0..).zip(gone).filter(|(_, is_gone)| *is_gone);
    gone.map(|(fact, _)| fact).collect()
}

/// The facts that calls of each message act on, without those that any project may have.
fn used_at(prepared: &PreparedScenario) -> HashMap<usize, Vec<u32>> {
    let mut used = HashMap::<_, Vec<u32>>::new();
    for (fact, row) in (0..).zip(&prepared.scenario.facts) {
        let messages = row.used_at.iter().map(|id| prepared.index_of(*id));
        let is_address = |message: &usize| prepared.uses.kind(*message, fact) == UseKind::Address;
        for message in messages.filter(is_address) {
            if !prepared.is_generic(fact as usize) {
                used.entry(message).or_default().push(fact);
            }
        }
    }
    used
}
