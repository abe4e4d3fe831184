//! Parameters of strategies: what a source fixes and a user may change, with unit and range.
//!
//! A strategy declares its parameters with `parameters!`, which also makes the struct that it reads
//! them into: a field without a parameter, or a parameter that is read under another name, does not
//! compile. Absent on purpose: files. A prompt comes in as text.

mod declare;
mod param;
mod param_values;

pub(crate) use declare::parameters;
pub use param::{Param, ParamError, ParamUnit};
pub use param_values::{PROMPT, Settings};
pub(crate) use param_values::{limits_in_tokens, within_window};
