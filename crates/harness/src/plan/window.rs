//! Where a scenario is looked at, which facts count there, and which context window suits a suite.

use std::collections::BTreeSet;

use compactometer_engine::log::Pending;
use compactometer_engine::message::Role;

use crate::prepare::scenario::Loaded;

/// Shares of the window under the matched protocol, and for controls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// At which a compaction starts: over that which it may leave, at most 1.
    pub trigger: f64,
    /// That a compaction may leave: over 0.
    pub retained: f64,
}

impl Default for Shares {
    fn default() -> Self {
        Shares { trigger: 0.8, retained: 0.3 }
    }
}

impl Shares {
    /// The trigger of a window, in tokens.
    pub fn trigger_of(self, window: u32) -> u32 {
        (f64::from(window) * self.trigger) as u32
    }

    /// The retained budget of a window, in tokens.
    pub fn retained_of(self, window: u32) -> u32 {
        (f64::from(window) * self.retained) as u32
    }
}

/// A point of the log at which every strategy is looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// Length of the log at that point: the next message has this index.
    pub length: usize,
    /// The headline set (MEASUREMENT section 3), as indices of facts.
    pub eligible: Vec<u32>,
    /// Facts that the next turn uses and whose last mention is as distant.
    pub used: Vec<u32>,
    /// Uses left out because a recorded turn repeated the value within the distance.
    pub echoed: u32,
}

/// The observation points of a scenario: where its probes are asked, else before each turn that uses a fact and at the end.
/// Turns that use a fact are points in any case, for needed-at-use recall, and so is the end, for the fates.
pub fn points(loaded: &Loaded, trigger: u32) -> Vec<Point> {
    let index = |id| loaded.messages.partition_point(|counted| counted.message.id <= id);
    let probed = loaded.scenario.probes.iter().map(|probe| index(probe.asked_after)).collect::<BTreeSet<_>>();
    let uses = loaded.scenario.facts.iter().flat_map(|fact| &fact.used_at);
    let using = uses.map(|id| index(*id) - 1).collect::<BTreeSet<_>>();
    let end = loaded.messages.len();
    let lengths = probed.iter().chain(&using).copied().chain([end]).collect::<BTreeSet<_>>();
    lengths
        .into_iter()
        .filter(|length| *length > 0)
        .map(|length| {
            let headline = probed.is_empty() || probed.contains(&length);
            point(loaded, length, u64::from(trigger), headline)
        })
        .collect()
}

/// What is looked at when the log has that length; the headline set is left empty unless `headline`.
pub(crate) fn point(loaded: &Loaded, length: usize, trigger: u64, headline: bool) -> Point {
    let pending = Pending::of(&loaded.messages[..length]);
    let outside = |index: usize| pending.contains(index) || loaded.messages[index].message.role == Role::System;
    let mut point = Point { length, ..Point::default() };
    let using = loaded.messages.get(length).map(|counted| counted.message.id);
    for (fact, mentions) in loaded.mentions.iter().enumerate() {
        let stated = &mentions[..mentions.partition_point(|mention| *mention < length)];
        let Some(last) = stated.last() else { continue };
        let valid = loaded.valid_to[fact].is_none_or(|until| until >= length);
        if !valid || stated.iter().any(|mention| outside(*mention)) {
            continue;
        }
        let is_distant = |mention: usize| loaded.tokens_between(mention + 1, length) >= trigger;
        let row = &loaded.scenario.facts[fact];
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
        } else if is_used && !row.generic && is_echo(loaded, stated, is_distant) {
            point.echoed += 1;
        }
    }
    point
}

/// Whether only the agent's own turns repeated the value within the distance.
fn is_echo(loaded: &Loaded, stated: &[usize], is_distant: impl Fn(usize) -> bool) -> bool {
    let spoken_by_agent = |mention: &&usize| loaded.messages[**mention].message.role == Role::Assistant;
    let others = stated.iter().rfind(|mention| !spoken_by_agent(mention));
    others.is_some_and(|mention| is_distant(*mention))
}

/// Shares of the median conversation that are tried as a window, largest first.
const SHARES: [(u64, &str); 4] = [(2, "a half"), (3, "a third"), (4, "a quarter"), (6, "a sixth")];
/// Fewest events, and groups that have one, for a window to be chosen by rule.
const ENOUGH_EVENTS: (usize, usize) = (20, 5);

/// A window chosen by rule, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenWindow {
    /// Tokens.
    pub window: u32,
    /// The reason, for the user.
    pub because: String,
}

/// The largest window among a half, third, quarter and sixth of the median conversation (the upper one of an even count)
/// that leaves 20 eligible events in 5 groups, else the largest feasible one (MEASUREMENT section 3). It depends on the share of
/// the trigger alone, so that runs that leave more or less have one window.
pub fn choose(suite: &[Loaded], trigger: f64) -> ChosenWindow {
    let shares = Shares { trigger, retained: Shares::default().retained.min(trigger / 2.0) };
    let mut sizes = suite.iter().map(|loaded| loaded.tokens_between(0, loaded.messages.len())).collect::<Vec<_>>();
    sizes.sort_unstable();
    let median = sizes.get(sizes.len() / 2).copied().unwrap_or_default();
    let smallest = smallest_feasible(suite, shares);
    let candidates = SHARES.map(|(divisor, share)| ((median / divisor) as u32, share));
    let feasible = candidates.iter().filter(|(window, _)| *window >= smallest);
    for (window, share) in feasible.clone() {
        let (events, groups) = events(suite, shares.trigger_of(*window));
        if events >= ENOUGH_EVENTS.0 && groups >= ENOUGH_EVENTS.1 {
            let because = format!(
                "{share} of the median conversation ({median} tokens), {events} eligible events in {groups} groups"
            );
            return ChosenWindow { window: *window, because };
        }
    }
    let (wanted_events, wanted_groups) = ENOUGH_EVENTS;
    let window = feasible.map(|(window, _)| *window).next().unwrap_or(smallest);
    let because = format!(
        "the largest feasible one: no share of the median conversation ({median} tokens) leaves {wanted_events} eligible events in {wanted_groups} groups"
    );
    ChosenWindow { window, because }
}

/// The smallest window whose shares are whole tokens.
const SMALLEST: u32 = 4;

/// The smallest window in which every conversation's system prompt and tools leave room for a retained budget of that share.
pub fn smallest_feasible(suite: &[Loaded], shares: Shares) -> u32 {
    let fixed = suite.iter().map(Loaded::fixed_tokens).max().unwrap_or_default();
    // fixed + retained must stay under the trigger, or a compaction could never end below it.
    ((f64::from(fixed) / (shares.trigger - shares.retained)) as u32 + 1).max(SMALLEST)
}

/// Eligible events at that trigger, and the groups that have one: uses where the suite has any, else facts at points.
fn events(suite: &[Loaded], trigger: u32) -> (usize, usize) {
    let per_scenario = suite.iter().map(|loaded| (loaded, points(loaded, trigger))).collect::<Vec<_>>();
    let has_uses = suite.iter().any(|loaded| loaded.scenario.facts.iter().any(|fact| !fact.used_at.is_empty()));
    let mut total = 0;
    let mut groups = BTreeSet::new();
    for (loaded, points) in &per_scenario {
        let ranked = |fact: &&u32| !loaded.scenario.facts[**fact as usize].generic;
        let of_point =
            |point: &Point| if has_uses { point.used.iter().filter(ranked).count() } else { point.eligible.len() };
        let count = points.iter().map(of_point).sum::<usize>();
        total += count;
        if count > 0 {
            groups.insert(loaded.scenario.group_id.as_str());
        }
    }
    (total, groups.len())
}
