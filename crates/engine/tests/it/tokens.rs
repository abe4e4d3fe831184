//! Exact counts against the reference encoder.

use compactometer_engine::tokens::{Encoding, TokenCounter};
use proptest::prelude::*;
use tiktoken_rs::CoreBPE;

fn oracle(encoding: Encoding) -> &'static CoreBPE {
    match encoding {
        Encoding::O200k => tiktoken_rs::o200k_base_singleton(),
        Encoding::Cl100k => tiktoken_rs::cl100k_base_singleton(),
    }
}

#[track_caller]
fn check(text: &str) {
    for encoding in Encoding::ALL {
        let expected = oracle(*encoding).count_ordinary(text);
        let shown = text.chars().take(200).collect::<String>();
        assert_eq!(
            encoding.count_text(text) as usize,
            expected,
            "{} on {shown:?}",
            encoding.name()
        );
    }
}

/// Characters of the kinds that the patterns tell apart, those with odd cases among them.
const LETTERS: &[&str] = &[
    "a",
    "e",
    "l",
    "s",
    "t",
    "v",
    "S",
    "T",
    "D",
    "\u{17f}",
    "\u{212a}",
    "\u{c9}",
    "\u{1c5}",
    "\u{df}",
    "\u{5b57}",
    "\u{3042}",
    "\u{5d0}",
    "\u{644}",
    "\u{e01}",
    "\u{2b0}",
    "\u{301}",
    "\u{93e}",
    "\u{fe0f}",
    "1",
    "23",
    "4567",
    "\u{663}",
    "\u{bd}",
    " ",
    "  ",
    "\t",
    "\n",
    "\r\n",
    "\u{a0}",
    "\u{85}",
    "\u{2028}",
    "\u{3000}",
    "'",
    "/",
    "-",
    "!!",
    "<|endoftext|>",
    "\0",
    "\u{1b}[0m",
    "\u{200d}",
    "\u{1f468}\u{200d}\u{1f469}",
    "\u{1f3fd}",
    "\u{fffd}",
    "\u{10ffff}",
    "the",
    " The",
    "'ll",
    "'RE",
    "function",
    "{\"",
];

fn mixtures() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(LETTERS), 0..60).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn mixtures_of_every_class_count_as_the_reference_does(text in mixtures()) {
        check(&text);
    }

    #[test]
    fn any_text_counts_as_the_reference_does(text in any::<String>()) {
        check(&text);
    }

    #[test]
    fn broken_bytes_count_as_the_reference_does(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        check(&String::from_utf8_lossy(&bytes));
    }
}

/// Long enough that a cost which grows faster than the text would show, short enough for the
/// reference.
const LONG: usize = 100_000;

#[test]
fn long_runs_count_as_the_reference_does() {
    let run = |unit: &str| unit.repeat(LONG / unit.len());
    for unit in [
        "a",
        " ",
        "\n",
        "-",
        "\u{5b57}",
        "7",
        "\u{301}",
        "Ab",
        "'s",
        "\t \n",
        "/\n",
        "\u{1f680}",
    ] {
        check(&run(unit));
        check(&format!("x{}y", run(unit)));
    }
}

#[test]
fn what_overflows_the_reference_counts_as_its_halves_do() {
    const HALF: usize = 300_000;
    for (encoding, blank) in Encoding::ALL
        .iter()
        .flat_map(|encoding| [" ", "\u{2003}"].map(|blank| (*encoding, blank)))
    {
        let half = oracle(encoding).count_ordinary(&format!("a{}b", blank.repeat(HALF)));
        let count = |halves: usize| {
            encoding.count_text(&format!("a{}b", blank.repeat(halves * HALF))) as usize
        };
        assert_eq!(count(1), half, "{}", encoding.name());
        // Less the two letters that the second half has too, and what merges where the halves meet.
        assert!(
            (2 * half - 2).abs_diff(count(2)) <= 2,
            "{} and {half}, {}",
            count(2),
            encoding.name()
        );
        assert!(
            (8 * half - 14).abs_diff(count(8)) <= 14,
            "{} and {half}, {}",
            count(8),
            encoding.name()
        );
    }
}

#[test]
fn sources_and_data_of_this_repository_count_as_the_reference_does() {
    for text in [
        include_str!("../../src/conversation/view.rs"),
        include_str!("../../README.md"),
        include_str!("../../Cargo.toml"),
        include_str!("tokens.rs"),
    ] {
        check(text);
        text.lines().for_each(check);
    }
}
