//! What was measured on the suite itself is in the report; what is violated is before the numbers.

use crate::common::{facts, manifest, point, prices, record};
use compactometer_formats::manifest::Manifest;
use compactometer_formats::property::Property;
use compactometer_formats::record::Family;
use compactometer_formats::scenario::ValueKind;
use compactometer_report::summarize;

#[test]
fn violations_are_warnings_and_the_rest_notes() {
    let share =
        |id: &str, count| Property::share(id, id, count, 10, 0.05, format!("{count} of 10"));
    let measured = [share("even", 0), share("uneven", 1)].into_iter().flatten();
    let properties: Vec<Property> = measured
        .chain([Property::untold("odd", "odd", "none")])
        .collect();
    let mut full = record("full", Family::Control, "s0", "g0");
    full.facts = facts(2, ValueKind::Nonce);
    full.observations = vec![point(0, "vv")];
    let manifest = Manifest {
        properties: properties.clone(),
        ..manifest(&["full"], 1, 1)
    };
    let group = summarize(&manifest, &[full], &prices()).groups.remove(0);
    assert_eq!(group.properties, properties);
    let about: Vec<&String> = group
        .warnings
        .iter()
        .filter(|line| line.starts_with("the suite:"))
        .collect();
    assert_eq!(
        about,
        [
            "the suite: uneven: 0.100, at most 0.05, FAILS (1 of 10)",
            "the suite: even: 0.000, at most 0.05, holds (0 of 10)"
        ]
    );
    assert!(
        group
            .warnings
            .contains(&"the suite, not measured: odd: not applicable: none".to_owned())
    );
    let replay = group
        .warnings
        .iter()
        .position(|line| line.starts_with("a replay"))
        .expect("is said");
    let place = |start: &str| {
        group
            .warnings
            .iter()
            .position(|line| line.starts_with(start))
            .expect("is there")
    };
    assert!(place("the suite: uneven") < replay && replay < place("the suite: even"));
}
