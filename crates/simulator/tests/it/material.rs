//! Conversations and prompts for the tests. The statements are written for the tests. The prompts
//! are the engine's and rewordings of them.

use std::fmt::Write as _;

use compactometer_engine::model::{ChatModel, ChatReply, ChatRequest};
use compactometer_simulator::faults::Faulty;
use compactometer_simulator::mock::{self, Mock};
use compactometer_simulator::profile::{Profile, STRONG};

pub(crate) const SUMMARIZE: &str =
    include_str!("../../../engine/src/strategies/summarize/prompt.md");
pub(crate) const PROMPT_CHECKPOINT: &str =
    include_str!("../../../engine/src/strategies/prompt_checkpoint/prompt.md");
pub(crate) const CHAINED: &str = include_str!("../../../engine/src/strategies/chained/prompt.md");
pub(crate) const THRESHOLD: &str =
    include_str!("../../../engine/src/strategies/threshold_summary/prompt.md");
pub(crate) const PROGRESSIVE: &str =
    include_str!("../../../engine/src/strategies/progressive/prompt.md");

/// Fills a prompt's placeholders.
pub(crate) fn fill(prompt: &str, values: &[(&str, &str)]) -> String {
    values
        .iter()
        .fold(prompt.to_owned(), |text, (name, value)| {
            text.replace(&format!("{{{name}}}"), value)
        })
}

/// A prompt that asks for at most `tokens` tokens, or three words for four tokens if it counts
/// words.
pub(crate) fn filled(prompt: &str, messages: &str, tokens: u32) -> String {
    let (words, tokens) = ((tokens * 3 / 4).to_string(), tokens.to_string());
    let values = [
        ("words", words.as_str()),
        ("tokens", &tokens),
        ("previous", "None: this is the first round."),
        ("round", "1"),
        ("user", ""),
    ];
    fill(
        &fill(prompt, &values),
        &[
            ("task", "Move the billing service to the new cluster."),
            ("messages", messages),
        ],
    )
}

pub(crate) fn complete(request: &ChatRequest) -> ChatReply {
    complete_as(&STRONG, request)
}

pub(crate) fn complete_as(profile: &Profile, request: &ChatRequest) -> ChatReply {
    let reply = tokio::runtime::Builder::new_current_thread()
        .build()
        .map(|runtime| runtime.block_on(Mock::new(profile.clone()).complete(request)));
    match reply {
        Ok(Ok(reply)) => reply,
        other => panic!("the mock always replies: {other:?}"),
    }
}

pub(crate) fn ask(prompt: &str, most: u32, seed: u64) -> ChatReply {
    complete(&ChatRequest::prompt(prompt.to_owned(), most, None, seed))
}

pub(crate) fn ask_as(profile: &Profile, prompt: &str, most: u32, seed: u64) -> ChatReply {
    complete_as(
        profile,
        &ChatRequest::prompt(prompt.to_owned(), most, None, seed),
    )
}

/// A value that no other statement contains, for a slot of a seeded conversation.
pub(crate) fn value(slot: usize, salt: u64) -> String {
    let hash = (slot as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ salt.wrapping_mul(0xD1B5_4A32_D192_ED03);
    let number = 1_000 + hash % 9_000;
    match slot % 4 {
        0 => format!("svc-{:04x}-{number}", hash >> 48),
        1 => format!("conf/{:03x}/limits_{number}.toml", (hash >> 40) & 0xFFF),
        2 => format!("{number} ms"),
        _ => format!("TCK-{number}{}", (hash >> 32) & 0xFF),
    }
}

/// A statement of the user or the agent about a value.
pub(crate) fn statement(slot: usize, value: &str) -> String {
    match slot % 6 {
        0 => format!("Please always route the exports through {value} from now on."),
        1 => format!("We decided to keep the quotas at {value} because finance signed off."),
        2 => format!("I prefer the retry pause at {value} for the night batch."),
        3 => format!("Before Friday somebody still has to close {value} with the vendor."),
        4 => format!("The old gateway is {value}, never write to it."),
        _ => format!("I have now moved the worker pool over to {value}."),
    }
}

/// A conversation with one exchange and one statement for each value, mixed with small talk and
/// tool output.
pub(crate) fn conversation(values: &[String]) -> String {
    let mut text = String::new();
    let mut number = 0;
    let mut block = |role: &str, body: &str| {
        number += 1;
        let _ = write!(text, "[{number}] {role}:\n{body}\n\n");
    };
    for (slot, value) in values.iter().enumerate() {
        let said = if value.is_empty() {
            String::new()
        } else {
            statement(slot, value)
        };
        let of_agent = slot % 6 == 5;
        block(
            "user",
            &format!(
                "Let us go on with the rollout. {} What does it look like?",
                if of_agent { "" } else { &said }
            ),
        );
        block(
            "assistant",
            &format!(
                "Sure, I will look at it now. {}\n(calls inspect) {{\"part\": {slot}}}",
                if of_agent { &said } else { "" }
            ),
        );
        let rows = (0..8).map(|row| {
            format!(
                "2031-04-{:02}T10:{row:02}:00Z INFO node-{slot}-{row} latency={}ms ok",
                1 + slot % 28,
                slot * 7 + row
            )
        });
        block(
            "tool",
            &format!("(result) {}", rows.collect::<Vec<_>>().join("\n")),
        );
        block(
            "assistant",
            "The numbers look fine so far, and nothing stands out in the list.",
        );
    }
    text.trim_end().to_owned()
}

/// The values of a seeded conversation.
pub(crate) fn values(count: usize, salt: u64) -> Vec<String> {
    (0..count).map(|slot| value(slot, salt)).collect()
}

/// The share of the values that a text contains.
pub(crate) fn kept(values: &[String], text: &str) -> f64 {
    values
        .iter()
        .filter(|value| text.contains(value.as_str()))
        .count() as f64
        / values.len() as f64
}

/// The mock with a name as users type it, with faults after a `+`.
pub(crate) fn by_name(name: &str) -> Box<dyn ChatModel> {
    let (plain, faults) = name
        .split_once('+')
        .map_or((name, None), |(plain, faults)| (plain, Some(faults)));
    let profile = plain
        .strip_prefix("mock")
        .expect("a mock")
        .trim_start_matches(':');
    let mock = mock::by_name(if profile.is_empty() {
        STRONG.name
    } else {
        profile
    })
    .expect("a profile");
    match faults {
        Some(faults) => Box::new(Faulty::new(Box::new(mock), faults.parse().expect("faults"))),
        None => Box::new(mock),
    }
}
