//! Remembers how many tokens a piece is, since real text repeats its pieces. Bounded: a newer piece takes the place of an
//! older one.

use std::cell::RefCell;
use std::collections::HashMap;

use bpe_openai::byte_pair_encoding::BytePairEncoding;

use crate::tokens::Encoding;

/// Longest piece that a slot holds, in bytes.
const LONGEST: usize = 30;
/// Pairs of pieces that are remembered, a power of two: 1 MB per thread and encoding.
const PAIRS: usize = 1 << 14;
/// Longest piece that is remembered outside the slots, such as a line of dashes: costly to merge, and it comes again.
const LONGEST_OUTSIDE: usize = 200;
/// Most pieces outside the slots; with one more all are forgotten.
const MOST_OUTSIDE: usize = 1 << 12;

/// The counts of one encoding on one thread.
pub(super) struct Memo {
    bpe: &'static BytePairEncoding,
    pairs: Vec<Pair>,
    outside: HashMap<Box<[u8]>, u32>,
}

/// Two pieces of one hash, the newer first: one cache line.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Pair([Slot; 2]);

#[derive(Clone, Copy, Default, PartialEq)]
struct Slot {
    key: Key,
    tokens: u8,
}

/// The bytes of a piece, and its length last; of an empty slot 0, which no piece has.
type Key = [u8; LONGEST + 1];

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
        Memo { bpe: encoding.bpe(), pairs: vec![Pair::default(); PAIRS], outside: HashMap::new() }
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
        u32::try_from(self.bpe.count(piece)).unwrap_or(u32::MAX)
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
        let mut key = Key::default();
        key[..piece.len()].copy_from_slice(piece);
        key[LONGEST] = piece.len() as u8;
        let Pair([newer, older]) = &mut self.pairs[place(&key)];
        if newer.key != key {
            std::mem::swap(newer, older);
            if newer.key != key {
                // A piece has no more tokens than bytes.
                *newer = Slot { key, tokens: self.bpe.count(piece) as u8 };
            }
        }
        u32::from(newer.tokens)
    }
}

/// Where a piece is kept: both halves of the products, since low bits of a product alone know nothing of high bits of its
/// factors, and these are the last letters.
fn place(key: &Key) -> usize {
    // Digits of pi.
    const MIX: [u64; 4] = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344, 0xa409_3822_299f_31d0, 0x082e_fa98_ec4e_6c89];
    let word = |index: usize| {
        let mut word = [0; 8];
        let bytes = &key[index * 8..key.len().min(index * 8 + 8)];
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(word) ^ MIX[index]
    };
    let product = |left: u64, right: u64| {
        let product = u128::from(left) * u128::from(right);
        product as u64 ^ (product >> 64) as u64
    };
    (product(word(0), word(1)) ^ product(word(2), word(3))) as usize % PAIRS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_that_lost_its_slot_is_counted_anew() {
        let mut memo = Memo::new(Encoding::O200k);
        let short = (0..8 * PAIRS).map(|number| format!("p{number:x}"));
        let long = (0..2 * MOST_OUTSIDE).map(|number| format!("{number:x}{}", "pq".repeat(LONGEST)));
        let pieces = short.chain(long).collect::<Vec<_>>();
        let once = pieces.iter().map(|piece| memo.count(piece)).collect::<Vec<_>>();
        let again = pieces.iter().map(|piece| memo.count(piece)).collect::<Vec<_>>();
        let alone = pieces.iter().map(|piece| memo.bpe.count(piece.as_bytes()) as u32).collect::<Vec<_>>();
        assert_eq!((&once, &again), (&alone, &alone));
    }

    #[test]
    fn pieces_that_differ_in_trailing_zeros_differ() {
        let mut memo = Memo::new(Encoding::O200k);
        let counts = (2..9).map(|length| memo.count(&"\0".repeat(length))).collect::<Vec<_>>();
        let alone = (2..9).map(|length| memo.bpe.count(&vec![0; length]) as u32).collect::<Vec<_>>();
        assert_eq!(counts, alone);
    }
}
