//! The page that defines what is measured: `docs/methodology.md`.

use compactometer_report::metrics;

/// The page's table is the registry, so that neither changes alone.
#[test]
fn the_methodology_defines_every_metric_as_it_is_computed() {
    const PAGE: &str = include_str!("../../../../docs/methodology.md");
    let section = PAGE.split("\n## ").find(|section| section.starts_with("Every metric")).unwrap_or_default();
    let defined: Vec<&str> = section.lines().filter(|line| line.starts_with("| `")).collect();
    let row = |metric: &metrics::Metric| format!("| `{}` | {} | {} |", metric.id, metric.unit.name(), metric.formula);
    let computed: Vec<String> = metrics::ALL.iter().map(row).collect();
    assert_eq!(defined, computed);
}
