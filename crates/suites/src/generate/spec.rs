//! The spec from which a suite is generated: a small TOML file.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use compactometer_formats::scenario::Split;
use serde::Deserialize;

use crate::generate::agent::AgentTable;
use crate::generate::domains::{self, Domain};
use crate::generate::part::SplitPart;
use crate::generate::range::{ordered, within};
use crate::generate::session::SessionTable;
use crate::generate::statements::Statements;
use crate::generate::wishes;

/// A validated spec. Only [`Spec::parse`] makes one, so [`crate::generate::generate`] cannot fail.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The suite's name, which also names its conversations.
    pub(crate) name: String,
    /// The seed of all random choices.
    pub(crate) seed: u64,
    /// The context window for which the suite is made, in tokens.
    pub(crate) window: u32,
    /// Ids of the metrics that answer what the suite is for.
    #[serde(default)]
    pub(crate) headline_metrics: Vec<String>,
    #[serde(rename = "domains")]
    domain_names: Vec<String>,
    /// The domains of the conversations, used in turn.
    #[serde(skip)]
    pub(crate) domains: Vec<&'static Domain>,
    conversations: usize,
    /// The length of each conversation in tokens. A file has some, used in turn.
    pub(crate) lengths: Vec<u32>,
    /// The number of facts of the shortest and of the longest conversation, not counting decoys.
    pub(crate) facts: [usize; 2],
    /// The fewest and the most observation points of a conversation.
    pub(crate) points: [usize; 2],
    /// The number of questions per conversation that nothing in it answers.
    #[serde(default)]
    pub(crate) unanswerable: usize,
    /// The number of questions per conversation about the order in which some of its facts were
    /// stated.
    #[serde(default)]
    pub(crate) orders: usize,
    /// The number of rules, preferences and requests of each user that have no exact value.
    #[serde(default)]
    pub(crate) said: usize,
    /// The largest number of questions per conversation that ask for a value. Without it, each fact
    /// is asked for.
    pub(crate) probes: Option<usize>,
    /// The fewest and the most hours that the user is away before each observation point. Without
    /// it, messages have no times.
    pub(crate) pauses: Option<[usize; 2]>,
    /// What the agent's memory holds, if there is one. Then each person has two conversations in a
    /// row.
    pub(crate) memory: Option<MemorySpec>,
    /// How the conversations resemble sessions of a real agent.
    #[serde(default)]
    pub(crate) session: SessionTable,
    /// How the agent works. Without it, it makes few calls for each request and never needs what it
    /// read before.
    pub(crate) agent: Option<AgentTable>,
    /// The number of conversations in each split. Without splits, all are for development and draw
    /// from every list.
    pub(crate) splits: Option<Splits>,
}

/// How much memory holds.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemorySpec {
    /// The number of facts in the memory document of a person.
    pub(crate) document: usize,
    /// The largest number of facts of a person's first conversation that notes pass on to the
    /// second.
    pub(crate) notes: usize,
}

/// The number of conversations in each split, in this order.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Splits {
    pub(crate) dev: usize,
    pub(crate) test: usize,
    #[serde(default)]
    pub(crate) calibration: usize,
}

/// Conversations of one person.
pub(crate) const THREADS: usize = 2;
/// Context windows that a spec may ask for, in tokens.
const WINDOWS: RangeInclusive<u32> = 2_000..=200_000;
/// Facts per conversation. Twelve leave room for most categories and 24 for all. More than 60 would
/// need more values than the forms have for a whole suite.
const FACTS: RangeInclusive<usize> = 12..=60;
/// Observation points per conversation.
const POINTS: RangeInclusive<usize> = 2..=12;
/// Questions without an answer per conversation.
const UNANSWERABLE: RangeInclusive<usize> = 0..=12;
/// Questions about an order per conversation.
const ORDERS: RangeInclusive<usize> = 0..=6;
/// Questions per conversation, if a spec limits them.
const MOST_PROBES: usize = 100;
/// Hours of an absence: up to a year.
const PAUSES: RangeInclusive<usize> = 1..=8_760;
/// Facts in a memory document, and facts that notes pass on.
const REMEMBERED: RangeInclusive<usize> = 1..=20;
/// Conversations per suite.
const CONVERSATIONS: RangeInclusive<usize> = 1..=200;
/// Facts per suite and per group of splits that share their vocabulary. The forms have no more
/// values.
const MOST_FACTS: usize = 6_000;
const MOST_FACTS_OF_PART: usize = 3_500;
/// The longest conversation, in tokens.
const LONGEST: u32 = 1_000_000;

impl Spec {
    /// Parses a spec; errors name `path`.
    ///
    /// # Errors
    /// [`SpecError`] with the file, the key, the value and the accepted values.
    pub fn parse(text: &str, path: &Path) -> Result<Self, SpecError> {
        let wrong = |what| SpecError {
            path: path.to_owned(),
            what,
        };
        let mut spec: Spec =
            toml::from_str(text).map_err(|error| wrong(error.to_string().trim_end().to_owned()))?;
        spec.check().map_err(wrong)?;
        spec.lengths = spec
            .lengths
            .iter()
            .copied()
            .cycle()
            .take(spec.conversations)
            .collect();
        Ok(spec)
    }

    /// A spec of statements in conversations of these lengths.
    ///
    /// # Errors
    /// The key, the value and the accepted values, if the table is wrong.
    pub(crate) fn of_statements(
        statements: &Statements,
        name: &str,
        seed: u64,
        window: u32,
        lengths: Vec<u32>,
    ) -> Result<Self, String> {
        let mut spec = Spec {
            name: name.to_owned(),
            seed,
            window,
            headline_metrics: Vec::new(),
            domain_names: statements.domains.clone(),
            domains: Vec::new(),
            conversations: lengths.len(),
            lengths,
            facts: statements.facts,
            points: statements.points,
            unanswerable: statements.unanswerable,
            orders: statements.orders,
            said: statements.said,
            probes: statements.probes,
            pauses: None,
            memory: None,
            session: statements.session.clone(),
            agent: None,
            splits: None,
        };
        spec.check_keys()?;
        Ok(spec)
    }

    /// Number of conversations.
    pub fn conversations(&self) -> usize {
        self.conversations
    }

    /// The number of the person who has conversation `number`.
    pub(crate) fn person(&self, number: usize) -> usize {
        if self.memory.is_some() {
            number / THREADS
        } else {
            number
        }
    }

    /// The split of conversation `number`.
    pub(crate) fn split(&self, number: usize) -> Split {
        match self.splits {
            Some(splits) if number >= splits.dev + splits.test => Split::Calibration,
            Some(splits) if number >= splits.dev => Split::Test,
            _ => Split::Dev,
        }
    }

    /// The part of the vocabulary that conversation `number` draws from.
    pub(crate) fn part(&self, number: usize) -> SplitPart {
        self.splits.map_or(SplitPart::Whole, |_| {
            SplitPart::of_split(self.split(number))
        })
    }
}

impl Spec {
    fn check(&mut self) -> Result<(), String> {
        check_lengths(&self.lengths, self.window)?;
        self.check_keys()
    }

    /// Checks everything but the lengths.
    fn check_keys(&mut self) -> Result<(), String> {
        check_suite(&self.name, self.window)?;
        within("conversations", self.conversations, &CONVERSATIONS)?;
        ordered("facts", self.facts, &FACTS)?;
        ordered("points", self.points, &POINTS)?;
        within("unanswerable", self.unanswerable, &UNANSWERABLE)?;
        within("orders", self.orders, &ORDERS)?;
        wishes::check(self.said, self.splits.is_some())?;
        if let Some(probes) = self.probes {
            // Each point has at least one probe.
            within("probes", probes, &(self.points[1]..=MOST_PROBES))?;
        }
        if let Some(hours) = self.pauses {
            ordered("pauses", hours, &PAUSES)?;
        }
        self.check_memory()?;
        self.session.check()?;
        self.agent.map_or(Ok(()), |agent| agent.check())?;
        self.domains = check_domains(&self.domain_names)?;
        let of_memory = self.memory.map_or(0, |memory| memory.document);
        check_values(self.conversations, self.facts[1] + of_memory, self.splits)
    }

    fn check_memory(&self) -> Result<(), String> {
        let Some(memory) = self.memory else {
            return Ok(());
        };
        within("memory.document", memory.document, &REMEMBERED)?;
        within("memory.notes", memory.notes, &REMEMBERED)?;
        if !self.conversations.is_multiple_of(THREADS) {
            let found = self.conversations;
            return Err(format!(
                "`conversations` is `{found}`; with `[memory]` each person has two, so expected an even number"
            ));
        }
        if self.splits.is_some() {
            return Err(
                "`[splits]` and `[memory]` exclude each other; leave one of them out".to_owned(),
            );
        }
        Ok(())
    }
}

/// What every spec says of its suite.
pub(crate) fn check_suite(name: &str, window: u32) -> Result<(), String> {
    check_name(name)?;
    within("window", window, &WINDOWS)
}

fn check_name(name: &str) -> Result<(), String> {
    let plain =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    if name.is_empty() || !name.chars().all(plain) {
        return Err(format!(
            "`name` is `{name}`; expected lowercase letters, digits and hyphens"
        ));
    }
    Ok(())
}

/// A length of at least twice the window leaves something to forget, and room to ask for it.
fn check_lengths(lengths: &[u32], window: u32) -> Result<(), String> {
    if lengths.is_empty() {
        return Err(
            "`lengths` is empty; expected the length of each conversation in tokens, used in turn"
                .to_owned(),
        );
    }
    let range = 2 * window..=LONGEST;
    lengths
        .iter()
        .try_for_each(|length| within("lengths", *length, &range))
}

/// Generating a suite that needs more values than exist would never end.
fn check_values(conversations: usize, facts: usize, splits: Option<Splits>) -> Result<(), String> {
    let at_most = |what: &str, conversations: usize, most: usize| {
        let count = conversations * facts;
        let message = || {
            format!(
                "{what} have up to `{count}` facts, `conversations` times `facts`; expected at most `{most}`"
            )
        };
        (count <= most).then_some(()).ok_or_else(message)
    };
    at_most("all conversations", conversations, MOST_FACTS)?;
    let Some(Splits {
        dev,
        test,
        calibration,
    }) = splits
    else {
        return Ok(());
    };
    // The numbers of a spec may overflow, so their sum saturates.
    if [dev, test, calibration]
        .into_iter()
        .fold(0, usize::saturating_add)
        != conversations
    {
        return Err(format!(
            "`splits` are `{dev}`, `{test}` and `{calibration}` conversations; expected `{conversations}` in all"
        ));
    }
    at_most("conversations of `test`", test, MOST_FACTS_OF_PART)?;
    at_most(
        "conversations of `dev` and `calibration`",
        dev + calibration,
        MOST_FACTS_OF_PART,
    )
}

fn check_domains(names: &[String]) -> Result<Vec<&'static Domain>, String> {
    let known: Vec<&str> = domains::ALL
        .iter()
        .map(|domain| domain.name.as_str())
        .collect();
    let find = |name: &String| {
        let found = domains::ALL.iter().find(|domain| domain.name == *name);
        found.ok_or_else(|| {
            format!(
                "`domains` contains `{name}`; expected some of `{}`",
                known.join("`, `")
            )
        })
    };
    if names.is_empty() {
        return Err(format!(
            "`domains` is empty; expected some of `{}`",
            known.join("`, `")
        ));
    }
    names.iter().map(find).collect()
}

/// A spec that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("`{}`: {what}", path.display())]
pub struct SpecError {
    pub(crate) path: PathBuf,
    /// The parser's message, or the key, the value and the accepted values.
    pub(crate) what: String,
}
