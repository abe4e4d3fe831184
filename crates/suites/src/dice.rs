//! Seeded random choices. They use integer arithmetic only, so every platform draws the same.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A stream of choices.
pub(crate) struct SeededDice(ChaCha8Rng);

/// The purpose of a stream. Streams of one conversation are independent, so that a change of filler
/// moves no fact. The order of the variants is part of every draw.
#[derive(Clone, Copy)]
pub(crate) enum Stream {
    /// Facts, their values and places.
    Plan,
    /// Everything else that is said.
    Text,
    /// The points at which facts are asked for.
    Probes,
    /// Questions that the conversation does not answer.
    Unanswerable,
    /// The facts whose order is asked for.
    Orders,
    /// When messages are said.
    Times,
    /// The words of a memory document.
    Document,
    /// The words of the notes in memory.
    Notes,
    /// When memory is asked.
    MemoryProbes,
    /// The names of a session that a skeleton describes, and the text around them.
    Skeleton,
    /// What the user asks for without an exact value.
    Said,
}

impl SeededDice {
    /// The stream of a conversation for one purpose.
    pub(crate) fn new(seed: u64, conversation: usize, stream: Stream) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&(conversation as u64).to_le_bytes());
        key[16] = stream as u8;
        SeededDice(ChaCha8Rng::from_seed(key))
    }

    /// A number below `bound`; 0 if `bound` is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let wide = u128::from(self.0.next_u64()) * bound as u128;
        (wide >> 64) as usize
    }

    /// A number from `low` to `high`, inclusive.
    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True with a probability of `percent` in a hundred.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of the items, which must not be empty.
    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// Puts the items into a random order.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_pinned_and_streams_differ() {
        let first = |stream| {
            let mut dice = SeededDice::new(7, 3, stream);
            [
                dice.below(1_000),
                dice.below(1_000),
                dice.between(5, 6),
                dice.below(0),
            ]
        };
        assert_eq!(first(Stream::Plan), [224, 146, 5, 0]);
        assert_ne!(first(Stream::Plan), first(Stream::Text));
    }

    #[test]
    fn a_shuffle_keeps_the_items() {
        let mut items: Vec<usize> = (0..50).collect();
        SeededDice::new(1, 0, Stream::Text).shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
