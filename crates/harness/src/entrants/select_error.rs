//! Lists of strategies that cannot be used.

use compactometer_engine::params::ParamError;

use super::items::MOST_STAGES;
use crate::plan::{Absence, Trigger};

/// A list of strategies that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SelectError {
    /// A name that is neither a strategy, a control nor a group of them.
    #[error("{0}")]
    Unknown(String),
    /// Two entrants with one name and different settings.
    #[error(
        "`{0}` names two strategies with different settings; give one another name, as in `x=NAME`"
    )]
    Twice(String),
    /// Another name or a parameter for a control.
    #[error("`{0}` is a control, which has no parameters and one name; write `{0}`")]
    OfControl(String),
    /// A control in a composition.
    #[error("`{0}` cannot come before or after another one; only strategies can")]
    Stage(String),
    /// A composition that lacks a strategy.
    #[error("`{0}` lacks a strategy before or after a `>`; write `FIRST>SECOND`")]
    Empty(String),
    /// A composition that is too long.
    #[error(
        "`{0}` has more than {MOST_STAGES} strategies, which is the most that can come one after the other"
    )]
    Stages(String),
    /// A part that should assign a value.
    #[error(
        "`{0}` assigns nothing; write `NAME=BASE:key=value`, or `--set strategy.key=value,value`"
    )]
    Assignment(String),
    /// A strategy with a changed parameter and no name for reports.
    #[error("`{0}` changes a parameter and has no name of its own; write `NAME={0}`")]
    Nameless(String),
    /// An alias that reports cannot use.
    #[error(
        "`{0}` cannot name a row: a name must begin with a letter or digit, go on with letters, digits, `-`, `_` or `.`, and not be \
         the name of a strategy"
    )]
    Alias(String),
    /// A size of an addition that is none.
    #[error(
        "`{parameter}` is `{value}`; it must be a number of tokens of at least 1, such as 1800"
    )]
    Tokens {
        /// The parameter.
        parameter: &'static str,
        /// What it was given.
        value: String,
    },
    /// An absence that is not a number of hours.
    #[error("`absence` is `{0}`; it must be {what}", what = Absence::VALUES)]
    Absence(String),
    /// A trigger that is no condition.
    #[error("`when` is `{0}`; it must be {what}", what = Trigger::VALUES)]
    Trigger(String),
    /// Two additions.
    #[error("`{0}` has two additions; give each a name and a row of its own")]
    Additions(String),
    /// An addition that may know what is measured.
    #[error(
        "`{name}` cannot have `{parameter}`, which is for comparison on `recorded`; it can have `ledger`"
    )]
    OnRecorded {
        /// The strategy.
        name: String,
        /// The parameter.
        parameter: &'static str,
    },
    /// A program that cannot be used, or a parameter of it.
    #[error("{0}")]
    Custom(String),
    /// A parameter that cannot be used.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// A prompt's file that cannot be read.
    #[error("cannot read the prompt `{path}`")]
    Prompt {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A prompt's text that cannot be used.
    #[error(
        "`{path}`: {why}; `compactometer prompt {base}` prints the original with its placeholders"
    )]
    Text {
        /// The file.
        path: String,
        /// The strategy whose prompt it should replace.
        base: &'static str,
        /// What is wrong.
        why: ParamError,
    },
}
