//! The key of a case, its seed and the hash of its scenario.

use std::io::{BufWriter, Write};

use compactometer_engine::budget::Budget;
use compactometer_engine::message::Message;
use compactometer_formats::protocol::{LimitsOf, Protocol};
use compactometer_formats::record::VERSION;
use serde::Serialize;
use serde_json::json;

use super::{Entrant, EntrantKind, PlanOptions};
use crate::probes;

/// What all cases of a plan have in common.
pub(super) struct Keys<'k> {
    pub(super) options: &'k PlanOptions,
    pub(super) suite_hash: &'k str,
    pub(super) tokenizer: &'k str,
    /// The run's trigger, by which uses of old values are told.
    pub(super) trigger: u32,
}

/// How the keys of one row's cases are made: only the conversation differs.
pub(super) struct RowKeys {
    before: String,
    after: String,
    /// What the key is hashed with again, in this order.
    layers: Vec<String>,
}

impl RowKeys {
    /// A hash of everything that the record of this conversation's case depends on.
    pub(super) fn key(&self, scenario_hash: &str) -> String {
        let identity = [&*self.before, scenario_hash, &*self.after].concat();
        self.layers.iter().fold(hashed(&identity), |key, layer| {
            hashed(&format!("[\"{key}\",{layer}]"))
        })
    }
}

impl Keys<'_> {
    /// `entrant` has its settings under the budget.
    pub(super) fn of_row(&self, entrant: &Entrant, protocol: Protocol, budget: &Budget) -> RowKeys {
        let options = self.options;
        let identity = json!({
            "engine": env!("CARGO_PKG_VERSION"),
            "record": VERSION,
            "scenario": "",
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
        });
        let own_trigger = entrant
            .trigger
            .as_ref()
            .filter(|_| protocol.limits() == LimitsOf::Strategy);
        // Each came after keys without it were recorded, so it is hashed on top of them.
        let layers = [
            entrant
                .addition
                .map(|addition| json!({ "addition": addition }).to_string()),
            entrant
                .absence
                .map(|absence| json!({ "absence": absence }).to_string()),
            own_trigger.map(|trigger| json!({ "when": trigger }).to_string()),
            // Elsewhere the trigger is in the budget.
            (protocol.limits() == LimitsOf::Strategy)
                .then(|| json!({ "common": self.trigger }).to_string()),
            options
                .target
                .as_ref()
                .map(|target| json!({ "target": target }).to_string()),
            options
                .checkpointer
                .as_ref()
                .map(|checkpointer| json!({ "checkpointer": checkpointer }).to_string()),
            options
                .judge
                .as_ref()
                .map(|judge| format!("{},{}", json!(judge), json!(probes::JUDGE_IDENTITY))),
        ];
        let identity = identity.to_string();
        // No text within a string has these quotes, since JSON escapes them.
        const SCENARIO: &str = "\"scenario\":\"";
        let at = identity
            .find(&format!("{SCENARIO}\""))
            .map_or(0, |at| at + SCENARIO.len());
        let (before, after) = identity.split_at(at);
        RowKeys {
            before: before.to_owned(),
            after: after.to_owned(),
            layers: layers.into_iter().flatten().collect(),
        }
    }
}

/// The numbers that keys hold in place of the sources' names: recorded cases have keys that were
/// made with them.
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
        EntrantKind::Strategy(spec, _) => NUMBERED
            .iter()
            .fold(spec.source.to_owned(), |source, (name, number)| {
                source.replace(name, number)
            }),
        EntrantKind::Control(_) | EntrantKind::Recorded(_) => "MEASUREMENT, controls".to_owned(),
        EntrantKind::Custom(custom) => format!("custom: {}", custom.identity()),
    }
}

/// A key as a number: it is 32 hexadecimal digits.
pub(super) fn number(key: &str) -> u128 {
    u128::from_str_radix(key, 16).unwrap_or_default()
}

fn hashed(identity: &str) -> String {
    blake3::hash(identity.as_bytes()).to_hex()[..32].to_owned()
}

/// The seed of a scenario's cases. It depends on what the messages say and not on the facts, so
/// that a change of facts changes no draw and leaves recorded calls valid.
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
    let _ = serde_json::to_writer(&mut out, &content)
        .map_err(std::io::Error::from)
        .and_then(|()| out.flush());
    drop(out);
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use compactometer_engine::budget::Budget;
    use compactometer_formats::protocol::Protocol;
    use serde_json::{Value, json};

    use super::{Keys, hashed, key_source};
    use crate::entrants::all;
    use crate::plan::PlanOptions;

    #[test]
    fn a_rows_keys_are_hashes_of_everything_at_once() {
        let entrant = all().next().expect("there are entrants");
        let budget = Budget::matched(1000, 800, 300, 0.5).expect("holds");
        // A text that looks like what the conversation's hash is put into.
        let summarizer = "m\",\"scenario\":\"\",\"x".to_owned();
        let options = PlanOptions {
            summarizer: summarizer.clone(),
            judge: Some("j".to_owned()),
            ..PlanOptions::default()
        };
        let keys = Keys {
            options: &options,
            suite_hash: "s",
            tokenizer: "t",
            trigger: 1,
        };
        let row = keys.of_row(&entrant, Protocol::Matched, &budget);
        let identity: Value =
            serde_json::from_str(&[&*row.before, "abc", &*row.after].concat()).expect("JSON");
        assert_eq!(
            (&identity["scenario"], &identity["model"]),
            (&json!("abc"), &json!(summarizer))
        );
        let judged = json!([
            hashed(&identity.to_string()),
            "j",
            crate::probes::JUDGE_IDENTITY
        ]);
        assert_eq!(row.key("abc"), hashed(&judged.to_string()));
    }

    #[test]
    fn the_sources_in_keys_never_change() {
        let sources = all()
            .map(|entrant| format!("{}: {}", entrant.name, key_source(&entrant)))
            .collect::<Vec<_>>();
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
            assert!(
                sources.iter().any(|source| source == expected),
                "no `{expected}` in {sources:?}"
            );
        }
    }
}
