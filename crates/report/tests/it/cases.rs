//! Pages of single conversations: none is too large, whatever a conversation holds, and each link
//! leads somewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use compactometer_engine::tokens::CountedMessage;
use compactometer_formats::record::{Family, Record, Unusable};
use compactometer_formats::scenario::{Scenario, ValueKind};
use compactometer_report::{Cases, ReportPart, write_formats};
use serde_json::json;

use super::common::{compaction, facts, manifest, point, prices, record};

/// No page is larger.
const MOST: u64 = 500_000;

/// A conversation whose facts have this value, in messages of this text.
fn scenario(
    id: &str,
    count: usize,
    value: &str,
    text: &str,
    messages: u32,
) -> (Scenario, Vec<Arc<CountedMessage>>) {
    let fact = |at: usize| {
        json!({"id": format!("f{at}"), "category": "incidental", "subject": value, "value": value, "value_kind": "id",
            "evidence_message_ids": [1], "stated_by": "user"})
    };
    let message =
        |id: u32| json!({"id": id, "role": "user", "parts": [{"type": "text", "text": text}]});
    let json = json!({"id": id, "group_id": id, "source": "test", "facts": (0..count).map(fact).collect::<Vec<_>>(),
        "messages": (1..=messages).map(message).collect::<Vec<_>>()});
    let mut scenario: Scenario = serde_json::from_value(json).unwrap();
    let counted = std::mem::take(&mut scenario.messages).into_iter();
    let messages = counted
        .map(|message| Arc::new(CountedMessage { message, tokens: 1 }))
        .collect();
    (scenario, messages)
}

/// A case in which `rounds` compactions lost every fact, and each wrote this text.
fn case(
    strategy: &str,
    scenario: &str,
    count: usize,
    rounds: u32,
    text: &str,
) -> (Record, BTreeMap<String, String>) {
    let mut record = record(strategy, Family::Reference, scenario, scenario);
    record.facts = facts(count, ValueKind::Id);
    for round in 1..=rounds {
        record.observations.push(point(round, &"u".repeat(count)));
        let mut row = compaction(Default::default(), 3_000, Vec::new());
        row.event.after.0 = 10 * round + 1;
        row.inserted = vec!["written".to_owned()];
        record.compactions.push(row);
    }
    (
        record,
        BTreeMap::from([("written".to_owned(), text.to_owned())]),
    )
}

fn pages(dir: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|end| end == "html") {
            let text = std::fs::read_to_string(&path).unwrap();
            found.insert(path, text);
        }
    }
    found
}

/// Fails if a link leads to no page, or to no place of it.
fn check_links(dir: &Path) -> usize {
    let pages = pages(dir);
    let ids = |text: &str| {
        text.split(" id=\"")
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap().to_owned())
            .collect()
    };
    let ids = pages
        .iter()
        .map(|(path, text)| (path.clone(), ids(text)))
        .collect::<BTreeMap<_, BTreeSet<String>>>();
    let mut count = 0;
    for (path, text) in &pages {
        for link in text
            .split("href=\"")
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap())
        {
            let link = link.replace("&#x2f;", "/");
            let (file, anchor) = link
                .split_once('#')
                .map_or((link.as_str(), None), |(file, at)| (file, Some(at)));
            let target = if file.is_empty() {
                path.clone()
            } else {
                path.parent().unwrap().join(file)
            };
            let target = target
                .canonicalize()
                .unwrap_or_else(|_| panic!("{} leads to {link}", path.display()));
            if let Some(anchor) = anchor {
                assert!(
                    ids[&target].contains(anchor),
                    "{} leads to {link}",
                    path.display()
                );
            }
            count += 1;
        }
    }
    count
}

fn report(dir: &Path, records: &[Record]) {
    let manifest = manifest(&["summarize"], records.len(), records.len());
    write_formats(
        dir,
        &manifest,
        records,
        &prices(),
        &[ReportPart::Html, ReportPart::Csv, ReportPart::Json],
    )
    .unwrap();
}

#[test]
fn no_page_is_too_large_and_every_link_leads_somewhere() {
    let quotes = "\"'<&>/".repeat(30_000);
    let hostile = "</script><script>document.title=\"owned\"</script>\u{202e}";
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let mut cases = Cases::begin(&dir, u64::MAX, 5).unwrap();
    let mut records = Vec::new();
    for (id, facts, value, text, rounds) in [
        ("plain", 3, "84-3", "It is 84-3.", 2),
        ("quotes", 40, quotes.as_str(), quotes.as_str(), 9),
        // Each mark is longer than the value.
        ("marks", 2_500, "7", &"7 ".repeat(150_000), 3),
        (hostile, 30, hostile, hostile, 150),
        (&"long-name ".repeat(60_000), 1, "84-3", "It is 84-3.", 1),
    ] {
        let (scenario, messages) = scenario(id, facts, value, text, 10 * rounds + 1);
        let case = case("summarize", id, facts, rounds, text);
        records.push(case.0.clone());
        assert!(cases.add(&scenario, &messages, &[case]).unwrap());
    }
    cases.finish(&manifest(&["summarize"], 5, 5)).unwrap();
    report(&dir, &records);
    std::fs::create_dir_all(dir.join("plots")).unwrap();
    let pages = pages(&dir);
    for (path, text) in &pages {
        // The report itself is not a page of a conversation.
        let is_of_case = path.starts_with(dir.join("cases"));
        assert!(
            !is_of_case || (text.len() as u64) < MOST,
            "{} has {} bytes",
            path.display(),
            text.len()
        );
        assert!(!text.contains("<script>document"), "{}", path.display());
    }
    let several = pages
        .keys()
        .filter(|path| path.to_string_lossy().contains(".page2."))
        .count();
    assert!(
        several >= 3,
        "long conversations and cases have several pages: {several}"
    );
    let text = |name: &str| &pages[&dir.join("cases").join(name)];
    let shortened = text("conversations/quotes.html");
    assert!(
        shortened.contains("(cut here: "),
        "a text that is cut says so"
    );
    assert!(check_links(&dir) > 5_000);
    // The strategy, the conversation, the fact.
    let index = std::fs::read_to_string(dir.join("index.html")).unwrap();
    assert!(
        index.contains("<a href=\"cases&#x2f;matched-summarize&#x2f;index.html\">summarize</a>")
    );
    assert!(text("matched-summarize/index.html").contains("<a href=\"plain.html\">plain</a>"));
    assert!(
        text("matched-summarize/plain.html").contains("<a href=\"plain.html#fact-0\">84-3</a>")
    );
    assert!(
        text("matched-summarize/plain.html").contains("conversations&#x2f;plain.html#m1\">1</a>")
    );
}

#[test]
fn the_limit_holds_and_the_report_says_what_is_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let text = "word ".repeat(2_000);
    let mut cases = Cases::begin(dir.path(), 150_000, 9).unwrap();
    let mut added = 0;
    let mut records = Vec::new();
    for at in 0..9 {
        let id = format!("c{at}");
        let (scenario, messages) = scenario(&id, 1, "84-3", &text, 1);
        let case = case("summarize", &id, 1, 1, &text);
        records.push(case.0.clone());
        if !cases.add(&scenario, &messages, &[case]).unwrap() {
            break;
        }
        added += 1;
    }
    assert!((2..9).contains(&added), "{added}");
    cases.finish(&manifest(&["summarize"], 9, 9)).unwrap();
    let bytes = pages(&dir.path().join("cases"))
        .into_iter()
        .filter(|(path, _)| !path.ends_with("index.html"));
    assert!(bytes.map(|(_, text)| text.len()).sum::<usize>() <= 150_000);
    report(dir.path(), &records);
    let told = format!(
        "The first {added} of 9 conversations have pages; <code>--cases all</code> writes the others."
    );
    for page in ["index.html", "cases/matched-summarize/index.html"] {
        let text = std::fs::read_to_string(dir.path().join(page)).unwrap();
        assert!(text.contains(&told), "{page}");
    }

    // Pages of another run are not linked, nor those that were not finished.
    let mut other = manifest(&["summarize"], 9, 9);
    other.suite_hash = "0731e5".to_owned();
    write_formats(dir.path(), &other, &records, &prices(), &[ReportPart::Html]).unwrap();
    assert!(
        !std::fs::read_to_string(dir.path().join("index.html"))
            .unwrap()
            .contains("href=\"cases")
    );
    drop(Cases::begin(dir.path(), u64::MAX, 9).unwrap());
    report(dir.path(), &records);
    assert!(
        !std::fs::read_to_string(dir.path().join("index.html"))
            .unwrap()
            .contains("href=\"cases")
    );
    assert!(
        pages(&dir.path().join("cases")).is_empty(),
        "pages of before are removed"
    );
}

#[test]
fn a_context_that_cannot_be_used_keeps_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut cases = Cases::begin(dir.path(), u64::MAX, 1).unwrap();
    let (scenario, messages) = scenario("c0", 2, "84-3", "It is 84-3.", 11);
    let (mut record, texts) = case("summarize", "c0", 2, 1, "It is 84-3.");
    record.observations = vec![point(1, "cc")];
    record.observations[0].unusable = Some(Unusable::CompactionFailed);
    assert!(cases.add(&scenario, &messages, &[(record, texts)]).unwrap());
    cases.finish(&manifest(&["summarize"], 1, 1)).unwrap();
    let read = |name: &str| {
        std::fs::read_to_string(dir.path().join("cases/matched-summarize").join(name)).unwrap()
    };
    assert!(
        read("index.html").contains("<td>0 %</td><td>2</td><td>2</td>"),
        "{}",
        read("index.html")
    );
    assert!(
        read("c0.html")
            .contains("counts as empty in the report, since a compaction was due and failed")
    );
}
