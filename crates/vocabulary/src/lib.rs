//! The vocabularies of the exact encodings, packed into the program and unpacked on first use.
//!
//! Absent on purpose: the text of a token. Counting does not need it, and with all that counting
//! does not need a vocabulary is several times as large.

mod fields;
mod packed;

use std::io::Read;
use std::sync::LazyLock;

use bpe::byte_pair_encoding::BytePairEncoding;
use flate2::read::DeflateDecoder;
use serde::Deserialize;
use serde::de::value::SeqAccessDeserializer;

use crate::fields::Fields;

static O200K: LazyLock<Vocabulary> =
    LazyLock::new(|| Vocabulary::unpacked(include_bytes!(concat!(env!("OUT_DIR"), "/o200k_base"))));
static CL100K: LazyLock<Vocabulary> = LazyLock::new(|| {
    Vocabulary::unpacked(include_bytes!(concat!(env!("OUT_DIR"), "/cl100k_base")))
});

/// The vocabulary of `o200k_base`: GPT-4o and later.
pub fn o200k_base() -> &'static Vocabulary {
    &O200K
}

/// The vocabulary of `cl100k_base`: GPT-4 and GPT-3.5.
pub fn cl100k_base() -> &'static Vocabulary {
    &CL100K
}

/// The tokens of an encoding, and how bytes are merged into them.
pub struct Vocabulary(BytePairEncoding);

impl Vocabulary {
    #[expect(clippy::expect_used, reason = "the build has packed it")]
    fn unpacked(packed: &[u8]) -> Self {
        let mut unpacked = Vec::new();
        DeflateDecoder::new(packed)
            .read_to_end(&mut unpacked)
            .expect("the vocabulary unpacks");
        let packed = rmp_serde::from_slice(&unpacked).expect("the vocabulary is read");
        let fields = SeqAccessDeserializer::new(Fields::new(packed));
        Vocabulary(BytePairEncoding::deserialize(fields).expect("the vocabulary is made"))
    }

    /// Tokens of a piece of text that is merged by itself.
    pub fn count(&self, piece: &[u8]) -> usize {
        self.0.count(piece)
    }

    /// The numbers of those tokens, in order.
    pub fn encode(&self, piece: &[u8]) -> Vec<u32> {
        self.0.encode_via_backtracking(piece)
    }

    /// The bytes of a token.
    ///
    /// # Panics
    /// If the vocabulary has no token of that number.
    pub fn token_len(&self, token: u32) -> usize {
        // The package does not look.
        assert!((token as usize) < self.0.num_tokens(), "token {token}");
        self.0.token_len(token)
    }
}
