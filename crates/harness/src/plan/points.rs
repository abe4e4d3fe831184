//! Where a scenario is observed, and which facts count there (the headline set of
//! `docs/measurement/facts.md`).

use std::collections::BTreeSet;

use compactometer_engine::log::Pending;
use compactometer_engine::message::{MessageId, Role};

use super::schedule::Distance;
use crate::prepare::PreparedScenario;

/// A point of the log at which every strategy is observed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// Length of the log at that point, which is the index of the next message.
    pub length: usize,
    /// The headline set, as indices of facts.
    pub eligible: Vec<u32>,
    /// Facts that the next turn uses and whose last mention is equally distant.
    pub used: Vec<u32>,
    /// Uses left out because a recorded turn repeated the value within the distance.
    pub echoed: u32,
}

/// The observation points of a scenario: before each turn that uses a fact (for needed-at-use
/// recall), at the end (for fates), and where its probes are asked. If it has probes, only their
/// points have a headline set.
pub fn points<'p>(prepared: &PreparedScenario, distance: impl Into<Distance<'p>>) -> Vec<Point> {
    let distance = distance.into();
    let index = |id| messages_up_to(prepared, id);
    let (probes, facts) = (&prepared.scenario.probes, &prepared.scenario.facts);
    let probed = probes.iter().map(|probe| index(probe.asked_after));
    let probed = probed.collect::<BTreeSet<_>>();
    let uses = facts.iter().flat_map(|fact| &fact.used_at);
    let using = uses.map(|id| index(*id) - 1).collect::<BTreeSet<_>>();
    let end = prepared.messages.len();
    let lengths = probed
        .iter()
        .chain(&using)
        .copied()
        .chain([end])
        .collect::<BTreeSet<_>>();
    lengths
        .into_iter()
        .filter(|length| *length > 0)
        .map(|length| {
            let headline = probed.is_empty() || probed.contains(&length);
            point(prepared, length, distance, headline)
        })
        .collect()
}

fn messages_up_to(prepared: &PreparedScenario, id: MessageId) -> usize {
    let messages = &prepared.messages;
    messages.partition_point(|counted| counted.message.id <= id)
}

/// The point where the log has that length. Its headline set is empty unless `headline`.
pub(crate) fn point(
    prepared: &PreparedScenario,
    length: usize,
    distance: Distance,
    headline: bool,
) -> Point {
    let pending = Pending::from_messages(&prepared.messages[..length]);
    let outside = |index: usize| {
        pending.contains(index) || prepared.messages[index].message.role == Role::System
    };
    let mut point = Point {
        length,
        ..Point::default()
    };
    let using = prepared
        .messages
        .get(length)
        .map(|counted| counted.message.id);
    for (fact, mentions) in prepared.mentions.iter().enumerate() {
        let stated = &mentions[..mentions.partition_point(|mention| *mention < length)];
        let Some(last) = stated.last() else { continue };
        let valid = prepared.valid_to[fact].is_none_or(|until| until >= length);
        if !valid || stated.iter().any(|mention| outside(*mention)) {
            continue;
        }
        let is_distant = |mention: usize| distance.is_over(prepared, mention, length);
        let row = &prepared.scenario.facts[fact];
        if row.decoy_of.is_some() {
            continue;
        }
        let is_used = using.is_some_and(|id| row.used_at.contains(&id));
        if is_distant(*last) {
            if headline {
                point.eligible.push(fact as u32);
            }
            if is_used {
                point.used.push(fact as u32);
            }
        } else if is_used && !row.generic && is_echo(prepared, stated, is_distant) {
            point.echoed += 1;
        }
    }
    point
}

/// Facts that the next turn uses and that are that far back.
pub(crate) fn needed(prepared: &PreparedScenario, length: usize, distance: Distance) -> Vec<u32> {
    point(prepared, length, distance, false).used
}

/// Whether only the agent's own turns repeated the value within the distance.
fn is_echo(
    prepared: &PreparedScenario,
    stated: &[usize],
    is_distant: impl Fn(usize) -> bool,
) -> bool {
    let spoken_by_agent =
        |mention: &&usize| prepared.messages[**mention].message.role == Role::Assistant;
    let others = stated.iter().rfind(|mention| !spoken_by_agent(mention));
    others.is_some_and(|mention| is_distant(*mention))
}
