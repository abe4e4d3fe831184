//! The reader of generator specs: an accepted spec generates the same suite twice, and the suite
//! passes the suite reader.

use std::path::Path;

use compactometer_suites::generate::{Spec, generate};

use serde_json::Value;

use super::suite::reads_back;

/// The largest number of tokens generated for one input.
const MOST_TOKENS: i64 = 12_000;

pub(super) fn run(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else {
        return false;
    };
    let spec = match Spec::parse(text, Path::new("spec.toml")) {
        Ok(spec) => spec,
        Err(error) => {
            assert!(
                error.to_string().starts_with("`spec.toml`: "),
                "no place: {error}"
            );
            return false;
        }
    };
    assert!(
        (1..=200).contains(&spec.conversations()),
        "{} conversations",
        spec.conversations()
    );
    if longest(text) * spec.conversations() as i64 > MOST_TOKENS {
        return true;
    }
    let suite = generate(&spec);
    assert_eq!(suite.scenarios.len(), spec.conversations());
    reads_back(&suite);
    assert_eq!(generate(&spec), suite, "the same spec gives the same suite");
    true
}

/// The tokens of the longest conversation.
fn longest(text: &str) -> i64 {
    let spec = toml::from_str::<Value>(text).expect("a spec is TOML");
    let lengths = spec["lengths"].as_array().expect("lengths are a list");
    lengths
        .iter()
        .filter_map(Value::as_i64)
        .max()
        .unwrap_or_default()
}
