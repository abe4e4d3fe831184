//! The pages of single conversations, as `compare` writes them and `report` leads to them.

use std::collections::BTreeMap;
use std::path::Path;

use assert_cmd::Command;

const SPEC: &str = "name = \"tiny\"\nseed = 4\nwindow = 2000\ndomains = [\"research\", \"service\"]\n\
                    conversations = 3\nlengths = [6000]\nfacts = [12, 12]\npoints = [2, 2]\n";
const COMPARE: &[&str] = &[
    "compare",
    "tiny.toml",
    "-s",
    "summarize,null",
    "--protocol",
    "matched,published",
    "--scale",
    ".2",
    "-q",
];

fn done(dir: &Path, args: &[&[&str]]) {
    let output = Command::cargo_bin("compactometer")
        .unwrap()
        .current_dir(dir)
        .args(args.concat())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn files(dir: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for folder in std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
    {
        for file in std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            found.insert(
                file.strip_prefix(dir)
                    .unwrap()
                    .to_string_lossy()
                    .into_owned(),
                read(&file),
            );
        }
    }
    found
}

#[test]
fn a_report_leads_to_each_conversation_and_fact() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::fs::write(dir.join("tiny.toml"), SPEC).unwrap();
    done(dir, &[COMPARE, &["--out", "run"]]);
    let run = dir.join("run");
    let first = files(&run.join("cases"));
    // Two strategies under two protocols, and the conversations themselves.
    assert_eq!(
        first
            .keys()
            .filter(|name| name.ends_with("index.html"))
            .count(),
        4,
        "{:?}",
        first.keys()
    );
    assert_eq!(first.len(), 4 * (1 + 3) + 3, "{:?}", first.keys());
    let index = read(&run.join("index.html"));
    for address in ["matched-summarize", "published-null"] {
        assert!(
            index.contains(&format!(
                "<a href=\"cases&#x2f;{address}&#x2f;index.html\">"
            )),
            "{address}"
        );
    }

    // What a page says of a fact is what facts.csv says of it.
    let lost = |row: &csv::StringRecord, at: &dyn Fn(&str) -> usize| {
        let is = |column: &str, value: &str| &row[at(column)] == value;
        is("protocol", "matched") && is("strategy", "summarize") && is("decoy", "false")
    };
    let mut facts = csv::Reader::from_path(run.join("facts.csv")).unwrap();
    let header = facts.headers().unwrap().clone();
    let at = |name: &str| {
        header
            .iter()
            .position(|column| column == name)
            .unwrap_or_else(|| panic!("{name}: {header:?}"))
    };
    let rows = facts
        .records()
        .map(Result::unwrap)
        .filter(|row| lost(row, &at))
        .collect::<Vec<_>>();
    assert!(!rows.is_empty());
    for row in rows {
        let page = &first[&format!("matched-summarize/{}.html", &row[at("scenario")])];
        let line = page.lines().find(|line| {
            line.contains("<th scope=\"row\" title=")
                && line.contains(&format!(">{} ", &row[at("fact")]))
        });
        let last = line
            .unwrap()
            .rsplit("<td class=")
            .next()
            .unwrap()
            .chars()
            .next()
            .unwrap();
        let letter = match &row[at("fate")] {
            "stored_only" => 's',
            "superseded" => 'x',
            "unexplained" => '?',
            "unstated" => '.',
            fate => fate.chars().next().unwrap(),
        };
        assert_eq!(last, letter, "{row:?}");
    }

    // The same command writes the same pages, with none it removes them, and a report follows.
    done(dir, &[COMPARE, &["--out", "run", "--cases", "all"]]);
    assert_eq!(files(&run.join("cases")), first);
    assert_eq!(read(&run.join("index.html")), index);
    done(dir, &[&["report", "run", "-q"]]);
    assert_eq!(read(&run.join("index.html")), index);
    done(dir, &[&["report", "run", "-q", "--out", "elsewhere"]]);
    assert!(!read(&dir.join("elsewhere/index.html")).contains("href=\"cases"));
    done(dir, &[COMPARE, &["--out", "run", "--cases", "1"]]);
    assert_eq!(files(&run.join("cases")).len(), 4 * (1 + 1) + 1);
    assert!(read(&run.join("index.html")).contains("The first of 3 conversations has pages"));
    done(dir, &[COMPARE, &["--out", "run", "--cases", "none"]]);
    assert!(files(&run.join("cases")).is_empty());
    assert!(!read(&run.join("index.html")).contains("href=\"cases"));
}
