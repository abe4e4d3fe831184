//! The fields of [`bpe::byte_pair_encoding::BytePairEncoding`] as its `Deserialize` takes them, in its
//! order. Those that only other work than counting reads are empty.

use std::iter::empty;

use serde::de::value::{BytesDeserializer, Error, MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeSeed, IntoDeserializer, SeqAccess};

use crate::packed::Packed;

pub(crate) struct Fields {
    packed: Packed,
    /// The number of fields so far.
    taken: usize,
}

impl Fields {
    pub(crate) fn new(packed: Packed) -> Self {
        Fields { packed, taken: 0 }
    }

    /// The start of each token among all bytes, and their end.
    fn starts(&self) -> impl Iterator<Item = u32> {
        let mut sum = 0;
        let lengths = self.packed.lengths.iter().chain([&0]);
        lengths.map(move |length| {
            let start = sum;
            sum += u32::from(*length);
            start
        })
    }

    /// The token that each pair is merged into.
    fn merges(&self) -> impl Iterator<Item = (TokenPair, u32)> {
        let splits = (0..).zip(&self.packed.splits);
        let merged = splits.filter(|(token, (first, _))| token != first);
        merged.map(|(token, (first, second))| (TokenPair(*first, *second), token))
    }
}

impl<'de> SeqAccess<'de> for Fields {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Error> {
        self.taken += 1;
        let packed = &self.packed;
        match self.taken {
            // `all_tokens`
            1 => seed.deserialize(SeqDeserializer::new(empty::<u8>())),
            // `token_starts`
            2 => seed.deserialize(SeqDeserializer::new(self.starts())),
            // `bytes_hash_to_token`
            3 => seed.deserialize(MapDeserializer::new(empty::<(u32, u32)>())),
            // `split_table`
            4 => {
                let splits = packed.splits.iter();
                seed.deserialize(SeqDeserializer::new(
                    splits.map(|(one, two)| TokenPair(*one, *two)),
                ))
            }
            // `pair_lookup`
            5 => seed.deserialize(MapDeserializer::new(self.merges())),
            // `longest_searcher`
            6 => seed.deserialize(BytesDeserializer::new(&packed.searcher)),
            // `overlapping_searcher` and its reverse
            7 | 8 => seed.deserialize(BytesDeserializer::new(&packed.unused_searcher)),
            // `next_prefix_match`
            9 => seed.deserialize(SeqDeserializer::new(packed.prefixes.iter().copied())),
            // `hash_factor`
            10 => seed.deserialize(1_u64.into_deserializer()),
            _ => return Ok(None),
        }
        .map(Some)
    }
}

/// Two tokens.
struct TokenPair(u32, u32);

impl IntoDeserializer<'_> for TokenPair {
    type Deserializer = SeqDeserializer<std::array::IntoIter<u32, 2>, Error>;

    fn into_deserializer(self) -> Self::Deserializer {
        SeqDeserializer::new([self.0, self.1].into_iter())
    }
}
