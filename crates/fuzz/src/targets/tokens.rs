//! The token counter on arbitrary text: it agrees with tiktoken-rs.

use compactometer_engine::tokens::{Encoding, TokenCounter};
use tiktoken_rs::CoreBPE;

pub(super) fn run(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    for encoding in Encoding::ALL {
        let expected = reference(*encoding).count_ordinary(&text);
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

fn reference(encoding: Encoding) -> &'static CoreBPE {
    match encoding {
        Encoding::O200k => tiktoken_rs::o200k_base_singleton(),
        Encoding::Cl100k => tiktoken_rs::cl100k_base_singleton(),
    }
}
