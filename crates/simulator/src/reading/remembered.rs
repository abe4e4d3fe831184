//! A per-thread cache of the previous request. Questions about one conversation repeat its messages, which are then compared
//! instead of hashed.
//!
//! The cache changes no reply, because each value is a function of its text.

use std::cell::RefCell;
use std::sync::Arc;

use crate::reading::known::Known;
use crate::reading::message::Placed;
use crate::reading::statements::Turn;

thread_local! {
    /// The messages of the last request and the lines read from them. Entries of a longer earlier request may remain at the end.
    static LAST: RefCell<Vec<(String, Arc<[Placed]>)>> = RefCell::default();
}

/// The lines of each message of any speaker.
pub(crate) fn all(turns: &[Turn<'_>], known: &Known) -> Vec<Arc<[Placed]>> {
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
