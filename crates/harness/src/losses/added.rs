//! Texts of one size that could stand beside what a compaction left: random exact values, and the newest text.

use std::collections::BTreeSet;

use compactometer_engine::tokens::TokenCounter;
use compactometer_formats::losses::VALUE_DRAWS;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::texts;
use crate::prepare::PreparedScenario;

/// The facts whose values such texts hold, as they were said or by another name.
pub(super) struct Added {
    /// For each draw of random values.
    pub(super) random: Vec<BTreeSet<u32>>,
    pub(super) newest: BTreeSet<u32>,
}

impl Added {
    /// The texts of at most `budget` tokens from the conversation up to that length.
    pub(super) fn before(prepared: &PreparedScenario, length: usize, budget: u32, counter: &dyn TokenCounter) -> Self {
        let random = random(prepared, length, budget, counter).iter().map(|text| held(prepared, text)).collect();
        let newest = held(prepared, &newest(prepared, length, budget, counter));
        Added { random, newest }
    }
}

/// Lists of random values, one a line.
fn random(prepared: &PreparedScenario, length: usize, budget: u32, counter: &dyn TokenCounter) -> Vec<String> {
    let is_said = |fact: &usize| prepared.mentions[*fact].first().is_some_and(|first| *first < length);
    let said = (0..prepared.mentions.len()).filter(is_said).map(|fact| {
        let line = format!("{}\n", prepared.scenario.facts[fact].value);
        (counter.count_text(&line), line)
    });
    let mut said = said.collect::<Vec<_>>();
    let mut rng = ChaCha8Rng::seed_from_u64(length as u64);
    let draw = |_| {
        said.shuffle(&mut rng);
        let mut room = budget;
        let mut text = String::new();
        for (tokens, line) in &said {
            if *tokens > room {
                break;
            }
            room -= tokens;
            text.push_str(line);
        }
        text
    };
    (0..VALUE_DRAWS).map(draw).collect()
}

/// The end of the conversation.
fn newest(prepared: &PreparedScenario, length: usize, budget: u32, counter: &dyn TokenCounter) -> String {
    let (mut room, mut pieces) = (budget, Vec::new());
    for text in prepared.messages[..length].iter().rev().flat_map(|counted| texts(counted).rev()) {
        let tokens = counter.count_text(text);
        if tokens > room {
            let letters = text.chars().count() * room as usize / tokens as usize;
            pieces.push(text.chars().skip(text.chars().count() - letters).collect::<String>());
            break;
        }
        room -= tokens;
        pieces.push(text.to_owned());
    }
    pieces.reverse();
    pieces.join("\n")
}

/// The facts whose values a text holds, as they were said or by another name.
fn held(prepared: &PreparedScenario, text: &str) -> BTreeSet<u32> {
    let named = prepared.names.iter().flat_map(|names| names.found_in(text));
    prepared.facts.find(text).map(|fact| fact as u32).chain(named).collect()
}
