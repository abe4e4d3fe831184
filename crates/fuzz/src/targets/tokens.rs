//! The token counter on arbitrary text: it agrees with the encodings' own patterns, and a message's
//! count is the sum of its parts.

use bpe_openai::Tokenizer;
use compactometer_engine::tokens::{Encoding, TokenCounter};

pub(super) fn run(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    for encoding in Encoding::ALL {
        let expected = reference(*encoding).count(&text);
        assert_eq!(
            encoding.count_text(&text) as usize,
            expected,
            "{}",
            encoding.name()
        );
        // The cache of earlier pieces changes no count.
        assert_eq!(
            encoding.count_text(&text) as usize,
            expected,
            "{} the second time",
            encoding.name()
        );
    }
    true
}

fn reference(encoding: Encoding) -> &'static Tokenizer {
    match encoding {
        Encoding::O200k => bpe_openai::o200k_base(),
        Encoding::Cl100k => bpe_openai::cl100k_base(),
    }
}
