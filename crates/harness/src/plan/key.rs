//! The key of a case, its seed and the hash of its scenario.

use std::io::{BufWriter, Write};

use compactometer_engine::budget::Budget;
use compactometer_engine::message::Message;
use compactometer_formats::protocol::{LimitsOf, Protocol};
use compactometer_formats::record::VERSION;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Entrant, Entry, PlanOptions};
use crate::probes;

/// What all cases of a plan have in common.
pub(super) struct Keys<'k> {
    pub(super) options: &'k PlanOptions,
    pub(super) suite_hash: &'k str,
    pub(super) tokenizer: &'k str,
}

impl Keys<'_> {
    /// A hash of everything that the case's record depends on; `entrant` has its settings under the budget.
    pub(super) fn key(&self, scenario_hash: &str, entrant: &Entrant, protocol: Protocol, budget: &Budget) -> String {
        let options = self.options;
        let mut key = hashed(&json!({
            "engine": env!("CARGO_PKG_VERSION"),
            "record": VERSION,
            "scenario": scenario_hash,
            // The foreign scenarios are chosen by the suite's hash.
            "suite": self.suite_hash,
            "strategy": entrant.name,
            "source": key_source(entrant),
            "settings": entrant.settings(),
            "protocol": protocol,
            "budget": budget,
            "model": options.summarizer,
            "tokenizer": self.tokenizer,
            "answers": probes::ANSWERS_IDENTITY,
            "seed": options.seed,
        }));
        if let Some(addition) = entrant.addition {
            key = hashed(&json!([key, { "addition": addition }]));
        }
        if let Some(absence) = entrant.absence {
            key = hashed(&json!([key, { "absence": absence }]));
        }
        if let Some(trigger) = entrant.trigger.as_ref().filter(|_| protocol.limits() == LimitsOf::Strategy) {
            key = hashed(&json!([key, { "when": trigger }]));
        }
        // Keys of runs in which one model does everything were recorded first, so the other roles are hashed on top of them.
        if let Some(target) = &options.target {
            key = hashed(&json!([key, { "target": target }]));
        }
        if let Some(checkpointer) = &options.checkpointer {
            key = hashed(&json!([key, { "checkpointer": checkpointer }]));
        }
        if let Some(judge) = &options.judge {
            key = hashed(&json!([key, judge, probes::JUDGE_IDENTITY]));
        }
        key
    }
}

/// The numbers that keys hold in place of the sources' names: recorded cases have keys that were made with them.
const NUMBERED: [(&str, &str); 5] = [
    ("the strategic plan", "000"),
    ("the threshold plan", "001"),
    ("the progressive plan", "002"),
    ("the agent loop", "003"),
    ("the summary chain", "004"),
];

/// An entrant's source as its keys hold it.
fn key_source(entrant: &Entrant) -> String {
    match &entrant.entry {
        Entry::Strategy(spec, _) => {
            NUMBERED.iter().fold(spec.source.to_owned(), |source, (name, number)| source.replace(name, number))
        }
        Entry::Control(_) | Entry::Recorded(_) => "MEASUREMENT, controls".to_owned(),
        Entry::Custom(custom) => format!("custom: {}", custom.identity()),
    }
}

fn hashed(identity: &Value) -> String {
    blake3::hash(identity.to_string().as_bytes()).to_hex()[..32].to_owned()
}

/// The seed of a scenario's cases. It depends on what the messages say and not on the facts, so that a change of facts changes
/// no draw and leaves recorded calls valid.
pub(super) fn seed_of(seed: u64, messages: &[Message]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes());
    hasher.update(hash(messages).as_bytes());
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    u64::from_le_bytes(bytes)
}

fn hash(content: impl Serialize) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut out = BufWriter::with_capacity(64 << 10, &mut hasher);
    // A scenario came from JSON or a generator: it has a JSON form.
    let _ = serde_json::to_writer(&mut out, &content).map_err(std::io::Error::from).and_then(|()| out.flush());
    drop(out);
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::key_source;
    use crate::entrants::all;

    #[test]
    fn the_sources_in_keys_never_change() {
        let sources = all().map(|entrant| format!("{}: {}", entrant.name, key_source(&entrant))).collect::<Vec<_>>();
        for expected in [
            "summarize: 000, part 1 (today's set-up)",
            "prompt-checkpoint: 000, approach A",
            "middleware-checkpoint: 000, approach B",
            "hybrid-checkpoint: 000, part 8",
            "threshold-summary: 001",
            "progressive: 002",
            "handoff: 003",
            "chained: 004",
            "chained-faithful: 004",
            "full: MEASUREMENT, controls",
        ] {
            assert!(sources.iter().any(|source| source == expected), "no `{expected}` in {sources:?}");
        }
    }
}
