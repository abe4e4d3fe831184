//! What a mock sees of exact values in a request, for fits of its weights to what recorded programs
//! kept. The weights of these features are [`Weights::FEATURES`].
//!
//! [`Weights::FEATURES`]: crate::profile::Weights::FEATURES

use compactometer_engine::model::ChatRequest;

use crate::profile::Weights;
use crate::reading::message::ReadMessages;
use crate::reading::terms::{number, stem};
use crate::reading::{self, RewrittenTexts, statements};
use crate::writing::exact_values::MaterialValues;
use crate::writing::touched_files::Files;

/// The features of each value in a request's material, in the order of [`Weights::FEATURES`]; none of
/// a value that the mock does not read as one term.
pub fn of_values(
    request: &ChatRequest,
    values: &[String],
) -> Vec<Option<[f64; Weights::FEATURES.len()]>> {
    let texts = RewrittenTexts::new(request);
    let turns = reading::read(request, &texts).turns;
    let known = ReadMessages::default().all(&turns);
    let files = Files::new(&known);
    let mut statements = statements::statements(&turns, &known);
    statements.extend(files.statements(&turns));
    let seen = MaterialValues::new(&turns, &statements);
    let of_value = |value: &String| {
        let place = seen.place(number(&stem(value)))?;
        Some(seen.features(seen.at(place)))
    };
    values.iter().map(of_value).collect()
}
