//! Tests of the matcher with values and texts.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn is_found(sought: impl Into<Sought>, value: &str, text: &str) -> bool {
    let matcher = Matcher::new([(sought.into(), [value])]);
    matcher.find(text).next().is_some()
}

#[test]
fn values_match_whole() {
    use ValueKind::{Free, Id, Nonce, Number, Path};
    for (kind, value, text, expected) in [
        (Id, "ab-12", "see AB-12.", true),
        (Id, "ab-12", "see ab-12-99", false),
        (Id, "ab-12", "see xab-12", false),
        (Id, "ab-12", "ab-12—that one", true),
        (Id, "call_9", "\"id\":\"call_9\"", true),
        (Id, "1.10", "at 1.10.", true),
        (Id, "1.10", "at 1.1", false),
        (Id, "1.1", "at 1.10", false),
        (Id, "1.1", "at 1.1.2", false),
        (Id, "2.0", "at 1.2.0", false),
        (Nonce, "tavorim", "tavorim.restart()", true),
        (Path, "src/db.ts", "/repo/src/db.ts:10", true),
        (Path, "src/db", "src/db.ts", false),
        (Path, "src/db", "in src/db.", true),
        (Free, "Redis", "use redis, not", true),
        (Free, "日本", "「日本」", true),
        (Number, "v1.10", "V1.10", true),
        (Number, "v1.10", "v1.1", false),
    ] {
        assert_eq!(is_found(kind, value, text), expected, "{value} in {text}");
    }
}

#[test]
fn forms_of_text_are_one() {
    use ValueKind::{Free, Id, Path};
    for (kind, value, text, expected) in [
        (Id, "QRM-48213", "QRM\u{2011}48213", true),
        (Id, "QRM-48213", "QRM–48213", true),
        (Id, "QRM-48213", "line\\nQRM-48213\\tdone", true),
        (Free, "don't ask", "“don’t\u{a0}ask”", true),
        (
            Free,
            "silken olive rafter",
            "a silken\n   olive rafter",
            true,
        ),
        (Free, "silken olive rafter", "a silken olive, rafter", false),
        (
            Free,
            "one two three four five six",
            "one two three\nfour five six",
            true,
        ),
        (Free, "Café", "{\"name\":\"caf\\u00e9\"}", true),
        (Free, "Café", "CAFE\u{301}", true),
        (
            Free,
            "say \"hi\"",
            "{\"text\":\"say \\\"hi\\\" now\"}",
            true,
        ),
        (Path, "out/a.csv", "{\"path\":\"out\\/a.csv\"}", true),
        (
            Path,
            "C:\\new\\table.csv",
            "in C:\\new\\table.csv now",
            true,
        ),
        (
            Path,
            "C:\\new\\table.csv",
            "{\"path\":\"C:\\\\new\\\\table.csv\"}",
            true,
        ),
        (Path, "src/my_file.rs", "src/my\\_file.rs", true),
        (Id, "ＡＢ１２", "ab12", true),
        (Id, "\u{200b}", "anything", false),
    ] {
        assert_eq!(is_found(kind, value, text), expected, "{value} in {text}");
    }
}

#[test]
fn numbers_match_by_value_and_unit() {
    for (value, text, expected) in [
        ("12", "a 12.5 b", false),
        ("12", "costs 12.", true),
        ("12", "1,012", false),
        ("12", "x12", false),
        ("12", "12.0", true),
        ("4,500", "4500 of them", true),
        ("4500 ms", "at most 4,500 ms", true),
        ("4500 ms", "4500ms", true),
        ("4500 ms", "(4.5 s)", true),
        ("4500 ms", "4.50 seconds", true),
        ("4500 ms", "4.5s.", true),
        ("4500 ms", "4500-millisecond limit", true),
        ("4500 ms", "`4500` ms", true),
        ("4500 ms", "4\u{202f}500\u{a0}ms", true),
        ("4500 ms", "14.5 s", false),
        ("4500 ms", "4.55 s", false),
        ("4500 ms", "4500", false),
        ("4500 ms", "4500 s", false),
        ("4500 ms", "4500 m", false),
        ("4500 ms", "-4500 ms", true),
        ("4500 ms", "1000-4500 ms", true),
        ("90 minutes", "1.5 hours", true),
        ("2 GiB", "2048 MiB", true),
        ("2 GB", "2 gigabytes", true),
        ("2 GB", "2048 MB", false),
        ("2 GB", "2000 MB", false),
        ("48.213%", "48.213 percent", true),
        ("4812.35 EUR", "€4,812.35 in all", true),
        ("4812.35 EUR", "EUR 4812.35", true),
        ("4812.35 EUR", "$4,812.35", false),
        ("482131 rows", "482,131\nrows", true),
        ("482131 rows", "482131-row table", false),
        ("482131 rows", "482131 items", false),
        ("-5 ms", "at -5 ms", true),
        ("-5 ms", "at 5 ms", false),
        ("1.10", "1.1", true),
        ("1.10", "1.1.0", false),
        ("05 min", "in 05 min", true),
        ("05 min", "in 5 min", false),
        ("0", "at 0.", true),
        ("0", "at 00.", false),
        ("7", "007", false),
    ] {
        assert_eq!(
            is_found(ValueKind::Number, value, text),
            expected,
            "{value} in {text}"
        );
    }
}

/// A summary may say Redis although the conversation chose Memcached: the value is missing and a
/// wrong one is present.
#[test]
fn denied_or_replaced_values_do_not_match() {
    let [affirmed, denied, either] =
        [Said::Affirmed, Said::Denied, Said::Either].map(|said| Sought {
            kind: ValueKind::Free,
            said,
        });
    for (sought, value, text, expected) in [
        (affirmed, "Memcached", "The cache is Redis.", false),
        (affirmed, "Redis", "The cache is Redis.", true),
        (
            affirmed,
            "Memcached",
            "The cache is Memcached, not Redis.",
            true,
        ),
        (
            affirmed,
            "Redis",
            "The cache is Memcached, not Redis.",
            false,
        ),
        (affirmed, "Redis", "Never use Redis.", false),
        (
            affirmed,
            "Redis",
            "Never use Redis here. There we use Redis.",
            true,
        ),
        (affirmed, "Redis", "Redis was replaced by Memcached.", false),
        (
            affirmed,
            "Memcached",
            "Redis was replaced by Memcached.",
            true,
        ),
        (denied, "Redis", "Never use Redis.", true),
        (denied, "Redis", "The cache is Redis.", false),
        (denied, "Redis", "Redis", false),
        (denied, "Redis", "We no longer use Redis.", false),
        (either, "Redis", "Never use Redis.", true),
        (either, "Redis", "The cache is Redis.", true),
    ] {
        assert_eq!(
            is_found(sought, value, text),
            expected,
            "{value} in {text}, {:?}",
            sought.said
        );
    }
}

/// A dash before a number is often a hyphen, a bullet or a flag, so it counts only where it matters
/// what is said.
#[test]
fn a_sign_counts_where_a_value_is_asserted() {
    let affirmed = Sought {
        kind: ValueKind::Number,
        said: Said::Affirmed,
    };
    for (value, text, any, said) in [
        ("4500", "tail -4500 log", true, false),
        ("4500", "the range 1000-4500", true, false),
        ("4500", "minus 4500", true, false),
        ("-4500", "at -4500", true, true),
        ("EUR 250", "-€250", true, false),
    ] {
        assert_eq!(
            (
                is_found(ValueKind::Number, value, text),
                is_found(affirmed, value, text)
            ),
            (any, said),
            "{text}"
        );
    }
}

#[test]
fn one_pass_finds_overlapping_items() {
    let matcher = Matcher::new([(ValueKind::Path, ["a/b"]), (ValueKind::Path, ["a/b/c"])]);
    let mut present = [false; 2];
    matcher.mark("at a/b/c", &mut present);
    assert_eq!(present, [true, true]);
}

#[test]
fn long_values_with_a_common_beginning_are_distinguished() {
    let long = |last: &str| format!("{}{last}", "/same".repeat(40));
    let matcher = Matcher::new(
        [long("/one"), long("/two")]
            .iter()
            .map(|value| (ValueKind::Path, [value.as_str()])),
    );
    assert_eq!(
        matcher
            .find(&format!("in {}.", long("/two")))
            .collect::<Vec<_>>(),
        [1]
    );
}

/// Tries every pattern at every place of the text.
fn found_everywhere(items: &[(Sought, String)], text: &str) -> BTreeSet<usize> {
    let mut patterns = Patterns::default();
    items
        .iter()
        .enumerate()
        .for_each(|(item, (sought, value))| patterns.add(item, *sought, value));
    let matcher = Matcher::new(
        items
            .iter()
            .map(|(sought, value)| (*sought, [value.as_str()])),
    );
    let text = normal(text);
    let holds = |(form, pattern): (&Form, &index::Spelling)| {
        let is_there = |pattern: &String| {
            let same = |(one, other): (u8, &u8)| {
                one.eq_ignore_ascii_case(other) || (one == b' ' && *other == b'\n')
            };
            let found = |start: usize| text.as_bytes().get(start..start + pattern.len());
            let is_at = |start: usize| {
                found(start).is_some_and(|found| pattern.bytes().zip(found).all(same))
            };
            text.char_indices().any(|(start, _)| {
                let end = start + pattern.len();
                let number = &mut NumberAt::default();
                is_at(start) && matcher.end_of(*form, &text, (start, end), number).is_some()
            })
        };
        let broken = index::broken(&pattern.text).filter(|_| pattern.may_break);
        let mut forms = broken.chain([pattern.text.clone()]);
        forms.any(|form| is_there(&form)).then_some(form.item)
    };
    let forms_of = |first: u32| {
        let form = |place: u32| &patterns.forms[place as usize];
        std::iter::successors(Some(form(first)), move |last| last.next.map(form))
    };
    let firsts = patterns.firsts.iter().zip(&patterns.texts);
    let pairs = firsts.flat_map(|(first, text)| forms_of(*first).map(move |form| (form, text)));
    pairs.filter_map(holds).collect()
}

fn kinds() -> impl Strategy<Value = ValueKind> {
    use ValueKind::{Enum, Free, Id, Nonce, Number, Path};
    prop::sample::select(vec![Nonce, Id, Number, Path, Enum, Free])
}

proptest! {
    #[test]
    fn a_value_is_found_in_every_spelling(
        kind in kinds(), value in "[a-zé]{1,3}[-/ \\\\'\"_.]?[a-zé]{0,6}( [a-z]{1,5}){0,5}", case in any::<bool>(), gap in "( |\n|\r\n  |\u{a0}|\t)"
    ) {
        let value = value.trim_end_matches(['-', '/', ' ', '\\', '\'', '"', '_', '.']);
        let cased = if case { value.to_uppercase() } else { value.to_owned() };
        let escaped = serde_json::to_string(&cased).expect("a string");
        let accented = value.replace('é', "e\u{301}").replace('-', "\u{2011}").replace('\'', "’");
        for text in [cased, escaped, accented, value.replacen(' ', &gap, 1), value.replace(' ', &gap)] {
            prop_assert!(is_found(kind, value, &format!("before {text} after")), "{value} in {text}");
            prop_assert!(is_found(kind, value, &text), "{value} in {text}");
        }
    }

    #[test]
    fn a_value_inside_a_longer_one_is_never_found(kind in kinds(), value in "[a-z0-9]{1,8}(-[a-z0-9]{1,4})?", more in "[a-z0-9_é]{1,4}") {
        let number = |text: &str| text.parse::<f64>().ok();
        // A zero is one in any notation (`0k`), and `1e0` is 1.
        let is_zero = kind == ValueKind::Number && !value.bytes().any(|digit| matches!(digit, b'1'..=b'9'));
        let is_same = |text: &str| kind == ValueKind::Number && number(text).is_some() && number(text) == number(&value);
        for text in [format!("{value}{more}"), format!("{more}{value}"), format!("{more}{value}{more}")] {
            if is_zero || is_same(&text) || text.split('-').any(|part| part == value) {
                continue;
            }
            prop_assert!(!is_found(kind, &value, &text), "{value} in {text}");
        }
    }

    #[test]
    fn a_number_is_found_by_its_value(number in 1_u64..10_000_000, decimals in 0_u32..4, unit in prop::sample::select(vec!["", " ms", " s", " min", " KiB", "%", " EUR", " rows"])) {
        let plain = if decimals == 0 { number.to_string() } else { format!("{number}.{decimals}") };
        let value = format!("{plain}{unit}");
        let padded = if decimals == 0 { format!("{number}.00{unit}") } else { format!("{plain}0{unit}") };
        for text in [value.clone(), padded, format!("({value}),"), value.replace(' ', "\n")] {
            prop_assert!(is_found(ValueKind::Number, &value, &text), "{value} in {text}");
        }
        for text in [format!("1{value}"), format!("0.{value}"), format!("1,{value}")] {
            prop_assert!(!is_found(ValueKind::Number, &value, &text), "{value} in {text}");
        }
    }

    #[test]
    fn a_number_is_found_in_every_notation(number in 1_000_u64..10_000_000, separator in prop::sample::select(vec![",", "_", "'", " ", "."])) {
        let digits = number.to_string();
        let first = (digits.len() - 1) % 3 + 1;
        let groups = std::iter::once(&digits[..first]).chain((first..digits.len()).step_by(3).map(|at| &digits[at..at + 3]));
        let text = format!("reads {} lines", groups.collect::<Vec<_>>().join(separator));
        prop_assert!(is_found(ValueKind::Number, &digits, &text), "{digits} in {text}");
        // A number with leading zeros is a code.
        for other in [&digits[..first], digits[first..].trim_start_matches('0'), &(number + 1).to_string()] {
            prop_assert!(!is_found(ValueKind::Number, other, &text), "{other} in {text}");
        }
    }

    #[test]
    fn a_duration_is_found_by_its_sum(hours in 1_u64..100, minutes in 1_u64..60, seconds in 1_u64..60) {
        let sum = format!("{} s", hours * 3_600 + minutes * 60 + seconds);
        for text in [format!("{hours}h{minutes}m{seconds}s"), format!("{hours} hours, {minutes} minutes and {seconds} seconds")] {
            prop_assert!(is_found(ValueKind::Number, &sum, &text), "{sum} in {text}");
            for part in [format!("{hours} h"), format!("{minutes} min"), format!("{seconds} s")] {
                prop_assert!(!is_found(ValueKind::Number, &part, &text), "{part} in {text}");
            }
        }
    }

    /// Only a few letters, so that values share beginnings, overlap and repeat.
    #[test]
    fn one_pass_finds_everything_at_every_place(
        values in prop::collection::vec((kinds(), "(a|B|é|日|_|1|12|0|,|\\.|-|/| |€|eur|a/b/| ms| s){1,6}"), 1..8),
        text in "(a|b|É|日|_|1|12|0|,|\\.|-|/| |\n|€|EUR|a/b/| ms| s|\\\\u00e9){0,40}"
    ) {
        let items = values.into_iter().map(|(kind, value)| (kind.into(), value)).collect::<Vec<(Sought, String)>>();
        let matcher = Matcher::new(items.iter().map(|(sought, value)| (*sought, [value.as_str()])));
        let placed = items.iter().map(|(_, value)| format!("{text} {value}{text}")).chain([text.clone()]);
        for text in placed {
            prop_assert_eq!(matcher.find(&text).collect::<BTreeSet<_>>(), found_everywhere(&items, &text), "{}", text);
        }
    }

    #[test]
    fn a_value_between_letters_of_another_script_is_found(
        value in prop::sample::select(vec!["/home/ann/refund.rs", "src/pay.rs", "rf_9d2c71", "7f3a91c", "db.internal"]),
        before in "(檔案在|版本|ファイルは|파일|ไฟล์|и)", after in "(已讀|です|를|อ่าน|，|。)",
    ) {
        // A word may go on with digits, and a folder with a slash.
        prop_assume!(before != "и" || value.starts_with(|edge: char| edge.is_ascii_alphabetic()));
        for kind in [ValueKind::Path, ValueKind::Id, ValueKind::Nonce] {
            let text = format!("{before}{value}{after}");
            prop_assert!(is_found(kind, value, &text), "{}", text);
        }
    }

    #[test]
    fn arbitrary_text_causes_no_panic(
        kind in kinds(), said in prop::sample::select(vec![Said::Either, Said::Affirmed, Said::Denied]),
        value in "(\\PC|[-0-9.,%€ \\\\u\"\n]|not ){0,12}", text in "(\\PC|[-0-9.,%€ \\\\u\"\n]|not |never |is |ms){0,60}"
    ) {
        let sought = Sought { kind, said };
        is_found(sought, &value, &text);
        is_found(sought, &value, &format!("{text}{value}{text}"));
    }
}
