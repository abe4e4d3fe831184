//! Every fault has its described effect, at its rate, on the same calls each time, and no other
//! effect.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::material::by_name;
use async_trait::async_trait;
use compactometer_engine::checkpoint::{Examples, LadderReading, Rung, Unreadable, extract};
use compactometer_engine::message::Usage;
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest, Finish};
use compactometer_engine::tokens::{Encoding, TokenCounter};
use compactometer_simulator::faults::{ALL, FaultRates, Faulty, ModelFault};
use proptest::prelude::*;

use crate::material::{
    PROMPT_CHECKPOINT, SUMMARIZE, complete as plain, conversation, filled, values,
};

type Outcome = Result<ChatReply, ChatError>;

/// A model that always gives the same reply.
struct Says(String);

#[async_trait]
impl ChatModel for Says {
    fn name(&self) -> &str {
        "says"
    }

    async fn complete(&self, _: &ChatRequest) -> Outcome {
        let usage = Usage {
            input: 7,
            output: 3,
            ..Usage::default()
        };
        Ok(ChatReply {
            text: self.0.clone(),
            finish: Finish::Stop,
            usage,
            latency_ms: 40,
            served: None,
        })
    }
}

fn run(model: &dyn ChatModel, request: &ChatRequest) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(model.complete(request))
}

fn faulty(faults: &str) -> Box<dyn ChatModel> {
    by_name(&format!("mock:strong+{faults}"))
}

/// A request whose reply has everything that a fault can change: markers, JSON, values, and room
/// for more.
fn request(seed: u64) -> ChatRequest {
    let prompt = filled(PROMPT_CHECKPOINT, &conversation(&values(30, seed)), 300);
    ChatRequest::prompt(prompt, 800, None, seed)
}

fn json(text: &str) -> &str {
    text.split_once("[CHECKPOINT]")
        .map_or("", |(_, json)| json.trim())
}

/// How the engine reads the checkpoint of a reply.
fn reading(reply: &ChatReply) -> LadderReading {
    extract(json(&reply.text), reply.finish, &Examples::default())
        .1
        .reading
}

fn tokens(text: &str) -> u64 {
    u64::from(Encoding::O200k.count_text(text))
}

/// What must hold for a call that a fault struck, given the request, the plain reply and the
/// changed one.
type Check = fn(&ChatRequest, &ChatReply, &ChatReply) -> bool;

const CHANGES: &[(&str, Check)] = &[
    ("continues-chat", |_, _, got| {
        !got.text.contains("[SUMMARY]") && got.text.ends_with("keep in mind?")
    }),
    ("malformed-json", |_, plain, got| {
        got.text.len() > plain.text.len()
            && got.text.contains("[CHECKPOINT]")
            && reading(got) == LadderReading::Rung(Rung::Lenient)
    }),
    ("broken-json", |_, plain, got| {
        got.text.len().abs_diff(plain.text.len()) <= 2
            && got.finish == Finish::Stop
            && [Unreadable::Malformed, Unreadable::Unclosed]
                .map(LadderReading::Unreadable)
                .contains(&reading(got))
    }),
    ("fenced-json", |_, plain, got| {
        json(&got.text) == format!("```json\n{}\n```", json(&plain.text))
    }),
    ("cut-json", |_, plain, got| {
        got.finish == Finish::Length
            && plain.text.starts_with(&got.text)
            && json(&got.text).starts_with('{')
            && [
                LadderReading::Rung(Rung::Partial),
                LadderReading::Unreadable(Unreadable::Unclosed),
            ]
            .contains(&reading(got))
    }),
    ("missing-section", |_, plain, got| {
        plain.text.split("[CHECKPOINT]").next().map(str::trim) == Some(&got.text)
    }),
    ("missing-marker", |_, plain, got| {
        got.text == plain.text.replace("[CHECKPOINT]\n", "")
    }),
    ("empty", |_, _, got| {
        got.text.is_empty() && got.usage.output == 0
    }),
    ("blank", |_, _, got| {
        !got.text.is_empty() && got.text.trim().is_empty()
    }),
    ("swapped-digits", |_, plain, got| {
        let differ = plain
            .text
            .bytes()
            .zip(got.text.bytes())
            .filter(|(one, other)| one != other)
            .collect::<Vec<_>>();
        matches!(differ[..], [(a, b), (c, d)] if a == d && b == c && a.is_ascii_digit() && b.is_ascii_digit())
    }),
    ("stale-value", |request, plain, got| {
        let said = request.texts().collect::<String>();
        let words = |text: &str| {
            text.split([' ', '"', ','])
                .map(|word| word.trim_end_matches('.').to_owned())
                .collect::<Vec<_>>()
        };
        let (before, after) = (words(&plain.text), words(&got.text));
        let changed = before
            .iter()
            .zip(&after)
            .filter(|(newer, older)| newer != older)
            .collect::<Vec<_>>();
        before.len() == after.len()
            && !changed.is_empty()
            && changed.iter().all(|change| *change == changed[0])
            && changed
                .iter()
                .all(|(newer, older)| said.find(older.as_str()) < said.find(newer.as_str()))
            && said.contains(changed[0].1.as_str())
    }),
    ("invented-item", |request, _, got| {
        let numbers = got
            .text
            .split(|letter: char| !letter.is_ascii_digit())
            .filter(|number| number.len() == 6);
        let said = request.texts().collect::<String>();
        numbers.filter(|number| !said.contains(number)).count() == 1
            && reading(got) == LadderReading::Rung(Rung::Strict)
    }),
    ("example-leak", |_, plain, got| {
        let examples = [
            "goal",
            "what",
            "what one must know",
            "decision",
            "preference",
            "now",
        ];
        let count = |text: &str, words: &str| text.matches(words).count();
        examples
            .iter()
            .any(|words| count(&got.text, words) > count(&plain.text, words))
            && reading(got) == LadderReading::Rung(Rung::Strict)
    }),
    ("over-length", |request, _, got| {
        tokens(&got.text) > u64::from(request.max_output_tokens.unwrap_or(0)) * 3 / 2
            && got.finish == Finish::Stop
    }),
    ("dropped", |_, plain, got| {
        let next = plain.text[got.text.len()..].chars().next();
        plain.text.starts_with(&got.text)
            && got.text.len() >= plain.text.len() / 2
            && got.finish == Finish::Length
            && got.text.ends_with(char::is_alphanumeric)
            && next.is_some_and(char::is_alphanumeric)
    }),
    ("reasoning-only", |_, _, got| {
        got.text.is_empty() && got.usage.output == 800 && got.finish == Finish::Length
    }),
    ("filtered", |_, _, got| {
        got.text.is_empty() && got.finish == Finish::ContentFilter
    }),
    ("slow", |_, plain, got| {
        *got == ChatReply {
            latency_ms: plain.latency_ms * 10,
            ..plain.clone()
        }
    }),
];

/// What must hold for the error of a call that a fault struck.
type Fails = fn(&ChatError) -> bool;

const FAILURES: &[(&str, Fails)] = &[
    ("rate-limit", |error| {
        *error
            == ChatError::RateLimited {
                retry_after_ms: None,
            }
    }),
    ("rate-limit-wait", |error| {
        matches!(
            error,
            ChatError::RateLimited {
                retry_after_ms: Some(500..=30_000)
            }
        )
    }),
    ("server-error", |error| {
        matches!(error, ChatError::Server { status: 500..=599 })
    }),
    ("timeout", |error| {
        matches!(error, ChatError::Timeout { after_ms: 1.. })
    }),
    ("refused", |error| {
        matches!(error, ChatError::Refused { .. })
    }),
];

#[test]
fn every_fault_has_its_effect_repeatably() {
    for seed in 0..3 {
        let request = request(seed);
        let plain = plain(&request);
        for fault in ALL {
            let model = faulty(&format!("{}=1", fault.name));
            let outcome = run(&*model, &request);
            assert_eq!(outcome, run(&*model, &request), "{} {seed}", fault.name);
            check(fault, &request, &plain, &outcome);
        }
    }
    assert_eq!(CHANGES.len() + FAILURES.len(), ALL.len());
}

fn check(fault: &ModelFault, request: &ChatRequest, plain: &ChatReply, outcome: &Outcome) {
    match outcome {
        Ok(got) => {
            let (_, holds) = CHANGES
                .iter()
                .find(|(name, _)| *name == fault.name)
                .expect("a row for each fault");
            assert!(
                holds(request, plain, got),
                "{}:\n{plain:?}\n{got:?}",
                fault.name
            );
            assert!(!fault.fails_call());
            assert!(
                fault.name == "reasoning-only" || got.usage.output == tokens(&got.text),
                "{}",
                fault.name
            );
            assert!(
                fault.name == "over-length" || tokens(&got.text) <= 800,
                "{}",
                fault.name
            );
            assert!(
                fault.name == "slow" || got.latency_ms == plain.latency_ms,
                "{}",
                fault.name
            );
        }
        Err(error) => {
            let (_, holds) = FAILURES
                .iter()
                .find(|(name, _)| *name == fault.name)
                .expect("a row for each fault");
            assert!(holds(error), "{}: {error:?}", fault.name);
            assert!(fault.fails_call());
        }
    }
}

#[test]
fn a_rate_of_zero_changes_no_byte() {
    let all = ALL
        .iter()
        .map(|fault| format!("{}=0", fault.name))
        .collect::<Vec<_>>()
        .join(",");
    for seed in 0..3 {
        let request = request(seed);
        assert_eq!(run(&*faulty(&all), &request), Ok(plain(&request)));
    }
}

fn small(seed: u64) -> ChatRequest {
    ChatRequest::prompt(format!("Sum up {seed}."), 50, None, seed)
}

/// The number of 2,000 calls that each fault of a list strikes, in the order of the list.
fn struck(faults: &str, names: &[&str]) -> Vec<u32> {
    let faults: FaultRates = faults.parse().unwrap();
    let mut counts = vec![0; names.len()];
    for seed in 0..2_000 {
        if let Some(fault) = faults.strikes(&small(seed)) {
            counts[names.iter().position(|name| *name == fault.name).unwrap()] += 1;
        }
    }
    counts
}

/// Within five standard deviations of the binomial distribution.
fn is_near(count: u32, rate: f64) -> bool {
    (f64::from(count) - 2_000.0 * rate).abs() <= 5.0 * (2_000.0 * rate * (1.0 - rate)).sqrt()
}

#[test]
fn each_fault_strikes_at_its_rate() {
    for fault in ALL {
        for rate in [0.1, 0.5, 1.0] {
            let count = struck(&format!("{}={rate}", fault.name), &[fault.name])[0];
            assert!(
                is_near(count, rate),
                "{}={rate}: {count} of 2,000",
                fault.name
            );
        }
    }
}

#[test]
fn composed_faults_each_keep_their_rate() {
    let names = ["empty", "timeout", "slow", "fenced-json"];
    let counts = struck("empty=0.5,timeout=0.3,slow=0.15,fenced-json=0.05", &names);
    assert_eq!(
        counts.iter().sum::<u32>(),
        2_000,
        "rates of 1 together strike every call once"
    );
    for (count, rate) in counts.iter().zip([0.5, 0.3, 0.15, 0.05]) {
        assert!(is_near(*count, rate), "{counts:?}");
    }
    let tenths = ALL[..10]
        .iter()
        .map(|fault| format!("{}=0.1", fault.name))
        .collect::<Vec<_>>()
        .join(",");
    let names = ALL[..10].iter().map(|fault| fault.name).collect::<Vec<_>>();
    let counts = struck(&tenths, &names);
    assert!(
        counts.iter().all(|count| is_near(*count, 0.1)),
        "{counts:?}"
    );
}

#[test]
fn the_calls_struck_depend_only_on_seed_fault_and_request() {
    let hits = |faults: &str| {
        let faults: FaultRates = faults.parse().unwrap();
        (0..300)
            .filter(|seed| {
                faults
                    .strikes(&small(*seed))
                    .is_some_and(|fault| fault.name == "empty")
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(
        hits("empty=0.3"),
        hits("empty=0.3,timeout=0.4"),
        "a fault further back moves none before it"
    );
    assert_ne!(hits("empty=0.3"), hits("empty=0.3,seed=1"));
    assert!(
        hits("empty=0.1")
            .iter()
            .all(|hit| hits("empty=0.3").contains(hit)),
        "a higher rate strikes the same and more"
    );
}

#[test]
fn only_struck_calls_change() {
    let text = "Keep port 8042 open.".to_owned();
    let faults: FaultRates = "server-error=0.2,swapped-digits=0.2".parse().unwrap();
    let model = Faulty::new(Box::new(Says(text.clone())), faults.clone());
    let mut struck = 0;
    for seed in 0..200 {
        let outcome = run(&model, &small(seed));
        let fault = faults.strikes(&small(seed)).map(|fault| fault.name);
        struck += u32::from(fault.is_some());
        assert_eq!(fault == Some("server-error"), outcome.is_err());
        assert_eq!(
            fault == Some("swapped-digits"),
            outcome.is_ok_and(|reply| reply.text != text)
        );
    }
    assert!((40..120).contains(&struck), "{struck}");
}

#[test]
fn a_reply_with_nothing_to_spoil_stays_as_it_is() {
    let says = |text: &str| run(&Says(text.to_owned()), &small(1));
    for name in [
        "malformed-json",
        "broken-json",
        "fenced-json",
        "cut-json",
        "missing-section",
        "missing-marker",
        "swapped-digits",
        "stale-value",
    ] {
        let model = Faulty::new(
            Box::new(Says("Nothing here.".to_owned())),
            format!("{name}=1").parse().unwrap(),
        );
        assert_eq!(run(&model, &small(1)), says("Nothing here."), "{name}");
    }
}

#[test]
fn a_stale_value_is_about_the_same_subject() {
    let talk = "[1] user:\nThe retry pause is 30 s.\n\n[2] user:\nThe shop listens on port 8080.\n\n[3] user:\nThe retry pause is now 45 s.";
    let request = ChatRequest::prompt(filled(SUMMARIZE, talk, 100), 200, None, 1);
    let model = Faulty::new(
        Box::new(Says("Retry pause: 45 s.".to_owned())),
        "stale-value=1".parse().unwrap(),
    );
    assert_eq!(
        run(&model, &request).map(|reply| reply.text),
        Ok("Retry pause: 30 s.".to_owned())
    );
}

#[test]
fn prose_takes_items_within_its_limit() {
    let talk = conversation(&values(12, 3));
    for most in [30, 60, 400] {
        let request = ChatRequest::prompt(filled(SUMMARIZE, &talk, most), most, None, 3);
        let invented = run(&*faulty("invented-item=1"), &request).unwrap();
        let leaked = run(&*faulty("example-leak=1"), &request).unwrap();
        let number = invented
            .text
            .split(|letter: char| !letter.is_ascii_digit())
            .rfind(|number| number.len() == 6);
        assert!(
            number.is_some_and(|number| !plain(&request).text.contains(number)),
            "{most}: {invented:?}"
        );
        let last = leaked
            .text
            .trim_end_matches('.')
            .rsplit(". ")
            .next()
            .unwrap();
        assert!(
            SUMMARIZE.contains(last) && !talk.contains(last),
            "{most}: {leaked:?}"
        );
        for reply in [invented, leaked] {
            assert!(
                tokens(&reply.text) <= u64::from(most) && reply.finish == Finish::Stop,
                "{most}: {reply:?}"
            );
        }
    }
}

#[test]
fn every_fault_is_named_once_and_described() {
    let mut names = ALL.iter().map(|fault| fault.name).collect::<Vec<_>>();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), ALL.len());
    let is_typable = |name: &str| {
        name.bytes()
            .all(|letter| letter.is_ascii_lowercase() || letter == b'-')
    };
    assert!(
        ALL.iter()
            .all(|fault| is_typable(fault.name) && fault.about.len() > 10)
    );
}

/// Replies with everything that could confuse a fault that searches a text.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,30}",
        "[0-9]{1,4}",
        Just("{\"a\": [\"é7\", {\"b\": \"\\u00e9 12\"}], \"c\": 10, \"d\": \"\"}".to_owned()),
        Just("[SUMMARY]\n".to_owned()),
        Just("\n## 数据 34\n- x 12。\n".to_owned()),
        Just("{\"cut\": [\"1\u{301}2".to_owned()),
        Just("\\\"{{\u{1F469}\u{200D}12\r\n".to_owned()),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_reply_and_request_can_be_spoiled(said in hostile(), talk in hostile(), most in proptest::option::of(0_u32..300), seed: u64) {
        let prompt = filled(PROMPT_CHECKPOINT, &talk, 100);
        let request = ChatRequest { max_output_tokens: most, ..ChatRequest::prompt(prompt, 0, None, seed) };
        for fault in ALL {
            let model = Faulty::new(Box::new(Says(said.clone())), format!("{}=1", fault.name).parse().unwrap());
            let outcome = run(&model, &request);
            prop_assert_eq!(&outcome, &run(&model, &request));
            prop_assert_eq!(outcome.is_err(), fault.fails_call());
            if let Ok(reply) = outcome && fault.name != "over-length" {
                let most = u64::from(most.unwrap_or(u32::MAX)).max(tokens(&said));
                prop_assert!(tokens(&reply.text) <= most.max(10), "{}: {}", fault.name, reply.text);
            }
        }
    }

    #[test]
    fn faults_of_content_leave_json_readable(said in hostile(), seed: u64) {
        let said = format!("{{\"k\": [\"v 12\", \"port 8042\"], \"n\": 10}} {said}");
        let prompt = filled(PROMPT_CHECKPOINT, "[1] user:\nport 007 or 0x1, then 10 and 8042", 100);
        for name in ["swapped-digits", "stale-value", "invented-item", "example-leak"] {
            let model = Faulty::new(Box::new(Says(said.clone())), format!("{name}=1").parse().unwrap());
            let text = run(&model, &ChatRequest::prompt(prompt.clone(), 10_000, None, seed)).unwrap().text;
            let first = serde_json::Deserializer::from_str(&text).into_iter::<serde_json::Value>().next();
            prop_assert!(matches!(first, Some(Ok(serde_json::Value::Object(_)))), "{name}: {text}");
        }
    }
}
