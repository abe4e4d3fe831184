//! What can be measured on a suite under a plan's limits, known before anything runs.

use std::collections::BTreeSet;

use compactometer_engine::message::Role;
use compactometer_formats::protocol::Protocol;
use compactometer_formats::record::Family;

use super::{Plan, PlannedCase, Schedule, points, smallest_feasible};
use crate::prepare::PreparedScenario;

/// What a suite offers under a plan's limits.
pub struct Prospects {
    /// The number of facts that recall can count.
    pub facts: usize,
    /// The number of groups, the units of statistics, in which a fact is distant enough to be
    /// looked for. Under published limits, the trigger of each strategy decides instead.
    pub groups: usize,
    /// Tokens of the longest request of an agent that never compacts.
    pub longest: u64,
    /// A smaller window that this request fills twice over, if it is feasible and leaves room for a
    /// summary.
    pub window: Option<u32>,
    /// Whether a compaction can leave too few tokens for a summary.
    pub is_cramped: bool,
    /// Strategies under test that no conversation is long enough to trigger, by protocol.
    pub idle: BTreeSet<(Protocol, String)>,
    /// The number of questions that name no fact: their answers are compared with the right
    /// answer's words.
    pub without_facts: usize,
}

impl Prospects {
    /// Looks at every conversation and limit of a plan.
    pub fn new(plan: &Plan) -> Self {
        let scenarios = || plan.suite.iter().map(|prepared| &prepared.scenario);
        let facts = scenarios().flat_map(|scenario| &scenario.facts);
        let probes = scenarios().flat_map(|scenario| &scenario.probes);
        let longest = plan
            .suite
            .iter()
            .map(|prepared| longest_request(prepared))
            .max()
            .unwrap_or_default();
        let shares = plan.options.shares;
        // At the largest window that triggers, no fact would be distant enough to be looked for.
        let window = (longest as f64 / shares.trigger / 2.0) as u32;
        let measured = plan
            .suite
            .iter()
            .filter(|prepared| has_distant_facts(prepared, plan.sizes.trigger));
        Prospects {
            facts: facts
                .filter(|fact| fact.decoy_of.is_none() && !fact.generic)
                .count(),
            groups: measured
                .map(|prepared| prepared.scenario.group_id.as_str())
                .collect::<BTreeSet<_>>()
                .len(),
            longest,
            window: Some(window).filter(|window| {
                let is_feasible = *window >= smallest_feasible(&plan.suite, shares);
                is_feasible
                    && *window < plan.sizes.window
                    && shares.sizes(*window).retained >= LEAST_RETAINED
            }),
            is_cramped: plan
                .options
                .protocols
                .iter()
                .any(|protocol| protocol.has_limits_of_run())
                && plan.sizes.retained < LEAST_RETAINED,
            idle: idle(plan),
            without_facts: probes
                .filter(|probe| probe.fact_ids.is_empty() && !probe.abstain_expected)
                .count(),
        }
    }

    /// What would let strategies compact that no conversation triggers.
    pub fn remedy(&self) -> String {
        match self.window {
            Some(window) => format!("`--window {window}` would do"),
            None => "no smaller context window would do: import or generate longer conversations"
                .to_owned(),
        }
    }
}

/// Under this many retained tokens, a summary says next to nothing.
const LEAST_RETAINED: u32 = 100;

fn has_distant_facts(prepared: &PreparedScenario, trigger: u32) -> bool {
    points(prepared, trigger)
        .iter()
        .any(|point| !point.eligible.is_empty() || !point.used.is_empty())
}

fn idle(plan: &Plan) -> BTreeSet<(Protocol, String)> {
    let named = |case: &PlannedCase| (case.protocol, case.entrant.name.clone());
    // Moments come at any size of a request.
    let is_by_size = |case: &&PlannedCase| matches!(case.schedule, Schedule::AtTrigger(_));
    let cases = plan
        .cases
        .iter()
        .filter(|case| case.entrant.family != Family::Control && !plan.is_swept(case));
    let cases = || cases.clone().filter(is_by_size);
    let mut idle = cases().map(named).collect::<BTreeSet<_>>();
    for case in
        cases().filter(|case| u64::from(case.budget().trigger) <= longest_request(&case.prepared))
    {
        idle.remove(&named(case));
    }
    idle
}

/// Tokens of the longest request of an agent that never compacts.
fn longest_request(prepared: &PreparedScenario) -> u64 {
    let last = prepared
        .messages
        .iter()
        .rposition(|counted| counted.message.role == Role::Assistant);
    u64::from(prepared.tool_tokens) + last.map_or(0, |last| prepared.tokens_before[last])
}
