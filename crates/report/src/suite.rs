//! What was measured on the suite itself: violations as warnings, the rest as notes.

use compactometer_schema::property::Property;

use crate::data::Run;

/// A line for each property that the suite should have and has not.
pub(crate) fn violations(run: &Run) -> impl Iterator<Item = String> {
    run.manifest
        .properties
        .iter()
        .filter(|property| is_violated(property))
        .map(|property| format!("the suite: {}", property.line()))
}

/// A line for each other property that could be measured.
pub(crate) fn notes(run: &Run) -> impl Iterator<Item = String> {
    let measured = run.manifest.properties.iter().filter(|property| property.value.is_some() && !is_violated(property));
    measured.map(|property| format!("the suite: {}", property.line()))
}

fn is_violated(property: &Property) -> bool {
    property.passed == Some(false)
}
