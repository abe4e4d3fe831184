//! What a thread remembers of the request before: questions about one conversation follow each other with the same messages,
//! which are then compared instead of hashed.
//!
//! Nothing remembered shows in a reply: each value is a function of its text.

use std::cell::RefCell;
use std::sync::Arc;

use super::known::Known;
use super::message::Placed;
use super::statements::Turn;

thread_local! {
    /// The messages of the last request and what was read of them; a longer request before it may have left some more.
    static LAST: RefCell<Vec<(String, Arc<[Placed]>)>> = RefCell::default();
}

/// The lines of each message, whoever said it.
pub(super) fn all(turns: &[Turn<'_>], known: &Known) -> Vec<Arc<[Placed]>> {
    LAST.with_borrow_mut(|last| {
        let of = |(place, turn): (usize, &Turn<'_>)| {
            if let Some((_, lines)) = last.get(place).filter(|(text, _)| text == turn.text) {
                return Arc::clone(lines);
            }
            let read = known.of(turn);
            let slot = (turn.text.to_owned(), Arc::clone(&read));
            match last.get_mut(place) {
                Some(old) => *old = slot,
                None => last.push(slot),
            }
            read
        };
        turns.iter().enumerate().map(of).collect()
    })
}
