//! What was read of messages that come again: each strategy of a run reads the same conversation, most of them several times.
//!
//! Nothing remembered shows in a reply: what is read is a function of text and speaker.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::fast::FixedState;

use super::pieces::{self, Piece};
use super::statements::{Speaker, Turn};

/// The statements of messages, by content. Clones share them, and so do threads.
#[derive(Clone, Debug, Default)]
pub(super) struct Known(Arc<Mutex<Memory>>);

#[derive(Debug, Default)]
struct Memory {
    read: HashMap<blake3::Hash, Arc<[Piece]>, FixedState>,
    bytes: usize,
}

/// Bytes that are remembered at most, some 4 for each of text; before there are more all are forgotten. Room for a
/// conversation of a million tokens.
const MOST_BYTES: usize = 32 << 20;
/// Bytes of an entry beside its statements: roughly.
const ENTRY: usize = 96;

impl Known {
    /// The statements of each message.
    pub(super) fn all(&self, turns: &[Turn<'_>]) -> Vec<Arc<[Piece]>> {
        turns.iter().map(|turn| self.of(turn)).collect()
    }

    /// The statements of a message.
    pub(super) fn of(&self, turn: &Turn<'_>) -> Arc<[Piece]> {
        let key = key(turn);
        // A thread that died while it held the lock left whole entries.
        let memory = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = memory().read.get(&key) {
            return Arc::clone(known);
        }
        let read: Arc<[Piece]> = pieces::read(turn.text, turn.speaker).into();
        memory().remember(key, &read);
        read
    }
}

impl Memory {
    fn remember(&mut self, key: blake3::Hash, read: &Arc<[Piece]>) {
        let size = ENTRY + read.iter().map(Piece::size).sum::<usize>();
        if self.bytes + size > MOST_BYTES {
            *self = Memory::default();
        }
        // Another thread may have read it meanwhile.
        if size <= MOST_BYTES && self.read.insert(key, Arc::clone(read)).is_none() {
            self.bytes += size;
        }
    }
}

fn key(turn: &Turn<'_>) -> blake3::Hash {
    let speaker = match turn.speaker {
        Speaker::User => b'u',
        Speaker::Assistant => b'a',
        Speaker::Tool => b't',
        Speaker::Summary => b's',
    };
    blake3::Hasher::new().update(&[speaker]).update(turn.text.as_bytes()).finalize()
}

#[cfg(test)]
mod tests {
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
        assert_eq!(known.0.lock().unwrap().read.len(), 2);
    }

    #[test]
    fn memory_is_bounded() {
        let long: Arc<[Piece]> = pieces::read(&"The port is 8042. ".repeat(40_000), Speaker::User).into();
        let size = long.iter().map(Piece::size).sum::<usize>();
        let mut memory = Memory::default();
        let mut most = 0;
        for number in 0..=(MOST_BYTES / size) as u64 + 1 {
            memory.remember(blake3::hash(&number.to_le_bytes()), &long);
            assert_eq!(memory.bytes, memory.read.len() * (ENTRY + size));
            assert!((1..=MOST_BYTES).contains(&memory.bytes), "{} after {number}", memory.bytes);
            most = most.max(memory.read.len());
        }
        assert!(memory.read.len() < most, "nothing was forgotten");
    }
}
