//! Values of a conversation that may become facts, and what its messages do with them.

use std::collections::{BTreeMap, BTreeSet};

use compactometer_engine::message::{Message, MessageId, Part, part_text};
use compactometer_formats::scenario::Scenario;
use compactometer_text::exact::{self, Exact};
use compactometer_text::matcher::Matcher;
use serde_json::Value;

/// The fewest characters of an unused value.
const INCIDENTAL_LENGTH: usize = 6;

/// Values keyed in lower case, because the matcher ignores case.
pub(super) type Candidates = BTreeMap<String, FactCandidate>;

/// A value that may become a fact.
pub(super) struct FactCandidate {
    pub(super) exact: Exact,
    /// Whether a text or a result contains it.
    in_text: bool,
    /// The messages that mention it, in order.
    pub(super) evidence: Vec<MessageId>,
    /// The messages whose calls use it, in order.
    pub(super) used_at: Vec<MessageId>,
    /// The argument and tool of its first use.
    pub(super) subject: Option<String>,
}

/// The values that calls use after a message mentioned them, and at most `unused` other values that
/// messages mention. Also returns how many other values are left out.
pub(super) fn find(scenario: &Scenario, unused: usize) -> (Candidates, usize) {
    let mut found = Candidates::new();
    for message in &scenario.messages {
        for part in &message.parts {
            match part {
                Part::Text { text } | Part::ToolResult { text, .. } => {
                    for exact in exact::within(text) {
                        note(&mut found, exact).in_text = true;
                    }
                }
                Part::ToolCall {
                    name, arguments, ..
                } => note_uses(&mut found, message, name, arguments),
                Part::Thinking { .. } | Part::Media { .. } | Part::Sealed { .. } => {}
            }
        }
    }
    drop_keys(&mut found, &scenario.messages);
    let used = found
        .values()
        .filter(|candidate| !candidate.used_at.is_empty())
        .count();
    // A use without an earlier mention makes room for one more value, so that many are looked for.
    let mut left_out = keep_unused(&mut found, unused + used);
    note_evidence(&mut found, &scenario.messages);
    found.retain(|_, candidate| {
        let Some(first) = candidate.evidence.first() else {
            return false;
        };
        candidate.used_at.retain(|message| message > first);
        true
    });
    left_out += keep_unused(&mut found, unused);
    (found, left_out)
}

/// Notes the messages that mention each value.
fn note_evidence(found: &mut Candidates, messages: &[Message]) {
    let matcher = Matcher::new(
        found
            .values()
            .map(|candidate| (candidate.exact.kind, [candidate.exact.value.as_str()])),
    );
    let mut candidates = found.values_mut().collect::<Vec<_>>();
    let (mut present, mut mentioned) = (vec![false; candidates.len()], Vec::new());
    for message in messages {
        for text in message.parts.iter().filter_map(part_text) {
            matcher.mark_new(text, &mut present, |item| mentioned.push(item));
        }
        for item in mentioned.drain(..) {
            present[item] = false;
            candidates[item].evidence.push(message.id);
        }
    }
}

/// Drops names that are keys of objects anywhere in the conversation. The matcher would find them
/// in each of the objects.
fn drop_keys(found: &mut Candidates, messages: &[Message]) {
    let texts = messages
        .iter()
        .flat_map(|message| &message.parts)
        .filter_map(part_text);
    for key in texts.flat_map(exact::keys) {
        found.remove(&key.to_ascii_lowercase());
    }
}

fn note(found: &mut Candidates, exact: Exact) -> &mut FactCandidate {
    let key = exact.value.to_ascii_lowercase();
    found.entry(key).or_insert(FactCandidate {
        exact,
        in_text: false,
        evidence: Vec::new(),
        used_at: Vec::new(),
        subject: None,
    })
}

fn note_uses(found: &mut Candidates, message: &Message, tool: &str, arguments: &str) {
    let Ok(value) = serde_json::from_str::<Value>(arguments) else {
        return;
    };
    let mut leaves = Vec::new();
    collect_leaves("", &value, &mut leaves);
    for (name, text) in leaves {
        for exact in exact::of_argument(name, &text) {
            let candidate = note(found, exact);
            if candidate.used_at.last() != Some(&message.id) {
                candidate.used_at.push(message.id);
            }
            candidate
                .subject
                .get_or_insert_with(|| format!("argument `{name}` of `{tool}`"));
        }
    }
}

/// String and number leaves, each with the name of its field.
fn collect_leaves<'v>(name: &'v str, value: &'v Value, leaves: &mut Vec<(&'v str, String)>) {
    match value {
        Value::String(text) => leaves.push((name, text.clone())),
        Value::Number(number) => leaves.push((name, number.to_string())),
        Value::Array(items) => items
            .iter()
            .for_each(|item| collect_leaves(name, item, leaves)),
        Value::Object(fields) => fields
            .iter()
            .for_each(|(name, field)| collect_leaves(name, field, leaves)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Keeps at most `quota` unused values: those that are long enough and occur in a text, chosen by
/// hash order. Returns how many of these are over the quota.
fn keep_unused(found: &mut Candidates, quota: usize) -> usize {
    let mut unused = found
        .iter()
        .filter(|(key, candidate)| {
            candidate.used_at.is_empty()
                && candidate.in_text
                && key.chars().count() >= INCIDENTAL_LENGTH
        })
        .map(|(key, _)| (*blake3::hash(key.as_bytes()).as_bytes(), key.clone()))
        .collect::<Vec<_>>();
    unused.sort();
    let over = unused.len().saturating_sub(quota);
    unused.truncate(quota);
    let kept = unused
        .into_iter()
        .map(|(_, key)| key)
        .collect::<BTreeSet<_>>();
    found.retain(|key, candidate| !candidate.used_at.is_empty() || kept.contains(key));
    over
}
