//! The checkpoint strategies under every fault. The events say what became of each attempt at a
//! checkpoint.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::material::by_name;
use compactometer_engine::checkpoint::{Extraction, LadderReading, Rung, Unreadable};
use compactometer_engine::event::Outcome;
use compactometer_engine::message::Role;
use compactometer_engine::meter::Metered;
use compactometer_engine::recovery::latest_checkpoint;
use compactometer_engine::session::Session;
use compactometer_engine::strategies;
use compactometer_engine::tokens::Encoding;
use compactometer_simulator::faults;

use crate::sessions::{at_2000_tokens, conversation};

/// The checkpoints of one session.
struct Seen {
    extractions: Vec<Extraction>,
    /// Decisions that applied a summary although its checkpoint was unreadable.
    summaries_only: usize,
    /// Texts of the last checkpoint.
    last: String,
}

async fn run(strategy: &str, model: &str) -> Seen {
    let spec = strategies::ALL
        .iter()
        .find(|spec| spec.name == strategy)
        .unwrap();
    let model = by_name(model);
    let metered = Metered::new(&*model, 3);
    let (strategy, config) = at_2000_tokens(spec);
    let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, config);
    for counted in conversation() {
        if counted.message.role == Role::Assistant {
            session.before_call(None).await;
        }
        session.push(counted).unwrap();
    }
    let only_summaries = session.events().iter().filter(|event| {
        let read = |extraction: &Extraction| matches!(extraction.reading, LadderReading::Rung(_));
        event.outcome == Outcome::Applied
            && !event.extractions.is_empty()
            && !event.extractions.iter().any(read)
    });
    let before_turns = session.checkpoint_events().iter().map(|event| {
        let extraction = event
            .extraction
            .expect("every attempt says what became of it");
        assert_eq!(
            event.failed.is_none(),
            matches!(extraction.reading, LadderReading::Rung(_)),
            "{event:?}"
        );
        extraction
    });
    let with_summaries = session
        .events()
        .iter()
        .flat_map(|event| &event.extractions)
        .copied();
    Seen {
        summaries_only: only_summaries.count(),
        extractions: before_turns.chain(with_summaries).collect(),
        last: latest_checkpoint(session.history()).map_or(String::new(), |(checkpoint, _)| {
            serde_json::to_string(&checkpoint).unwrap()
        }),
    }
}

const STRICT: LadderReading = LadderReading::Rung(Rung::Strict);

/// How an answer under a fault may be read by `prompt-checkpoint` and by `middleware-checkpoint`.
fn expected(fault: &str) -> [Vec<LadderReading>; 2] {
    use Unreadable::{Empty, Malformed, NoAnswer, NoObject, Refused, Unclosed};
    let rung = |rung| vec![LadderReading::Rung(rung)];
    let unreadable = |reason| vec![LadderReading::Unreadable(reason)];
    let cut = || {
        vec![
            LadderReading::Rung(Rung::Partial),
            LadderReading::Unreadable(Unclosed),
        ]
    };
    match fault {
        "malformed-json" => [rung(Rung::Lenient), rung(Rung::Lenient)],
        "fenced-json" => [rung(Rung::Fenced), rung(Rung::Fenced)],
        "broken-json" => [0, 1].map(|_| {
            [Malformed, Unclosed]
                .map(LadderReading::Unreadable)
                .to_vec()
        }),
        "cut-json" => [cut(), cut()],
        // The summary, and not the checkpoint, may be the part that is cut.
        "dropped" => [[cut(), unreadable(NoObject)].concat(), cut()],
        "over-length" => [rung(Rung::Balanced), rung(Rung::Balanced)],
        // Not every such answer is recognised as missing a summary; otherwise its chat is the
        // summary.
        "continues-chat" => [
            [Refused, NoObject].map(LadderReading::Unreadable).to_vec(),
            unreadable(NoObject),
        ],
        "empty" | "blank" | "filtered" | "reasoning-only" => {
            [unreadable(Refused), unreadable(Empty)]
        }
        "missing-section" => [unreadable(NoObject), vec![STRICT]],
        "rate-limit" | "rate-limit-wait" | "server-error" | "timeout" | "refused" => {
            [unreadable(NoAnswer), unreadable(NoAnswer)]
        }
        // These faults keep the requested form. Without its marker a checkpoint is still found.
        _ => [vec![STRICT], vec![STRICT]],
    }
}

#[test]
fn every_fault_shows_as_a_rung_or_a_reason() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let mut rungs = Vec::new();
    let plain = ["prompt-checkpoint", "middleware-checkpoint"]
        .map(|name| runtime.block_on(run(name, "mock")));
    assert!(
        plain
            .iter()
            .all(|seen| seen.extractions.len() >= 2 && !seen.last.is_empty())
    );
    for fault in faults::ALL {
        for (strategy, expected) in ["prompt-checkpoint", "middleware-checkpoint"]
            .into_iter()
            .zip(expected(fault.name))
        {
            let seen = runtime.block_on(run(strategy, &format!("mock+{}=1", fault.name)));
            let found = seen
                .extractions
                .iter()
                .map(|extraction| extraction.reading)
                .collect::<Vec<_>>();
            assert!(!found.is_empty(), "{strategy} {}", fault.name);
            assert!(
                found.iter().all(|reading| expected.contains(reading)),
                "{strategy} {}: {found:?}",
                fault.name
            );
            assert!(!fault.fails_call() || seen.last.is_empty());
            rungs.extend(found.iter().filter_map(|reading| match reading {
                LadderReading::Rung(rung) => Some(*rung),
                LadderReading::Unreadable(_) => None,
            }));
        }
    }
    rungs.sort_unstable();
    rungs.dedup();
    assert_eq!(
        rungs,
        [
            Rung::Strict,
            Rung::Fenced,
            Rung::Balanced,
            Rung::Lenient,
            Rung::Partial
        ]
    );
}

#[test]
fn copied_placeholders_are_counted_and_do_not_stay() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let examples = [
        "\"goal\"",
        "\"what\"",
        "\"what one must know\"",
        "\"decision\"",
        "\"preference\"",
        "\"now\"",
    ];
    for strategy in [
        "prompt-checkpoint",
        "middleware-checkpoint",
        "hybrid-checkpoint",
    ] {
        let leaked = |seen: &Seen| {
            seen.extractions
                .iter()
                .map(|extraction| extraction.leaked)
                .sum::<u32>()
        };
        let plain = runtime.block_on(run(strategy, "mock"));
        assert_eq!(
            leaked(&plain),
            0,
            "{strategy}: a model that copies nothing is not accused"
        );
        let seen = runtime.block_on(run(strategy, "mock+example-leak=1"));
        // A reply that states nothing has no value to replace.
        let leaks = leaked(&seen) as usize;
        assert!(
            10 * leaks >= 9 * seen.extractions.len(),
            "{strategy}: {:?}",
            seen.extractions
        );
        assert!(
            !seen.last.is_empty() && !examples.iter().any(|words| seen.last.contains(words)),
            "{}",
            seen.last
        );
    }
}

#[test]
fn a_summary_outlives_its_unreadable_checkpoint_and_the_event_says_so() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    for strategy in ["prompt-checkpoint", "hybrid-checkpoint"] {
        let seen = runtime.block_on(run(strategy, "mock+broken-json=1"));
        assert!(
            seen.summaries_only >= 2 && seen.last.is_empty(),
            "{strategy}: {}",
            seen.summaries_only
        );
    }
}
