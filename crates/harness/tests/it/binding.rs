//! Whether contexts give facts to their own subjects, on the generated suite.

use compactometer_engine::tokens::Encoding;
use compactometer_formats::scenario::{Fact, Scenario};
use compactometer_harness::prepare::PreparedScenario;
use compactometer_suites::embedded::smoke;

/// The facts with a subject that their own first statement does not give to it, and the number of
/// all with a subject.
fn unbound(scenarios: Vec<Scenario>) -> (Vec<Fact>, usize) {
    let (mut unbound, mut all) = (Vec::new(), 0);
    for scenario in scenarios {
        let prepared = PreparedScenario::new(scenario, &[], &Encoding::O200k);
        let bindings = prepared.checks().bindings.as_ref().unwrap();
        for (index, fact) in prepared
            .scenario
            .facts
            .iter()
            .enumerate()
            .filter(|(_, fact)| fact.has_subject())
        {
            all += 1;
            if !bindings.counts(index) {
                unbound.push(fact.clone());
            }
        }
    }
    (unbound, all)
}

#[test]
fn first_statements_bind_their_facts() {
    let (unbound, all) = unbound(smoke().unwrap().scenarios);
    assert!(
        unbound.len() * 100 <= all,
        "{} of {all}: {unbound:?}",
        unbound.len()
    );
}
