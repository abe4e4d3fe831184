//! Strategies in Rust that a program brings when it starts, to be run beside the built-in ones.

use std::sync::OnceLock;

use compactometer_engine::strategies;
use compactometer_engine::strategy::StrategySpec;

use crate::controls;

static OWN: OnceLock<&[&StrategySpec]> = OnceLock::new();

/// Adds strategies to the lists from which a run chooses. Call it once, before anything is chosen.
///
/// # Errors
/// A name that is taken, or strategies that were added before.
pub fn add(own: &'static [&'static StrategySpec]) -> Result<(), String> {
    let built_in = strategies::ALL
        .iter()
        .flat_map(|spec| [spec.name.to_owned(), spec.published_name()]);
    let taken = built_in
        .chain(controls::ALL.iter().map(|control| control.name.to_owned()))
        .collect::<Vec<_>>();
    for (place, spec) in own.iter().enumerate() {
        if taken.iter().any(|name| name == spec.name)
            || own[..place].iter().any(|other| other.name == spec.name)
        {
            return Err(format!(
                "a strategy or control is named `{}` already; give your own another name",
                spec.name
            ));
        }
    }
    OWN.set(own)
        .map_err(|_| "strategies were added already".to_owned())
}

/// The strategies that were added.
pub fn own() -> &'static [&'static StrategySpec] {
    OWN.get().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_taken_is_refused() {
        static TAKEN: [&StrategySpec; 1] = [strategies::ALL[0]];
        let error = add(&TAKEN).expect_err("refused");
        assert!(error.contains("`summarize` already"), "{error}");
        assert!(own().is_empty());
    }
}
