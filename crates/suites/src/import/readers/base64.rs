//! Decodes base64 of either alphabet, padded or not.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The bytes of a base64 text; none if a character or the length does not fit.
pub(in crate::import) fn decode(text: &str) -> Option<Vec<u8>> {
    LENIENT
        .decode(text.replace('-', "+").replace('_', "/"))
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_vectors_are_decoded() {
        for (text, bytes) in [
            ("", &b""[..]),
            ("Zg==", b"f"),
            ("Zm8=", b"fo"),
            ("Zm9v", b"foo"),
            ("Zm9vYg", b"foob"),
            ("+/-_", b"\xfb\xff\xbf"),
        ] {
            assert_eq!(decode(text).as_deref(), Some(bytes), "{text}");
        }
        for text in ["Z", "Zm9v!", "Zm 9", "Zg===", "https://example.com/a.png"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
