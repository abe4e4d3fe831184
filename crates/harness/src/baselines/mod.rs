//! The controls: yardsticks that every comparison carries (MEASUREMENT section 3). Each is one file and one line in
//! [`ALL`]. They may read the scenario; strategies may not.

mod full;
mod head_tail;
mod null;
mod oracle;
mod random_drop;

use std::sync::Arc;

use compactometer_engine::log::Log;
use compactometer_engine::message::{MessageId, Role};
use compactometer_engine::strategy::Strategy;
use compactometer_engine::view::Edit;

use crate::prepare::scenario::Loaded;
use crate::prepare::sentences::Evidence;

/// Every control, in the order of reports.
pub const ALL: &[&Control] =
    &[&full::CONTROL, &null::CONTROL, &random_drop::CONTROL, &head_tail::CONTROL, &oracle::CONTROL];

/// A control's entry in [`ALL`].
pub struct Control {
    /// The name users type.
    pub name: &'static str,
    /// One line for help and lists.
    pub about: &'static str,
    /// The share of the retained budget that goes to the verbatim tail.
    pub tail_share: f64,
    /// Whether it compacts at all.
    pub compacts: bool,
    /// What a reader is given in place of what it wrote, where that is not the same.
    pub(crate) evidence: Option<Evidence>,
    /// Builds it for one scenario, with the case's seed.
    pub build: fn(&Arc<Loaded>, u64) -> Arc<dyn Strategy>,
}

/// The system message as an edit.
fn keep_system(log: &Log) -> Option<Edit> {
    log.system().map(|system| Edit::Keep(system.message.id))
}

/// The pending part, in order.
fn pending_ids(log: &Log) -> impl Iterator<Item = MessageId> {
    let pending = log.pending();
    let messages = log.messages().iter().enumerate();
    messages
        .filter(move |(index, counted)| pending.contains(*index) && counted.message.role != Role::System)
        .map(|(_, counted)| counted.message.id)
}
