//! Selection lift, worked out by hand.

use crate::common::{chance, facts, manifest, point, prices, record};
use compactometer_formats::record::{Family, Record};
use compactometer_formats::scenario::ValueKind;
use compactometer_formats::summary::MetricValue;
use compactometer_report::summarize;

const KIND: ValueKind = ValueKind::Nonce;

/// Six conversations that hold one of two facts; chance 2 of 10 in the strategy's contexts, 1 of 10 in the random ones.
fn six(random_hits: u32, selection_hits: Option<u32>) -> Vec<Record> {
    let one = |at: usize| {
        let mut made = record("summarize", Family::Reference, &format!("s{at}"), &format!("g{at}"));
        made.facts = facts(2, KIND);
        let mut seen = point(1, "vd");
        seen.chance = vec![chance(KIND, 2, 10)];
        (seen.random_hits, seen.random_chance) = (vec![random_hits; 2], vec![chance(KIND, 1, 10)]);
        if let Some(hits) = selection_hits {
            (seen.selection_hits, seen.selection_chance) = (vec![hits; 2], vec![chance(KIND, 1, 10)]);
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
fn selection_lift_is_against_contexts_with_the_same_tail() {
    let records = six(10, Some(5));
    // CR* = (.5 - .2) / .8; the random ones (.5 - .1) / .9 and (.25 - .1) / .9.
    let [lift, selection] = ["lift", "selection_lift"].map(|id| metric(&records, id).value.unwrap());
    assert!((lift - (0.375 - 0.4 / 0.9)).abs() < 1e-9, "{lift}");
    assert!((selection - (0.375 - 0.15 / 0.9)).abs() < 1e-9, "{selection}");
}

#[test]
fn records_without_such_contexts_say_so() {
    let found = metric(&six(10, None), "selection_lift");
    assert_eq!(found.value, None);
    assert!(found.reason.unwrap().contains("contexts with the same tail"));
}
