//! Records in, paired comparisons out; expected numbers from SciPy.

use crate::common::{chance, compaction, facts, manifest, point, prices, record};
use compactometer_formats::manifest::Manifest;
use compactometer_formats::record::{Family, Record, Stages};
use compactometer_formats::scenario::ValueKind;
use compactometer_formats::summary::{Compared, Comparison};
use compactometer_report::{summarize, table};

const KIND: ValueKind = ValueKind::Nonce;
/// Facts held of 100, by unit, of the strategy; the reference holds 50 of each.
const HELD: [usize; 8] = [38, 47, 52, 42, 45, 39, 51, 43];

fn talk(name: &str, at: usize, held: usize) -> Record {
    let mut made = record(name, Family::Reference, &format!("s{at}"), &format!("g{at}"));
    made.facts = facts(100, KIND);
    let mut seen = point(1, &("c".repeat(held) + &"u".repeat(100 - held)));
    seen.chance = vec![chance(KIND, 0, 5)];
    made.observations = vec![seen];
    made.compactions = vec![compaction(Stages::default(), 3_000, Vec::new())];
    made
}

fn two(held: &[usize]) -> (Manifest, Vec<Record>) {
    let others = (0..held.len()).map(|at| talk("summarize", at, 50));
    let records: Vec<_> = others.chain(held.iter().enumerate().map(|(at, held)| talk("chained", at, *held))).collect();
    (manifest(&["summarize", "chained"], records.len(), held.len()), records)
}

fn compared(manifest: &Manifest, records: &[Record]) -> Vec<Comparison> {
    summarize(manifest, records, &prices()).groups.remove(0).comparisons
}

fn near(found: Option<f64>, expected: f64, tolerance: f64) {
    let found = found.unwrap();
    assert!((found - expected).abs() < tolerance, "{found} is not {expected}");
}

/// Expected values: `ttest_1samp`, `permutation_test`, `t.ppf` and `bootstrap(method="BCa", n_resamples=1_000_000)` of SciPy 1.17.1.
#[test]
fn a_comparison_agrees_with_scipy() {
    let (manifest, records) = two(&HELD);
    let found = compared(&manifest, &records);
    let [made] = &found[..] else { panic!("{found:?}") };
    assert_eq!((made.strategy.as_str(), made.reference.as_str(), made.n), ("chained", "summarize", 8));
    assert_eq!(made.metric, "context_recall_corrected");
    near(made.difference, -0.05375, 1e-9);
    near(made.sd, 0.051530157605591924, 1e-9);
    near(made.p_t, 0.021398616373381533, 1e-9);
    near(made.p_sign_flip, 0.0390625, 1e-9);
    near(made.p_holm, 0.0390625, 1e-9);
    near(made.detectable, 0.059404751030461604, 1e-9);
    near(made.low, -0.085, 0.003);
    near(made.high, -0.01875, 0.003);
    assert_eq!(made.verdict, Compared::SupportedDifference);
    let text = table(&summarize(&manifest, &records, &prices()));
    assert!(text.contains("minus summarize, paired by unit"), "{text}");
    let line = "chained CR*  -0.05 [-0.09, -0.02]  p 0.039  MDE 0.06 G 8   supported difference\n";
    assert!(text.contains(line), "{text}");
}

#[test]
fn a_third_strategy_takes_part_in_holm() {
    let (_, mut records) = two(&HELD);
    records.extend((0..8).map(|at| talk("handoff", at, 49 + at % 3)));
    let found = compared(&manifest(&["summarize", "chained", "handoff"], records.len(), 8), &records);
    let chained = found.iter().find(|made| made.strategy == "chained").unwrap();
    near(chained.p_holm, 2.0 * 0.0390625, 1e-9);
    assert_eq!(chained.verdict, Compared::NoSupportedDifference);
}

#[test]
fn the_reference_is_the_declared_one() {
    let (mut manifest, records) = two(&HELD);
    manifest.reference = Some("chained".to_owned());
    let found = compared(&manifest, &records);
    assert_eq!((found[0].strategy.as_str(), found[0].reference.as_str()), ("summarize", "chained"));
    near(found[0].difference, 0.05375, 1e-9);
}

#[test]
fn sizes_are_held_against_the_declared_reference() {
    let (mut manifest, mut records) = two(&HELD);
    for record in records.iter_mut().filter(|record| record.case.strategy == "chained") {
        record.compactions = vec![compaction(Stages::default(), 3_400, Vec::new())];
    }
    manifest.reference = Some("chained".to_owned());
    let warnings = summarize(&manifest, &records, &prices()).groups.remove(0).warnings;
    let told = warnings.iter().find(|warning| warning.contains("within 10 % of each other")).unwrap();
    assert!(told.contains("the 3,400 tokens that chained retains: summarize 3,000"), "{told}");
}

#[test]
fn what_cannot_be_compared_says_why() {
    let (manifest, records) = two(&HELD[..4]);
    let few = &compared(&manifest, &records)[0];
    assert_eq!((few.verdict, few.p_t), (Compared::TooFewUnits, None));

    let (manifest, mut records) = two(&HELD);
    let is_chained = |record: &&mut Record| record.case.strategy == "chained";
    for record in records.iter_mut().filter(is_chained) {
        record.compactions = vec![compaction(Stages::default(), 3_400, Vec::new())];
    }
    let sizes = &compared(&manifest, &records)[0];
    assert_eq!(sizes.verdict, Compared::SizesDiffer);
    assert!(sizes.reason.as_ref().unwrap().contains("3400 tokens on average against 3000"), "{sizes:?}");

    records.iter_mut().filter(is_chained).for_each(|record| record.compactions.clear());
    let idle = &compared(&manifest, &records)[0];
    assert_eq!((idle.verdict, idle.p_holm), (Compared::DidNotTrigger, None));

    records.iter_mut().filter(is_chained).for_each(|record| record.observations.clear());
    assert_eq!(compared(&manifest, &records)[0].verdict, Compared::Undefined);
}

#[test]
fn raw_recall_stands_in_where_chance_is_unknown_and_says_so() {
    let (manifest, mut records) = two(&HELD);
    records.iter_mut().for_each(|record| record.observations[0].chance.clear());
    let made = &compared(&manifest, &records)[0];
    assert_eq!(made.metric, "context_recall");
    assert!(made.reason.as_ref().unwrap().contains("chance is in it"), "{made:?}");
}

#[test]
fn units_of_one_side_alone_do_not_count() {
    let (manifest, mut records) = two(&HELD);
    records.retain(|record| record.case.strategy != "chained" || record.case.group != "g0");
    assert_eq!(compared(&manifest, &records)[0].n, 7);
}
