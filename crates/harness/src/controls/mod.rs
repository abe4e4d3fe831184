//! The controls: yardsticks for every comparison. Each is one file and one line in [`ALL`].

#[cfg(test)]
pub(crate) mod dummy;
mod fill;
mod full;
mod head_tail;
mod null;
mod oracle;
mod random_drop;
mod recent_talk;
mod value_list;

use compactometer_engine::log::Log;
use compactometer_engine::message::{MessageId, Role};
use compactometer_engine::view::Edit;

use crate::plan::Control;

/// Every control, in the order of reports.
pub const ALL: &[&Control] = &[
    &full::CONTROL,
    &null::CONTROL,
    &random_drop::CONTROL,
    &value_list::CONTROL,
    &recent_talk::CONTROL,
    &head_tail::CONTROL,
    &oracle::CONTROL,
    #[cfg(test)]
    &dummy::CONTROL,
];

/// The system message as an edit.
fn keep_system(log: &Log) -> Option<Edit> {
    log.system().map(|system| Edit::Keep(system.message.id))
}

/// The pending part, in order.
fn pending_ids(log: &Log) -> impl Iterator<Item = MessageId> {
    let pending = log.pending();
    let messages = log.messages().iter().enumerate();
    messages
        .filter(move |(index, counted)| {
            pending.contains(*index) && counted.message.role != Role::System
        })
        .map(|(_, counted)| counted.message.id)
}
