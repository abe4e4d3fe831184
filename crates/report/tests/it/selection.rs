//! Selection lift, worked out by hand.

use crate::common::{chance, facts, manifest, point, prices, record};
use compactometer_formats::record::{Family, Misbound, Record, Unusable};
use compactometer_formats::scenario::ValueKind;
use compactometer_formats::summary::MetricValue;
use compactometer_report::summarize;

const KIND: ValueKind = ValueKind::Nonce;

/// Six conversations that hold one of two facts; chance 2 of 10 in the strategy's contexts, 1 of 10
/// in the random ones.
fn six(selection_hits: Option<u32>) -> Vec<Record> {
    let one = |at: usize| {
        let mut made = record(
            "summarize",
            Family::Reference,
            &format!("s{at}"),
            &format!("g{at}"),
        );
        made.facts = facts(2, KIND);
        let mut seen = point(1, "vd");
        seen.chance = vec![chance(KIND, 2, 10)];
        if let Some(hits) = selection_hits {
            (seen.selection_hits, seen.selection_chance) =
                (vec![hits; 2], vec![chance(KIND, 1, 10)]);
        }
        made.observations = vec![seen];
        made
    };
    (0..6).map(one).collect()
}

fn metric(records: &[Record], id: &str) -> MetricValue {
    let mut summary = summarize(&manifest(&["summarize"], 6, 6), records, &prices());
    summary.groups[0].strategies[0].metrics.remove(id).unwrap()
}

#[test]
fn lift_is_against_contexts_with_the_same_tail() {
    let mut records = six(Some(5));
    // CR* = (.5 - .2) / .8; the random ones (.25 - .1) / .9.
    let lifts = |records: &[Record]| {
        ["lift", "selection_lift"].map(|id| metric(records, id).value.unwrap())
    };
    let [lift, selection] = lifts(&records);
    assert!(
        (selection - (0.375 - 0.15 / 0.9)).abs() < 1e-9,
        "{selection}"
    );
    assert_eq!(lift, selection, "facts without subjects");
    for record in &mut records {
        record
            .facts
            .iter_mut()
            .for_each(|fact| fact.has_subject = true);
        let seen = &mut record.observations[0];
        (seen.bound, seen.misbound) = (vec![0], vec![Misbound(0, 1, 4.0), Misbound(1, 2, 4.0)]);
        seen.selection_bound = vec![5, 0];
    }
    // BR* = mean((1 - 1/4) / 2, (0 - 2/4) / 2); the random ones mean(1/4, 0).
    let [lift, _] = lifts(&records);
    assert!((lift - (0.0625 - 0.125)).abs() < 1e-9, "{lift}");
    let headline = metric(&records, "bound_recall_corrected").value.unwrap();
    assert!((headline - 0.0625).abs() < 1e-9, "{headline}");
    assert!((metric(&records, "bound_recall").value.unwrap() - 0.5).abs() < 1e-9);
}

#[test]
fn what_no_agent_can_use_holds_nothing() {
    let mut records = six(Some(5));
    for record in &mut records {
        record
            .facts
            .iter_mut()
            .for_each(|fact| fact.has_subject = true);
        record.observations[0].bound = vec![0];
        record.observations[0].unusable = Some(Unusable::CompactionFailed);
    }
    for id in [
        "bound_recall",
        "bound_recall_corrected",
        "context_recall",
        "context_recall_corrected",
    ] {
        assert_eq!(metric(&records, id).value, Some(0.0), "{id}");
    }
}

#[test]
fn facts_that_their_statement_does_not_bind_are_few_or_there_is_no_bound_recall() {
    let found = |unbound: usize| {
        let mut records = six(Some(5));
        for (at, record) in records.iter_mut().enumerate() {
            record.facts = facts(20, KIND);
            record
                .facts
                .iter_mut()
                .skip(if at < unbound { 2 } else { 0 })
                .for_each(|fact| fact.has_subject = true);
        }
        metric(&records, "bound_recall")
    };
    assert_eq!(found(3).value, Some(0.0), "6 of 120 are left out");
    assert!(
        found(4)
            .reason
            .unwrap()
            .contains("8 of 120 facts are not bound")
    );
}

#[test]
fn records_without_such_contexts_say_so() {
    let found = metric(&six(None), "selection_lift");
    assert_eq!(found.value, None);
    assert!(
        found
            .reason
            .unwrap()
            .contains("contexts with the same tail")
    );
}
