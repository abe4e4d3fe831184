//! What is compared: reference strategies of the engine and controls of this crate, chosen by name.

use std::sync::Arc;

use compactometer_engine::strategies;
use compactometer_engine::strategy::{Strategy, StrategySpec};
use compactometer_schema::choice::unknown;
use compactometer_schema::record::Family;

use crate::controls::{self, Control};
use crate::loaded::Loaded;

/// One entry of a comparison.
#[derive(Clone, Copy)]
pub enum Contender {
    /// A strategy under test.
    Strategy(&'static StrategySpec),
    /// A yardstick.
    Control(&'static Control),
}

impl Contender {
    /// Every strategy, then every control.
    pub fn all() -> impl Iterator<Item = Contender> {
        let strategies = strategies::ALL.iter().map(|spec| Contender::Strategy(spec));
        strategies.chain(controls::ALL.iter().map(|control| Contender::Control(control)))
    }

    /// The name users type.
    pub fn name(&self) -> &'static str {
        match self {
            Contender::Strategy(spec) => spec.name,
            Contender::Control(control) => control.name,
        }
    }

    /// One line for help and lists.
    pub fn about(&self) -> &'static str {
        match self {
            Contender::Strategy(spec) => spec.about,
            Contender::Control(control) => control.about,
        }
    }

    /// Where it comes from.
    pub fn source(&self) -> &'static str {
        match self {
            Contender::Strategy(spec) => spec.source,
            Contender::Control(_) => "MEASUREMENT, controls",
        }
    }

    /// What it is to a comparison.
    pub fn family(&self) -> Family {
        match self {
            Contender::Strategy(_) => Family::Reference,
            Contender::Control(_) => Family::Control,
        }
    }

    /// The share of the retained budget that goes to the verbatim tail.
    pub fn tail_share(&self) -> f64 {
        match self {
            Contender::Strategy(spec) => spec.tail_share,
            Contender::Control(control) => control.tail_share,
        }
    }

    /// The prompt, empty where it calls no model.
    pub fn prompt(&self) -> &'static str {
        match self {
            Contender::Strategy(spec) => spec.prompt,
            Contender::Control(_) => "",
        }
    }

    /// Whether it compacts at all.
    pub fn compacts(&self) -> bool {
        match self {
            Contender::Strategy(_) => true,
            Contender::Control(control) => control.compacts,
        }
    }

    /// Builds it for one scenario.
    pub fn build(&self, loaded: &Arc<Loaded>, seed: u64) -> Arc<dyn Strategy> {
        match self {
            Contender::Strategy(spec) => (spec.build)(),
            Contender::Control(control) => (control.build)(loaded, seed),
        }
    }
}

/// The contenders that a user's list names: names, or `@reference`, `@controls`, `@all`; each once, in order of the
/// registries.
///
/// # Errors
/// [`UnknownContender`] naming the choices and the nearest one.
pub fn select<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Vec<Contender>, UnknownContender> {
    let mut wanted = Vec::new();
    for name in names.into_iter().map(str::trim).filter(|name| !name.is_empty()) {
        let before = wanted.len();
        wanted.extend(Contender::all().filter(|contender| is_named(contender, name)).map(|contender| contender.name()));
        if wanted.len() == before {
            return Err(UnknownContender::new(name));
        }
    }
    Ok(Contender::all().filter(|contender| wanted.contains(&contender.name())).collect())
}

fn is_named(contender: &Contender, name: &str) -> bool {
    match name {
        "@all" => true,
        "@reference" => contender.family() == Family::Reference,
        "@controls" => contender.family() == Family::Control,
        _ => contender.name() == name,
    }
}

/// A name that is neither a strategy, a control nor a group of them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnknownContender(String);

impl UnknownContender {
    fn new(name: &str) -> Self {
        let choices = Contender::all().map(|contender| contender.name()).chain(["@reference", "@controls", "@all"]);
        UnknownContender(unknown("strategy", name, choices))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Result<Vec<&'static str>, String> {
        let chosen = select(list.iter().copied()).map_err(|error| error.to_string())?;
        Ok(chosen.iter().map(Contender::name).collect())
    }

    #[test]
    fn lists_are_resolved_in_order_of_the_registries() {
        assert_eq!(names(&["null", "chained", "chained"]), Ok(vec!["chained", "null"]));
        assert_eq!(names(&["@all"]).map(|all| all.len()), Ok(strategies::ALL.len() + controls::ALL.len()));
        assert_eq!(names(&["@reference"]).map(|all| all.len()), Ok(strategies::ALL.len()));
    }

    #[test]
    fn a_typing_error_gets_a_suggestion_and_the_choices() {
        let error = names(&["chaned"]).expect_err("no such strategy");
        assert!(error.contains("`chaned` (did you mean `chained`?)") && error.contains("`@controls`"), "{error}");
    }
}
