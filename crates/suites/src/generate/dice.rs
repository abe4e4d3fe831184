//! Seeded choices that fall the same on every platform: integers alone, no floating point.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A stream of choices.
pub(crate) struct Dice(ChaCha8Rng);

/// What a stream is for. Streams of one conversation are independent, so that more filler moves no fact.
#[derive(Clone, Copy)]
pub(crate) enum Stream {
    /// Facts, their values and places.
    Plan,
    /// Everything else that is said.
    Text,
    /// Where facts are asked for.
    Probes,
    /// What is asked that the conversation never says.
    Unanswerable,
    /// Whose order is asked for.
    Orders,
}

impl Dice {
    /// The stream of that conversation.
    pub(crate) fn new(seed: u64, conversation: usize, stream: Stream) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&(conversation as u64).to_le_bytes());
        key[16] = match stream {
            Stream::Plan => 0,
            Stream::Text => 1,
            Stream::Probes => 2,
            Stream::Unanswerable => 3,
            Stream::Orders => 4,
        };
        Dice(ChaCha8Rng::from_seed(key))
    }

    /// A number under `bound`; 0 where `bound` is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let wide = u128::from(self.0.next_u64()) * bound as u128;
        (wide >> 64) as usize
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// Whether something happens that happens in `percent` of a hundred cases.
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
            let mut dice = Dice::new(7, 3, stream);
            [dice.below(1_000), dice.below(1_000), dice.between(5, 6), dice.below(0)]
        };
        assert_eq!(first(Stream::Plan), [224, 146, 5, 0]);
        assert_ne!(first(Stream::Plan), first(Stream::Text));
    }

    #[test]
    fn a_shuffle_keeps_the_items() {
        let mut items: Vec<usize> = (0..50).collect();
        Dice::new(1, 0, Stream::Text).shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
