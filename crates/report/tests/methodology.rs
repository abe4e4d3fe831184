//! The page that defines what is measured: `METHODOLOGY.md`.

use compactometer_report::metrics;

/// A metric without a definition there fails here, and so does a definition without a metric.
#[test]
fn every_metric_is_defined_in_the_methodology() {
    const PAGE: &str = include_str!("../../../METHODOLOGY.md");
    let section = PAGE.split("\n## ").find(|section| section.starts_with("3. Every metric")).unwrap_or_default();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    let mut defined: Vec<&str> = rows.filter(|(_, text)| text.len() > 10).map(|(id, _)| id).collect();
    let mut known: Vec<&str> = metrics::ALL.iter().map(|metric| metric.id).collect();
    defined.sort_unstable();
    known.sort_unstable();
    assert_eq!(defined, known);
}
