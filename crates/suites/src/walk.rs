//! Conversations that can be gone through more than once, of which not all need be in memory.

use std::convert::Infallible;

use compactometer_formats::scenario::Scenario;

/// Conversations in a fixed order.
pub trait Walk {
    /// Why a conversation cannot be read.
    type Error;

    /// Shows every conversation, one after the other.
    ///
    /// # Errors
    /// [`Walk::Error`] at the first conversation that cannot be read.
    fn walk(&mut self, visit: &mut dyn FnMut(&Scenario)) -> Result<(), Self::Error>;
}

impl Walk for &[Scenario] {
    type Error = Infallible;

    fn walk(&mut self, visit: &mut dyn FnMut(&Scenario)) -> Result<(), Infallible> {
        self.iter().for_each(visit);
        Ok(())
    }
}
