//! The pages that define what is measured.

use compactometer_report::metrics;

const METHODOLOGY: &str = include_str!("../../../../docs/methodology.md");
const MEASUREMENT: &str = include_str!("../../../../docs/measurement.md");

/// The page's table is the registry, so that neither changes alone.
#[test]
fn the_methodology_defines_every_metric_as_it_is_computed() {
    let section = METHODOLOGY.split("\n## ").find(|section| section.starts_with("Every metric")).unwrap_or_default();
    let defined: Vec<&str> = section.lines().filter(|line| line.starts_with("| `")).collect();
    let row =
        |metric: &metrics::Metric| format!("| `{}` | {} | {} |", metric.id, metric.unit.name(), metric.definition);
    let computed: Vec<String> = metrics::ALL.iter().map(row).collect();
    assert_eq!(defined, computed);
}

#[test]
fn the_chapter_that_explains_a_metric_is_there() {
    let chapters = MEASUREMENT.lines().filter_map(|line| line.trim_start_matches('#').strip_prefix(' '));
    let chapters = chapters.collect::<Vec<_>>();
    for metric in metrics::ALL {
        assert!(chapters.contains(&metric.chapter), "`{}` names the chapter `{}`", metric.id, metric.chapter);
    }
}
