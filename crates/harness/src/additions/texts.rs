//! Texts of one size, made of what was said before a message.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use compactometer_engine::ledger::Lack;
use compactometer_engine::message::part_text;
use compactometer_engine::tokens::TokenCounter;
use compactometer_formats::added_text::AddedText;
use compactometer_text::exact;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::prepare::PreparedScenario;

/// The draws of an added text of the size that `said` has room for; `lack` is what the compaction did
/// not leave.
pub(crate) fn added_texts<'s>(
    text: AddedText,
    said: &'s SaidUpTo<'_>,
    lack: &Lack<'_>,
) -> Box<dyn Iterator<Item = String> + 's> {
    let one = |text: String| Box::new(std::iter::once(text));
    match text {
        AddedText::RandomValues => Box::new(said.random().take(text.row().draws)),
        AddedText::NewestText => one(said.newest()),
        AddedText::FrequentValues => one(said.frequent()),
        AddedText::Ledger => one(lack.page(said.budget, said.counter).text),
        AddedText::BareValues => one(said.bare(lack)),
    }
}

/// What was said in the first `length` messages, for texts of at most `budget` tokens.
pub(crate) struct SaidUpTo<'p> {
    prepared: &'p PreparedScenario,
    length: usize,
    budget: u32,
    counter: &'p dyn TokenCounter,
    /// The values, each with the number of messages that said it.
    values: Vec<(usize, String)>,
}

impl<'p> SaidUpTo<'p> {
    /// Its values are the facts. They must be all exact values: the facts of a suite are mostly
    /// those that calls use later.
    pub(crate) fn of_facts(
        prepared: &'p PreparedScenario,
        length: usize,
        budget: u32,
        counter: &'p dyn TokenCounter,
    ) -> Self {
        let times = |mentions: &Vec<usize>| mentions.partition_point(|message| *message < length);
        let values = prepared.mentions.iter().zip(&prepared.scenario.facts);
        let values = values
            .map(|(mentions, fact)| (times(mentions), fact.value.clone()))
            .filter(|(times, _)| *times > 0);
        SaidUpTo {
            prepared,
            length,
            budget,
            counter,
            values: values.collect(),
        }
    }

    /// Its values are all exact values in the texts and arguments of the messages.
    pub(crate) fn of_messages(
        prepared: &'p PreparedScenario,
        length: usize,
        budget: u32,
        counter: &'p dyn TokenCounter,
    ) -> Self {
        let mut times = BTreeMap::<String, usize>::new();
        for counted in &prepared.messages[..length] {
            let texts = counted.message.parts.iter().filter_map(part_text);
            let said = texts
                .flat_map(exact::within)
                .map(|exact| exact.value)
                .collect::<BTreeSet<_>>();
            said.into_iter()
                .for_each(|value| *times.entry(value).or_default() += 1);
        }
        let values = times
            .into_iter()
            .map(|(value, times)| (times, value))
            .collect();
        SaidUpTo {
            prepared,
            length,
            budget,
            counter,
            values,
        }
    }

    /// The values that most messages said, one a line.
    fn frequent(&self) -> String {
        let mut said = self.values.iter().collect::<Vec<_>>();
        said.sort_by_key(|(times, _)| Reverse(*times));
        that_fit(
            said.into_iter().map(|(_, value)| format!("{value}\n")),
            self.budget,
            self.counter,
        )
    }

    /// Lists of random values, one a line. Each is another draw.
    fn random(&self) -> impl Iterator<Item = String> {
        let mut said = self
            .values
            .iter()
            .map(|(_, value)| format!("{value}\n"))
            .collect::<Vec<_>>();
        let mut rng = ChaCha8Rng::seed_from_u64(self.length as u64);
        std::iter::repeat_with(move || {
            said.shuffle(&mut rng);
            that_fit(said.iter().cloned(), self.budget, self.counter)
        })
    }

    /// The end of the conversation.
    fn newest(&self) -> String {
        let (mut room, mut pieces) = (self.budget, Vec::new());
        let messages = self.prepared.messages[..self.length].iter().rev();
        for text in
            messages.flat_map(|counted| counted.message.parts.iter().rev().filter_map(part_text))
        {
            let tokens = self.counter.count_text(text);
            if tokens > room {
                let letters = text.chars().count() * room as usize / tokens as usize;
                pieces.push(last(text, letters, room, self.counter));
                break;
            }
            room -= tokens;
            pieces.push(text.to_owned());
        }
        pieces.reverse();
        pieces.join("\n")
    }

    /// The values that a ledger would list, and more of them, without what they belong to.
    fn bare(&self, lack: &Lack<'_>) -> String {
        let lines = lack.values().map(|value| format!("{value}\n"));
        that_fit(lines, self.budget, self.counter)
    }
}

/// The last letters of a text, or fewer of them, so that they fit.
fn last(text: &str, mut letters: usize, room: u32, counter: &dyn TokenCounter) -> String {
    let all = text.chars().count();
    loop {
        let end = text.chars().skip(all - letters).collect::<String>();
        if counter.count_text(&end) <= room {
            return end;
        }
        letters -= letters.div_ceil(20);
    }
}

/// The lines before the first that does not fit.
fn that_fit(
    lines: impl Iterator<Item = String>,
    mut room: u32,
    counter: &dyn TokenCounter,
) -> String {
    let mut text = String::new();
    for line in lines {
        let tokens = counter.count_text(&line);
        if tokens > room {
            break;
        }
        room -= tokens;
        text.push_str(&line);
    }
    text
}
