//! Lists of bare values where facts have no subjects, as in imported conversations: there a value
//! counts whatever is said about it.

use compactometer_formats::prices::PriceTable;
use compactometer_formats::scenario::{Category, Scenario};
use compactometer_formats::suite::Suite;
use compactometer_formats::summary::Compared;
use compactometer_report::gate::{GateOptions, GateVerdict, baseline_of, gate};
use compactometer_report::{RunFiles, summarize};

use super::half;
use super::summarizers::{Cheat, Form};
use crate::honesty::stage::{Staged, mock, named, run};

/// Half of the suite of a plain run as an importer would have read it: values only, about which
/// nothing is known.
fn values_only() -> Suite {
    let mut suite = half();
    for scenario in &mut suite.scenarios {
        let Scenario { facts, probes, .. } = scenario;
        facts.retain(|fact| fact.decoy_of.is_none() && fact.supersedes.is_none());
        for fact in facts {
            (fact.category, fact.valid_to) = (Category::Incidental, None);
        }
        probes.clear();
    }
    suite
}

const NAMES: [&str; 2] = ["summarize", "chained"];

fn honest() -> Staged {
    run(values_only(), named(&NAMES), &*mock("mock:strong"), None)
}

/// The honest run, with the records of `chained` from a summarizer that writes values only.
fn with_a_list() -> Staged {
    let suite = values_only();
    let cheat = Cheat::new(&suite, Form::Values);
    let (mut staged, cheating) = (honest(), run(suite, named(&NAMES), &cheat, None));
    staged
        .records
        .retain(|record| record.case.strategy != "chained");
    let listing = cheating
        .records
        .into_iter()
        .filter(|record| record.case.strategy == "chained");
    staged.records.extend(listing.map(|mut record| {
        staged
            .manifest
            .summarizer
            .clone_into(&mut record.case.summarizer);
        record
    }));
    let summary = summarize(
        &staged.manifest,
        &staged.records,
        &PriceTable::shipped().unwrap(),
    );
    Staged {
        group: summary.groups.into_iter().next().unwrap(),
        ..staged
    }
}

#[test]
fn a_list_of_values_has_no_verdict() {
    let staged = with_a_list();
    let (list, plain) = (
        staged.value("chained", "stated_share"),
        staged.value("summarize", "stated_share"),
    );
    assert!(list < plain / 2.0, "{list} {plain}");
    let gained = staged.value("chained", "context_recall_corrected")
        - staged.value("summarize", "context_recall_corrected");
    assert!(gained > 0.2, "the values are there: {gained}");
    let made = staged
        .group
        .comparisons
        .iter()
        .find(|made| made.strategy == "chained")
        .unwrap();
    assert_eq!(made.verdict, Compared::ListsValues);
    assert!(
        made.difference.is_none() && made.reason.as_deref().unwrap().contains("bare values"),
        "{made:?}"
    );
}

#[test]
fn two_honest_strategies_are_compared() {
    let staged = honest();
    let made = staged
        .group
        .comparisons
        .iter()
        .find(|made| made.strategy == "chained")
        .unwrap();
    assert!(
        made.verdict != Compared::ListsValues && made.difference.is_some(),
        "{made:?}"
    );
}

#[test]
fn the_gate_finds_a_candidate_that_lists_values() {
    let prices = PriceTable::shipped().unwrap();
    let files = |staged: Staged| RunFiles {
        manifest: staged.manifest,
        records: staged.records,
    };
    let baseline = baseline_of(&files(honest()), &prices).unwrap();
    let options = GateOptions {
        margin: 0.02,
        strategies: Vec::new(),
        exact: false,
    };
    let judge = |staged: Staged| gate(&files(staged), &baseline, &prices, &options).unwrap();
    let report = judge(with_a_list());
    let chained = report
        .strategies
        .iter()
        .find(|row| row.strategy == "chained")
        .unwrap();
    let found = chained
        .metrics
        .iter()
        .find(|found| found.metric == "stated_share")
        .unwrap();
    assert_eq!(
        (found.verdict, report.verdict),
        (GateVerdict::Regression, GateVerdict::Regression),
        "{found:?}"
    );
    assert_eq!(judge(honest()).verdict, GateVerdict::Pass);
}
