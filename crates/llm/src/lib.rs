//! Models behind the engine's [`ChatModel`], and the registry of their kinds.
//!
//! Absent on purpose: scenarios, facts, and why a model is called. A model sees wire content alone.

pub mod faults;
pub mod mock;
pub mod server;

use compactometer_engine::model::ChatModel;
use faults::{FaultError, Faulty};

/// Every kind of model.
pub const ALL: &[&ModelKind] = &[&mock::KIND];

/// A kind of model: what stands before the first `:` of a model's name. Any model takes faults ([`faults::SYNTAX`]).
pub struct ModelKind {
    /// The name users type.
    pub name: &'static str,
    /// One line for help and lists.
    pub about: &'static str,
    /// The variants that may follow `:`; the first is the default.
    pub variants: fn() -> Vec<&'static str>,
    /// Builds a variant that [`ModelKind::variants`] lists.
    build: fn(&str) -> Option<Box<dyn ChatModel>>,
}

/// The model of that name: `KIND` or `KIND:VARIANT`, for example `mock` or `mock:strong`, and after a `+` its faults, for
/// example `mock:strong+empty=0.1,timeout=0.05` ([`faults::ALL`]).
///
/// # Errors
/// [`ModelError`] naming the value, the valid choices and the nearest of them.
pub fn by_name(spec: &str) -> Result<Box<dyn ChatModel>, ModelError> {
    // A name may hold a `+` of its own.
    match spec.rsplit_once('+').filter(|(_, faults)| faults.is_empty() || faults::are_meant(faults)) {
        Some((model, faults)) => Ok(Box::new(Faulty::new(without_faults(model)?, faults.parse()?))),
        None => without_faults(spec),
    }
}

fn without_faults(spec: &str) -> Result<Box<dyn ChatModel>, ModelError> {
    let (name, variant) = match spec.split_once(':') {
        Some((name, variant)) => (name, Some(variant)),
        None => (spec, None),
    };
    let kind = ALL.iter().find(|kind| kind.name == name).ok_or_else(|| {
        let kinds = ALL.iter().map(|kind| kind.name).collect::<Vec<_>>();
        ModelError::Kind { given: spec.to_owned(), hint: hint(name, &kinds), choices: kinds.join(", ") }
    })?;
    let variants = (kind.variants)();
    let variant = variant.or(variants.first().copied()).unwrap_or_default();
    (kind.build)(variant).ok_or_else(|| ModelError::Variant {
        kind: kind.name,
        given: variant.to_owned(),
        hint: hint(variant, &variants),
        choices: variants.iter().map(|variant| format!("{name}:{variant}")).collect::<Vec<_>>().join(", "),
    })
}

/// A name that names no model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// No such kind.
    #[error("model `{given}` is unknown; choose one of: {choices}{hint}")]
    Kind {
        /// What was given.
        given: String,
        /// The kinds.
        choices: String,
        /// The nearest kind as a clause, or nothing.
        hint: String,
    },
    /// The kind has no such variant.
    #[error("model `{kind}:{given}` is unknown; choose one of: {choices}{hint}")]
    Variant {
        /// The kind.
        kind: &'static str,
        /// The variant given.
        given: String,
        /// The names that this kind has.
        choices: String,
        /// The nearest variant as a clause, or nothing.
        hint: String,
    },
    /// The faults after the model's name cannot be read.
    #[error(transparent)]
    Fault(#[from] FaultError),
}

/// Below this Jaro-Winkler similarity a suggestion would only confuse.
const LEAST_SIMILARITY: f64 = 0.7;

fn hint(given: &str, choices: &[&str]) -> String {
    let similar = |choice: &&&str| strsim::jaro_winkler(given, choice);
    let nearest = choices.iter().max_by(|one, other| similar(one).total_cmp(&similar(other)));
    match nearest.filter(|choice| similar(choice) >= LEAST_SIMILARITY) {
        Some(choice) => format!("; did you mean `{choice}`?"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(spec: &str) -> String {
        by_name(spec).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn names_resolve() {
        for spec in ["mock", "mock:strong"] {
            assert_eq!(by_name(spec).map(|model| model.name().to_owned()), Ok("mock:strong".to_owned()));
        }
    }

    #[test]
    fn errors_name_value_choices_and_suggestion() {
        insta::assert_snapshot!(error("mok"), @"model `mok` is unknown; choose one of: mock; did you mean `mock`?");
        insta::assert_snapshot!(error("mock:stron"), @"model `mock:stron` is unknown; choose one of: mock:strong, mock:perfect-reader, mock:weak, mock:lost-in-the-middle, mock:continues-chat, mock:paraphraser; did you mean `strong`?");
        insta::assert_snapshot!(error("gpt:5"), @"model `gpt:5` is unknown; choose one of: mock");
        insta::assert_snapshot!(error("mock:"), @"model `mock:` is unknown; choose one of: mock:strong, mock:perfect-reader, mock:weak, mock:lost-in-the-middle, mock:continues-chat, mock:paraphraser");
    }
}
