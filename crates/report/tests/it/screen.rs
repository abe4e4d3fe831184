//! Records in, one screen of a terminal out, at any width and for bad input.

use crate::common::{compaction, manifest, prices, simulated};
use compactometer_engine::event::{FailReason, Outcome};
use compactometer_formats::manifest::Manifest;
use compactometer_formats::record::{Family, Record, Stages};
use compactometer_formats::summary::Summary;
use compactometer_report::{Screen, summarize, table};

/// Most lines of a screen; two more are what is planned and the report's place.
const LINES: usize = 28;

fn screen(width: usize) -> Screen {
    Screen {
        width,
        all_rows: false,
        all_notes: false,
    }
}

fn rendered((manifest, records): &(Manifest, Vec<Record>), width: usize) -> String {
    table(&summarize(manifest, records, &prices()), &screen(width))
}

fn of_model((manifest, records): (Manifest, Vec<Record>)) -> (Manifest, Vec<Record>) {
    (
        Manifest {
            summarizer: "openai:small".to_owned(),
            ..manifest
        },
        records,
    )
}

#[test]
fn under_a_mock() {
    for width in [40, 80, 110, 160] {
        insta::assert_snapshot!(
            format!("under_a_mock_{width}"),
            rendered(&simulated::swept(12), width)
        );
    }
}

#[test]
fn of_a_model() {
    insta::assert_snapshot!(rendered(&of_model(simulated::run(12)), 110));
}

/// A real summarizer wrote the summaries, whatever answers.
#[test]
fn who_wrote_is_the_summarizer() {
    let (manifest, records) = of_model(simulated::run(2));
    let manifest = Manifest {
        target: Some("mock:strong".to_owned()),
        ..manifest
    };
    let text = rendered(&(manifest, records), 160).replace("\n  ", " ");
    let said = "Summaries by openai:small, target model mock:strong, which is simulated; a real one may differ.";
    assert!(text.contains(said), "{text}");
}

/// A row that changes one idea is below the row that it changes, and takes none of the others' room.
#[test]
fn ideas_are_below_what_they_change() {
    let (mut manifest, mut records) = simulated::run(12);
    let shown = |run: &(Manifest, Vec<Record>)| {
        let lines = rendered(run, 110);
        let lines = lines.lines().map(str::to_owned);
        lines.collect::<Vec<_>>()
    };
    let before = shown(&(manifest.clone(), records.clone()));
    let of_other = records
        .iter()
        .filter(|record| record.case.strategy == "chained");
    let ideas: Vec<Record> = of_other
        .cloned()
        .map(|mut record| {
            record.key.push_str("-idea");
            record.case.strategy = "summarize-no-tail".to_owned();
            record.case.family = Family::Idea;
            record
        })
        .collect();
    records.extend(ideas);
    manifest.strategies.push("summarize-no-tail".to_owned());
    let pair = ("summarize-no-tail".to_owned(), "summarize".to_owned());
    manifest.pairs.extend([pair]);
    let after = shown(&(manifest, records));
    let of = |lines: &[String], name: &str| lines.iter().position(|line| line.contains(name));
    let base = of(&after, " summarize ").unwrap();
    assert!(
        after[base + 1].trim_start().starts_with("no-tail "),
        "{after:?}"
    );
    assert!(of(&before, "more row").is_none() && of(&after, "more row").is_none());
}

#[test]
fn one_conversation() {
    insta::assert_snapshot!(rendered(&of_model(simulated::run(1)), 80));
}

#[test]
fn without_facts() {
    let (manifest, mut records) = simulated::run(8);
    for record in &mut records {
        record.facts.clear();
        record.observations.clear();
    }
    insta::assert_snapshot!(rendered(&(manifest, records), 80));
}

#[test]
fn where_every_row_fails() {
    let (manifest, mut records) = simulated::run(8);
    for record in records
        .iter_mut()
        .filter(|record| record.case.family == Family::Reference)
    {
        record.compactions = vec![compaction(Stages::default(), 0, Vec::new())];
        record.compactions[0].event.outcome =
            Outcome::Failed(FailReason::Call("connection refused".to_owned()));
    }
    insta::assert_snapshot!(rendered(&(manifest, records), 80));
}

/// A check without which the numbers mean nothing is shown in full when it fails, however little
/// room is left.
#[test]
fn a_failed_check_is_always_shown() {
    let (manifest, records) = simulated::swept(12);
    let mut summary = summarize(&manifest, &records, &prices());
    let check = summary.groups[0].checks.last_mut().unwrap();
    (check.passed, check.detail) = (Some(false), "a long reason, ".repeat(40) + "and its end");
    let failed = summary.groups[0].checks.last().unwrap().clone();
    for width in [40, 80, 160] {
        let text = table(&summary, &screen(width)).replace("\n  ", " ");
        assert!(
            text.contains(&format!("FAILED {}: {}", failed.name, failed.detail)),
            "{text}"
        );
    }
}

/// Forty strategies with names of sixty letters; the reference is the last of them.
fn crowd() -> (Manifest, Vec<Record>) {
    let (_, records) = simulated::run(6);
    let of = |name: &'static str| {
        records
            .iter()
            .filter(move |record| record.case.strategy == name)
            .cloned()
    };
    let names = (0..40)
        .map(|at| {
            format!(
                "a-very-long-name-of-a-strategy-number-{at:02}-{}",
                "x".repeat(19)
            )
        })
        .collect::<Vec<_>>();
    let renamed = names.iter().flat_map(|name| {
        of("chained").map(move |mut record| {
            record.case.strategy.clone_from(name);
            record
        })
    });
    let all = renamed
        .chain(of("full"))
        .chain(of("random-drop"))
        .collect::<Vec<_>>();
    let listed = names
        .iter()
        .map(String::as_str)
        .chain(["full", "random-drop"])
        .collect::<Vec<_>>();
    let made = manifest(&listed, all.len(), 6);
    (
        Manifest {
            reference: names.last().cloned(),
            ..made
        },
        all,
    )
}

#[test]
fn many_rows_with_long_names() {
    let crowd = crowd();
    insta::assert_snapshot!(rendered(&crowd, 80));
    let all = Screen {
        all_rows: true,
        ..screen(80)
    };
    let text = table(&summarize(&crowd.0, &crowd.1, &prices()), &all);
    assert_eq!(
        text.lines()
            .filter(|line| line.contains("a-very-long"))
            .count(),
        40,
        "{text}"
    );
}

#[test]
fn every_screen_fits() {
    for run in [
        simulated::run(1),
        simulated::run(3),
        simulated::swept(12),
        of_model(simulated::run(12)),
        crowd(),
    ] {
        let summary = summarize(&run.0, &run.1, &prices());
        for width in [40, 60, 80, 100, 110, 133, 160, 250] {
            let text = table(&summary, &screen(width));
            let longest = text
                .lines()
                .max_by_key(|line| line.chars().count())
                .unwrap();
            // A name may be longer than a narrow line.
            assert!(
                longest.chars().count() <= width.max(80),
                "{width}: {longest}\n{text}"
            );
            assert!(!text.contains('\u{1b}'));
            if width >= 80 {
                assert!(
                    text.lines().count() <= LINES,
                    "{} lines at {width}:\n{text}",
                    text.lines().count()
                );
            }
        }
    }
}

/// The numbers that a text shows, as they are written.
fn numbers(text: &str) -> Vec<f64> {
    let is_part = |letter: char| letter.is_ascii_digit() || letter == '.' || letter == ',';
    let words = text
        .split(|letter: char| !is_part(letter))
        .map(|word| word.trim_matches([',', '.']).replace(',', ""));
    words
        .filter(|word| !word.is_empty())
        .filter_map(|word| word.parse().ok())
        .collect()
}

/// Every number of a JSON document, in the forms in which tables show it.
fn known(value: &serde_json::Value, found: &mut Vec<f64>) {
    match value {
        serde_json::Value::Number(number) => {
            let number = number.as_f64().unwrap().abs();
            found.extend([
                number,
                (number * 100.0).round(),
                number.round(),
                (number / 100.0).round() / 10.0,
            ]);
            found.extend([
                (number / 1000.0).round(),
                (number * 100.0).round() / 100.0,
                (number * 1000.0).round() / 1000.0,
            ]);
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| known(item, found)),
        serde_json::Value::Object(fields) => fields.values().for_each(|item| known(item, found)),
        serde_json::Value::String(text) => found.extend(numbers(text)),
        _ => {}
    }
}

#[test]
fn the_table_shows_no_number_that_the_summary_lacks() {
    let (manifest, records) = simulated::swept(12);
    let summary: Summary = summarize(&manifest, &records, &prices());
    let mut found = Vec::new();
    known(&serde_json::to_value(&summary).unwrap(), &mut found);
    let text = table(&summary, &screen(160));
    let (_, below) = text.split_once("\n\n").unwrap();
    let rows = below
        .lines()
        .skip(2)
        .take_while(|line| !line.contains("checks hold"))
        .collect::<Vec<_>>();
    assert!(rows.len() >= 8, "{text}");
    // A share is written without its zero.
    let is_known = |number: f64| {
        found.iter().any(|known| {
            [number, number / 10.0, number / 100.0]
                .iter()
                .any(|form| (known - form).abs() < 1e-9)
        })
    };
    for row in rows {
        for number in numbers(row) {
            assert!(is_known(number), "{number} of {row}");
        }
    }
    for finding in &summary.findings {
        assert!(
            text.replace("\n  ", " ").contains(finding.as_str()),
            "{finding}\n{text}"
        );
    }
    assert!(summary.findings.len() <= 5);
}
