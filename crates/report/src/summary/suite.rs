//! What was measured on the suite itself: violations as warnings, the rest as notes.

use compactometer_formats::property::Property;

use crate::data::ProtocolRun;

/// A line for each property that the suite should have and has not.
pub(crate) fn violations(run: &ProtocolRun) -> impl Iterator<Item = String> {
    run.manifest
        .properties
        .iter()
        .filter(|property| is_violated(property))
        .map(|property| format!("the suite: {}", property.line()))
}

/// A line for each other property that could be measured, then one for those that could not.
pub(crate) fn notes(run: &ProtocolRun) -> impl Iterator<Item = String> {
    let properties = || run.manifest.properties.iter();
    let measured =
        properties().filter(|property| property.value.is_some() && !is_violated(property));
    let untold = properties().filter(|property| property.value.is_none() && !is_violated(property));
    let untold = untold.map(Property::line).collect::<Vec<_>>().join("; ");
    let untold = (!untold.is_empty()).then(|| format!("the suite, not measured: {untold}"));
    measured
        .map(|property| format!("the suite: {}", property.line()))
        .chain(untold)
}

fn is_violated(property: &Property) -> bool {
    property.passed == Some(false)
}
