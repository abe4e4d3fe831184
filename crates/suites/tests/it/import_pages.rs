//! Every format has a page with what is read, lost and repaired, and the guide names it.

use std::path::Path;

use compactometer_suites::import::ALL;

const HEADINGS: [&str; 5] = [
    "## Where the files are",
    "## Fields",
    "## Compactions",
    "## What is lost",
    "## Repairs",
];

#[test]
fn every_format_has_its_page() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let guide = std::fs::read_to_string(docs.join("guide.md")).expect("the guide");
    for name in ALL.iter().map(|importer| importer.name) {
        let page = std::fs::read_to_string(docs.join(format!("importers/{name}.md"))).expect(name);
        assert!(page.starts_with(&format!("# {name}: ")), "{name}");
        let missing = HEADINGS
            .iter()
            .filter(|heading| !page.lines().any(|line| line == **heading))
            .collect::<Vec<_>>();
        assert!(missing.is_empty(), "{name}: {missing:?}");
        assert!(
            guide.contains(&format!("(importers/{name}.md)")),
            "{name}: the guide does not name it"
        );
    }
}
