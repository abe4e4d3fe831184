//! Inputs that are long in one way each: a piece of a seed, from anywhere in its text or JSON,
//! repeated many times.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::mutate::{count, node};

/// One way in which an input can be long.
pub struct Swelling<'s> {
    /// The repeated piece, abbreviated.
    pub piece: String,
    swollen: Box<dyn Fn(usize) -> Vec<u8> + 's>,
}

impl Swelling<'_> {
    /// The seed with the piece repeated until it has about `bytes` bytes.
    pub fn to(&self, bytes: usize) -> Vec<u8> {
        (self.swollen)(bytes)
    }
}

/// Every way to make a seed long.
pub fn swellings(seed: &[u8]) -> Vec<Swelling<'_>> {
    let mut all = vec![repeated(seed, 0, seed.len())];
    let mut start = 0;
    for line in seed.split_inclusive(|byte| *byte == b'\n') {
        all.push(repeated(seed, start, start + line.len()));
        all.extend(in_json(seed, start, start + line.len()));
        start += line.len();
    }
    all.extend(in_json(seed, 0, seed.len()));
    let mut seen = BTreeSet::new();
    let text = String::from_utf8_lossy(seed);
    if text.len() == seed.len() {
        let first = text
            .char_indices()
            .filter(|(_, letter)| seen.insert(*letter));
        all.extend(first.map(|(at, letter)| repeated(seed, at, at + letter.len_utf8())));
    }
    all
}

fn repeated(seed: &[u8], start: usize, end: usize) -> Swelling<'_> {
    let piece = &seed[start..end];
    let swollen = move |bytes: usize| {
        let times = 1 + bytes / piece.len().max(1);
        [&seed[..start], &piece.repeat(times), &seed[end..]].concat()
    };
    Swelling {
        piece: escape(piece),
        swollen: Box::new(swollen),
    }
}

/// Variants of the JSON between two places, with longer texts, with the first item of each list
/// repeated, or with more fields in each object.
fn in_json(seed: &[u8], start: usize, end: usize) -> Vec<Swelling<'_>> {
    let Ok(value) = serde_json::from_slice::<Value>(&seed[start..end]) else {
        return Vec::new();
    };
    let of_node = |number: usize| {
        let mut value = value.clone();
        let piece = escape(
            node(&mut value, &mut number.clone())?
                .to_string()
                .as_bytes(),
        );
        let swollen = move |bytes: usize| {
            let mut value = value.clone();
            if let Some(node) = node(&mut value, &mut number.clone()) {
                swell(node, bytes);
            }
            [&seed[..start], value.to_string().as_bytes(), &seed[end..]].concat()
        };
        Some(Swelling {
            piece: format!("JSON {piece}"),
            swollen: Box::new(swollen) as Box<dyn Fn(usize) -> Vec<u8>>,
        })
    };
    (0..count(&value)).filter_map(of_node).collect()
}

fn swell(value: &mut Value, bytes: usize) {
    let times = |piece: usize| 1 + bytes / piece.max(1);
    match value {
        Value::String(text) => *text = text.repeat(times(text.len())),
        Value::Array(items) => {
            if let Some(first) = items.first().cloned() {
                let times = times(first.to_string().len() + 1);
                items.extend((0..times).map(|number| numbered(&first, number)));
            }
        }
        Value::Object(fields) => {
            if let Some((name, field)) = fields
                .iter()
                .next()
                .map(|(name, field)| (name.clone(), field.clone()))
            {
                let times = times(field.to_string().len() + name.len() + 10);
                fields.extend((0..times).map(|number| (format!("{name}{number}"), field.clone())));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The value with a number appended to each of its texts, because a reader might detect equal
/// items.
fn numbered(value: &Value, number: usize) -> Value {
    match value {
        Value::String(text) => Value::String(format!("{text}{number}")),
        Value::Array(items) => items.iter().map(|item| numbered(item, number)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, field)| (name.clone(), numbered(field, number)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

fn escape(piece: &[u8]) -> String {
    String::from_utf8_lossy(piece)
        .chars()
        .take(40)
        .collect::<String>()
        .escape_debug()
        .to_string()
}
