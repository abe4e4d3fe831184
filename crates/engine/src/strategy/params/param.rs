//! One parameter: its unit, its range, and how a value of it is read.

use crate::budget::estimate::Estimator;

/// One number that a strategy's source fixes.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// The name users type.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// What it counts.
    pub unit: ParamUnit,
    /// The source's value.
    pub default: f64,
    /// Least and greatest value.
    pub range: (f64, f64),
    /// Whether only [`crate::strategy::StrategySpec::limits`] reads it, so that limits from
    /// elsewhere replace it.
    pub of_limits: bool,
    /// Whether it is a number of tokens of which only the ratio to another parameter counts, so that
    /// it does not scale with the window.
    pub relative: bool,
}

impl Param {
    /// A number of a unit, from the least to the greatest.
    pub(crate) const fn new(unit: ParamUnit, default: f64, range: (f64, f64)) -> Self {
        Param {
            name: "",
            about: "",
            unit,
            default,
            range,
            of_limits: false,
            relative: false,
        }
    }

    /// The same as one of which only the ratio to another counts.
    pub(crate) const fn relative(self) -> Self {
        Param {
            relative: true,
            ..self
        }
    }

    /// The same as one that only the strategy's limits read.
    pub(crate) const fn of_limits(self) -> Self {
        Param {
            of_limits: true,
            ..self
        }
    }

    /// A number of tokens; it scales with the window.
    pub(crate) const fn tokens(default: u32) -> Self {
        Param::new(ParamUnit::Tokens, default as f64, (1.0, 10_000_000.0))
    }

    /// A number of tokens that may be none.
    pub(crate) const fn tokens_or_none(default: u32) -> Self {
        Param::new(ParamUnit::Tokens, default as f64, (0.0, 10_000_000.0))
    }

    /// A whole number of a unit, from the least to the greatest.
    pub(crate) const fn count(unit: ParamUnit, default: u32, range: (u32, u32)) -> Self {
        Param::new(unit, default as f64, (range.0 as f64, range.1 as f64))
    }

    /// A share above 0, up to 1.
    pub(crate) const fn share(default: f64) -> Self {
        Param::new(ParamUnit::Share, default, (0.01, 1.0))
    }

    /// One of these names, by default the one at that place.
    pub(crate) const fn choice(names: &'static [&'static str], default: usize) -> Self {
        Param::new(
            ParamUnit::Choice(names),
            default as f64,
            (0.0, names.len() as f64 - 1.0),
        )
    }

    /// Whether the strategy deviates, as its source does: `plain`, the default, or `faithful`.
    pub(crate) const fn deviation() -> Self {
        Param::choice(Self::DEVIATION, 0)
    }

    const DEVIATION: &[&str] = &["plain", "faithful"];

    /// Whether this value lets the strategy deviate as its source does.
    pub fn deviates(&self, number: f64) -> bool {
        matches!(self.unit, ParamUnit::Choice(names) if names == Self::DEVIATION) && number > 0.0
    }

    /// What the trigger is compared with under the published protocol.
    pub(crate) const fn estimator(default: Estimator) -> Self {
        Param::choice(Estimator::NAMES, default as usize)
    }

    /// The name at that place of a choice.
    pub fn chosen(&self, number: f64) -> Option<&'static str> {
        match self.unit {
            ParamUnit::Choice(names) => names.get(number as usize).copied(),
            _ => None,
        }
    }

    /// The number that a user's value means.
    pub(super) fn number(&self, value: &str) -> Result<f64, ParamError> {
        let text = value.trim();
        let refused = |must: String| ParamError(format!("`{}` is `{value}`; {must}", self.name));
        if let ParamUnit::Choice(names) = self.unit {
            let place = names.iter().position(|choice| *choice == text);
            let choices = || refused(format!("choose from {}", quoted(names.iter().copied())));
            return place.map(|place| place as f64).ok_or_else(choices);
        }
        let ((least, greatest), unit) = (self.range, self.unit);
        let is_allowed = |number: &f64| {
            (least..=greatest).contains(number) && (!unit.is_whole() || number.fract() == 0.0)
        };
        let must = || {
            refused(format!(
                "it must be {} from {least} to {greatest}",
                unit.counted()
            ))
        };
        text.parse::<f64>().ok().filter(is_allowed).ok_or_else(must)
    }

    /// The default and what it may be, as lists show them.
    pub fn shown(&self) -> String {
        match self.unit {
            ParamUnit::Choice(names) => {
                let default = self.chosen(self.default).unwrap_or_default();
                format!("default {default}, of {}", names.join(", "))
            }
            unit => {
                let [default, low, high] = [self.default, self.range.0, self.range.1].map(grouped);
                let unit = if !unit.is_whole() {
                    String::new()
                } else {
                    format!(" {}", unit.name())
                };
                format!("default {default}{unit}, {low} to {high}")
            }
        }
    }

    /// Whether it switches one point of the published form on.
    pub fn is_deviation(&self) -> bool {
        self.unit == Param::deviation().unit
    }
}

/// Names as an error lists them.
pub(super) fn quoted<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// A parameter that cannot be used. Its text names the parameter, the value and what it may be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParamError(pub(crate) String);

/// A number with its thousands apart.
fn grouped(number: f64) -> String {
    let text = number.to_string();
    let whole = text.find('.').unwrap_or(text.len());
    let is_apart = |at: usize| at > 0 && at < whole && (whole - at).is_multiple_of(3);
    text.char_indices()
        .map(|(at, letter)| {
            if is_apart(at) {
                format!(",{letter}")
            } else {
                letter.to_string()
            }
        })
        .collect()
}

/// What a parameter counts. Only tokens scale with the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamUnit {
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

impl ParamUnit {
    /// The unit's name in lists.
    pub fn name(self) -> &'static str {
        match self {
            ParamUnit::Tokens => "tokens",
            ParamUnit::Messages => "messages",
            ParamUnit::Characters => "characters",
            ParamUnit::Turns => "turns",
            ParamUnit::Rounds => "rounds",
            ParamUnit::Calls => "calls",
            ParamUnit::Lines => "lines",
            ParamUnit::Share => "share",
            ParamUnit::Temperature => "temperature",
            ParamUnit::Choice(_) => "choice",
        }
    }

    /// What a number of it is called.
    fn counted(self) -> String {
        match self.is_whole() {
            true => format!("a number of {}", self.name()),
            false => format!("a {}", self.name()),
        }
    }

    fn is_whole(self) -> bool {
        !matches!(self, ParamUnit::Share | ParamUnit::Temperature)
    }
}

/// A type that a parameter's number is read into.
pub(crate) trait ParamValue {
    /// The value of the number.
    fn from_number(param: &Param, number: f64) -> Self;
}

impl ParamValue for f64 {
    fn from_number(_: &Param, number: f64) -> Self {
        number
    }
}

impl ParamValue for u32 {
    fn from_number(_: &Param, number: f64) -> Self {
        number as u32
    }
}

impl ParamValue for usize {
    fn from_number(_: &Param, number: f64) -> Self {
        number as usize
    }
}

impl ParamValue for bool {
    fn from_number(param: &Param, number: f64) -> Self {
        matches!(
            param.chosen(number),
            Some("on" | "true" | "faithful" | "similar")
        )
    }
}

impl ParamValue for Estimator {
    fn from_number(_: &Param, number: f64) -> Self {
        Estimator::ALL
            .get(number as usize)
            .copied()
            .unwrap_or_default()
    }
}
