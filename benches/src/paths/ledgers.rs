//! A ledger: reading a conversation and making its page.

use compactometer_engine::ledger::Ledger;
use compactometer_engine::tokens::{Encoding, TokenCounter};

use super::{Path, Work};
use crate::conversations::scenario;

const SEED: u64 = 7;
const TURNS: usize = 300;
/// Tokens of the page.
const BUDGET: u32 = 1_800;

pub(super) fn paths() -> Vec<Path> {
    let about = format!("a ledger of {BUDGET} tokens of a conversation of SIZE turns");
    let work = |turns| {
        let messages = scenario(SEED, turns).messages;
        // Loads the vocabulary.
        Encoding::O200k.count_text("ready");
        let work: Work = Box::new(move || {
            let mut ledger = Ledger::default();
            messages.iter().for_each(|message| ledger.add(message));
            u64::from(ledger.page(BUDGET, [], &Encoding::O200k).tokens)
        });
        Ok(work)
    };
    vec![Path::new("ledger", TURNS, about, work)]
}
