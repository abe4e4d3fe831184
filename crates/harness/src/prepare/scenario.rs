//! A scenario made ready for replay: counted once, its values found once, shared by every case.

use std::sync::{Arc, OnceLock};

use compactometer_engine::log::{Counted, Log};
use compactometer_engine::message::part_text;
use compactometer_engine::message::{MessageId, Role};
use compactometer_engine::tokens::TokenCounter;
use compactometer_formats::scenario::{Fact, Probe, Scenario, ValueKind};
use compactometer_text::matcher::Matcher;

use crate::prepare::lists::Lists;
use crate::probes::grade::Keys;
use crate::probes::invented::ExactValues;

/// A scenario with everything that does not depend on a strategy.
pub struct Loaded {
    /// The scenario, without its messages.
    pub scenario: Scenario,
    /// Its messages with their tokens. Only this field holds them: a long conversation takes most of a run's memory.
    pub messages: Vec<Arc<Counted>>,
    /// `tokens_before[i]`: tokens of the messages before index `i`; one entry more than messages.
    pub tokens_before: Vec<u64>,
    /// Tokens of the tool definitions, part of every request.
    pub tool_tokens: u32,
    /// For each fact, the indices of the messages that state it, ascending.
    pub mentions: Vec<Vec<usize>>,
    /// For each message, the facts that it states.
    pub stated_in: Lists,
    /// For each fact, the index of the message from which on it is no longer true.
    pub valid_to: Vec<Option<usize>>,
    /// For each fact, the index of the first probe that asks for its value.
    pub asked_by: Vec<Option<usize>>,
    /// Finds facts and decoys, in the scenario's order.
    pub facts: Matcher,
    /// Finds the foils of all facts.
    pub foils: Matcher,
    /// What answers to the probes are held against.
    pub(crate) keys: Keys,
    /// Tells what an answer makes up; made when an answer first needs it.
    pub(crate) exact: OnceLock<ExactValues>,
    /// Finds the facts of foreign scenarios, for chance.
    pub foreign: Matcher,
    /// The value kind of each foreign fact.
    pub foreign_kinds: Vec<ValueKind>,
    /// For each message, the foreign facts that match in it.
    pub foreign_in: Lists,
    /// The conversation cut into pieces, for random contexts.
    pub segments: Segments,
}

/// The pieces of a conversation: each is part of one message and has at most [`SEGMENT_CHARACTERS`].
#[derive(Default)]
pub struct Segments {
    /// The tokens of each piece.
    pub tokens: Vec<u32>,
    /// The facts that match in each piece and that its message states.
    pub facts: Lists,
    /// The foreign facts that match in each piece.
    pub foreign: Lists,
    /// Where the pieces of each message end.
    ends: Vec<u32>,
}

impl Segments {
    /// The pieces of the message at that index.
    pub fn of(&self, message: usize) -> std::ops::Range<u32> {
        message.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[message]
    }
}

/// Longest piece of a random context, in characters (MEASUREMENT section 3, lift).
pub const SEGMENT_CHARACTERS: usize = 240;

/// Foreign scenarios whose facts a case looks for, and fewest that make a chance rate.
pub const FOREIGN_SCENARIOS: usize = 5;

impl Loaded {
    /// Counts a scenario and finds its values; `foreign` are facts of scenarios of other groups.
    pub fn new(mut scenario: Scenario, foreign: &[&Fact], counter: &dyn TokenCounter) -> Self {
        // `collect` would reuse the memory of the old list, which has entries ten times as large.
        let mut messages = Vec::with_capacity(scenario.messages.len());
        messages
            .extend(std::mem::take(&mut scenario.messages).into_iter().map(|message| Counted::new(message, counter)));
        let index = |id: MessageId| messages.partition_point(|counted| counted.message.id < id);
        let facts = Matcher::new(scenario.facts.iter().map(|fact| (fact.sought(), fact.forms())));
        let foils = Matcher::new(
            scenario.facts.iter().flat_map(|fact| fact.foil_values.iter().map(|foil| (fact.sought(), [foil.as_str()]))),
        );
        let foreign_kinds = foreign.iter().map(|fact| fact.value_kind).collect();
        let foreign = Matcher::new(foreign.iter().map(|fact| (fact.sought(), fact.forms())));
        let mentions = scenario
            .facts
            .iter()
            .map(|fact| {
                let mut at = fact.evidence_message_ids.iter().map(|id| index(*id)).collect::<Vec<_>>();
                at.sort_unstable();
                at.dedup();
                at
            })
            .collect::<Vec<_>>();
        let mut loaded = Loaded {
            tokens_before: running_sum(&messages),
            tool_tokens: scenario.tools.iter().map(|tool| counter.count_text(&tool_text(tool))).sum(),
            valid_to: scenario.facts.iter().map(|fact| fact.valid_to.map(index)).collect(),
            asked_by: scenario.facts.iter().map(|fact| asked_by(&scenario, fact)).collect(),
            stated_in: invert(&mentions, messages.len()),
            mentions,
            keys: Keys::new(&scenario, &facts),
            exact: OnceLock::new(),
            facts,
            foils,
            foreign,
            foreign_kinds,
            foreign_in: Lists::with_capacity(messages.len()),
            segments: Segments::default(),
            messages,
            scenario,
        };
        loaded.cut_into_segments(counter);
        loaded
    }

    /// Tokens of the messages in that range of indices.
    pub fn tokens_between(&self, start: usize, end: usize) -> u64 {
        self.tokens_before[end] - self.tokens_before[start]
    }

    /// The index of the first message from that id on.
    pub(crate) fn index_of(&self, id: MessageId) -> usize {
        // Most conversations count their messages through.
        let guess = self.messages.first().map_or(0, |first| id.0.wrapping_sub(first.message.id.0) as usize);
        if self.messages.get(guess).is_some_and(|counted| counted.message.id == id) {
            return guess;
        }
        self.messages.partition_point(|counted| counted.message.id < id)
    }

    /// The first messages as a log.
    pub fn log_of(&self, length: usize) -> Log {
        let mut log = Log::default();
        for counted in &self.messages[..length] {
            // Ids ascend: the suite was validated when it was read.
            let _ = log.push(counted.clone());
        }
        log
    }

    /// Tokens that stand before every conversation of this scenario: system prompt and tool definitions.
    pub fn fixed_tokens(&self) -> u32 {
        let system = self.messages.first().filter(|counted| counted.message.role == Role::System);
        self.tool_tokens + system.map_or(0, |system| system.tokens)
    }

    fn cut_into_segments(&mut self, counter: &dyn TokenCounter) {
        let Segments { tokens, facts: facts_in, foreign: foreign_in, ends } = &mut self.segments;
        // Most messages give one piece.
        tokens.reserve_exact(self.messages.len());
        ends.reserve_exact(self.messages.len());
        (*facts_in, *foreign_in) =
            (Lists::with_capacity(self.messages.len()), Lists::with_capacity(self.messages.len()));
        for (index, counted) in self.messages.iter().enumerate() {
            let stated = self.stated_in.of(index);
            let mut foreign_in_message = Vec::new();
            for text in counted.message.parts.iter().filter_map(part_text) {
                for piece in pieces(text) {
                    let foreign = sorted(found(&self.foreign, piece, !self.foreign.is_empty()));
                    foreign_in_message.extend_from_slice(&foreign);
                    // Most messages state none.
                    let mut facts = sorted(found(&self.facts, piece, !stated.is_empty()));
                    facts.retain(|fact| stated.contains(fact));
                    tokens.push(counter.count_text(piece));
                    facts_in.push(facts);
                    foreign_in.push(foreign);
                }
            }
            foreign_in_message.sort_unstable();
            foreign_in_message.dedup();
            self.foreign_in.push(foreign_in_message);
            ends.push(tokens.len() as u32);
        }
    }
}

/// What a text holds, where it is looked for at all.
fn found<'t>(matcher: &'t Matcher, text: &'t str, is_sought: bool) -> impl Iterator<Item = usize> + 't {
    is_sought.then(|| matcher.find(text)).into_iter().flatten()
}

fn asked_by(scenario: &Scenario, fact: &Fact) -> Option<usize> {
    let asks = |probe: &Probe| !probe.abstain_expected && probe.order.is_empty() && probe.fact_ids.contains(&fact.id);
    scenario.probes.iter().position(asks)
}

/// The text that a tool definition costs in a request.
fn tool_text(tool: &compactometer_engine::model::ToolDefinition) -> String {
    format!("{}\n{}\n{}", tool.name, tool.description, tool.parameters)
}

fn running_sum(messages: &[Arc<Counted>]) -> Vec<u64> {
    let mut sums = vec![0];
    let mut sum = 0;
    for counted in messages {
        sum += u64::from(counted.tokens);
        sums.push(sum);
    }
    sums
}

fn invert(mentions: &[Vec<usize>], messages: usize) -> Lists {
    let facts = mentions.iter().enumerate();
    let mut pairs =
        facts.flat_map(|(fact, at)| at.iter().map(move |message| (*message, fact as u32))).collect::<Vec<_>>();
    pairs.sort_unstable();
    let mut pairs = pairs.into_iter().peekable();
    let mut stated_in = Lists::with_capacity(messages);
    for message in 0..messages {
        stated_in.push(std::iter::from_fn(|| Some(pairs.next_if(|(at, _)| *at == message)?.1)));
    }
    stated_in
}

fn sorted(items: impl Iterator<Item = usize>) -> Vec<u32> {
    let mut items = items.map(|item| item as u32).collect::<Vec<_>>();
    items.sort_unstable();
    items.dedup();
    items
}

/// Pieces of at most [`SEGMENT_CHARACTERS`], cut after a blank where there is one in the second half, so that few values
/// are torn.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.char_indices().nth(SEGMENT_CHARACTERS).map_or(rest.len(), |(at, _)| at);
        let cut = if end == rest.len() { end } else { after_last_blank(&rest[..end]).unwrap_or(end) };
        let (piece, tail) = rest.split_at(cut);
        rest = tail;
        Some(piece)
    })
}

fn after_last_blank(text: &str) -> Option<usize> {
    let (at, blank) = text.char_indices().rev().find(|(_, letter)| letter.is_whitespace())?;
    (at > text.len() / 2).then_some(at + blank.len_utf8())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pieces_are_short_and_lose_nothing(text in "\\PC{0,900}") {
            let all = pieces(&text).collect::<Vec<_>>();
            prop_assert_eq!(all.concat(), text.as_str());
            prop_assert!(all.iter().all(|piece| piece.chars().count() <= SEGMENT_CHARACTERS));
        }
    }
}
