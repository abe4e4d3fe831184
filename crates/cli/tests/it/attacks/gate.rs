//! Candidates that once passed the gate although they keep less: each is a run of its own, held
//! against an honest one.

use compactometer_formats::prices::PriceTable;
use compactometer_formats::suite::Suite;
use compactometer_harness::plan::Entrant;
use compactometer_report::RunFiles;
use compactometer_report::gate::{
    GateOptions, GateReport, GateVerdict, MetricGate, baseline_of, gate, whole,
};
use compactometer_suites::embedded::smoke;

use super::half;
use super::summarizers::{Cheat, Form};
use super::tails::never;
use crate::honesty::stage::{Staged, mock, named, run};

/// The model's name: the attacker's summarizer answers under the name of the honest one.
const MODEL: &str = "mock:strong";
/// The row's name in the baseline and in the run.
const ROW: &str = "chained";

fn files(staged: Staged) -> RunFiles {
    let (mut manifest, mut records) = (staged.manifest, staged.records);
    MODEL.clone_into(&mut manifest.summarizer);
    records
        .iter_mut()
        .for_each(|record| MODEL.clone_into(&mut record.case.summarizer));
    RunFiles { manifest, records }
}

fn gated(new: Staged) -> GateReport {
    gated_on(half(), new)
}

/// The verdict on a run of that suite.
fn gated_on(suite: Suite, new: Staged) -> GateReport {
    let prices = PriceTable::shipped().unwrap();
    let honest = files(run(suite, named(&[ROW]), &*mock(MODEL), None));
    let baseline = baseline_of(&honest, &prices).unwrap();
    let options = GateOptions {
        margin: 0.05,
        strategies: Vec::new(),
        exact: false,
    };
    let report = gate(&files(new), &baseline, &prices, &options).unwrap();
    println!("{}", whole(&report, 200));
    report
}

fn metric<'r>(report: &'r GateReport, metric: &str) -> &'r MetricGate {
    report.strategies[0]
        .metrics
        .iter()
        .find(|found| found.metric == metric)
        .unwrap()
}

#[test]
fn the_gate_finds_a_summarizer_that_was_replaced_by_a_list_of_values() {
    // Half a suite has too few units for what is left of bound recall.
    let suite = || smoke().unwrap();
    let cheat = Cheat::new(&suite(), Form::Values);
    let report = gated_on(suite(), run(suite(), named(&[ROW]), &cheat, None));
    assert!(
        metric(&report, "context_recall_corrected")
            .difference
            .unwrap()
            > 0.05,
        "the values are there"
    );
    assert_eq!(
        metric(&report, "bound_recall_corrected").verdict,
        GateVerdict::Regression
    );
    assert_eq!(report.verdict, GateVerdict::Regression);
}

#[test]
fn the_gate_finds_a_summarizer_that_fails_more() {
    let report = gated(run(
        half(),
        named(&[ROW]),
        &*mock("mock:strong+timeout=0.6"),
        None,
    ));
    assert_eq!(
        metric(&report, "failed_share").verdict,
        GateVerdict::Regression
    );
    assert_eq!(report.verdict, GateVerdict::Regression);
}

#[test]
fn the_gate_finds_a_candidate_that_never_compacts_and_goes_over_the_window() {
    let candidate = Entrant {
        name: ROW.to_owned(),
        ..never()
    };
    let report = gated(run(half(), vec![candidate], &*mock(MODEL), None));
    assert_eq!(
        metric(&report, "over_window_share").verdict,
        GateVerdict::Regression
    );
    assert_eq!(report.verdict, GateVerdict::Regression);
}
