//! Facts without a subject, as imported conversations have them.

use compactometer_formats::record::{Family, Fit, Record};
use compactometer_formats::scenario::{Category, ValueKind};
use compactometer_formats::summary::{Group, MetricValue};
use compactometer_report::summarize;

use crate::common::{chance, facts, manifest, point, prices, record};

fn group(records: &[Record]) -> Group {
    summarize(
        &manifest(&["summarize"], records.len(), records.len()),
        records,
        &prices(),
    )
    .groups
    .remove(0)
}

fn metric(records: &[Record], id: &str) -> MetricValue {
    group(records)
        .strategies
        .remove(0)
        .metrics
        .remove(id)
        .unwrap()
}

fn near(found: &MetricValue, expected: f64) {
    assert!(
        found
            .value
            .is_some_and(|value| (value - expected).abs() < 1e-8),
        "{found:?} is not {expected}"
    );
}

fn imported(at: usize, letters: &str) -> Record {
    let mut made = record(
        "summarize",
        Family::Reference,
        &format!("s{at}"),
        &format!("g{at}"),
    );
    made.facts = facts(letters.len(), ValueKind::Id);
    made.facts
        .iter_mut()
        .for_each(|fact| fact.category = Category::Incidental);
    made.observations = vec![point(1, letters)];
    made
}

#[test]
fn uses_are_counted_with_and_without_generic_values() {
    let mut made = imported(0, "vddc");
    made.facts[2].generic = true;
    made.facts[3].generic = true;
    made.observations[0].used = vec![0, 1, 2, 3];
    made.observations[0].echoed = 1;
    near(&metric(&[made.clone()], "needed_at_use_recall"), 0.5);
    near(
        &metric(&[made.clone()], "needed_at_use_recall_with_generic"),
        2.0 / 4.0,
    );
    made.observations[0].used = vec![0, 2];
    near(&metric(&[made.clone()], "needed_at_use_recall"), 1.0);
    near(
        &metric(&[made.clone()], "needed_at_use_recall_with_generic"),
        0.5,
    );
    let warnings = group(&[made]).warnings;
    let has = |part: &str| warnings.iter().any(|warning| warning.contains(part));
    assert!(
        has("repeated the value; with generic values 2 uses"),
        "{warnings:?}"
    );
    assert!(
        has("2 facts have generic values, which occur in other projects too"),
        "{warnings:?}"
    );
    assert!(!has("other groups"), "{warnings:?}");
}

/// Values of several projects are generic, so that no foreign fact can match: the report says that
/// CR* corrects for nothing.
#[test]
fn a_chance_of_0_by_construction_is_told() {
    let told = |hits: u32, pairs: u32, has_subject: bool| {
        let mut made = imported(0, "vd");
        if has_subject {
            made.facts[0].category = Category::Decision;
        }
        made.observations[0].chance = vec![chance(ValueKind::Id, hits, pairs)];
        group(&[made])
            .warnings
            .iter()
            .any(|warning| warning.starts_with("q is 0 by construction"))
    };
    assert!(told(0, 1_200, false));
    assert!(!told(1, 1_200, false), "something matched");
    assert!(!told(0, 0, false), "nothing was looked for");
    assert!(
        !told(0, 1_200, true),
        "generated facts are not left out for being foreign"
    );
}

#[test]
fn stated_share_is_over_looks_that_hold_the_fact() {
    let mut made = imported(0, "vccd");
    made.observations[0].stated = vec![0, 2];
    near(&metric(&[made.clone()], "stated_share"), 2.0 / 3.0);
    // A list of values: written text holds them and says nothing about them.
    made.observations[0].stated.clear();
    made.observations[0].fits = vec![Fit(1, 10, 10)];
    near(&metric(&[made.clone()], "stated_share"), 0.0);
    made.facts[0].category = Category::Decision;
    assert!(
        metric(&[made], "stated_share")
            .reason
            .is_some_and(|reason| reason.contains("bound_recall"))
    );
}

#[test]
fn the_binding_index_compares_with_other_values_and_needs_fifty() {
    let with = |count: usize, points: u32| {
        let mut made = imported(0, &"c".repeat(count));
        made.observations[0].fits = (0..count as u32)
            .map(|fact| Fit(fact, points, 20))
            .collect();
        metric(&[made], "binding_index")
    };
    near(&with(50, 40), 1.0);
    near(&with(50, 20), 0.0);
    near(&with(60, 30), 0.5);
    let few = with(49, 40);
    assert!(
        few.value.is_none()
            && few
                .reason
                .is_some_and(|reason| reason.contains("under 50 facts"))
    );
}
