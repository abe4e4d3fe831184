//! Parameters of strategies: what a source fixes and a user may change, with unit and range.
//!
//! Absent on purpose: files. A prompt comes in as text.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::budget::estimate::Estimator;
use crate::strategy::StrategySpec;

/// One number that a strategy's source fixes.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// The name users type.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// What it counts.
    pub unit: Unit,
    /// The source's value.
    pub default: f64,
    /// Least and greatest value.
    pub range: (f64, f64),
}

impl Param {
    /// The number that a user's value means.
    fn number(&self, value: &str) -> Result<f64, ParamError> {
        let (name, text) = (self.name, value.trim());
        if let Unit::Choice(names) = self.unit {
            let place = names.iter().position(|choice| *choice == text);
            return place.map(|place| place as f64).ok_or_else(|| {
                let choices = names.iter().map(|choice| format!("`{choice}`")).collect::<Vec<_>>().join(", ");
                ParamError::Choice { name, value: value.to_owned(), choices }
            });
        }
        let (least, greatest) = self.range;
        let is_allowed =
            |number: &f64| (least..=greatest).contains(number) && (!self.unit.is_whole() || number.fract() == 0.0);
        text.parse::<f64>().ok().filter(is_allowed).ok_or_else(|| ParamError::Range {
            name,
            value: value.to_owned(),
            least,
            greatest,
            unit: self.unit.name(),
        })
    }

    /// The default and what it may be, as lists show them.
    pub fn shown(&self) -> String {
        match self.unit {
            Unit::Choice(names) => {
                let default = names.get(self.default as usize).copied().unwrap_or_default();
                format!("{default} ({})", names.join(", "))
            }
            unit => format!("{} {} ({} to {})", self.default, unit.name(), self.range.0, self.range.1),
        }
    }
}

/// What a parameter counts. Only tokens scale with the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Tokens of the measuring counter.
    Tokens,
    /// Messages of the log.
    Messages,
    /// Unicode characters.
    Characters,
    /// Turns of the agent.
    Turns,
    /// Compactions.
    Rounds,
    /// Calls to the summarizer.
    Calls,
    /// Lines of text.
    Lines,
    /// A share of something, 0 to 1.
    Share,
    /// A sampling temperature.
    Temperature,
    /// One of these names; the value is its place, from 0.
    Choice(&'static [&'static str]),
}

impl Unit {
    /// The unit's name in lists.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Tokens => "tokens",
            Unit::Messages => "messages",
            Unit::Characters => "characters",
            Unit::Turns => "turns",
            Unit::Rounds => "rounds",
            Unit::Calls => "calls",
            Unit::Lines => "lines",
            Unit::Share => "share",
            Unit::Temperature => "temperature",
            Unit::Choice(_) => "choice",
        }
    }

    fn is_whole(self) -> bool {
        !matches!(self, Unit::Share | Unit::Temperature)
    }
}

/// A strategy's parameters with their values, and its prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    values: BTreeMap<String, f64>,
    prompt: String,
}

impl Settings {
    /// The source's own values.
    pub fn defaults(spec: &StrategySpec) -> Self {
        let values = spec.params.iter().map(|param| (param.name.to_owned(), param.default)).collect();
        Settings { values, prompt: spec.prompt.to_owned() }
    }

    /// Changes one parameter; `prompt` takes the prompt's text.
    ///
    /// # Errors
    /// [`ParamError`] naming the parameter, the value and what it may be.
    pub fn set(&mut self, spec: &StrategySpec, name: &str, value: &str) -> Result<(), ParamError> {
        if name == PROMPT && !spec.prompt.is_empty() {
            check_prompt(spec, value)?;
            value.clone_into(&mut self.prompt);
            return Ok(());
        }
        let Some(param) = spec.params.iter().find(|param| param.name == name) else {
            let prompt = (!spec.prompt.is_empty()).then_some(PROMPT);
            let choices = spec.params.iter().map(|param| param.name).chain(prompt);
            let choices = choices.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            return Err(ParamError::Unknown { strategy: spec.name, name: name.to_owned(), choices });
        };
        let number = param.number(value)?;
        self.values.insert(param.name.to_owned(), number);
        Ok(())
    }

    /// The same with every number of tokens multiplied; none falls under its least value.
    #[must_use]
    pub fn scaled(&self, spec: &StrategySpec, factor: f64) -> Self {
        let mut scaled = self.clone();
        for param in spec.params.iter().filter(|param| param.unit == Unit::Tokens) {
            if let Some(value) = scaled.values.get_mut(param.name) {
                *value = (*value * factor).round().max(param.range.0);
            }
        }
        scaled
    }

    /// The value of a declared parameter.
    pub fn number(&self, name: &str) -> f64 {
        debug_assert!(self.values.contains_key(name), "`{name}` is read and not declared");
        self.values.get(name).copied().unwrap_or_default()
    }

    /// The value of a declared parameter that counts something.
    pub fn count(&self, name: &str) -> u32 {
        self.number(name) as u32
    }

    /// Whether a defect of the source is switched on.
    pub fn is_faithful(&self, name: &str) -> bool {
        self.number(name) > 0.0
    }

    /// What the strategy compares with its trigger: a parameter of those whose source counts otherwise, else exact.
    pub fn estimator(&self) -> Estimator {
        let place = self.values.get(ESTIMATOR).copied().unwrap_or_default();
        Estimator::ALL.get(place as usize).copied().unwrap_or_default()
    }

    /// The prompt.
    pub fn prompt(&self) -> &str {
        &self.prompt
    }
}

/// Checks that a prompt says something and has one place for each thing that it must hold. A second place would make requests
/// longer than what their pieces are cut for.
fn check_prompt(spec: &StrategySpec, prompt: &str) -> Result<(), ParamError> {
    let strategy = spec.name;
    for placeholder in spec.placeholders.iter().copied() {
        match prompt.matches(&format!("{{{placeholder}}}")).count() {
            0 => return Err(ParamError::Placeholder { strategy, placeholder }),
            1 => {}
            times => return Err(ParamError::Repeated { strategy, placeholder, times }),
        }
    }
    if prompt.trim().is_empty() { Err(ParamError::Blank { strategy }) } else { Ok(()) }
}

/// The name under which an estimator is chosen.
pub const ESTIMATOR: &str = "estimator";

/// The name under which a prompt is given.
pub const PROMPT: &str = "prompt";

/// A parameter that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParamError {
    /// The strategy has no such parameter.
    #[error("`{strategy}` has no parameter `{name}`; choose from {choices}")]
    Unknown {
        /// The strategy.
        strategy: &'static str,
        /// What was given.
        name: String,
        /// What there is.
        choices: String,
    },
    /// The value is no number, or out of range.
    #[error("`{name}` is `{value}`; it must be a number of {unit} from {least} to {greatest}")]
    Range {
        /// The parameter.
        name: &'static str,
        /// What was given.
        value: String,
        /// Least value.
        least: f64,
        /// Greatest value.
        greatest: f64,
        /// What it counts.
        unit: &'static str,
    },
    /// The value is none of the names that there are.
    #[error("`{name}` is `{value}`; choose from {choices}")]
    Choice {
        /// The parameter.
        name: &'static str,
        /// What was given.
        value: String,
        /// What there is.
        choices: String,
    },
    /// The prompt lacks a place for what it must hold.
    #[error("the prompt for `{strategy}` lacks the placeholder `{{{placeholder}}}`")]
    Placeholder {
        /// The strategy.
        strategy: &'static str,
        /// What is missing.
        placeholder: &'static str,
    },
    /// The prompt has several places for what it must hold once.
    #[error(
        "the prompt for `{strategy}` has the placeholder `{{{placeholder}}}` {times} times; it must stand there once"
    )]
    Repeated {
        /// The strategy.
        strategy: &'static str,
        /// What stands there again.
        placeholder: &'static str,
        /// How often.
        times: usize,
    },
    /// The prompt says nothing.
    #[error("the prompt for `{strategy}` is empty")]
    Blank {
        /// The strategy.
        strategy: &'static str,
    },
    /// The parameters contradict each other.
    #[error("{0}")]
    Contradiction(String),
}
