//! Exact values in arbitrary text: each has the documented length and characters, and the matcher
//! finds it in itself.

use compactometer_formats::scenario::ValueKind;
use compactometer_text::exact;
use compactometer_text::matcher::Matcher;

pub(super) fn run(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    for found in exact::within(&text) {
        let value = found.value.as_str();
        let solid = value.bytes().filter(u8::is_ascii_alphanumeric).count();
        assert!(value.chars().count() <= 200 && solid >= 2, "{found:?}");
        assert!(!value.contains(char::is_whitespace), "{found:?}");
        if found.kind != ValueKind::Number {
            assert!(text.contains(value), "{found:?} does not occur in the text");
        }
        let matcher = Matcher::new([(found.kind, [value])]);
        assert!(
            matcher.find(value).next().is_some(),
            "{found:?} is not found in itself"
        );
    }
    exact::within(&text).next().is_some()
}
