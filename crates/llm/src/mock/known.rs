//! What was read of messages that come again: each strategy of a run reads the same conversation, most of them several times.
//!
//! Nothing remembered shows in a reply: what is read is a function of text and speaker.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::fast::FixedState;

use super::pieces::{self, Piece};
use super::statements::Turn;

/// The statements of messages, by content. Clones share them, and so do threads.
#[derive(Clone, Debug, Default)]
pub(super) struct Known(Arc<Mutex<Memory>>);

#[derive(Debug, Default)]
struct Memory {
    /// By speaker and text.
    read: [HashMap<Box<str>, Arc<[Piece]>, FixedState>; 4],
    bytes: usize,
}

/// Bytes that are remembered at most, some 6 for each of text; before there are more all are forgotten. Room for a
/// conversation of a million tokens.
const MOST_BYTES: usize = 32 << 20;
/// Bytes of an entry beside its text and its statements: roughly.
const ENTRY: usize = 80;

impl Known {
    /// The statements of each message.
    pub(super) fn all(&self, turns: &[Turn<'_>]) -> Vec<Arc<[Piece]>> {
        turns.iter().map(|turn| self.of(turn)).collect()
    }

    /// The statements of a message.
    pub(super) fn of(&self, turn: &Turn<'_>) -> Arc<[Piece]> {
        // A thread that died while it held the lock left whole entries.
        let memory = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = memory().read[turn.speaker as usize].get(turn.text) {
            return Arc::clone(known);
        }
        let read: Arc<[Piece]> = pieces::read(turn.text, turn.speaker).into();
        memory().remember(turn, &read);
        read
    }
}

impl Memory {
    fn remember(&mut self, turn: &Turn<'_>, read: &Arc<[Piece]>) {
        let size = ENTRY + turn.text.len() + read.iter().map(Piece::size).sum::<usize>();
        if self.bytes + size > MOST_BYTES {
            *self = Memory::default();
        }
        // Another thread may have read it meanwhile.
        let of_speaker = &mut self.read[turn.speaker as usize];
        if size <= MOST_BYTES && of_speaker.insert(turn.text.into(), Arc::clone(read)).is_none() {
            self.bytes += size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::statements::Speaker;
    use super::*;

    fn said(known: &Known, speaker: Speaker, text: &str) -> Vec<(String, bool)> {
        let pieces = known.of(&Turn { speaker, text });
        pieces.iter().map(|piece| (piece.text(text).to_owned(), piece.structured)).collect()
    }

    #[test]
    fn a_text_is_read_once_for_each_speaker() {
        let known = Known::default();
        let text = "Rows 12400/8812 of the table here. They are old.";
        for speaker in [Speaker::User, Speaker::Tool, Speaker::User] {
            assert_eq!(said(&known, speaker, text), said(&Known::default(), speaker, text));
        }
        assert_eq!(said(&known, Speaker::User, text)[0], ("Rows 12400/8812 of the table here.".to_owned(), false));
        assert_eq!(said(&known, Speaker::Tool, text)[0], ("Rows 12400/8812 of the table here.".to_owned(), true));
        let memory = known.0.lock().unwrap();
        assert_eq!(memory.read.iter().map(HashMap::len).sum::<usize>(), 2);
    }

    #[test]
    fn memory_is_bounded() {
        let text = "The port is 8042. ".repeat(40_000);
        let long: Arc<[Piece]> = pieces::read(&text, Speaker::User).into();
        let mut memory = Memory::default();
        let mut most = 0;
        for number in 0..20 {
            let text = format!("{text}{number:02}");
            let size = ENTRY + text.len() + long.iter().map(Piece::size).sum::<usize>();
            memory.remember(&Turn { speaker: Speaker::User, text: &text }, &long);
            let kept = memory.read[Speaker::User as usize].len();
            assert_eq!(memory.bytes, kept * size);
            assert!((1..=MOST_BYTES).contains(&memory.bytes), "{} after {number}", memory.bytes);
            most = most.max(kept);
        }
        assert!(memory.read[Speaker::User as usize].len() < most, "nothing was forgotten");
    }
}
