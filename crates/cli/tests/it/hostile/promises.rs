//! Promises of pages: each cites the rows of the corpus that show it, in a comment at its end:
//! `<!-- shown by: ID, ID -->`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use compactometer_testing::hostile::corpus;

const PAGES: [&str; 5] = [
    "SECURITY.md",
    "docs/ledger.md",
    "docs/own-strategy.md",
    "docs/guide.md",
    "docs/install.md",
];
/// Words by which a sentence promises what attackers and accidents cannot do.
const WORDS: [&str; 7] = [
    " never ",
    " cannot ",
    " refuse",
    "not followed",
    "uses no ",
    "ended with",
    "a failure",
];
/// The section whose every point is a promise.
const SECTION: &str = "## Other measures";
const MARK: &str = "<!-- shown by:";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A point of a list, a row of a table or a paragraph.
struct Block {
    page: &'static str,
    section: String,
    text: String,
}

impl Block {
    fn promises(&self) -> bool {
        let plain = self.text.replace('\n', " ").to_lowercase();
        self.section == SECTION || WORDS.iter().any(|word| plain.contains(word))
    }

    fn cited(&self) -> impl Iterator<Item = &str> {
        let marks = self.text.split(MARK).skip(1);
        let lists = marks.filter_map(|rest| rest.split_once("-->"));
        lists.flat_map(|(list, _)| list.split(',').map(str::trim))
    }
}

/// The blocks of a page that are text: no headings and no commands.
fn blocks(page: &'static str) -> Vec<Block> {
    let text = std::fs::read_to_string(root().join(page)).unwrap();
    let (mut blocks, mut section, mut in_code) = (Vec::<Block>::new(), String::new(), false);
    let mut goes_on = false;
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        if line.starts_with('#') && !in_code {
            section = line.to_owned();
        }
        if is_fence || in_code || line.trim().is_empty() || line.starts_with('#') {
            goes_on = false;
            continue;
        }
        let begins = line.trim_start().starts_with(['-', '|']) || !goes_on;
        goes_on = !line.starts_with('|');
        match blocks.last_mut().filter(|_| !begins) {
            Some(last) => last.text = format!("{}\n{line}", last.text),
            None => blocks.push(Block {
                page,
                section: section.clone(),
                text: line.to_owned(),
            }),
        }
    }
    blocks
}

#[test]
fn each_promise_of_a_page_cites_its_row() {
    let corpus = corpus();
    let ids = corpus.ids().collect::<Vec<_>>();
    let known = ids.iter().copied().collect::<BTreeSet<_>>();
    assert_eq!(known.len(), ids.len(), "two rows have one id");
    let blocks = PAGES.into_iter().flat_map(blocks).collect::<Vec<_>>();
    let mut wrong = Vec::new();
    for block in &blocks {
        let cited = block.cited().collect::<Vec<_>>();
        if block.promises() && cited.is_empty() {
            wrong.push(format!("{}: no row shows: {}", block.page, block.text));
        }
        let unknown = cited.iter().filter(|id| !known.contains(*id));
        wrong.extend(unknown.map(|id| format!("{}: there is no row `{id}`", block.page)));
    }
    let cited = blocks
        .iter()
        .flat_map(Block::cited)
        .collect::<BTreeSet<_>>();
    let unused = known.difference(&cited);
    wrong.extend(unused.map(|id| format!("no page cites row `{id}`")));
    for row in &corpus.tested {
        let (file, name) = row.test.split_once("::").unwrap();
        let source = std::fs::read_to_string(root().join(file)).unwrap_or_default();
        let sought = match file.ends_with(".rs") {
            true => format!("fn {name}("),
            false => name.to_owned(),
        };
        if !source.contains(&sought) {
            wrong.push(format!("row `{}`: {file} has no `{sought}`", row.id));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
