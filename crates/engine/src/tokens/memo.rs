//! Remembers how many tokens a piece is, since real text repeats its pieces.

use std::cell::RefCell;
use std::collections::HashMap;

use bpe_openai::byte_pair_encoding::BytePairEncoding;
use foldhash::fast::FixedState;

use crate::tokens::Encoding;

/// Longest piece that is remembered, in bytes, such as a line of dashes: costly to merge, and it comes again.
const LONGEST: usize = 200;
/// Most pieces that are remembered on a thread; with one more all are forgotten.
const MOST: usize = 1 << 15;
/// A run of one byte is merged so far, in bytes: several of the longest tokens. What is longer repeats its first token.
const LEAST_RUN: usize = 1 << 10;

/// The counts of one encoding on one thread.
pub(super) struct Memo {
    bpe: &'static BytePairEncoding,
    tokens: HashMap<Box<[u8]>, u32, FixedState>,
}

/// Lends this thread's memo of an encoding.
pub(super) fn with<T>(encoding: Encoding, work: impl FnOnce(&mut Memo) -> T) -> T {
    thread_local! {
        static O200K: RefCell<Memo> = RefCell::new(Memo::new(Encoding::O200k));
        static CL100K: RefCell<Memo> = RefCell::new(Memo::new(Encoding::Cl100k));
    }
    match encoding {
        Encoding::O200k => O200K.with_borrow_mut(work),
        Encoding::Cl100k => CL100K.with_borrow_mut(work),
    }
}

impl Memo {
    fn new(encoding: Encoding) -> Self {
        Memo { bpe: encoding.bpe(), tokens: HashMap::default() }
    }

    /// Tokens of a piece that is merged by itself.
    pub(super) fn count(&mut self, piece: &str) -> u32 {
        let piece = piece.as_bytes();
        if let Some(tokens) = self.tokens.get(piece) {
            return *tokens;
        }
        let tokens = self.merged(piece);
        if piece.len() <= LONGEST {
            if self.tokens.len() == MOST {
                self.tokens.clear();
            }
            self.tokens.insert(piece.into(), tokens);
        }
        tokens
    }

    fn merged(&self, piece: &[u8]) -> u32 {
        let tokens = self.merged_by_run(piece).unwrap_or_else(|| self.bpe.count(piece));
        u32::try_from(tokens).unwrap_or(u32::MAX)
    }

    /// The same of a piece that opens with a long run of one byte. A sequence of tokens is the one that merging comes to where
    /// each may stand beside the next; so a token that a run opens with twice stands before it as often as it fits.
    fn merged_by_run(&self, piece: &[u8]) -> Option<usize> {
        let run = piece.iter().take_while(|byte| **byte == piece[0]).count();
        let spare = run.checked_sub(LEAST_RUN)?;
        let token = *self.bpe.encode_via_backtracking(&piece[..LEAST_RUN]).first()?;
        let length = self.bpe.token_len(token);
        let rest = self.bpe.encode_via_backtracking(&piece[spare / length * length..]);
        rest.starts_with(&[token, token]).then(|| spare / length + rest.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forgotten_piece_is_counted_anew() {
        let mut memo = Memo::new(Encoding::O200k);
        let short = (0..2 * MOST).map(|number| format!("p{number:x}"));
        let long = (0..10_000).map(|number| format!("{number:x}{}", "pq".repeat(24)));
        let pieces = short.chain(long).collect::<Vec<_>>();
        let once = pieces.iter().map(|piece| memo.count(piece)).collect::<Vec<_>>();
        let again = pieces.iter().map(|piece| memo.count(piece)).collect::<Vec<_>>();
        let alone = pieces.iter().map(|piece| memo.bpe.count(piece.as_bytes()) as u32).collect::<Vec<_>>();
        assert_eq!((&once, &again), (&alone, &alone));
    }

    #[test]
    fn long_runs_of_one_byte_are_counted_as_they_are_merged() {
        for encoding in Encoding::ALL {
            let mut memo = Memo::new(*encoding);
            for byte in ["-", "=", " ", "a", "\0", "\u{301}", "0"] {
                for tail in ["", "\n", "a", "-\n\n"] {
                    for length in [LEAST_RUN - 1, LEAST_RUN, LEAST_RUN + 1, 2_047, 3_333] {
                        let piece = byte.repeat(length) + tail;
                        assert_eq!(
                            memo.count(&piece) as usize,
                            memo.bpe.count(piece.as_bytes()),
                            "{length} of {byte:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn pieces_that_differ_in_trailing_zeros_differ() {
        let mut memo = Memo::new(Encoding::O200k);
        let counts = (2..9).map(|length| memo.count(&"\0".repeat(length))).collect::<Vec<_>>();
        let alone = (2..9).map(|length| memo.bpe.count(&vec![0; length]) as u32).collect::<Vec<_>>();
        assert_eq!(counts, alone);
    }
}
