//! A scenario made ready for replay. It is counted and searched once, and all cases share it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use compactometer_engine::log::{Log, Pending};
use compactometer_engine::message::{MessageId, Role, part_text};
use compactometer_engine::model::ToolDefinition;
use compactometer_engine::tokens::CountedMessage;
use compactometer_engine::tokens::TokenCounter;
use compactometer_engine::view::View;
use compactometer_formats::record::Held;
use compactometer_formats::scenario::{Fact, Probe, Scenario};
use compactometer_text::exact;
use compactometer_text::generic::is_generic;
use compactometer_text::matcher::Matcher;

use super::checkers::Stated;
use super::foreign::ForeignPool;
use super::references::References;
use super::requests::{HeldInPiece as InRequest, Searched};
use super::said_in_messages::SaidInMessages;
use super::uses::{OtherNames, Unlogged, Uses, unlogged};
use super::written::WrittenTexts;
use super::{Checks, KeptTexts, Lists};

/// A scenario with everything that depends on no strategy.
pub struct PreparedScenario {
    /// The scenario, without its messages.
    pub scenario: Arc<Scenario>,
    /// Its messages with their tokens. Only this field holds them, since a long conversation takes
    /// most of a run's memory.
    pub messages: Vec<Arc<CountedMessage>>,
    /// `tokens_before[i]` counts the tokens of the messages before index `i`. There is one entry
    /// more than messages.
    pub tokens_before: Vec<u64>,
    /// `last_user[i]` is the index of the last user message before index `i`. There is one entry more
    /// than messages.
    last_user: Vec<Option<usize>>,
    /// Tokens of the tool definitions, part of every request.
    pub tool_tokens: u32,
    /// For each fact, the indices of the messages that state it, ascending.
    pub mentions: Vec<Vec<usize>>,
    /// For each message, the facts that it states.
    pub stated_in: Lists,
    /// For each message, the facts that its calls use.
    pub(crate) used_in: Lists,
    /// For each fact, the index of the message that makes it untrue.
    pub valid_to: Vec<Option<usize>>,
    /// For each fact, whether it has a decoy.
    pub(crate) has_decoy: Vec<bool>,
    /// For each fact, the index of the first probe that asks for its value.
    pub asked_by: Vec<Option<usize>>,
    /// Finds facts and decoys, in the scenario's order.
    pub facts: Matcher,
    /// What pieces of requests hold.
    searched: Searched,
    pub(crate) written: WrittenTexts,
    /// Every exact value of the conversation in small letters, with the index of the first message
    /// that holds it. They are collected when an answer first needs them.
    exact: OnceLock<HashMap<String, usize>>,
    /// Where texts of the conversation are, built when a text that quotes it is first kept.
    references: OnceLock<References>,
    /// What persons said, found when it is first looked for.
    said: OnceLock<SaidInMessages>,
    /// How calls use the facts.
    pub uses: Uses,
    /// Other names of the paths among them; absent if there are none.
    names: Option<OtherNames>,
    /// What the record of each recorded compaction lacks.
    pub(crate) unlogged: Vec<Unlogged>,
    /// What only a replay needs, made when the first one begins: a plan of many cases may be one
    /// that other processes run.
    checks: OnceLock<Box<Checks>>,
    /// The conversations that foreign facts come from, if it is one of a suite.
    pool: Option<(Arc<ForeignPool>, &'static dyn TokenCounter)>,
}

impl PreparedScenario {
    /// Counts a scenario and finds its values, for a replay. `foreign` are facts of scenarios of
    /// other groups.
    pub fn new(scenario: Scenario, foreign: &[&Fact], counter: &dyn TokenCounter) -> Self {
        let prepared = PreparedScenario::searched(scenario, counter);
        let checks = OnceLock::from(Box::new(Checks::new(
            &prepared.stated_facts(),
            foreign,
            counter,
        )));
        PreparedScenario { checks, ..prepared }
    }

    /// Every scenario of a suite; each gets foreign facts of the others. Each is moved, since a
    /// copy of a large suite would double the memory.
    pub(crate) fn all(
        scenarios: Vec<Scenario>,
        suite_hash: &str,
        counter: &'static dyn TokenCounter,
    ) -> Vec<Arc<PreparedScenario>> {
        let pool = Arc::new(ForeignPool {
            suite_hash: suite_hash.to_owned(),
            scenarios: OnceLock::new(),
        });
        let prepare = |scenario| {
            let searched = PreparedScenario::searched(scenario, counter);
            Arc::new(PreparedScenario {
                pool: Some((Arc::clone(&pool), counter)),
                ..searched
            })
        };
        // `collect` would reuse the memory of the old list, which has larger entries.
        let mut all = Vec::with_capacity(scenarios.len());
        all.extend(scenarios.into_iter().map(prepare));
        pool.scenarios.get_or_init(|| {
            all.iter()
                .map(|prepared| Arc::clone(&prepared.scenario))
                .collect()
        });
        all
    }

    /// What a replay checks texts and answers with. A scenario that is searched only has none.
    #[inline]
    pub fn checks(&self) -> &Checks {
        match self.checks.get() {
            Some(checks) => checks,
            None => self.make_checks(),
        }
    }

    #[cold]
    fn make_checks(&self) -> &Checks {
        self.checks.get_or_init(|| match &self.pool {
            Some((pool, counter)) => Box::new(pool.checks(&self.stated_facts(), *counter)),
            None => Box::default(),
        })
    }

    /// Counts a scenario and finds its values and how calls use them, without what only strategies
    /// and their controls need.
    pub fn searched(mut scenario: Scenario, counter: &dyn TokenCounter) -> Self {
        // `collect` would reuse the memory of the old list, which has entries ten times as large.
        let mut messages = Vec::with_capacity(scenario.messages.len());
        messages.extend(
            std::mem::take(&mut scenario.messages)
                .into_iter()
                .map(|message| CountedMessage::new(message, counter)),
        );
        let index = |id: MessageId| messages.partition_point(|counted| counted.message.id < id);
        let facts = Matcher::new(
            scenario
                .facts
                .iter()
                .map(|fact| (fact.sought(), fact.forms())),
        );
        let mentions = scenario
            .facts
            .iter()
            .map(|fact| mentions(fact, index))
            .collect::<Vec<_>>();
        let used = scenario.facts.iter().map(|fact| {
            let used_at = fact.used_at.iter().map(|id| index(*id));
            used_at.collect::<Vec<_>>()
        });
        let used_in = invert(&used.collect::<Vec<_>>(), messages.len());
        let names = OtherNames::new(&scenario.facts, &scenario.directories, messages.len());
        PreparedScenario {
            uses: Uses::new(&scenario.facts, (&messages, &used_in), &facts),
            used_in,
            unlogged: unlogged(&scenario, &messages, (&facts, names.as_ref()), counter),
            names,
            tokens_before: running_sum(&messages),
            last_user: last_user(&messages),
            tool_tokens: scenario
                .tools
                .iter()
                .map(|tool| counter.count_text(&tool_text(tool)))
                .sum(),
            valid_to: scenario
                .facts
                .iter()
                .map(|fact| fact.valid_to.map(index))
                .collect(),
            has_decoy: has_decoy(&scenario.facts),
            asked_by: scenario
                .facts
                .iter()
                .map(|fact| asked_by(&scenario, fact))
                .collect(),
            stated_in: invert(&mentions, messages.len()),
            mentions,
            exact: OnceLock::new(),
            references: OnceLock::new(),
            said: OnceLock::new(),
            facts,
            searched: Searched::default(),
            written: WrittenTexts::default(),
            messages,
            scenario: Arc::new(scenario),
            checks: OnceLock::new(),
            pool: None,
        }
    }

    fn stated_facts(&self) -> Stated<'_> {
        let PreparedScenario {
            scenario,
            messages,
            facts,
            mentions,
            stated_in,
            ..
        } = self;
        Stated {
            scenario,
            messages,
            facts,
            mentions,
            stated_in,
        }
    }

    /// Tokens of the messages in that range of indices.
    pub fn tokens_between(&self, start: usize, end: usize) -> u64 {
        self.tokens_before[end] - self.tokens_before[start]
    }

    /// The pending part of the log when it has that length.
    pub(crate) fn pending(&self, length: usize) -> Pending {
        Pending {
            last_user: self.last_user[length],
            batch: Pending::batch_of(&self.messages[..length]),
        }
    }

    /// The index of the first message whose id is not lower.
    pub(crate) fn index_of(&self, id: MessageId) -> usize {
        // The ids of most conversations have no gaps.
        let guess = self
            .messages
            .first()
            .map_or(0, |first| id.0.wrapping_sub(first.message.id.0) as usize);
        if self
            .messages
            .get(guess)
            .is_some_and(|counted| counted.message.id == id)
        {
            return guess;
        }
        self.messages
            .partition_point(|counted| counted.message.id < id)
    }

    /// What persons said, and which messages say it.
    pub(crate) fn said_in_messages(&self) -> &SaidInMessages {
        self.said
            .get_or_init(|| SaidInMessages::new(&self.scenario, &self.messages))
    }

    /// Whether what the compaction at that length of the log left holds a fact's value.
    /// `is_as_said` if it holds it as it was said.
    pub(crate) fn is_in_left(
        &self,
        fact: u32,
        is_as_said: bool,
        left: &View,
        compacted_at: usize,
    ) -> Held {
        let index = |id| self.index_of(id);
        let is_named = || {
            self.names.as_ref().is_some_and(|names| {
                names.holds(fact, (left, &self.facts), index, compacted_at, |_| true)
            })
        };
        match is_as_said {
            true => Held::AsSaid,
            false if is_named() => Held::NamedOtherwise,
            false => Held::OutOfSight,
        }
    }

    /// What the pieces of a request's text hold.
    pub(crate) fn in_request(&self, text: &str) -> Vec<Arc<InRequest>> {
        self.searched.in_pieces(text, |piece| InRequest {
            facts: self.facts.find(piece).map(|fact| fact as u32).collect(),
            named: self.named_in(piece).collect(),
        })
    }

    /// The facts whose files a text names otherwise.
    pub(crate) fn named_in<'t>(&'t self, text: &'t str) -> impl Iterator<Item = u32> + 't {
        self.names
            .iter()
            .flat_map(|names| names.found_in(text, &self.facts))
    }

    /// Whether a view names a fact's file otherwise outside of what a model wrote.
    pub(crate) fn is_named_unwritten(&self, fact: u32, left: &View, compacted_at: usize) -> bool {
        let index = |id| self.index_of(id);
        self.names.as_ref().is_some_and(|names| {
            names.holds(fact, (left, &self.facts), index, compacted_at, |origin| {
                !origin.is_of_model()
            })
        })
    }

    /// Whether the request after the recorded compaction at that length of the log may hold a
    /// fact's value, with what its program is known to put back; nothing if that is not known.
    pub(crate) fn held_at_most(&self, fact: u32, held: Held, compacted_at: usize) -> Option<bool> {
        let mut made = self.scenario.compactions.iter().zip(&self.unlogged);
        let (_, unlogged) = made.find(|(made, _)| self.index_of(made.after) + 1 == compacted_at)?;
        unlogged
            .attached
            .as_ref()
            .map(|attached| held != Held::OutOfSight || attached.contains(&fact))
    }

    /// Whether any project may have a fact's value.
    pub(crate) fn is_generic(&self, fact: usize) -> bool {
        let row = &self.scenario.facts[fact];
        row.generic || is_generic(&row.value, row.value_kind)
    }

    /// Lengths of the log at the recorded compactions that cannot be measured, in order.
    pub(crate) fn unmeasured(&self) -> impl Iterator<Item = usize> {
        let before = self
            .scenario
            .unmeasured
            .iter()
            .filter_map(|left_out| left_out.after);
        before.map(|after| self.index_of(after) + 1)
    }

    /// Whether a summary of the recorded program was there when the log had that length.
    pub(crate) fn is_shaped(&self, length: usize) -> bool {
        let last = self.scenario.last_unshaped();
        last.is_some_and(|after| length > 0 && self.messages[length - 1].message.id >= after)
    }

    /// A text that quotes the conversation, with whole parts of messages and kept texts named
    /// instead of repeated.
    pub(crate) fn shorten(&self, text: &str, texts: &KeptTexts) -> String {
        self.references
            .get_or_init(|| References::new(&self.messages))
            .shorten(&self.messages, texts, text)
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

    /// Tokens that no compaction can remove: system prompt and tool definitions.
    pub fn fixed_tokens(&self) -> u32 {
        let system = self
            .messages
            .first()
            .filter(|counted| counted.message.role == Role::System);
        self.tool_tokens + system.map_or(0, |system| system.tokens)
    }

    /// An estimate of the tokens that preceded every recorded request and are not in the log, from
    /// the first call with usage; 0 if there is none.
    pub fn fixed_prefix_tokens(&self) -> u32 {
        let of_call = |counted: &CountedMessage| {
            let usage = counted
                .message
                .usage
                .as_ref()
                .filter(|_| counted.message.role == Role::Assistant)?;
            Some(usage.total_input()).filter(|input| *input > 0)
        };
        let mut reported = self.messages.iter().zip(&self.tokens_before);
        let first = reported.find_map(|(counted, before)| Some((of_call(counted)?, *before)));
        let known = |before: u64| before + u64::from(self.tool_tokens);
        first.map_or(0, |(input, before)| {
            input
                .saturating_sub(known(before))
                .try_into()
                .unwrap_or(u32::MAX)
        })
    }

    /// Whether a message before that index states this exact value, whatever the case of its
    /// letters.
    pub(crate) fn states_before(&self, index: usize, value: &str) -> bool {
        let first = self
            .exact
            .get_or_init(|| exact_values(&self.messages))
            .get(&value.to_lowercase());
        first.is_some_and(|first| *first < index)
    }
}

fn exact_values(messages: &[Arc<CountedMessage>]) -> HashMap<String, usize> {
    let mut first = HashMap::new();
    for (index, counted) in messages.iter().enumerate() {
        for exact in counted
            .message
            .parts
            .iter()
            .filter_map(part_text)
            .flat_map(exact::within)
        {
            first.entry(exact.value.to_lowercase()).or_insert(index);
        }
    }
    first
}

/// The indices of the messages that state the fact, ascending.
fn mentions(fact: &Fact, index: impl Fn(MessageId) -> usize) -> Vec<usize> {
    let mut at = fact
        .evidence_message_ids
        .iter()
        .map(|id| index(*id))
        .collect::<Vec<_>>();
    at.sort_unstable();
    at.dedup();
    at
}

fn has_decoy(facts: &[Fact]) -> Vec<bool> {
    let of_decoys = facts.iter().filter_map(|fact| fact.decoy_of.as_deref());
    let paired: HashSet<&str> = of_decoys.collect();
    let is_paired = |fact: &Fact| paired.contains(fact.id.as_str());
    facts.iter().map(is_paired).collect()
}

fn asked_by(scenario: &Scenario, fact: &Fact) -> Option<usize> {
    let asks = |probe: &Probe| {
        !probe.abstain_expected && probe.order.is_empty() && probe.fact_ids.contains(&fact.id)
    };
    scenario.probes.iter().position(asks)
}

/// The text that a tool definition costs in a request.
fn tool_text(tool: &ToolDefinition) -> String {
    format!("{}\n{}\n{}", tool.name, tool.description, tool.parameters)
}

fn running_sum(messages: &[Arc<CountedMessage>]) -> Vec<u64> {
    let mut sums = vec![0];
    let mut sum = 0;
    for counted in messages {
        sum += u64::from(counted.tokens);
        sums.push(sum);
    }
    sums
}

fn last_user(messages: &[Arc<CountedMessage>]) -> Vec<Option<usize>> {
    let mut last = vec![None];
    for (index, counted) in messages.iter().enumerate() {
        let is_user = counted.message.role == Role::User;
        last.push(if is_user { Some(index) } else { last[index] });
    }
    last
}

fn invert(mentions: &[Vec<usize>], messages: usize) -> Lists {
    let facts = mentions.iter().enumerate();
    let mut pairs = facts
        .flat_map(|(fact, at)| at.iter().map(move |message| (*message, fact as u32)))
        .collect::<Vec<_>>();
    pairs.sort_unstable();
    pairs.dedup();
    let mut pairs = pairs.into_iter().peekable();
    let mut stated_in = Lists::with_capacity(messages);
    for message in 0..messages {
        stated_in.push(std::iter::from_fn(|| {
            Some(pairs.next_if(|(at, _)| *at == message)?.1)
        }));
    }
    stated_in
}
