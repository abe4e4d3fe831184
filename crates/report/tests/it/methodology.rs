//! The page that defines what is measured: `METHODOLOGY.md`.

use compactometer_report::metrics;

const PAGE: &str = include_str!("../../../../METHODOLOGY.md");

/// The page's table is the registry, so that neither changes alone.
#[test]
fn the_methodology_defines_every_metric_as_it_is_computed() {
    let section = PAGE.split("\n## ").find(|section| section.starts_with("3. Every metric")).unwrap_or_default();
    let defined: Vec<&str> = section.lines().filter(|line| line.starts_with("| `")).collect();
    let row =
        |metric: &metrics::Metric| format!("| `{}` | {} | {} |", metric.id, metric.unit.name(), metric.definition);
    let computed: Vec<String> = metrics::ALL.iter().map(row).collect();
    assert_eq!(defined, computed);
}

#[test]
fn the_chapter_that_explains_a_metric_is_there() {
    let chapters: Vec<&str> =
        PAGE.lines().filter_map(|line| line.strip_prefix("## ")?.split_once(". ")).map(|(_, title)| title).collect();
    for metric in metrics::ALL {
        assert!(chapters.contains(&metric.chapter), "`{}` names the chapter `{}`", metric.id, metric.chapter);
    }
}
