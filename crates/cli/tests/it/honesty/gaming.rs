//! Strategies that play the measure.

use compactometer_formats::record::Record;
use compactometer_formats::scenario::{Scenario, ValueKind};
use compactometer_testing::model::says;
use compactometer_testing::scenario::{Builder, suite};

use crate::honesty::plugins::{DUMPER, HOARDER, QUESTION_READER};
use crate::honesty::stage::{WINDOW, foreign, run, small_suite};

/// Of a record's last look, the share of identifiers and paths that are present: facts, or their
/// decoys.
fn held(record: &Record, decoys: bool) -> (f64, f64) {
    let last = record.observations.last().unwrap();
    let exact = |kind| matches!(kind, ValueKind::Id | ValueKind::Path | ValueKind::Number);
    let rows = record
        .facts
        .iter()
        .zip(&last.fates.0)
        .filter(|(row, _)| row.decoy == decoys && exact(row.value_kind));
    rows.fold((0.0, 0.0), |(held, all), (_, fate)| {
        (held + f64::from(u8::from(fate.is_present())), all + 1.0)
    })
}

/// It holds decoys as readily as facts: no selection, which decoys and size give away.
#[test]
fn hoarder() {
    let staged = run(small_suite(), vec![foreign(&HOARDER)], &says(""), WINDOW);
    let share = |decoys| {
        let sums = staged.records.iter().map(|record| held(record, decoys));
        let (held, all) = sums.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        held / all
    };
    let (facts, decoys) = (share(false), share(true));
    assert!(facts > 0.1, "it does hold some: {facts}");
    assert!(
        (facts - decoys).abs() < 0.1,
        "facts {facts:.2}, decoys {decoys:.2}"
    );
    let full = 0.3 * f64::from(WINDOW);
    assert!(
        staged.value("hoarder", "tokens_retained") > 0.8 * full,
        "and it takes all the room there is"
    );
}

fn asked(question: &str) -> Scenario {
    let mut builder = Builder::numbered(0);
    builder.state("kx-4711", ValueKind::Id, "The ticket is kx-4711.");
    builder.chatter(4_000);
    builder.ask(&["fact-0"], question).gold = Some("kx-4711".into());
    builder.build()
}

/// Questions go to a copy of the session: even one that gives its answer away leaves the session as
/// it was.
#[test]
fn question_reader() {
    let run = |question, spec| {
        let staged = run(
            suite(vec![asked(question)]),
            vec![foreign(spec)],
            &says(""),
            2_000,
        );
        staged.records.into_iter().next().unwrap().observations
    };
    let told = run("Is the ticket kx-4711?", &QUESTION_READER);
    let untold = run("Which ticket is it?", &QUESTION_READER);
    let silent = run("Which ticket is it?", &DUMPER);
    let fates = |all: &[compactometer_formats::record::Observation]| {
        all.iter().map(|one| one.fates.clone()).collect::<Vec<_>>()
    };
    assert_eq!(fates(&told), fates(&untold));
    assert_eq!(fates(&told), fates(&silent));
    let prompted = told.iter().find_map(|one| one.prompted.as_ref()).unwrap();
    assert!(
        prompted.found.is_empty(),
        "what no store holds is not found: {prompted:?}"
    );
}
