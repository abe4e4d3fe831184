//! Tokens of a request after a compaction that no record holds, and what its program is known to
//! put there.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use compactometer_engine::message::{Part, Role};
use compactometer_engine::tokens::{CountedMessage, TokenCounter};
use compactometer_formats::scenario::{Reattached, RecordedCompaction, Retained, Scenario};
use compactometer_text::matcher::Matcher;
use serde_json::Value;

use super::OtherNames;

/// Fewer tokens than these are no more than the error of their estimate.
const FEWEST: f64 = 1_000.0;
/// The fewest tokens between two requests that say how the program's tokenizer counts.
const STEP: u64 = 300;
/// The fewest such pairs.
const PAIRS: usize = 5;

/// What the record of a compaction lacks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Unlogged {
    /// Tokens of the first request after it that no record holds, as its provider counts; unknown
    /// if usage is missing or the estimate is uncertain.
    pub(crate) tokens: Option<u32>,
    /// The facts in what the program may have put back; nothing if it is not known what it puts
    /// back.
    pub(crate) attached: Option<BTreeSet<u32>>,
}

/// What each recorded compaction's record lacks, in order.
pub(crate) fn unlogged(
    scenario: &Scenario,
    messages: &[Arc<CountedMessage>],
    (facts, names): (&Matcher, Option<&OtherNames>),
    counter: &dyn TokenCounter,
) -> Vec<Unlogged> {
    let requests = ReportedRequests::new(messages, &scenario.compactions);
    let of = |made: &RecordedCompaction| {
        let length = length(messages, made);
        let tokens = requests.unlogged(made, messages, length, counter);
        let attached = scenario.reattached.as_ref().map(|rule| {
            let texts = reattached(rule, made, &messages[..length], tokens, counter);
            facts_of(&texts, facts, names)
        });
        Unlogged {
            tokens: tokens.map(|tokens| tokens as u32),
            attached,
        }
    };
    scenario.compactions.iter().map(of).collect()
}

fn facts_of(texts: &[String], facts: &Matcher, names: Option<&OtherNames>) -> BTreeSet<u32> {
    let stated = texts.iter().flat_map(|text| facts.find(text));
    let named = names
        .into_iter()
        .flat_map(|names| texts.iter().flat_map(|text| names.found_in(text, facts)));
    stated.map(|fact| fact as u32).chain(named).collect()
}

/// Length of the log at a compaction.
fn length(messages: &[Arc<CountedMessage>], made: &RecordedCompaction) -> usize {
    messages.partition_point(|counted| counted.message.id <= made.after)
}

/// The requests of a session whose input tokens its provider reported.
struct ReportedRequests {
    /// The index of each reply, and the tokens of its request.
    inputs: Vec<(usize, u64)>,
    /// Reported tokens of what precedes the conversation: the system prompt and tool definitions.
    base: f64,
    /// Reported over counted tokens, and how far it spreads.
    ratio: Option<(f64, f64)>,
}

impl ReportedRequests {
    fn new(messages: &[Arc<CountedMessage>], compactions: &[RecordedCompaction]) -> Self {
        let input = |(index, counted): (usize, &Arc<CountedMessage>)| {
            let usage = counted
                .message
                .usage
                .as_deref()
                .filter(|_| counted.message.role == Role::Assistant)?;
            Some((index, usage.total_input()))
        };
        let inputs = messages
            .iter()
            .enumerate()
            .filter_map(input)
            .collect::<Vec<_>>();
        let cuts = compactions
            .iter()
            .map(|made| length(messages, made))
            .collect::<Vec<_>>();
        let said = |range: std::ops::Range<usize>| {
            let of_talk = messages[range]
                .iter()
                .filter(|counted| counted.message.role != Role::System);
            of_talk
                .map(|counted| u64::from(counted.tokens))
                .sum::<u64>()
        };
        let mut ratios = Vec::new();
        for pair in inputs.windows(2) {
            let [(from, before), (to, after)] = *pair else {
                continue;
            };
            let is_cut = cuts.iter().any(|cut| (from + 1..=to).contains(cut));
            let counted = said(from..to);
            if !is_cut && counted >= STEP && after > before {
                ratios.push((after - before) as f64 / counted as f64);
            }
        }
        ratios.sort_by(f64::total_cmp);
        let at = |share: usize| ratios[(ratios.len() - 1) * share / 4];
        let ratio = (ratios.len() >= PAIRS).then(|| (at(2), (at(3) - at(1)) / 2.0));
        let base = match (inputs.first(), ratio) {
            (Some((index, first)), Some((ratio, _))) => {
                *first as f64 - ratio * said(0..*index) as f64
            }
            _ => 0.0,
        };
        ReportedRequests {
            inputs,
            base,
            ratio,
        }
    }

    /// The tokens of the first request after a compaction that no record holds.
    fn unlogged(
        &self,
        made: &RecordedCompaction,
        messages: &[Arc<CountedMessage>],
        length: usize,
        counter: &dyn TokenCounter,
    ) -> Option<f64> {
        let (ratio, spread) = self.ratio?;
        let (reply, input) = *self.inputs.iter().find(|(index, _)| *index >= length)?;
        let tokens_of = |index: usize| f64::from(messages[index].tokens);
        let left = made.context.iter().map(|left| match left {
            Retained::Kept(id) => {
                tokens_of(messages.partition_point(|counted| counted.message.id < *id))
            }
            Retained::Written { text, .. } => f64::from(counter.count_text(text)),
        });
        let logged = left.sum::<f64>() + (length..reply).map(tokens_of).sum::<f64>();
        let tokens = input as f64 - self.base - ratio * logged;
        // The ratio of the other requests says how far this one may be off.
        (tokens >= FEWEST && spread * logged <= tokens / 2.0).then_some(tokens)
    }
}

/// The texts that the program may have put back, the newest first, up to the unlogged tokens or, if
/// these are unknown, up to what it puts back at most.
fn reattached(
    rule: &Reattached,
    made: &RecordedCompaction,
    messages: &[Arc<CountedMessage>],
    unlogged: Option<f64>,
    counter: &dyn TokenCounter,
) -> Vec<String> {
    let stays =
        |counted: &Arc<CountedMessage>| made.context.contains(&Retained::Kept(counted.message.id));
    let results = messages
        .iter()
        .flat_map(|counted| &counted.message.parts)
        .filter_map(|part| match part {
            Part::ToolResult {
                call_id,
                text,
                is_error: false,
            } => Some((call_id.as_str(), text.as_str())),
            _ => None,
        });
    let results = results.collect::<HashMap<_, _>>();
    let mut room = unlogged.unwrap_or(f64::INFINITY);
    let (mut texts, mut names) = (Vec::new(), BTreeSet::new());
    for counted in messages.iter().rev().filter(|counted| !stays(counted)) {
        for part in counted.message.parts.iter().rev() {
            let Part::ToolCall {
                id,
                name,
                arguments,
            } = part
            else {
                continue;
            };
            let Ok(value) = serde_json::from_str::<Value>(arguments) else {
                continue;
            };
            let Some(subject) = value[rule.argument.as_str()]
                .as_str()
                .filter(|_| *name == rule.tool)
            else {
                continue;
            };
            let Some(text) = results.get(id.as_str()) else {
                continue;
            };
            if texts.len() == rule.results as usize || room <= 0.0 {
                return texts;
            }
            if !names.insert(subject.to_owned()) {
                continue;
            }
            let tokens = f64::from(counter.count_text(text)).max(1.0);
            let most = f64::from(rule.tokens).min(room).min(tokens);
            let letters = (text.chars().count() as f64 * most / tokens) as usize;
            texts.push(format!(
                "{subject}\n{}",
                text.chars().take(letters).collect::<String>()
            ));
            room -= most;
        }
    }
    texts
}
