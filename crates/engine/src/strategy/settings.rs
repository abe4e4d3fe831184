//! The values that a user gives to a strategy's parameters, checked by name, range and placeholder.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::strategy::StrategySpec;
use crate::strategy::params::{Param, ParamValue, Unit};

/// A strategy's parameters with their values, and its prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    values: BTreeMap<String, f64>,
    prompt: String,
}

impl Settings {
    /// The source's own values.
    pub fn defaults(spec: &StrategySpec) -> Self {
        let values = spec.params().map(|param| (param.name.to_owned(), param.default)).collect();
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
        let Some(param) = spec.params().find(|param| param.name == name) else {
            let prompt = (!spec.prompt.is_empty()).then_some(PROMPT);
            let choices = spec.params().map(|param| param.name).chain(prompt);
            let choices = choices.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            return Err(ParamError::Unknown { strategy: spec.name, name: name.to_owned(), choices });
        };
        let number = param.number(value)?;
        self.values.insert(param.name.to_owned(), number);
        Ok(())
    }

    /// The source's own form: its values, deviations included; none where the strategy has no such form.
    ///
    /// # Errors
    /// [`ParamError`] where a value does not fit its parameter.
    pub fn published(spec: &StrategySpec) -> Result<Option<Self>, ParamError> {
        let Some(published) = &spec.published else { return Ok(None) };
        let mut settings = Settings::defaults(spec);
        for (name, value) in published.values {
            settings.set(spec, name, value)?;
        }
        Ok(Some(settings))
    }

    /// These settings with every number of tokens multiplied; none falls under its least value.
    #[must_use]
    pub fn scaled(&self, spec: &StrategySpec, factor: f64) -> Self {
        let mut scaled = self.clone();
        for param in spec.params().filter(|param| param.unit == Unit::Tokens) {
            if let Some(value) = scaled.values.get_mut(param.name) {
                *value = (*value * factor).round().max(param.range.0);
            }
        }
        scaled
    }

    /// The number of a parameter's value, for a choice its place from 0; none if there is no such parameter.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.values.get(name).copied()
    }

    /// The value of that parameter, as its strategy uses it.
    pub(crate) fn read<T: ParamValue>(&self, param: &Param) -> T {
        T::of(param, self.value(param.name).unwrap_or(param.default))
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

/// Checks that the size at which a compaction starts, a parameter of that name, lies in the window.
pub(crate) fn within_window(name: &str, trigger: u32, window: u32) -> Result<(), ParamError> {
    if trigger <= window {
        return Ok(());
    }
    Err(ParamError::Contradiction(format!("`{name}` is {trigger} tokens; the window has {window}")))
}

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
    #[error("the prompt for `{strategy}` has the placeholder `{{{placeholder}}}` {times} times; it must occur once")]
    Repeated {
        /// The strategy.
        strategy: &'static str,
        /// The placeholder.
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
