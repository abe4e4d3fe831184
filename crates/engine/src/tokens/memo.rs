//! Remembers how many tokens a piece is, since real text repeats its pieces. Bounded: a newer piece
//! takes the place of an older one.

use std::cell::RefCell;
use std::collections::HashMap;

use compactometer_vocabulary::Vocabulary;

use crate::tokens::Encoding;

/// Longest piece that a slot holds, in bytes.
const LONGEST: usize = 24;
/// Pairs of pieces that are remembered, a power of two: 1 MB per thread and encoding.
const PAIRS: usize = 1 << 14;
/// Longest piece that is remembered outside the slots, such as a line of dashes: costly to merge,
/// and it comes again.
const LONGEST_OUTSIDE: usize = 200;
/// Most pieces outside the slots; with one more all are forgotten.
const MOST_OUTSIDE: usize = 1 << 12;
/// A run of one byte is merged so far, in bytes: several of the longest tokens. What is longer
/// repeats its first token.
const LEAST_RUN: usize = 1 << 10;

/// The counts of one encoding on one thread.
pub(super) struct CountMemo {
    vocabulary: &'static Vocabulary,
    pairs: Vec<SlotPair>,
    outside: HashMap<Box<[u8]>, u32>,
}

/// Two pieces of one hash, the newer first: one cache line.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct SlotPair([MemoSlot; 2]);

#[derive(Clone, Copy, Default, PartialEq)]
struct MemoSlot {
    key: PieceKey,
    tokens: u32,
}

/// The bytes of a piece as words that may overlap, and its length; of an empty slot 0, which no
/// piece has.
#[derive(Clone, Copy, Default, PartialEq)]
struct PieceKey {
    words: [u64; LONGEST / 8],
    length: u32,
}

impl PieceKey {
    /// Together the words hold every byte of a piece of that length, at places that follow from the
    /// length.
    fn new(piece: &[u8]) -> Self {
        let eight = |chunk: Option<&[u8; 8]>| chunk.map_or(0, |chunk| u64::from_le_bytes(*chunk));
        let four =
            |chunk: Option<&[u8; 4]>| chunk.map_or(0, |chunk| u32::from_le_bytes(*chunk).into());
        let length = piece.len();
        let words = match length {
            17.. => [
                eight(piece.first_chunk()),
                eight(piece[8..].first_chunk()),
                eight(piece.last_chunk()),
            ],
            8.. => [eight(piece.first_chunk()), eight(piece.last_chunk()), 0],
            4.. => [
                four(piece.first_chunk()) | four(piece.last_chunk()) << 32,
                0,
                0,
            ],
            1.. => {
                let byte = |at: usize| u64::from(piece[at]);
                [
                    byte(0) | byte(length / 2) << 8 | byte(length - 1) << 16,
                    0,
                    0,
                ]
            }
            0 => [0; 3],
        };
        PieceKey {
            words,
            length: length as u32,
        }
    }

    /// Where it is kept: both halves of the products, since low bits of a product alone know
    /// nothing of high bits of its factors, and these are the last letters.
    fn place(&self) -> usize {
        // Digits of pi.
        const MIX: [u64; 4] = [
            0x243f_6a88_85a3_08d3,
            0x1319_8a2e_0370_7344,
            0xa409_3822_299f_31d0,
            0x082e_fa98_ec4e_6c89,
        ];
        let [first, second, third] = self.words;
        let product = |left: u64, right: u64| {
            let product = u128::from(left) * u128::from(right);
            product as u64 ^ (product >> 64) as u64
        };
        let longer = product(third ^ MIX[2], u64::from(self.length) ^ MIX[3]);
        (product(first ^ MIX[0], second ^ MIX[1]) ^ longer) as usize % PAIRS
    }
}

/// Lends this thread's memo of an encoding.
pub(super) fn with<T>(encoding: Encoding, work: impl FnOnce(&mut CountMemo) -> T) -> T {
    thread_local! {
        static O200K: RefCell<CountMemo> = RefCell::new(CountMemo::new(Encoding::O200k));
        static CL100K: RefCell<CountMemo> = RefCell::new(CountMemo::new(Encoding::Cl100k));
    }
    match encoding {
        Encoding::O200k => O200K.with_borrow_mut(work),
        Encoding::Cl100k => CL100K.with_borrow_mut(work),
    }
}

impl CountMemo {
    fn new(encoding: Encoding) -> Self {
        CountMemo {
            vocabulary: encoding.vocabulary(),
            pairs: vec![SlotPair::default(); PAIRS],
            outside: HashMap::new(),
        }
    }

    /// Tokens of a piece that is merged by itself.
    pub(super) fn count(&mut self, piece: &str) -> u32 {
        let piece = piece.as_bytes();
        match piece.len() {
            // Every byte is a token.
            0 | 1 => piece.len() as u32,
            2..=LONGEST => self.remembered(piece),
            ..=LONGEST_OUTSIDE => self.remembered_outside(piece),
            _ => self.merged(piece),
        }
    }

    fn merged(&self, piece: &[u8]) -> u32 {
        let tokens = self
            .merged_by_run(piece)
            .unwrap_or_else(|| self.vocabulary.count(piece));
        u32::try_from(tokens).unwrap_or(u32::MAX)
    }

    /// Does the same for pieces that start with a long run of one byte. A sequence of tokens is the
    /// one that merging comes to where each may be beside the next; so a token that a run opens
    /// with twice is before it as often as it fits.
    fn merged_by_run(&self, piece: &[u8]) -> Option<usize> {
        let run = piece.iter().take_while(|byte| **byte == piece[0]).count();
        let spare = run.checked_sub(LEAST_RUN)?;
        let token = *self.vocabulary.encode(&piece[..LEAST_RUN]).first()?;
        let length = self.vocabulary.token_len(token);
        let rest = self.vocabulary.encode(&piece[spare / length * length..]);
        rest.starts_with(&[token, token])
            .then(|| spare / length + rest.len())
    }

    fn remembered_outside(&mut self, piece: &[u8]) -> u32 {
        if let Some(tokens) = self.outside.get(piece) {
            return *tokens;
        }
        if self.outside.len() == MOST_OUTSIDE {
            self.outside.clear();
        }
        let tokens = self.merged(piece);
        self.outside.insert(piece.into(), tokens);
        tokens
    }

    fn remembered(&mut self, piece: &[u8]) -> u32 {
        let key = PieceKey::new(piece);
        let SlotPair([newer, older]) = &mut self.pairs[key.place()];
        if newer.key != key {
            std::mem::swap(newer, older);
            if newer.key != key {
                *newer = MemoSlot {
                    key,
                    tokens: self.vocabulary.count(piece) as u32,
                };
            }
        }
        newer.tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_that_lost_its_slot_is_counted_anew() {
        let mut memo = CountMemo::new(Encoding::O200k);
        let short = (0..8 * PAIRS).map(|number| format!("p{number:x}"));
        let long =
            (0..2 * MOST_OUTSIDE).map(|number| format!("{number:x}{}", "pq".repeat(LONGEST)));
        let pieces = short.chain(long).collect::<Vec<_>>();
        let once = pieces
            .iter()
            .map(|piece| memo.count(piece))
            .collect::<Vec<_>>();
        let again = pieces
            .iter()
            .map(|piece| memo.count(piece))
            .collect::<Vec<_>>();
        let alone = pieces
            .iter()
            .map(|piece| memo.vocabulary.count(piece.as_bytes()) as u32)
            .collect::<Vec<_>>();
        assert_eq!((&once, &again), (&alone, &alone));
    }

    #[test]
    fn long_runs_of_one_byte_are_counted_as_they_are_merged() {
        for encoding in Encoding::ALL {
            let mut memo = CountMemo::new(*encoding);
            for byte in ["-", "=", " ", "a", "\0", "\u{301}", "0"] {
                for tail in ["", "\n", "a", "-\n\n"] {
                    for length in [LEAST_RUN - 1, LEAST_RUN, LEAST_RUN + 1, 2_047, 3_333] {
                        let piece = byte.repeat(length) + tail;
                        assert_eq!(
                            memo.count(&piece) as usize,
                            memo.vocabulary.count(piece.as_bytes()),
                            "{length} of {byte:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn pieces_that_differ_in_trailing_zeros_differ() {
        let mut memo = CountMemo::new(Encoding::O200k);
        let counts = (2..9)
            .map(|length| memo.count(&"\0".repeat(length)))
            .collect::<Vec<_>>();
        let alone = (2..9)
            .map(|length| memo.vocabulary.count(&vec![0; length]) as u32)
            .collect::<Vec<_>>();
        assert_eq!(counts, alone);
    }

    #[test]
    fn a_key_holds_every_byte_of_its_piece() {
        for length in 1..=LONGEST {
            let piece = (0..length as u8).collect::<Vec<_>>();
            for at in 0..length {
                let mut other = piece.clone();
                other[at] ^= 0x80;
                assert!(
                    PieceKey::new(&piece) != PieceKey::new(&other),
                    "byte {at} of {length}"
                );
            }
        }
    }
}
