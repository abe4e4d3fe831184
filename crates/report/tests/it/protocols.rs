//! Reports of more than one protocol: every group is there, with its own numbers, warnings, checks
//! and pictures.

use std::fs;

use crate::common::{chance, compaction, facts, manifest, point, prices, record, turn};
use compactometer_formats::manifest::Manifest;
use compactometer_formats::protocol::Protocol;
use compactometer_formats::record::{Family, Record, Stages};
use compactometer_formats::scenario::ValueKind;
use compactometer_formats::summary::{Group, Summary};
use compactometer_report::{Screen, summarize, table, write};

const BOTH: [Protocol; 2] = [Protocol::Matched, Protocol::Published];

/// `summarize` compacts under the matched protocol alone: half as large a scale of its published
/// trigger, 20,000 tokens, would still be too large for the median of five conversations of 5,000
/// to 9,000 tokens.
fn both() -> (Manifest, Vec<Record>) {
    let mut records = Vec::new();
    for protocol in BOTH {
        for (name, family) in [("summarize", Family::Reference), ("full", Family::Control)] {
            records.extend((0..5).map(|at| conversation(protocol, name, family, at)));
        }
    }
    let manifest = Manifest {
        protocols: BOTH.to_vec(),
        scale: 0.5,
        ..manifest(&["summarize", "full"], records.len(), 5)
    };
    (manifest, records)
}

fn conversation(protocol: Protocol, name: &str, family: Family, at: u32) -> Record {
    let mut made = record(name, family, &format!("s{at}"), &format!("g{at}"));
    made.case.protocol = protocol;
    made.facts = facts(2, ValueKind::Nonce);
    let is_compacted = protocol == Protocol::Matched && name == "summarize";
    let mut seen = point(
        u32::from(is_compacted),
        if is_compacted { "vu" } else { "vv" },
    );
    seen.chance = vec![chance(ValueKind::Nonce, 0, 5)];
    made.observations = vec![seen];
    made.turns = vec![turn(3_000, 0, 100), turn(5_000 + 1_000 * at, 3_000, 100)];
    if is_compacted {
        made.compactions = vec![compaction(
            Stages {
                left: 1,
                reached: 1,
                ..Stages::default()
            },
            3_000,
            Vec::new(),
        )];
    }
    if protocol == Protocol::Published && family == Family::Reference {
        made.case.budget.trigger = 20_000;
        made.case.budget.window = 25_000;
        made.case.budget.retained = None;
    }
    made
}

fn warning<'g>(group: &'g Group, start: &str) -> Option<&'g str> {
    group
        .warnings
        .iter()
        .map(String::as_str)
        .find(|warning| warning.starts_with(start))
}

#[test]
fn each_group_has_its_own_numbers() {
    let (manifest, records) = both();
    let summary = summarize(&manifest, &records, &prices());
    let [matched, published] = &summary.groups[..] else {
        panic!("{} groups", summary.groups.len())
    };
    assert_eq!((matched.protocol, matched.scale), (Protocol::Matched, None));
    assert_eq!(
        (published.protocol, published.scale),
        (Protocol::Published, Some(0.5))
    );
    let recall = |group: &Group| group.strategies[0].metrics["context_recall"].value;
    assert_eq!((recall(matched), recall(published)), (Some(0.5), Some(1.0)));
    assert_eq!(
        matched.strategies[0].triggered.of, 5,
        "records of the other protocol do not count"
    );
    assert!(
        warning(matched, "the manifest lists").is_none()
            && warning(published, "the manifest lists").is_none()
    );
    for protocol in BOTH {
        let alone = Manifest {
            protocols: vec![protocol],
            cases: 10,
            ..manifest.clone()
        };
        let of_protocol: Vec<_> = records
            .iter()
            .filter(|record| record.case.protocol == protocol)
            .cloned()
            .collect();
        let found = summarize(&alone, &of_protocol, &prices());
        let same = summary
            .groups
            .iter()
            .find(|group| group.protocol == protocol);
        assert_eq!(found.groups.first(), same, "as in a run of its own");
    }
}

#[test]
fn records_of_a_protocol_that_the_manifest_does_not_list_are_a_group_too() {
    let (mut manifest, records) = both();
    manifest.protocols.pop();
    let summary = summarize(&manifest, &records, &prices());
    assert_eq!(
        summary
            .groups
            .iter()
            .map(|group| group.protocol)
            .collect::<Vec<_>>(),
        BOTH
    );
}

#[test]
fn published_limits_that_are_too_large_name_the_scale() {
    let (manifest, mut records) = both();
    let groups = summarize(&manifest, &records, &prices()).groups;
    // The median has 7,000 tokens of a trigger of 20,000 at scale .5: .175.
    assert_eq!(
        warning(&groups[1], "conversations too short"),
        Some(
            "conversations too short for published limits: the median one triggers at `--scale 0.17` for summarize"
        )
    );
    assert_eq!(warning(&groups[0], "conversations too short"), None);
    let limits = warning(&groups[1], "published limits").unwrap();
    assert!(
        limits.contains("multiplied by 0.5")
            && limits.contains("controls have a context window of 12,000 tokens"),
        "{limits}"
    );

    // What compactions took away counts as said: 6,500 tokens each put the median over the trigger.
    for record in records
        .iter_mut()
        .filter(|record| record.case.budget.trigger == 20_000)
    {
        record.compactions = vec![compaction(Stages::default(), 3_000, Vec::new()); 2];
    }
    assert_eq!(
        warning(
            &summarize(&manifest, &records, &prices()).groups[1],
            "conversations too short"
        ),
        None
    );
}

#[test]
fn the_oracle_is_no_bound_for_other_sizes() {
    let (manifest, mut records) = both();
    for protocol in BOTH {
        let mut poor: Vec<_> = (0..5)
            .map(|at| conversation(protocol, "oracle", Family::Control, at))
            .collect();
        poor.iter_mut()
            .for_each(|record| record.observations[0].fates = point(1, "dd").fates);
        records.extend(poor);
    }
    let of = |group: &Group| {
        group
            .checks
            .iter()
            .find(|check| check.name.contains("oracle"))
            .unwrap()
            .passed
    };
    let groups = summarize(&manifest, &records, &prices()).groups;
    assert_eq!(
        groups.iter().map(of).collect::<Vec<_>>(),
        [Some(false), None]
    );
    // A ledger that is added to what a program left makes its row larger than the others.
    for record in records
        .iter_mut()
        .filter(|record| record.case.family == Family::Reference)
    {
        record.case.budget.retained = record.case.budget.retained.map(|retained| retained + 1_800);
    }
    let groups = summarize(&manifest, &records, &prices()).groups;
    assert_eq!(groups.iter().map(of).collect::<Vec<_>>(), [None, None]);
}

#[test]
fn a_hard_check_fails_in_its_own_group() {
    let (manifest, mut records) = both();
    let last = records
        .iter_mut()
        .rfind(|record| record.case.family == Family::Reference)
        .unwrap();
    last.observations[0].fates = point(0, "v?").fates;
    let groups = summarize(&manifest, &records, &prices()).groups;
    let failed = |group: &Group| {
        group
            .checks
            .iter()
            .filter(|check| check.passed == Some(false))
            .count()
    };
    assert_eq!((failed(&groups[0]), failed(&groups[1])), (0, 1));
}

#[test]
fn table_of_two_groups() {
    let (manifest, records) = both();
    insta::assert_snapshot!(table(
        &summarize(&manifest, &records, &prices()),
        &Screen::WHOLE
    ));
}

#[test]
fn every_file_has_every_group() {
    let (manifest, records) = both();
    let dir = tempfile::tempdir().unwrap();
    let summary = write(dir.path(), &manifest, &records, &prices()).unwrap();
    let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
    assert_eq!(
        serde_json::from_str::<Summary>(&read("summary.json")).unwrap(),
        summary
    );
    for name in ["summary.csv", "facts.csv"] {
        let of = |protocol: &str| {
            read(name)
                .lines()
                .filter(|line| line.starts_with(protocol))
                .count()
        };
        assert!(
            of("matched,") > 0 && of("matched,") == of("published,"),
            "{name}"
        );
        assert_eq!(
            of("matched,") + of("published,") + of("protocol,"),
            read(name).lines().count(),
            "{name}"
        );
    }
    let (html, markdown) = (read("index.html"), read("report.md"));
    for plot in [
        "context_by_turn",
        "cost",
        "fates",
        "recall_by_round",
        "recall_by_tokens",
    ] {
        for file in BOTH.map(|protocol| format!("plots/{plot}-{}", protocol.name())) {
            for ending in ["svg", "png", "csv"] {
                assert!(
                    dir.path().join(format!("{file}.{ending}")).is_file(),
                    "{file}.{ending}"
                );
                assert!(
                    html.contains(&format!("href=\"{file}.{ending}\"")),
                    "{file}.{ending}"
                );
            }
            assert!(markdown.contains(&format!("]({file}.svg)")), "{file}");
        }
        assert!(!dir.path().join(format!("plots/{plot}.svg")).exists());
    }
    assert!(
        html.contains("<h2 id=\"matched\">Protocol matched</h2>")
            && html.contains("<h3>Read first</h3>")
    );
    assert!(
        html.contains("<h2 id=\"published\">Protocol published, scale 0.5</h2>")
            && html.contains(">Recall</summary>")
    );
    assert!(
        markdown.contains("\n## Protocol matched\n\n### Read first\n")
            && markdown.contains("\n#### Recall\n")
    );
    assert!(markdown.contains("\n## Protocol published, scale 0.5\n"));
    assert_eq!(
        markdown
            .matches("Each strategy has its own context window and trigger, so none is drawn.")
            .count(),
        1
    );
}
