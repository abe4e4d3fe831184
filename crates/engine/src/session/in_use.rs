//! Whether somebody outside the session holds something of it.

use std::sync::{Arc, OnceLock};

/// Made when it is first held: most sessions are asked before every turn and never are.
#[derive(Default)]
pub(super) struct InUse(OnceLock<Arc<()>>);

impl InUse {
    /// Holds it until what is given is dropped.
    pub(super) fn hold(&self) -> Arc<()> {
        Arc::clone(self.0.get_or_init(Arc::default))
    }

    /// Whether anybody holds it.
    pub(super) fn is_held(&self) -> bool {
        self.0.get().is_some_and(|own| Arc::strong_count(own) > 1)
    }

    /// Whether that was given for this one.
    pub(super) fn is_by(&self, given: &Arc<()>) -> bool {
        self.0.get().is_some_and(|own| Arc::ptr_eq(own, given))
    }
}
