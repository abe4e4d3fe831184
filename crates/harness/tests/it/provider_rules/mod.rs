//! Every request that a case makes keeps each provider's published rules in the body that the
//! provider would get: for random conversations, every strategy and control, both protocols, and
//! answers too. The forms of published systems are not exceptions: the client mends what their
//! defects break.

mod conversation;

use std::collections::BTreeMap;
use std::sync::Mutex;

use async_trait::async_trait;
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest};
use compactometer_engine::tokens::Encoding;
use compactometer_formats::protocol::Protocol;
use compactometer_formats::record::Family;
use compactometer_harness::entrants::all;
use compactometer_harness::plan::Shares;
use compactometer_harness::plan::{Plan, PlanOptions};
use compactometer_harness::run::run_case;
use compactometer_models::providers::{ANTHROPIC, OPENAI, OPENAI_COMPATIBLE, OPENAI_RESPONSES};
use compactometer_testing::provider_rules::{anthropic, openai, openai_responses};

/// Requests that an ordinary test run checks; `COMPACTOMETER_REQUESTS` asks for another number.
const REQUESTS: usize = 3_000;
const WINDOW: u32 = 3_000;
/// Shares of the window that a compaction may leave; the smallest leaves hardly any room for a
/// summary.
const RETAINED: [f64; 3] = [0.3, 0.1, 0.02];

/// A model that checks each request as it would be sent.
struct Checked<'m> {
    model: &'m dyn ChatModel,
    found: Mutex<Found>,
}

#[derive(Default)]
struct Found {
    requests: usize,
    with_calls: usize,
    /// How often each rule is broken, with an example.
    broken: BTreeMap<String, (usize, String)>,
}

#[async_trait]
impl ChatModel for Checked<'_> {
    fn name(&self) -> &str {
        self.model.name()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        {
            let mut found = self.found.lock().unwrap();
            found.requests += 1;
            for (provider, rules) in [
                (&OPENAI, openai as fn(&_) -> _),
                (&OPENAI_COMPATIBLE, openai),
                (&OPENAI_RESPONSES, openai_responses),
                (&ANTHROPIC, anthropic),
            ] {
                let body = provider.body(request, "model");
                found.with_calls += usize::from(
                    provider.name == ANTHROPIC.name && body.to_string().contains("\"tool_use\""),
                );
                for rule in rules(&body) {
                    let places = rule
                        .split(|letter: char| letter.is_ascii_digit())
                        .collect::<String>();
                    let row = found
                        .broken
                        .entry(format!("{provider:?} {places}"))
                        .or_default();
                    *row = (row.0 + 1, rule);
                }
            }
        }
        self.model.complete(request).await
    }
}

#[test]
fn every_request_keeps_the_providers_rules() {
    let asked = std::env::var("COMPACTOMETER_REQUESTS")
        .ok()
        .and_then(|number| number.parse().ok());
    let least = asked.unwrap_or(REQUESTS);
    let models = [
        "mock",
        "mock+continues-chat=0.2",
        "mock+empty=0.2,cut-json=0.2",
    ]
    .map(|name| compactometer_models::by_name(name).unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let mut total = Found::default();
    let mut seed = 0;
    while total.requests < least {
        let model = &*models[seed as usize % models.len()];
        for case in plan(seed).cases {
            let checked = Checked {
                model,
                found: Mutex::default(),
            };
            runtime.block_on(run_case(
                &case,
                &checked as &dyn ChatModel,
                &Encoding::O200k,
            ));
            let found = checked.found.into_inner().unwrap();
            total.requests += found.requests;
            total.with_calls += found.with_calls;
            for (rule, (count, example)) in found.broken {
                let row = total
                    .broken
                    .entry(format!("{}: {rule}", case.entrant.name))
                    .or_default();
                *row = (row.0 + count, format!("{example} (seed {seed})"));
            }
        }
        seed += 1;
    }
    println!(
        "{} requests of {seed} conversations, {} with calls",
        total.requests, total.with_calls
    );
    assert!(total.broken.is_empty(), "{:#?}", total.broken);
    assert!(
        total.with_calls * 20 > total.requests,
        "too few requests hold calls: {}",
        total.with_calls
    );
}

fn plan(seed: u64) -> Plan {
    let options = PlanOptions {
        entrants: all()
            .filter(|entrant| entrant.family != Family::Recorded)
            .collect(),
        window: Some(WINDOW),
        shares: Shares {
            retained: RETAINED[seed as usize % RETAINED.len()],
            ..Shares::default()
        },
        protocols: [Protocol::Matched, Protocol::Published].into(),
        scale: f64::from(WINDOW) / 100_000.0,
        summarizer: "mock".to_owned(),
        seed,
        ..PlanOptions::default()
    };
    Plan::new(conversation::suite(seed), options, &Encoding::O200k).unwrap()
}
