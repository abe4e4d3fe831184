//! What is packed of a vocabulary.

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

/// What the fields of [`bpe::byte_pair_encoding::BytePairEncoding`] that counting needs are made of.
#[derive(Serialize, Deserialize)]
pub(crate) struct Packed {
    /// The length of each token in bytes.
    pub(crate) lengths: ByteBuf,
    /// The two tokens that each is merged from, or itself twice.
    pub(crate) splits: Vec<(u32, u32)>,
    /// The automaton that finds the longest token.
    pub(crate) searcher: ByteBuf,
    /// A small automaton in place of those that find all tokens.
    pub(crate) unused_searcher: ByteBuf,
    /// The longest other token that each begins with.
    pub(crate) prefixes: Vec<u32>,
}
