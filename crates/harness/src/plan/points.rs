//! Where a scenario is observed, and which facts count there (the headline set of
//! `docs/measurement/facts.md`).

use std::collections::BTreeMap;

use compactometer_engine::log::Pending;
use compactometer_engine::message::{MessageId, Role};
use compactometer_formats::record::ObservationKind;

use super::schedule::{Distance, Reach};
use crate::prepare::PreparedScenario;

/// How many points a conversation implies: at equal distances from where something is old, the last
/// one at its end.
const SPREAD: u64 = 6;

/// A point of the log at which every strategy is observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// Length of the log at that point, which is the index of the next message.
    pub length: usize,
    /// What is asked there.
    pub kind: ObservationKind,
    /// The headline set, as indices of facts; of a question's point, the facts that it may ask for.
    pub eligible: Vec<u32>,
    /// Facts that the next turn uses and whose last mention is equally distant.
    pub used: Vec<u32>,
    /// Facts that the next turn uses and that every row could have lost by then.
    pub needed: Vec<u32>,
    /// Uses left out because a recorded turn repeated the value within the distance.
    pub echoed: u32,
    /// The user's sentences that are equally distant, by their places among all.
    pub said: Vec<u32>,
}

/// How far back a fact must have been said for the last time.
#[derive(Clone, Copy, Debug)]
pub struct Distances<'p> {
    /// To count in recall, and as a use of a distant value.
    pub facts: Distance<'p>,
    /// To count as a use of an old value.
    pub uses: Distance<'p>,
}

impl<'p, D: Into<Distance<'p>>> From<D> for Distances<'p> {
    fn from(distance: D) -> Self {
        let facts = distance.into();
        Distances { facts, uses: facts }
    }
}

/// The observation points of a scenario: those that its length implies, where its questions are
/// asked, and before each turn that uses an old value. Only the first kind counts in recall, so
/// that a question changes none.
pub fn points<'p>(prepared: &PreparedScenario, distances: impl Into<Distances<'p>>) -> Vec<Point> {
    let distances = distances.into();
    let points = kinds(prepared, distances.facts)
        .into_iter()
        .filter(|(length, _)| *length > 0)
        .map(|(length, kind)| point(prepared, length, distances, kind));
    points.filter(Point::shows_something).collect()
}

/// What is asked at which length of the log.
fn kinds(prepared: &PreparedScenario, distance: Distance) -> BTreeMap<usize, ObservationKind> {
    let length = |id| messages_up_to(prepared, id);
    let uses = prepared
        .scenario
        .facts
        .iter()
        .flat_map(|fact| &fact.used_at);
    let mut kinds: BTreeMap<usize, ObservationKind> = uses
        .map(|id| (length(*id) - 1, ObservationKind::Use))
        .collect();
    let asked = prepared
        .scenario
        .probes
        .iter()
        .map(|probe| (length(probe.asked_after), ObservationKind::Question));
    kinds.extend(asked);
    let implied = spread(prepared, distance).into_iter();
    kinds.extend(implied.map(|length| (length, ObservationKind::Point)));
    kinds
}

/// Lengths at equal distances, each directly before a turn of the agent, and that of the whole.
fn spread(prepared: &PreparedScenario, distance: Distance) -> Vec<usize> {
    let end = prepared.messages.len();
    let has_old = |length: &usize| distance.old_before(prepared, *length) > 1;
    let Some(first) = (1..=end).find(has_old) else {
        return vec![end];
    };
    let (start, whole) = (
        prepared.tokens_before[first],
        prepared.tokens_before[end] - prepared.tokens_before[first],
    );
    let is_turn = |length: &usize| prepared.messages[*length].message.role == Role::Assistant;
    let after = |part: u64| {
        let least = start + whole * part / SPREAD;
        let from = prepared
            .tokens_before
            .partition_point(|before| *before < least);
        (from..end).find(is_turn).unwrap_or(end)
    };
    (1..SPREAD).map(after).chain([end]).collect()
}

fn messages_up_to(prepared: &PreparedScenario, id: MessageId) -> usize {
    let messages = &prepared.messages;
    messages.partition_point(|counted| counted.message.id <= id)
}

impl Point {
    /// Whether looking there tells anything: at a use, only if a value is old.
    fn shows_something(&self) -> bool {
        self.kind != ObservationKind::Use
            || !self.used.is_empty()
            || !self.needed.is_empty()
            || self.echoed > 0
    }
}

/// The point where the log has that length. Its headline set is empty where only a use is looked
/// at.
pub(crate) fn point(
    prepared: &PreparedScenario,
    length: usize,
    distances: Distances,
    kind: ObservationKind,
) -> Point {
    let here = Here::new(prepared, length, distances);
    let mut point = Point {
        length,
        kind,
        eligible: Vec::new(),
        used: Vec::new(),
        needed: Vec::new(),
        echoed: 0,
        said: match kind {
            ObservationKind::Point => here.old_sentences(),
            _ => Vec::new(),
        },
    };
    let used = match length < prepared.messages.len() {
        true => prepared.used_in.get(length),
        false => &[],
    };
    match kind {
        ObservationKind::Use => used.iter().for_each(|fact| point.add(&here, *fact, true)),
        _ => (0..prepared.mentions.len() as u32)
            .for_each(|fact| point.add(&here, fact, used.contains(&fact))),
    }
    point
}

impl Point {
    /// Adds a fact to the lists that it belongs to.
    fn add(&mut self, here: &Here<'_>, fact: u32, is_used: bool) {
        let Some(stated) = here.stated(fact) else {
            return;
        };
        let Some(last) = stated.last() else { return };
        if is_used && here.uses.is_over(*last) {
            self.needed.push(fact);
        }
        let row = &here.prepared.scenario.facts[fact as usize];
        if here.facts.is_over(*last) {
            if self.kind != ObservationKind::Use {
                self.eligible.push(fact);
            }
            if is_used {
                self.used.push(fact);
            }
        } else if is_used && !row.generic && is_echo(here.prepared, stated, &here.facts) {
            self.echoed += 1;
        }
    }
}

/// What is how far back where the log has one length.
struct Here<'p> {
    prepared: &'p PreparedScenario,
    length: usize,
    facts: Reach<'p>,
    uses: Reach<'p>,
    /// Whether what is far back may have been dropped although it is pending.
    may_drop: bool,
    pending: Pending,
}

impl<'p> Here<'p> {
    fn new(prepared: &'p PreparedScenario, length: usize, distances: Distances<'p>) -> Self {
        Here {
            prepared,
            length,
            facts: distances.facts.at(prepared, length),
            uses: distances.uses.at(prepared, length),
            may_drop: distances.facts.may_drop(),
            pending: prepared.pending(length),
        }
    }

    /// Whether no compaction can have removed a message.
    fn stays(&self, index: usize) -> bool {
        self.pending.contains(index) && !(self.may_drop && self.facts.is_over(index))
    }

    /// Whether a message that no compaction can have removed is among these, which ascend.
    fn is_outside(&self, mentions: &[usize]) -> bool {
        // Only the first message may be a system prompt, and a batch is the end of a log.
        let is_system = |first: &usize| self.prepared.messages[*first].message.role == Role::System;
        let is_last_user = |last| self.stays(last) && mentions.binary_search(&last).is_ok();
        let newest = mentions.iter().rev();
        let mut of_batch = newest.take_while(|mention| self.pending.batch.contains(mention));
        mentions.first().is_some_and(is_system)
            || self.pending.last_user.is_some_and(is_last_user)
            || of_batch.any(|mention| self.stays(*mention))
    }

    /// Where a fact was stated that is still true, if every one of them can have been removed.
    fn stated(&self, fact: u32) -> Option<&'p [usize]> {
        let (prepared, fact) = (self.prepared, fact as usize);
        let mentions = &prepared.mentions[fact];
        let stated = &mentions[..mentions.partition_point(|mention| *mention < self.length)];
        let is_true = prepared.valid_to[fact].is_none_or(|until| until >= self.length);
        let is_decoy = prepared.scenario.facts[fact].decoy_of.is_some();
        (is_true && !is_decoy && !self.is_outside(stated)).then_some(stated)
    }

    /// The user's sentences that are far back, by their places among all.
    fn old_sentences(&self) -> Vec<u32> {
        let is_old = |mentions: &[usize]| {
            let last = mentions.last();
            last.is_some_and(|last| self.facts.is_over(*last)) && !self.is_outside(mentions)
        };
        let said = (0..).zip(&self.prepared.said_in_messages().all);
        let old = said.filter(|(_, one)| is_old(one.before(self.length)));
        old.map(|(place, _)| place).collect()
    }
}

/// Whether only the agent's own turns repeated the value within the distance.
fn is_echo(prepared: &PreparedScenario, stated: &[usize], facts: &Reach<'_>) -> bool {
    let spoken_by_agent =
        |mention: &&usize| prepared.messages[**mention].message.role == Role::Assistant;
    let others = stated.iter().rfind(|mention| !spoken_by_agent(mention));
    others.is_some_and(|mention| facts.is_over(*mention))
}
