//! The pages that define what is measured.

use std::path::Path;

use compactometer_report::metrics;

#[test]
fn the_chapter_that_explains_a_metric_is_there() {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs/measurement")
        .read_dir()
        .unwrap();
    let pages = pages
        .map(|page| std::fs::read_to_string(page.unwrap().path()).unwrap())
        .collect::<String>();
    let chapters = pages
        .lines()
        .filter_map(|line| line.trim_start_matches('#').strip_prefix(' '))
        .collect::<Vec<_>>();
    for metric in metrics::ALL {
        assert!(
            chapters.contains(&metric.chapter),
            "`{}` names the chapter `{}`",
            metric.id,
            metric.chapter
        );
    }
}

/// The tour leads to numbers that exist.
#[test]
fn every_name_with_an_underscore_in_the_tour_is_a_metric() {
    let tour = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/measurement.md"),
    )
    .unwrap();
    let table = tour
        .split("## Which metric answers my question")
        .nth(1)
        .unwrap();
    let named = table
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|name| name.contains('_'))
        .collect::<Vec<_>>();
    assert!(named.len() > 20, "{named:?}");
    for name in named {
        assert!(
            metrics::ALL.iter().any(|metric| metric.id == name),
            "`{name}` is not a metric"
        );
    }
}
