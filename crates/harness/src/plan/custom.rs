//! A strategy that is in no list of this workspace: whoever makes the plan brings it.

use std::sync::Arc;

use compactometer_engine::strategy::Strategy;

use super::limits_error::LimitsError;

/// A strategy of the user's own, with its parameters.
pub trait CustomStrategy: Send + Sync {
    /// The name that it gives itself. A row without an alias has it.
    fn name(&self) -> &str;

    /// Its own version.
    fn version(&self) -> &str;

    /// One line for lists.
    fn about(&self) -> &str;

    /// Its parameters as a user would type them.
    fn parameters(&self) -> Vec<(String, String)>;

    /// The same strategy with another value of a parameter.
    ///
    /// # Errors
    /// Why the value or the name cannot be used.
    fn with(&self, parameter: &str, value: &str) -> Result<Arc<dyn CustomStrategy>, String>;

    /// A text that differs wherever its answers could differ: cases with another one are run again.
    fn identity(&self) -> String;

    /// The share of the retained budget that it keeps verbatim, from 0 to 1.
    fn tail_share(&self) -> f64;

    /// Whether it asks a model past the meter: its calls are then in no cost, and it is compared
    /// with nothing.
    fn is_unmetered(&self) -> bool {
        false
    }

    /// Whether it breaks rules of the engine as its source does, and is measured as it is.
    fn deviates(&self) -> bool {
        false
    }

    /// The same strategy with the parameters that scale with the window, if it has any.
    ///
    /// # Errors
    /// Parameters that contradict each other.
    fn in_window(&self, _window: u32) -> Result<Option<Arc<dyn CustomStrategy>>, LimitsError> {
        Ok(None)
    }

    /// Builds it for one case, with the case's seed.
    fn build(&self, seed: u64) -> Arc<dyn Strategy>;
}
