//! One view for several readers.

use std::ops::Deref;
use std::sync::Arc;

use crate::conversation::view::View;

/// A view that does not change while it is held. Cheap to clone; each clone holds it.
#[derive(Clone, Debug)]
pub struct Snapshot {
    view: Arc<View>,
    _in_use: Arc<()>,
}

impl Snapshot {
    pub(crate) fn new(view: Arc<View>, in_use: Arc<()>) -> Self {
        Snapshot {
            view,
            _in_use: in_use,
        }
    }
}

impl Deref for Snapshot {
    type Target = View;

    fn deref(&self) -> &View {
        &self.view
    }
}
