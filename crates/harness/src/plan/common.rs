//! The moments that all rows of a run share, whatever they keep: those at which a row that keeps
//! nothing compacts.

use std::sync::Arc;

use compactometer_engine::message::Role;

use crate::prepare::PreparedScenario;

/// Lengths of the log at which a row compacts that keeps what is pending and nothing else, and does
/// so where a request reaches `trigger` tokens.
pub(super) fn common_moments(prepared: &PreparedScenario, trigger: u32) -> Arc<[usize]> {
    let messages = &prepared.messages;
    let has_system = messages
        .first()
        .is_some_and(|first| first.message.role == Role::System);
    let fixed = u64::from(prepared.fixed_tokens());
    let (mut moments, mut start, mut kept) = (Vec::new(), usize::from(has_system), 0);
    for (index, counted) in messages.iter().enumerate() {
        let request = || fixed + kept + prepared.tokens_between(start, index);
        if counted.message.role != Role::Assistant || request() < u64::from(trigger) {
            continue;
        }
        let pending = prepared.pending(index);
        let is_before = |at: &usize| *at < pending.batch.start;
        let pending = pending
            .last_user
            .filter(is_before)
            .into_iter()
            .chain(pending.batch.clone());
        let tokens = pending.map(|at| messages[at].tokens);
        (start, kept) = (index, tokens.map(u64::from).sum());
        moments.push(index);
    }
    moments.into()
}
