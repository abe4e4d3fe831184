//! A cache of the statements read from messages. Each strategy of a run reads the same conversation, mostly several times, and a
//! message that a strategy has cut or relabelled mostly has lines that were read before.
//!
//! The cache changes no reply, because what is read is a function of text and speaker.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::fast::FixedState;

use crate::reading::message::{self, Placed};
use crate::reading::pieces::Line;
use crate::reading::statements::{Speaker, Turn};

/// The statements of messages by content. Clones share the cache, also across threads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known(Arc<Mutex<Memory>>);

#[derive(Debug, Default)]
struct Memory {
    /// By speaker and text.
    messages: [Texts<Arc<[Placed]>>; 4],
    /// By speaker, text, and whether the line is inside a code fence.
    lines: [[Texts<Arc<Line>>; 2]; 4],
    bytes: usize,
}

type Texts<T> = HashMap<Box<str>, T, FixedState>;

/// The largest number of bytes in the cache, about 8 per byte of text; it is emptied before it exceeds them. Enough for a
/// conversation of a million tokens and what eight strategies write about it.
const MOST_BYTES: usize = 64 << 20;
/// The approximate size of an entry without its text and its statements, in bytes.
const ENTRY: usize = 80;

impl Known {
    /// The lines of each message.
    pub(crate) fn all(&self, turns: &[Turn<'_>]) -> Vec<Arc<[Placed]>> {
        turns.iter().map(|turn| self.of(turn)).collect()
    }

    /// The lines of a message.
    pub(crate) fn of(&self, turn: &Turn<'_>) -> Arc<[Placed]> {
        if let Some(known) = self.memory().messages[turn.speaker as usize].get(turn.text) {
            return Arc::clone(known);
        }
        let read = message::read(turn.text, turn.speaker, |line, speaker, fenced| self.line(line, speaker, fenced));
        let read: Arc<[Placed]> = read.into();
        let mut memory = self.memory();
        // A single line is in the cache of lines.
        if turn.text.contains('\n') && memory.has_room(turn.text.len() + size_of_val(&*read)) {
            memory.messages[turn.speaker as usize].insert(turn.text.into(), Arc::clone(&read));
        }
        read
    }

    fn line(&self, line: &str, speaker: Speaker, fenced: bool) -> Arc<Line> {
        if let Some(known) = self.memory().lines[speaker as usize][usize::from(fenced)].get(line) {
            return Arc::clone(known);
        }
        let read = Arc::new(Line::read(line, speaker, fenced));
        let mut memory = self.memory();
        if memory.has_room(line.len() + read.size()) {
            memory.lines[speaker as usize][usize::from(fenced)].insert(line.into(), Arc::clone(&read));
        }
        read
    }

    /// A thread that panicked while it held the lock left complete entries.
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Memory {
    /// Reserves room for an entry of that size and returns whether there was enough. If another thread makes the same entry, it
    /// is counted twice.
    fn has_room(&mut self, size: usize) -> bool {
        let size = ENTRY + size;
        if self.bytes + size > MOST_BYTES {
            *self = Memory::default();
        }
        let fits = size <= MOST_BYTES;
        self.bytes += if fits { size } else { 0 };
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(known: &Known, speaker: Speaker, text: &str) -> Vec<(String, bool)> {
        let lines = known.of(&Turn { speaker, text });
        message::said(text, &lines).map(|said| (said.text.to_owned(), said.piece.structured)).collect()
    }

    fn kept(known: &Known) -> (usize, usize) {
        let memory = known.memory();
        (memory.messages.iter().map(HashMap::len).sum(), memory.lines.iter().flatten().map(HashMap::len).sum())
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
        assert_eq!(kept(&known), (0, 2), "a message of one line is known by its line");
    }

    #[test]
    fn a_line_is_read_once_for_all_messages_that_hold_it() {
        let known = Known::default();
        let (first, second) =
            ("The port is 8042.\nThe owner is kx-4711.", "(result) The owner is kx-4711.\n- The port is 8042.");
        assert_eq!(said(&known, Speaker::Tool, first).len(), 2);
        assert_eq!(kept(&known), (1, 2));
        assert_eq!(said(&known, Speaker::Tool, second), said(&Known::default(), Speaker::Tool, second));
        assert_eq!(kept(&known), (2, 3), "the label is none of its line, the mark of an item is");
        let fenced = "```\nThe owner is kx-4711.\n```";
        assert_eq!(said(&known, Speaker::Tool, fenced), [("The owner is kx-4711.".to_owned(), true)]);
        assert_eq!(kept(&known), (3, 4), "between fences it is data");
    }

    #[test]
    fn memory_is_bounded() {
        let known = Known::default();
        let line = "The port is 8042. ".repeat(40_000);
        let mut most = 0;
        for number in 0..20 {
            said(&known, Speaker::User, &format!("{line}{number:02}"));
            let bytes = known.memory().bytes;
            assert!((1..=MOST_BYTES).contains(&bytes), "{bytes} after {number}");
            most = most.max(kept(&known).1);
        }
        assert!((1..most).contains(&kept(&known).1), "nothing was forgotten");
        assert!(!known.memory().has_room(MOST_BYTES), "what finds no room is not kept");
        assert_eq!((kept(&known), known.memory().bytes), ((0, 0), 0));
    }
}
