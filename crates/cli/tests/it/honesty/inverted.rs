//! A summary says Redis where the conversation chose Memcached: the fact is lost, and a wrong value
//! is there.

use compactometer_formats::fate::Fate;
use compactometer_formats::scenario::{Polarity, Scenario, ValueKind};
use compactometer_testing::model::says;
use compactometer_testing::scenario::{Builder, suite};

use crate::honesty::stage::{Staged, named, run};

fn decision() -> Scenario {
    let mut builder = Builder::numbered(0);
    let fact = builder.state(
        "Memcached",
        ValueKind::Free,
        "For the cache we decided to use Memcached.",
    );
    fact.foil_values = ["Redis", "Hazelcast", "Varnish", "Ehcache", "Ignite"]
        .map(str::to_owned)
        .to_vec();
    builder.chatter(4_000);
    builder.build()
}

fn prohibition() -> Scenario {
    let mut builder = Builder::numbered(0);
    builder
        .state(
            "src/billing/rates.rs",
            ValueKind::Path,
            "Never edit src/billing/rates.rs.",
        )
        .polarity = Polarity::Negated;
    builder.chatter(4_000);
    builder.build()
}

fn summarized(scenario: Scenario, summary: &'static str) -> Staged {
    run(
        suite(vec![scenario]),
        named(&["summarize"]),
        &says(summary),
        2_000,
    )
}

fn last(staged: &Staged) -> (Fate, u32) {
    let last = staged.records[0].observations.last().unwrap();
    (last.fates.0[0], last.foil_hits)
}

#[test]
fn a_wrong_value_is_not_merely_missing() {
    let wrong = summarized(decision(), "They set up the cache with Redis.");
    assert_eq!(last(&wrong), (Fate::Unwritten, 1));
    assert!(wrong.warns("invented values, foils found in what was written: summarize"));
    let missing = summarized(decision(), "They set up the cache.");
    assert_eq!(last(&missing), (Fate::Unwritten, 0));
    assert!(!missing.warns("invented values"));
    assert_eq!(
        last(&summarized(
            decision(),
            "The cache is Memcached, not Redis."
        )),
        (Fate::Carried, 0)
    );
}

#[test]
fn what_is_turned_around_is_not_held() {
    for (says, fate) in [
        (
            "The user does not want Memcached for the cache.",
            Fate::Unwritten,
        ),
        ("Memcached was replaced by something else.", Fate::Unwritten),
        ("The cache is Memcached.", Fate::Carried),
    ] {
        assert_eq!(last(&summarized(decision(), says)).0, fate, "{says}");
    }
    for (says, fate) in [
        ("The task is to edit src/billing/rates.rs.", Fate::Unwritten),
        ("Files: src/billing/rates.rs", Fate::Unwritten),
        ("Do not touch `src/billing/rates.rs`.", Fate::Carried),
    ] {
        assert_eq!(last(&summarized(prohibition(), says)).0, fate, "{says}");
    }
}

/// What a reader answers to a question about the decision, from the whole conversation.
#[test]
fn answers_that_deny_or_make_up_are_not_merely_missing() {
    let rates = |answer: &'static str| {
        let mut builder = Builder {
            scenario: decision(),
        };
        builder.ask(&["fact-0"], "Which cache did we choose?");
        let staged = run(
            suite(vec![builder.build()]),
            named(&["full"]),
            &says(answer),
            2_000,
        );
        ["contradiction", "hallucination", "wrong_value_rate"].map(|id| staged.value("full", id))
    };
    assert_eq!(rates("Memcached"), [0.0, 0.0, 0.0]);
    assert_eq!(rates("Memcached, not Redis"), [0.0, 0.0, 0.0]);
    assert_eq!(rates("I cannot see which."), [0.0, 0.0, 0.0]);
    assert_eq!(rates("It is not Memcached."), [1.0, 0.0, 0.0]);
    assert_eq!(rates("Redis"), [0.0, 1.0, 1.0]);
}
