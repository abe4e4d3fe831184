//! What a report writes: formats, escaping, determinism.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common::{call, chance, compaction, facts, manifest, point, prices, record, turn};
use compactometer_formats::manifest::Manifest;
use compactometer_formats::record::{Family, Record, Stages};
use compactometer_formats::scenario::ValueKind;
use compactometer_formats::summary::Summary;
use compactometer_report::{Screen, summarize, table, write};

/// Two strategies and a control on six conversations, small enough to check by eye.
fn tiny() -> (Manifest, Vec<Record>) {
    let mut records = Vec::new();
    for (name, family) in [
        ("summarize", Family::Reference),
        ("idle", Family::Reference),
        ("full", Family::Control),
    ] {
        for at in 0..6_u32 {
            let mut made = record(name, family, &format!("s{at}"), &format!("g{at}"));
            made.facts = facts(3, ValueKind::Nonce);
            let is_compacted = name == "summarize";
            let letters = match (is_compacted, at % 2) {
                (false, _) => "vvv",
                (true, 0) => "vcu",
                _ => "vde",
            };
            let mut seen = point(u32::from(is_compacted), letters);
            seen.chance = vec![chance(ValueKind::Nonce, 0, 5)];
            made.observations = vec![seen];
            if is_compacted {
                let stages = Stages {
                    left: 2,
                    reached: 2,
                    written: 1,
                    kept: 1,
                    ..Stages::default()
                };
                made.compactions = vec![compaction(stages, 3_000 + at, vec![call(8_000, 300)])];
            }
            made.turns = vec![turn(4_000, 0, 100), turn(6_000, 4_000, 100 + at)];
            records.push(made);
        }
    }
    (manifest(&["summarize", "idle", "full"], 18, 6), records)
}

fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for folder in [dir.to_owned(), dir.join("plots")] {
        for entry in fs::read_dir(folder)
            .unwrap()
            .map(Result::unwrap)
            .filter(|entry| entry.path().is_file())
        {
            found.insert(
                entry.file_name().into_string().unwrap(),
                fs::read(entry.path()).unwrap(),
            );
        }
    }
    found
}

fn written(manifest: &Manifest, records: &[Record]) -> (Summary, BTreeMap<String, Vec<u8>>) {
    let dir = tempfile::tempdir().unwrap();
    let summary = write(dir.path(), manifest, records, &prices()).unwrap();
    (summary, files(dir.path()))
}

fn text(files: &BTreeMap<String, Vec<u8>>, name: &str) -> String {
    String::from_utf8(files[name].clone()).unwrap()
}

#[test]
fn the_picture_of_latency_has_blocking_and_background_apart() {
    let (manifest, mut records) = tiny();
    records.retain(|record| record.case.strategy == "summarize");
    for record in &mut records {
        record.turns = vec![turn(100, 0, 1); 4];
        (record.turns[1].waited_ms, record.turns[3].waited_ms) = (Some(1_000), Some(3_000));
        // Two calls of 2.9 s: turns waited for 4 of the 5.8 seconds.
        record.compactions = vec![compaction(
            Stages::default(),
            1_000,
            vec![call(10, 1), call(10, 1)],
        )];
    }
    let (_, files) = written(&manifest, &records);
    let csv = text(&files, "latency.csv");
    let row = csv
        .lines()
        .find(|line| line.starts_with("summarize,"))
        .unwrap();
    let cells = row.split(',').collect::<Vec<_>>();
    assert_eq!(cells[1..4], ["2000", "3000", "4000"], "{row}");
    assert_eq!(cells[6..], ["0.5", "1800", "assumed"], "{row}");
    assert!(files.contains_key("latency.svg") && files.contains_key("latency.png"));
}

#[test]
fn table_of_a_tiny_run() {
    let (manifest, records) = tiny();
    let shown = table(&summarize(&manifest, &records, &prices()), &Screen::WHOLE);
    insta::assert_snapshot!(shown);
}

#[test]
fn table_fits_a_hundred_columns() {
    let (manifest, records) = crate::common::simulated::run(5);
    let shown = table(&summarize(&manifest, &records, &prices()), &Screen::WHOLE);
    assert!(
        shown.lines().all(|line| line.chars().count() <= 100),
        "{shown}"
    );
    assert!(!shown.contains('\u{1b}'));
}

#[test]
fn summary_of_a_tiny_run() {
    let (manifest, mut records) = tiny();
    records.retain(|record| record.case.strategy == "summarize");
    insta::assert_json_snapshot!(summarize(&manifest, &records, &prices()));
}

#[test]
fn every_file_is_whole_and_the_same_twice() {
    let (manifest, records) = tiny();
    let (summary, first) = written(&manifest, &records);
    let mut backwards = records.clone();
    backwards.reverse();
    let (_, second) = written(&manifest, &backwards);
    assert_eq!(
        first.keys().collect::<Vec<_>>(),
        second.keys().collect::<Vec<_>>()
    );
    for (name, bytes) in &first {
        assert!(
            bytes == &second[name],
            "{name} depends on the order of records"
        );
        assert!(!name.ends_with(".part"), "{name} is left over");
    }
    let plots = [
        "context_by_turn",
        "cost",
        "fates",
        "recall_by_round",
        "recall_by_tokens",
    ];
    for (plot, ending) in plots
        .iter()
        .flat_map(|plot| ["svg", "png", "csv"].map(|ending| (plot, ending)))
    {
        assert!(
            first.contains_key(&format!("{plot}.{ending}")),
            "{plot}.{ending}"
        );
    }
    assert!(
        serde_json::from_slice::<Summary>(&first["summary.json"]).unwrap() == summary,
        "summary.json reads back"
    );
}

#[test]
fn a_second_report_replaces_the_first() {
    let (manifest, records) = tiny();
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &manifest, &records[..6], &prices()).unwrap();
    write(dir.path(), &manifest, &records, &prices()).unwrap();
    let (_, fresh) = written(&manifest, &records);
    assert!(files(dir.path()) == fresh);
}

/// Three resumes of one run write the same pictures at the same time.
#[test]
fn another_process_at_the_same_pictures_is_in_nobodys_way() {
    let (manifest, records) = tiny();
    let (_, fresh) = written(&manifest, &records);
    let dir = tempfile::tempdir().unwrap();
    for name in fresh.keys().filter(|name| name.ends_with(".png")) {
        // A name that all processes shared could not be written here.
        let shared = dir
            .path()
            .join("plots")
            .join(format!(".{}.part.png", name.trim_end_matches(".png")));
        fs::create_dir_all(shared).unwrap();
    }
    write(dir.path(), &manifest, &records, &prices()).unwrap();
    assert!(files(dir.path()) == fresh);
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let (manifest, records) = tiny();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("taken");
    fs::write(&file, "x").unwrap();
    let error = write(&file, &manifest, &records, &prices())
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("cannot write `") && error.contains("taken"),
        "{error}"
    );
}

#[test]
fn tables_for_machines_parse_back() {
    let (manifest, records) = tiny();
    let (summary, files) = written(&manifest, &records);
    let mut reader = csv::Reader::from_reader(&files["summary.csv"][..]);
    let rows: Vec<BTreeMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
    let metrics: usize = summary.groups[0]
        .strategies
        .iter()
        .map(|strategy| strategy.metrics.len())
        .sum();
    assert_eq!(rows.len(), metrics);
    for row in &rows {
        let strategy = summary.groups[0]
            .strategies
            .iter()
            .find(|strategy| strategy.name == row["strategy"])
            .unwrap();
        assert_eq!(
            row["value"].parse().ok(),
            strategy.metrics[&row["metric"]].value,
            "{row:?}"
        );
    }
    let mut reader = csv::Reader::from_reader(&files["facts.csv"][..]);
    let rows: Vec<BTreeMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 18 * 3);
    let eroded = rows.iter().filter(|row| row["fate"] == "eroded").count();
    assert_eq!(
        eroded, 3,
        "one fact in every other conversation of `summarize`"
    );
}

#[test]
fn text_from_data_is_escaped() {
    const NASTY: &str = "<script>alert('x')</script>|*&\"";
    let (mut manifest, mut records) = tiny();
    manifest.suite = NASTY.to_owned();
    manifest.notes = vec![NASTY.to_owned()];
    manifest.strategies[0] = NASTY.to_owned();
    manifest.command.push(NASTY.to_owned());
    for record in records
        .iter_mut()
        .filter(|record| record.case.strategy == "summarize")
    {
        record.case.strategy = NASTY.to_owned();
        record.case.scenario = format!("{NASTY}{}", record.case.scenario);
        record.facts[0].id = NASTY.to_owned();
    }
    let (_, files) = written(&manifest, &records);
    for name in ["index.html", "fates.svg", "cost.svg", "context_by_turn.svg"] {
        let page = text(&files, name);
        // The page has one script of its own, which its policy names by hash.
        assert_eq!(
            page.matches("<script").count(),
            usize::from(name == "index.html"),
            "{name}"
        );
        assert!(page.contains("&lt;script"), "{name}");
    }
    let markdown = text(&files, "report.md");
    // What is in code, between backticks or indented, is shown as it is.
    let shown: String = markdown
        .split("## How to repeat it")
        .next()
        .unwrap()
        .split('`')
        .step_by(2)
        .collect();
    assert!(
        !shown.contains("<script") && shown.contains(r"\|\*&amp;"),
        "{shown}"
    );
}

/// A spreadsheet would run text that begins like a formula.
#[test]
fn no_cell_of_a_table_is_a_formula() {
    let (mut manifest, mut records) = tiny();
    let nasty = [
        "=HYPERLINK(\"http://x\")",
        "+cmd|' /C calc'!A0",
        "@SUM(1)",
        "-2+3",
        "\t=1",
        "\r=1",
    ];
    manifest.strategies[0] = "=1+1".to_owned();
    for (at, record) in records.iter_mut().enumerate() {
        if record.case.strategy == "summarize" {
            record.case.strategy = "=1+1".to_owned();
        }
        record.case.scenario = format!("{}{}", nasty[at % nasty.len()], at % nasty.len());
        record
            .facts
            .iter_mut()
            .zip(nasty)
            .for_each(|(fact, id)| fact.id = id.to_owned());
    }
    let (_, files) = written(&manifest, &records);
    let (mut guarded, mut numbers) = (0, 0);
    for (name, bytes) in files.iter().filter(|(name, _)| name.ends_with(".csv")) {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .from_reader(&bytes[..]);
        for cell in reader
            .records()
            .map(Result::unwrap)
            .flat_map(|row| row.iter().map(str::to_owned).collect::<Vec<_>>())
        {
            let is_number = cell.parse::<f64>().is_ok();
            assert!(
                is_number || !cell.starts_with(['=', '+', '-', '@', '\t', '\r']),
                "{name}: {cell:?}"
            );
            guarded += usize::from(cell.starts_with('\''));
            numbers += usize::from(is_number && cell.starts_with('-'));
        }
    }
    assert!(
        guarded > 100 && numbers > 0,
        "{guarded} cells are guarded, {numbers} numbers are below zero"
    );
    assert!(
        text(&files, "facts.csv").contains("'=HYPERLINK"),
        "{}",
        text(&files, "facts.csv")
    );
}

#[test]
fn a_backtick_stays_in_its_code() {
    let (mut manifest, mut records) = tiny();
    let nasty = "a`b <i> c`d|e";
    manifest.summarizer = nasty.to_owned();
    manifest.strategies[0] = nasty.to_owned();
    for record in &mut records {
        record.case.summarizer = nasty.to_owned();
        record.case.scenario = format!("{nasty}{}", record.case.scenario);
        if record.case.strategy == "summarize" {
            record.case.strategy = nasty.to_owned();
        }
    }
    let (_, files) = written(&manifest, &records);
    let (page, markdown) = (text(&files, "index.html"), text(&files, "report.md"));
    assert!(
        page.contains("<code>a`b &lt;i&gt; c`d|es0</code>"),
        "{page}"
    );
    assert!(markdown.contains("``a`b <i> c`d|es0``"), "{markdown}");
    for line in markdown
        .lines()
        .filter(|line| line.starts_with('|') && line.contains("c`d"))
    {
        assert!(
            line.contains(r"c`d\|e") || line.contains(r"c\`d\|e"),
            "{line}"
        );
    }
}

#[test]
fn pictures_are_xml_whatever_the_names_hold() {
    let (mut manifest, mut records) = tiny();
    let nasty = "a<b>&\"\u{1}\u{c}\u{fffe}";
    manifest.strategies[0] = nasty.to_owned();
    for record in records
        .iter_mut()
        .filter(|record| record.case.strategy == "summarize")
    {
        record.case.strategy = nasty.to_owned();
    }
    let (_, files) = written(&manifest, &records);
    for (name, bytes) in files.iter().filter(|(name, _)| name.ends_with(".svg")) {
        let picture = std::str::from_utf8(bytes).unwrap();
        let is_allowed = |letter: char| !letter.is_control() || letter == '\n' || letter == '\t';
        let wrong = picture
            .chars()
            .find(|letter| !is_allowed(*letter) || *letter == '\u{fffe}');
        assert!(
            wrong.is_none() && !picture.contains("<b>"),
            "{name}: {wrong:?}"
        );
    }
}

#[test]
fn the_page_asks_nothing_of_the_network() {
    let (manifest, records) = tiny();
    let (_, files) = written(&manifest, &records);
    let [page, details] = ["index.html", "details.html"]
        .map(|name| text(&files, name).replace("http://www.w3.org/2000/svg", ""));
    for outside in [
        "http:",
        "https:",
        "src=",
        "@import",
        "<link",
        "innerHTML",
        "eval(",
    ] {
        assert!(
            !page.contains(outside) && !details.contains(outside),
            "{outside}"
        );
    }
    for page in [&page, &details] {
        assert_eq!(
            page.matches("<script").count(),
            1,
            "the policy names the hash of the only one"
        );
        assert!(page.contains("script-src 'sha256-"));
    }
    let in_order = |page: &str, headings: &[&str]| {
        let place = |heading: &&str| {
            page.find(&format!(">{heading}</h2>"))
                .unwrap_or_else(|| panic!("{heading}"))
        };
        headings.iter().map(place).is_sorted()
    };
    assert!(in_order(
        &page,
        &["Recall against cost", "Read first", "Pictures", "Results"]
    ));
    assert!(in_order(
        &details,
        &["What was run", "Definitions", "How to repeat it"]
    ));
    assert!(details.contains("<pre>compactometer compare</pre>"));
    assert!(
        !page.contains('`') && !details.contains('`'),
        "names are shown as code"
    );
    assert!(page.contains("href=\"details.html\"") && details.contains("href=\"index.html\""));
    for address in page
        .split("href=\"#")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
    {
        assert!(
            page.contains(&format!("id=\"{address}\"")),
            "{address} leads nowhere"
        );
    }
}

#[test]
fn controls_are_set_apart_in_every_table_of_the_markdown() {
    let (manifest, records) = tiny();
    let (_, files) = written(&manifest, &records);
    let markdown = text(&files, "report.md");
    let rows = |begins: &str| {
        markdown
            .lines()
            .filter(|line| line.starts_with(begins))
            .count()
    };
    assert!(
        rows("| *full* | ") > 3 && rows("| full | ") == 0,
        "{markdown}"
    );
    // The first table names the rows in its second column.
    let opening = markdown.lines().find(|line| line.contains(" | *full* | "));
    assert!(
        opening.is_some_and(|row| !row.starts_with("| *")),
        "{markdown}"
    );
}

#[test]
fn a_mock_names_no_winner() {
    let (manifest, records) = tiny();
    let (summary, files) = written(&manifest, &records);
    let warned = summary.groups[0].warnings.join("\n");
    assert!(
        warned.contains("so this report names no winner"),
        "{warned}"
    );
    let all = serde_json::to_string(&summary.findings).unwrap()
        + &text(&files, "report.md")
        + &text(&files, "index.html");
    for verdict in ["dominates", "supported difference", "equivalent within"] {
        let is_explained = |line: &str| {
            line.contains("A strategy dominates another")
                || line.contains("A missing difference does not prove")
        };
        assert!(
            !all.lines()
                .any(|line| line.contains(verdict) && !is_explained(line)),
            "{verdict}"
        );
    }
    let names: Vec<_> = summary.groups[0]
        .strategies
        .iter()
        .map(|strategy| strategy.name.as_str())
        .collect();
    assert_eq!(
        names,
        ["summarize", "idle", "full"],
        "registry order, though `idle` recalls more"
    );
    assert!(text(&files, "report.md").contains("mechanism, not model"));
}

#[test]
fn an_empty_run_still_makes_a_report() {
    let (summary, files) = written(&manifest(&[], 0, 0), &[]);
    assert!(summary.groups[0].strategies.is_empty());
    assert!(text(&files, "recall_by_tokens.svg").contains("no strategy has both"));
    assert!(text(&files, "context_by_turn.svg").contains("took no turn"));
}

/// Controls that hold everything once left strategies near 0 so little room that their names
/// covered each other.
#[test]
fn controls_far_above_the_strategies_are_named_under_the_picture() {
    let (_, mut records) = tiny();
    let drawn = |records: &[Record]| {
        let (_, files) = written(&manifest(&["summarize", "full"], 12, 6), records);
        text(&files, "recall_by_cost.svg")
    };
    let reaches_all = |picture: &str| picture.lines().any(|line| line.trim() == "1.0");
    records.retain(|record| record.case.strategy != "idle");
    let hold = |records: &mut Vec<Record>, number: usize| {
        for record in records {
            let is_full = record.case.strategy == "full";
            let held = if is_full { 20 } else { number };
            let fates = "v".repeat(held) + &"u".repeat(20 - held);
            record.facts = facts(20, ValueKind::Nonce);
            record.observations = vec![point(u32::from(!is_full), &fates)];
            record.observations[0].chance = vec![chance(ValueKind::Nonce, 0, 5)];
        }
    };
    hold(&mut records, 15);
    let beside = drawn(&records);
    assert!(
        !beside.contains("outside of the picture") && reaches_all(&beside),
        "{beside}"
    );
    hold(&mut records, 1);
    let above = drawn(&records);
    assert!(
        above.contains("outside of the picture: full (") && above.contains(", 1.00)"),
        "{above}"
    );
    assert!(!reaches_all(&above), "{above}");
}
