//! The values that a user gives to a strategy's parameters, checked by name, range and placeholder.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::param::{Param, ParamError, ParamUnit, ParamValue, quoted};
use crate::budget::estimate::Estimator;
use crate::budget::{Limits, Tail};
use crate::strategy::StrategySpec;

/// A strategy's parameters with their values, and its prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    values: BTreeMap<String, f64>,
    prompt: String,
}

impl Settings {
    /// The source's own values.
    pub fn defaults(spec: &StrategySpec) -> Self {
        let values = spec
            .params()
            .map(|param| (param.name.to_owned(), param.default))
            .collect();
        Settings {
            values,
            prompt: spec.prompt.to_owned(),
        }
    }

    /// Changes one parameter; `prompt` takes the prompt's text.
    ///
    /// # Errors
    /// [`ParamError`].
    ///
    /// ```
    /// use compactometer_engine::params::Settings;
    /// use compactometer_engine::strategies;
    ///
    /// let chained = strategies::ALL.iter().find(|spec| spec.name == "chained").expect("it is in the list");
    /// let mut settings = Settings::defaults(chained);
    /// settings.set(chained, "asked", "300")?;
    /// assert_eq!(settings.value("asked"), Some(300.0));
    /// let error = settings.set(chained, "aksed", "300").unwrap_err().to_string();
    /// assert!(error.contains("`chained` has no parameter `aksed`; choose from"));
    /// # Ok::<(), compactometer_engine::params::ParamError>(())
    /// ```
    pub fn set(&mut self, spec: &StrategySpec, name: &str, value: &str) -> Result<(), ParamError> {
        if name == PROMPT && !spec.prompt.is_empty() {
            check_prompt(spec, value)?;
            value.clone_into(&mut self.prompt);
            return Ok(());
        }
        let Some(param) = spec.params().find(|param| param.name == name) else {
            let prompt = (!spec.prompt.is_empty()).then_some(PROMPT);
            let choices = quoted(spec.params().map(|param| param.name).chain(prompt));
            return Err(ParamError(format!(
                "`{}` has no parameter `{name}`; choose from {choices}",
                spec.name
            )));
        };
        let number = param.number(value)?;
        self.values.insert(param.name.to_owned(), number);
        Ok(())
    }

    /// The source's own form: its values, deviations included; none where the strategy has no such
    /// form.
    ///
    /// # Errors
    /// [`ParamError`] where a value does not fit its parameter.
    pub fn published(spec: &StrategySpec) -> Result<Option<Self>, ParamError> {
        let Some(published) = &spec.published else {
            return Ok(None);
        };
        let mut settings = Settings::defaults(spec);
        for (name, value) in published.values {
            settings.set(spec, name, value)?;
        }
        Ok(Some(settings))
    }

    /// These settings with that parameter as its source has it.
    #[must_use]
    pub fn with_default(&self, param: &Param) -> Self {
        let mut settings = self.clone();
        settings.values.insert(param.name.to_owned(), param.default);
        settings
    }

    /// These settings with every number of tokens multiplied; none falls under its least value.
    #[must_use]
    pub fn scaled(&self, spec: &StrategySpec, factor: f64) -> Self {
        let mut scaled = self.clone();
        let scales = |param: &&Param| param.unit == ParamUnit::Tokens && !param.relative;
        for param in spec.params().filter(scales) {
            if let Some(value) = scaled.values.get_mut(param.name) {
                *value = (*value * factor).round().max(param.range.0);
            }
        }
        scaled
    }

    /// These settings as limits of another window need them: every number of tokens multiplied, and
    /// every number of calls of a session divided, since each call then reads so much more or less.
    /// No cap becomes 0 that was not.
    ///
    /// ```
    /// use compactometer_engine::params::Settings;
    /// use compactometer_engine::strategies;
    ///
    /// let mut all = strategies::ALL.iter();
    /// let spec = all.find(|spec| spec.name == "threshold-summary").expect("it is in the list");
    /// let settings = Settings::defaults(spec).in_window(spec, 0.125);
    /// assert_eq!((settings.value("threshold"), settings.value("calls")), (Some(10_000.0), Some(40.0)));
    /// ```
    #[must_use]
    pub fn in_window(&self, spec: &StrategySpec, factor: f64) -> Self {
        let mut settings = self.scaled(spec, factor);
        for param in spec.params().filter(|param| param.unit == ParamUnit::Calls) {
            if let Some(value) = settings
                .values
                .get_mut(param.name)
                .filter(|value| **value > 0.0)
            {
                *value = (*value / factor).round().clamp(1.0, param.range.1);
            }
        }
        settings
    }

    /// The number of a parameter's value, for a choice its place from 0; none if there is no such
    /// parameter.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.values.get(name).copied()
    }

    /// The value of that parameter, as its strategy uses it.
    pub(crate) fn read<T: ParamValue>(&self, param: &Param) -> T {
        T::from_number(param, self.value(param.name).unwrap_or(param.default))
    }

    /// The prompt.
    pub fn prompt(&self) -> &str {
        &self.prompt
    }
}

/// Checks that a prompt says something and has one place for each thing that it must hold. A second
/// place would make requests longer than what their pieces are cut for. The error names everything
/// that is wrong.
fn check_prompt(spec: &StrategySpec, prompt: &str) -> Result<(), ParamError> {
    let refused = |why: String| Err(ParamError(format!("the prompt for `{}` {why}", spec.name)));
    if prompt.trim().is_empty() {
        return refused("is empty".to_owned());
    }
    let places = |is_wrong: fn(usize) -> bool| {
        let wrong = spec
            .placeholders
            .iter()
            .filter(move |name| is_wrong(prompt.matches(&place(name)).count()));
        wrong.map(|name| place(name)).collect::<Vec<_>>()
    };
    let (missing, repeated) = (places(|times| times == 0), places(|times| times > 1));
    let named = |what: &str, places: &[String]| {
        let many = if places.len() > 1 { "s" } else { "" };
        (!places.is_empty())
            .then(|| format!("{what}{many} {}", quoted(places.iter().map(String::as_str))))
    };
    let lacks = named("lacks the placeholder", &missing);
    let repeats = named("repeats the placeholder", &repeated);
    match lacks.into_iter().chain(repeats).collect::<Vec<_>>() {
        found if found.is_empty() => Ok(()),
        found => refused(format!("{}; each must occur once", found.join(" and "))),
    }
}

fn place(name: &str) -> String {
    format!("{{{name}}}")
}

/// Checks that the size at which a compaction starts, a parameter of that name, lies in the window.
pub(crate) fn within_window(name: &str, trigger: u32, window: u32) -> Result<(), ParamError> {
    if trigger <= window {
        return Ok(());
    }
    Err(ParamError(format!(
        "`{name}` is {trigger} tokens; the context window has {window}"
    )))
}

/// Limits of these tokens, with a trigger on the measuring scale and a window that is assumed if it
/// is the default.
pub(crate) fn limits_in_tokens(
    window: u32,
    assumed: u32,
    trigger: u32,
    tail: u32,
    written: u32,
) -> Result<Limits, ParamError> {
    within_window("trigger", trigger, window)?;
    let (assumed_window, tail) = (window == assumed, Tail::Tokens(tail));
    Ok(Limits {
        window,
        assumed_window,
        trigger,
        tail,
        written,
        estimator: Estimator::Exact,
    })
}

/// The name under which a prompt is given.
pub const PROMPT: &str = "prompt";
