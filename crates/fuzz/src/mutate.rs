//! Seeded mutations of an input: of its bytes, its lines and words, and of JSON values, so that
//! code behind a parser is reached.
//!
//! The same seed makes the same mutation. libFuzzer's own mutations of bytes are used as well.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};

/// The longest input that a mutation may produce.
pub const MOST_BYTES: usize = 1 << 16;

/// One to three changes of an input. Pieces may come from `other`, another input of the same
/// target.
pub fn mutated(data: &[u8], other: &[u8], seed: u64) -> Vec<u8> {
    let mut dice = MutationDice(ChaCha8Rng::seed_from_u64(seed));
    let mut data = data.to_vec();
    for _ in 0..=dice.below(3) {
        let change = CHANGES[dice.below(CHANGES.len())];
        data = change(&data, other, &mut dice);
        data.truncate(MOST_BYTES);
    }
    data
}

type Mutation = fn(&[u8], &[u8], &mut MutationDice) -> Vec<u8>;

/// Five of the entries change JSON, because most readers accept nothing else.
const CHANGES: &[Mutation] = &[
    flip, insert, splice, cut, lines, words, repeat, of_json, of_json, of_json, of_json, of_json,
];

struct MutationDice(ChaCha8Rng);

impl MutationDice {
    /// A number below `bound`; 0 if `bound` is 0.
    fn below(&mut self, bound: usize) -> usize {
        self.0.next_u64() as usize % bound.max(1)
    }

    /// Two places in order, both at most `end`.
    fn span(&mut self, end: usize) -> (usize, usize) {
        let (one, other) = (self.below(end + 1), self.below(end + 1));
        (one.min(other), one.max(other))
    }
}

fn flip(data: &[u8], _: &[u8], dice: &mut MutationDice) -> Vec<u8> {
    let mut data = data.to_vec();
    let at = dice.below(data.len());
    if let Some(byte) = data.get_mut(at) {
        *byte ^= 1 << dice.below(8);
    }
    data
}

/// Bytes that readers treat specially.
const ODD: &[&[u8]] = &[
    b"\0",
    b"\n",
    b"\r\n",
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b"=",
    b"\xff",
    b"\xed\xa0\x80",
    b"\\ud800",
    b"\xef\xbb\xbf",
    "\u{85}".as_bytes(),
    "\u{2028}".as_bytes(),
    "\u{130}".as_bytes(),
    "\u{fdfa}".as_bytes(),
    "e\u{301}".as_bytes(),
    "\u{1f600}".as_bytes(),
    b"18446744073709551616",
    b"-1",
    b"1e400",
    b"0.1",
    b"4294967295",
    b"9223372036854775807",
    b"not ",
    b"\x1e",
    b"```",
    b"\x1b[2J",
];

fn insert(data: &[u8], _: &[u8], dice: &mut MutationDice) -> Vec<u8> {
    let (start, end) = dice.span(data.len());
    // Half of the insertions replace a few bytes.
    let end = if dice.below(2) == 0 {
        start
    } else {
        end.min(start + 8)
    };
    [&data[..start], ODD[dice.below(ODD.len())], &data[end..]].concat()
}

fn splice(data: &[u8], other: &[u8], dice: &mut MutationDice) -> Vec<u8> {
    let ((start, end), (from, to)) = (dice.span(data.len()), dice.span(other.len()));
    [&data[..start], &other[from..to], &data[end..]].concat()
}

fn cut(data: &[u8], _: &[u8], dice: &mut MutationDice) -> Vec<u8> {
    let (start, end) = dice.span(data.len());
    if dice.below(2) == 0 {
        data[..end].to_vec()
    } else {
        [&data[..start], &data[end..]].concat()
    }
}

/// Drops, repeats or moves a line.
fn lines(data: &[u8], _: &[u8], dice: &mut MutationDice) -> Vec<u8> {
    let mut lines = data
        .split_inclusive(|byte| *byte == b'\n')
        .collect::<Vec<_>>();
    if lines.is_empty() {
        return Vec::new();
    }
    let line = lines.remove(dice.below(lines.len()));
    for _ in 0..dice.below(4) {
        lines.insert(dice.below(lines.len() + 1), line);
    }
    lines.concat()
}

/// Replaces a word by another one.
fn words(data: &[u8], _: &[u8], dice: &mut MutationDice) -> Vec<u8> {
    let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let pieces = data
        .chunk_by(|one, other| is_of_word(one) == is_of_word(other))
        .collect::<Vec<_>>();
    let words = (0..pieces.len())
        .filter(|at| pieces[*at].first().is_some_and(is_of_word))
        .collect::<Vec<_>>();
    let Some(&from) = words.get(dice.below(words.len())) else {
        return data.to_vec();
    };
    let mut changed = pieces.clone();
    changed[words[dice.below(words.len())]] = pieces[from];
    changed.concat()
}

/// Repeats a piece many times, which exposes quadratic readers.
fn repeat(data: &[u8], _: &[u8], dice: &mut MutationDice) -> Vec<u8> {
    let (start, end) = dice.span(data.len());
    let end = end.min(start + 1 + dice.below(64));
    let room = (MOST_BYTES / 4) / (end - start).max(1);
    [
        &data[..start],
        &data[start..end].repeat(1 + dice.below(room)),
        &data[end..],
    ]
    .concat()
}

/// Changes the whole input as JSON, or otherwise one of its lines.
fn of_json(data: &[u8], _: &[u8], dice: &mut MutationDice) -> Vec<u8> {
    if let Some(changed) = json_of(data, dice) {
        return changed;
    }
    let mut lines = data
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect::<Vec<_>>();
    let at = dice.below(lines.len());
    if let Some(changed) = json_of(&lines[at], dice) {
        lines[at] = changed;
    }
    lines.join(&b'\n')
}

fn json_of(text: &[u8], dice: &mut MutationDice) -> Option<Vec<u8>> {
    let mut value = serde_json::from_slice::<Value>(text).ok()?;
    let count = count(&value);
    let (mut one, mut other) = (dice.below(count), dice.below(count));
    let replaced = match dice.below(6) {
        // Another value of the same text.
        0 | 1 => node(&mut value, &mut other)?.clone(),
        2 => grown(node(&mut value, &mut one.clone())?.clone(), dice),
        3 => renamed(node(&mut value, &mut one.clone())?.clone(), dice),
        _ => odd(dice),
    };
    *node(&mut value, &mut one)? = replaced;
    serde_json::to_vec(&value).ok()
}

/// The number of values, counting this one and all nested ones.
pub(crate) fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// The value with this number, in preorder.
pub(crate) fn node<'v>(value: &'v mut Value, number: &mut usize) -> Option<&'v mut Value> {
    if *number == 0 {
        return Some(value);
    }
    *number -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| node(item, number)),
        Value::Object(fields) => fields.values_mut().find_map(|field| node(field, number)),
        _ => None,
    }
}

/// The value with some content repeated.
fn grown(value: Value, dice: &mut MutationDice) -> Value {
    let times = [2, 3, 50][dice.below(3)];
    match value {
        Value::Array(items) => Value::Array((0..times).flat_map(|_| items.clone()).collect()),
        Value::String(text) => Value::String(text.repeat(times)),
        other => Value::Array(vec![other; times]),
    }
}

/// The object without one of its fields, or with a field renamed.
fn renamed(value: Value, dice: &mut MutationDice) -> Value {
    let Value::Object(mut fields) = value else {
        return json!({"text": value});
    };
    let names = fields.keys().cloned().collect::<Vec<_>>();
    let (Some(from), Some(to)) = (
        names.get(dice.below(names.len())),
        names.get(dice.below(names.len())),
    ) else {
        return Value::Object(fields);
    };
    let moved = fields.shift_remove(from).unwrap_or_default();
    if from != to {
        fields.insert(to.clone(), moved);
    }
    Value::Object(fields)
}

/// An unusual value.
fn odd(dice: &mut MutationDice) -> Value {
    let deep = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!([inner]));
    let values = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(1),
        json!(4_294_967_295_u32),
        json!(4_294_967_296_u64),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(0.1),
        json!(1e308),
        json!(5e-324),
        json!(-0.0),
        json!(1.000_000_000_000_000_2),
        json!(""),
        json!(" "),
        json!("\u{0}"),
        json!("\n"),
        json!("\u{1b}[31m"),
        json!("e\u{301}\u{130}\u{fdfa}"),
        json!("1,250.75 ms"),
        json!("not `x`"),
        json!([]),
        json!({}),
        json!([[], {}]),
        json!({"": null}),
        deep(30),
        deep(126),
    ];
    values[dice.below(values.len())].clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_change_and_each_change_is_made() {
        let text = br#"{"a":[1,"b",{"c":null}],"d":"e"}"#;
        let all = (0..500)
            .map(|seed| mutated(text, b"other", seed))
            .collect::<Vec<_>>();
        assert_eq!(
            all,
            (0..500)
                .map(|seed| mutated(text, b"other", seed))
                .collect::<Vec<_>>()
        );
        let json = all
            .iter()
            .filter(|data| serde_json::from_slice::<Value>(data).is_ok())
            .count();
        assert!((100..400).contains(&json), "{json} of 500 are JSON");
        assert!(all.iter().any(|data| data.len() > 1_000), "none is long");
        assert!(
            all.iter().all(|data| data.len() <= MOST_BYTES),
            "one is too long"
        );
        for empty in 0..100 {
            mutated(b"", b"", empty);
        }
    }
}
