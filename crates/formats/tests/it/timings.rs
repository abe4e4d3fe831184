//! Versions of `timings.json`.

use compactometer_formats::timings::Timings;

#[test]
fn the_first_version_is_read_and_a_newer_one_is_refused() {
    let first = Timings::parse(r#"{"a1": 0.5, "b2": 2}"#).unwrap();
    assert_eq!(first.cases["b2"].seconds, 2.0);
    let text = serde_json::to_string(&first).unwrap();
    assert_eq!(Timings::parse(&text).unwrap(), first);
    assert!(
        Timings::parse(r#"{"version": 9, "cases": {}}"#)
            .unwrap_err()
            .contains("`9` is newer")
    );
    assert!(
        Timings::parse(r#"{"version": 2}"#)
            .unwrap_err()
            .contains("cases")
    );
}
