//! The whole standard suite. Ignored in ordinary runs because it takes long: `cargo test -p
//! compactometer-suites --test it standard:: -- --ignored`.

use std::path::Path;

use compactometer_suites::generate::{Spec, generate_telling};

/// Changing the suite is a deliberate decision, because it invalidates every baseline made with it.
#[test]
#[ignore = "writes 6 million tokens"]
fn standard_is_pinned() {
    let text = include_str!("../../../../datasets/standard.toml");
    let spec = Spec::parse(text, Path::new("standard.toml")).expect("the spec is right");
    let mut tokens = Vec::new();
    let suite = generate_telling(&spec, &mut |count| tokens.push(count));
    assert_eq!(suite.scenarios.len(), 120);
    assert!(
        tokens
            .iter()
            .all(|count| (20_000..=100_000).contains(count)),
        "{tokens:?}"
    );
    insta::assert_snapshot!(&suite.hash()[..16], @"ff4b935a7aaddae8");
}
