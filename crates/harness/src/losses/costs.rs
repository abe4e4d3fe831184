//! What a compaction cost a conversation beside values: what was read again, how long everybody
//! waited, what the user said again and which calls failed on a wrong value.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use compactometer_engine::message::{Part, Role, Usage};
use compactometer_engine::tokens::{CountedMessage, TokenCounter};
use compactometer_formats::losses::{CompactionCosts, MeanUsage, Reads, WrongValue};
use compactometer_formats::scenario::Speaker;
use compactometer_text::exact;
use compactometer_text::suggest::is_one_edit;
use serde_json::Value;

use super::{SeenContext, texts};
use crate::prepare::PreparedScenario;
use crate::prepare::recorded_context::written_texts;
use crate::prepare::uses::{ArgumentPurpose, arguments};

/// The calls after a compaction, and before it, that are looked at.
const CALLS: usize = 50;
/// The requests before and after it whose tokens are compared.
const REQUESTS: usize = 10;

pub(super) fn costs(
    prepared: &PreparedScenario,
    seen: &SeenContext,
    calls: &[PricedCall<'_>],
    counter: &dyn TokenCounter,
) -> CompactionCosts {
    let left = &seen.left;
    let made = &prepared.scenario.compactions[left.place];
    let next = prepared
        .scenario
        .compactions
        .get(left.place + 1)
        .map(|next| prepared.index_of(next.after) + 1);
    let later = left.length..next.unwrap_or(prepared.messages.len());
    let at_ms = |counted: &std::sync::Arc<CountedMessage>| counted.message.at_ms;
    let last = prepared.messages[..left.length]
        .iter()
        .rev()
        .find_map(at_ms);
    let mut later_messages = prepared.messages[later.clone()].iter();
    let reply = later_messages
        .find(|counted| counted.message.role == Role::Assistant)
        .and_then(at_ms);
    let between =
        |from: Option<i64>, to: Option<i64>| Some(to? - from?).filter(|waited| *waited >= 0);
    let first_after = calls.partition_point(|call| call.message < later.start);
    let last_after = calls
        .partition_point(|call| call.message < later.end)
        .min(first_after + CALLS);
    let used = usages(prepared, left.length, later.clone());
    CompactionCosts {
        waited_before_ms: made
            .took_ms
            .and_then(|took| i64::try_from(took).ok())
            .or_else(|| between(last, made.at_ms)),
        waited_after_ms: between(made.at_ms, reply),
        read_again: read_again(calls, first_after..last_after, first_after, counter),
        read_again_before: {
            let start = first_after.saturating_sub(CALLS);
            read_again(calls, start..first_after, start, counter)
        },
        said_again: said_again(prepared, seen, later.clone()),
        wrong_values: wrong_values(prepared, &calls[first_after..last_after], left.length),
        altered_values: altered_values(prepared, seen, &calls[first_after..last_after]),
        request_tokens: used
            .as_ref()
            .map(|(before, after)| (median_input(before), median_input(after))),
        next_request_tokens: used.as_ref().and_then(|(before, after)| {
            Some((before.last()?.total_input(), after.first()?.total_input()))
        }),
        request_usage: used
            .as_ref()
            .map(|(before, after)| (mean(before), mean(after))),
        own_usage: made.usage,
        model: prepared
            .scenario
            .log
            .model_at(made.after)
            .map(str::to_owned),
    }
}

/// Calls from a compaction to the next one of its session; nothing for the last one.
pub(super) fn calls_until_next(
    prepared: &PreparedScenario,
    seen: &SeenContext,
    calls: &[PricedCall<'_>],
) -> Option<usize> {
    let next = prepared.scenario.compactions.get(seen.left.place + 1)?;
    let end = prepared.index_of(next.after) + 1;
    let before = |length: usize| calls.partition_point(|call| call.message < length);
    Some(before(end) - before(seen.left.length))
}

/// A call with its result.
pub(super) struct PricedCall<'p> {
    message: usize,
    tool: &'p str,
    arguments: Value,
    result: Option<(&'p str, bool)>,
}

/// The calls of a conversation, in order.
pub(super) fn calls(prepared: &PreparedScenario) -> Vec<PricedCall<'_>> {
    let parts = || {
        prepared
            .messages
            .iter()
            .enumerate()
            .flat_map(|(index, one)| one.message.parts.iter().map(move |part| (index, part)))
    };
    let results = parts().filter_map(|(_, part)| match part {
        Part::ToolResult {
            call_id,
            text,
            is_error,
        } => Some((call_id.as_str(), (text.as_str(), *is_error))),
        _ => None,
    });
    let results = results.collect::<BTreeMap<_, _>>();
    let mut calls = Vec::new();
    for (message, part) in parts() {
        if let Part::ToolCall {
            id,
            name,
            arguments,
        } = part
        {
            let arguments = serde_json::from_str(arguments).unwrap_or_default();
            calls.push(PricedCall {
                message,
                tool: name.as_str(),
                arguments,
                result: results.get(id.as_str()).copied(),
            });
        }
    }
    calls
}

/// What a call reads, if it reads a file: a word of the tool's name says so, and an argument names
/// the file.
fn file_read<'c>(call: &'c PricedCall<'_>) -> Option<&'c str> {
    let reads =
        words(call.tool).any(|word| ["read", "view", "open", "cat"].contains(&word.as_str()));
    let names = [
        "file_path",
        "path",
        "filePath",
        "absolute_path",
        "notebook_path",
        "filename",
    ];
    names
        .iter()
        .find_map(|name| call.arguments[*name].as_str())
        .filter(|_| reads)
}

/// The words of a name such as `read_file`, `ReadFile` or `mcp__files__read`, in small letters.
fn words(name: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || (was_small && letter.is_uppercase()) {
            words.push(String::new());
        }
        was_small = letter.is_lowercase();
        if let Some(last) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            last.extend(letter.to_lowercase());
        }
    }
    words.into_iter()
}

/// Reads among some calls of what was read before another one, by other calls than these.
fn read_again(
    calls: &[PricedCall<'_>],
    among: Range<usize>,
    before: usize,
    counter: &dyn TokenCounter,
) -> Reads {
    let known = calls[..before]
        .iter()
        .filter_map(file_read)
        .collect::<BTreeSet<_>>();
    let mut reads = Reads::default();
    for call in &calls[among] {
        if file_read(call).is_some_and(|file| known.contains(file)) {
            reads.calls += 1;
            reads.tokens += call
                .result
                .map_or(0, |(text, _)| u64::from(counter.count_text(text)));
        }
    }
    reads
}

/// Values that a compaction lost and that a person said again before anybody else did.
fn said_again(prepared: &PreparedScenario, seen: &SeenContext, later: Range<usize>) -> Vec<String> {
    let is_lost = |fact: &usize| {
        let said = &prepared.mentions[*fact];
        let next = said.iter().find(|mention| later.contains(mention));
        let by_user = |index: usize| {
            prepared.scenario.speaker(&prepared.messages[index].message) == Speaker::User
        };
        let is_before = said.first().is_some_and(|first| *first < seen.left.length);
        is_before
            && !seen.holds[*fact]
            && !prepared.is_generic(*fact)
            && next.is_some_and(|next| by_user(*next))
    };
    (0..prepared.mentions.len())
        .filter(is_lost)
        .map(|fact| prepared.scenario.facts[fact].value.clone())
        .collect()
}

/// Failed calls with a path that nobody said, where one to a file of that name was said before the
/// compaction.
fn wrong_values(
    prepared: &PreparedScenario,
    calls: &[PricedCall<'_>],
    before: usize,
) -> Vec<WrongValue> {
    let mut wrong = Vec::new();
    for call in calls
        .iter()
        .filter(|call| call.result.is_some_and(|(_, is_error)| is_error))
    {
        let addresses = arguments(&call.arguments)
            .into_iter()
            .filter(|argument| argument.purpose == ArgumentPurpose::Address);
        for exact in
            addresses.flat_map(|argument| exact::of_argument(argument.name, &argument.text))
        {
            let value = exact.value;
            let name = value.rsplit('/').next().unwrap_or_default().to_owned();
            let is_said = || {
                prepared.messages[..call.message]
                    .iter()
                    .flat_map(|one| texts(one))
                    .any(|text| text.contains(&value))
            };
            if name.len() == value.len() || name.is_empty() || is_said() {
                continue;
            }
            let ending = format!("/{name}");
            let said =
                prepared
                    .scenario
                    .facts
                    .iter()
                    .zip(&prepared.mentions)
                    .find(|(fact, said)| {
                        fact.value.ends_with(&ending)
                            && fact.value != value
                            && said.first().is_some_and(|first| *first < before)
                    });
            if let Some((fact, _)) = said {
                let used_at = prepared.messages[call.message].message.id.0;
                wrong.push(WrongValue {
                    used_at,
                    value,
                    said: fact.value.clone(),
                });
            }
        }
    }
    wrong
}

/// Letters of the shortest value that counts as altered.
const LETTERS: usize = 5;

/// Failed calls with a value that the summary was the first to say, where one that is a letter away
/// was said before and is not in what was left.
fn altered_values(
    prepared: &PreparedScenario,
    seen: &SeenContext,
    calls: &[PricedCall<'_>],
) -> Vec<WrongValue> {
    let made = &prepared.scenario.compactions[seen.left.place];
    let is_said = |value: &str| {
        let said = prepared.messages[..seen.left.length].iter();
        said.flat_map(|one| texts(one))
            .any(|text| text.contains(value))
    };
    let is_new = |value: &str| {
        value.len() >= LETTERS
            && written_texts(made).any(|text| text.contains(value))
            && !is_said(value)
    };
    let lost = || {
        let facts = prepared.scenario.facts.iter().zip(&seen.holds);
        facts
            .filter(|(_, is_held)| !**is_held)
            .map(|(fact, _)| &fact.value)
    };
    let mut altered = Vec::new();
    for call in calls {
        if !call.result.is_some_and(is_failure) {
            continue;
        }
        let taken = arguments(&call.arguments).into_iter();
        let values = taken.flat_map(|argument| exact::of_argument(argument.name, &argument.text));
        for value in values
            .map(|exact| exact.value)
            .filter(|value| is_new(value))
        {
            if let Some(said) = lost().find(|lost| is_one_edit(lost, &value)) {
                altered.push(WrongValue {
                    used_at: prepared.messages[call.message].message.id.0,
                    value,
                    said: said.clone(),
                });
            }
        }
    }
    altered
}

/// Whether a call failed: the log says so, or its result begins as errors of commands do.
fn is_failure((text, is_error): (&str, bool)) -> bool {
    let first = text.lines().next().unwrap_or_default().to_lowercase();
    let begins = ["fatal:", "error:", "error "];
    let names = ["no such file", "not found", "does not exist"];
    is_error
        || begins.iter().any(|begin| first.starts_with(begin))
        || names.iter().any(|name| first.contains(name))
}

/// What the calls of the last requests before a compaction used, and those of the first requests
/// after it.
fn usages(
    prepared: &PreparedScenario,
    length: usize,
    later: Range<usize>,
) -> Option<(Vec<Usage>, Vec<Usage>)> {
    let of = |range: Range<usize>| {
        prepared.messages[range]
            .iter()
            .filter_map(|counted| counted.message.usage.as_deref().copied())
            .collect::<Vec<_>>()
    };
    let (before, after) = (of(0..length), of(later));
    let last = before[before.len().saturating_sub(REQUESTS)..].to_vec();
    let first = after[..after.len().min(REQUESTS)].to_vec();
    (!last.is_empty() && !first.is_empty()).then_some((last, first))
}

fn median_input(usages: &[Usage]) -> u64 {
    let mut inputs = usages.iter().map(Usage::total_input).collect::<Vec<_>>();
    inputs.sort_unstable();
    inputs[inputs.len() / 2]
}

fn mean(usages: &[Usage]) -> MeanUsage {
    let of =
        |part: fn(&Usage) -> u64| usages.iter().map(part).sum::<u64>() as f64 / usages.len() as f64;
    MeanUsage {
        input: of(|usage| usage.input),
        cache_read: of(|usage| usage.cache_read),
        cache_write: of(|usage| usage.cache_write),
        output: of(|usage| usage.output),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_reads_if_a_word_of_its_name_says_so() {
        let path = serde_json::json!({"path": "a.rs"});
        let reads = |tool: &str| {
            file_read(&PricedCall {
                message: 0,
                tool,
                arguments: path.clone(),
                result: None,
            })
            .is_some()
        };
        assert!(
            ["Read", "read_file", "readFile", "view", "mcp__files__open"]
                .into_iter()
                .all(reads)
        );
        assert!(
            ![
                "create_application",
                "spread",
                "SendNotification",
                "preview",
                "Write"
            ]
            .into_iter()
            .any(reads)
        );
    }
}
