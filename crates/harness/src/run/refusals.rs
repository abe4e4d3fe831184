//! A store that shows its refusals to the run. A record with such a refusal in it would measure the
//! disk.

use std::sync::{Arc, Mutex, PoisonError};

use compactometer_engine::store::{Commit, Store, StoreError};
use compactometer_store::{Error, Thread};

/// A thread of the store whose refused commits can be seen from outside its session.
pub(super) struct ObservedThread {
    thread: Thread,
    refusal: SettingsRefusal,
}

/// Why the store refused a commit, if it did.
#[derive(Clone, Default)]
pub(super) struct SettingsRefusal(Arc<Mutex<Option<Error>>>);

impl ObservedThread {
    pub(super) fn new(thread: Thread) -> (Self, SettingsRefusal) {
        let refusal = SettingsRefusal::default();
        (
            ObservedThread {
                thread,
                refusal: refusal.clone(),
            },
            refusal,
        )
    }
}

impl Store for ObservedThread {
    fn commit(&mut self, commit: &Commit<'_>) -> Result<(), StoreError> {
        self.thread.append(commit).map_err(|error| {
            let shown = StoreError(error.to_string());
            *self
                .refusal
                .0
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = Some(error);
            shown
        })
    }
}

impl SettingsRefusal {
    pub(super) fn take(&self) -> Option<Error> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
