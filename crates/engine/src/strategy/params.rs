//! Parameters of strategies: what a source fixes and a user may change, with unit and range.
//!
//! A strategy declares its parameters with [`parameters!`], which also makes the struct that it reads them into: a field
//! without a parameter, or a parameter that is read under another name, does not compile. Absent on purpose: files. A prompt
//! comes in as text.

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
    const fn new(unit: Unit, default: f64, range: (f64, f64)) -> Self {
        Param { name: "", about: "", unit, default, range }
    }

    /// A number of tokens; it scales with the window.
    pub(crate) const fn tokens(default: u32) -> Self {
        Param::new(Unit::Tokens, default as f64, (1.0, 10_000_000.0))
    }

    /// A number of tokens that may be 0.
    pub(crate) const fn tokens_or_none(default: u32) -> Self {
        Param::new(Unit::Tokens, default as f64, (0.0, 10_000_000.0))
    }

    /// A number of messages.
    pub(crate) const fn messages(default: u32) -> Self {
        Param::new(Unit::Messages, default as f64, (0.0, 10_000.0))
    }

    /// A number of characters.
    pub(crate) const fn characters(default: u32) -> Self {
        Param::new(Unit::Characters, default as f64, (1.0, 10_000_000.0))
    }

    /// A number of something else.
    pub(crate) const fn count(unit: Unit, default: u32, range: (u32, u32)) -> Self {
        Param::new(unit, default as f64, (range.0 as f64, range.1 as f64))
    }

    /// A share above 0, up to 1.
    pub(crate) const fn share(default: f64) -> Self {
        Param::share_within(default, (0.01, 1.0))
    }

    /// A share within these bounds.
    pub(crate) const fn share_within(default: f64, range: (f64, f64)) -> Self {
        Param::new(Unit::Share, default, range)
    }

    /// A sampling temperature.
    pub(crate) const fn temperature(default: f64) -> Self {
        Param::new(Unit::Temperature, default, (0.0, 2.0))
    }

    /// One of these names, by default the one at that place.
    pub(crate) const fn choice(names: &'static [&'static str], default: usize) -> Self {
        Param::new(Unit::Choice(names), default as f64, (0.0, names.len() as f64 - 1.0))
    }

    /// Whether the strategy deviates, as its source does: `plain`, the default, or `faithful`.
    pub(crate) const fn deviation() -> Self {
        Param::choice(&["plain", "faithful"], 0)
    }

    /// What the trigger is compared with under the published protocol.
    pub(crate) const fn estimator(default: Estimator) -> Self {
        Param::choice(Estimator::NAMES, default as usize)
    }

    /// The name that a number stands for.
    pub(crate) fn chosen(&self, number: f64) -> Option<&'static str> {
        match self.unit {
            Unit::Choice(names) => names.get(number as usize).copied(),
            _ => None,
        }
    }

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
                let default = self.chosen(self.default).unwrap_or_default();
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

    /// The same with every number of tokens multiplied; none falls under its least value.
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

    /// The number that stands for a parameter's value: of a choice its place, from 0. None where there is no such parameter.
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

/// A type that a parameter's number is read into.
pub(crate) trait ParamValue {
    /// The value that the number stands for.
    fn of(param: &Param, number: f64) -> Self;
}

impl ParamValue for f64 {
    fn of(_: &Param, number: f64) -> Self {
        number
    }
}

impl ParamValue for u32 {
    fn of(_: &Param, number: f64) -> Self {
        number as u32
    }
}

impl ParamValue for usize {
    fn of(_: &Param, number: f64) -> Self {
        number as usize
    }
}

impl ParamValue for bool {
    fn of(param: &Param, number: f64) -> Self {
        matches!(param.chosen(number), Some("on" | "true" | "faithful"))
    }
}

impl ParamValue for Estimator {
    fn of(_: &Param, number: f64) -> Self {
        Estimator::ALL.get(number as usize).copied().unwrap_or_default()
    }
}

/// Declares parameters and the struct that holds their values: `field: type = parameter, "what it does";`.
macro_rules! parameters {
    ($(#[$attribute:meta])* $name:ident { $($field:ident: $type:ty = $param:expr, $about:literal;)* }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug)]
        pub(in crate::strategies) struct $name {
            $(#[doc = $about] pub(in crate::strategies) $field: $type,)*
        }

        impl $name {
            /// The parameters, in the order of lists.
            pub(in crate::strategies) const PARAMS: &'static [$crate::strategy::params::Param] = &[
                $($crate::strategy::params::Param { name: stringify!($field), about: $about, ..$param },)*
            ];

            /// Their values.
            pub(in crate::strategies) fn read(settings: &$crate::strategy::params::Settings) -> Self {
                $name { $($field: settings.read(&$crate::strategy::params::Param {
                    name: stringify!($field), about: $about, ..$param
                }),)* }
            }
        }
    };
}
pub(crate) use parameters;

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
