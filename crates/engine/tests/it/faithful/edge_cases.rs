//! The edge-case table of the summary chain and its compaction event, row by row on the plain form.

use compactometer_engine::event::{FailReason, Outcome, SkipReason};
use compactometer_engine::message::MessageId;
use compactometer_engine::model::ChatError;
use compactometer_engine::record::RecordKind;

use super::stage::{Stage, Step, assistant, request, system, turns, user};

const SUMMARY: &str = "## Session Summary (Compaction Round 1)\n\nThe list is done.";

fn stage() -> Stage {
    let stage = Stage {
        budget: None,
        ..Stage::new("chained", &[Ok(SUMMARY)])
    };
    stage.with(&[
        ("window", "12000"),
        ("asked", "120"),
        ("written", "150"),
        ("tail", "4"),
    ])
}

const NOTHING: Outcome = Outcome::Skipped(SkipReason::NothingToCompact);

#[test]
fn a_single_huge_tool_result_is_cut_for_the_summarizer_and_said_so() {
    let result = format!("{} The end of it.", "line of a log ".repeat(900));
    assert!(result.len() > 10_000);
    let mut steps = vec![
        user("Run it."),
        Step::Call("c1"),
        Step::Result("c1", result),
    ];
    steps.extend(turns("item", 4));
    steps.push(Step::Compact);
    let shown = stage().plain(&steps);
    let read = request(&shown.calls[0]);
    assert!(read.contains("[...truncated...]") && !read.contains("The end of it."));
    assert!(read.matches("line of a log").count() < 500 / "line of a log ".len() + 2);
    assert_eq!(
        (&shown.events[0].outcome, shown.events[0].unread.as_slice()),
        (&Outcome::Applied, &[MessageId(2)][..])
    );
}

#[test]
fn all_messages_are_recent() {
    let mut steps = vec![system("You help.")];
    steps.extend(turns("item", 2));
    steps.push(Step::Compact);
    let shown = stage().plain(&steps);
    assert_eq!(
        (
            shown.events[0].outcome.clone(),
            shown.calls.len(),
            shown.kept.len()
        ),
        (NOTHING, 0, 5)
    );
}

#[test]
fn the_summarys_generation_fails() {
    let mut steps = turns("item", 8);
    let before = stage().plain(&steps).view;
    steps.push(Step::Compact);
    let failing = Stage {
        answers: vec![Err(ChatError::Timeout { after_ms: 1 })],
        ..stage()
    }
    .plain(&steps);
    assert_eq!(failing.view, before);
    assert!(matches!(
        failing.events[0].outcome,
        Outcome::Failed(FailReason::Call(_))
    ));
    assert_eq!(
        failing
            .history
            .iter()
            .map(|saved| saved.kind)
            .collect::<Vec<_>>(),
        [RecordKind::Failed]
    );
}

/// The source keeps more messages than it says; here the number is a bound, and a batch that it
/// would split leaves whole.
#[test]
fn an_orphaned_tool_message() {
    let mut steps = vec![system("You help.")];
    steps.extend(turns("item", 8));
    steps.extend([
        Step::Call("c1"),
        Step::Result("c1", "exit 0".into()),
        assistant("It ran."),
    ]);
    let ends = |ends: [Step; 3]| {
        steps
            .iter()
            .cloned()
            .chain(ends)
            .chain([Step::Compact])
            .collect::<Vec<_>>()
    };
    let whole = ends([user("Good."), assistant("Yes."), Step::Gap(0)]);
    assert_eq!(
        stage().faithful(&whole).kept,
        [0, 17, 18, 19, 20, 21],
        "its four would begin with the result"
    );
    assert_eq!(
        stage().plain(&whole).kept,
        [0, 17, 18, 19, 20, 21],
        "what is still to be answered does not count"
    );
    let split = ends([assistant("Well."), user("Good."), assistant("Yes.")]);
    let plain = stage().plain(&split);
    assert_eq!((plain.kept, plain.violations), (vec![0, 19, 20, 21, 22], 0));
    assert!(request(&plain.calls[0]).contains("exit 0"));
}

#[test]
fn an_empty_conversation() {
    let empty = stage().plain(&[Step::Compact, Step::Ask]);
    assert!(empty.events.is_empty() && empty.view.is_empty() && empty.calls.is_empty());
    let system_alone = stage().plain(&[system("You help."), Step::Compact]);
    assert_eq!(
        (
            system_alone.events[0].outcome.clone(),
            system_alone.view.len()
        ),
        (NOTHING, 1)
    );
}

/// By the source's own limits, however large it is. Under a matched budget the tail is a number of
/// tokens, and it is compacted.
#[test]
fn a_very_short_session() {
    let mut steps = vec![
        system("You help."),
        user(&"look again ".repeat(2_000)),
        assistant("Done."),
    ];
    steps.extend([user("Go on."), assistant("I do."), Step::Ask]);
    let shown = stage().plain(&steps);
    assert!(shown.events[0].tokens_before > 800, "it is due");
    assert_eq!(
        (
            shown.events[0].outcome.clone(),
            shown.calls.len(),
            shown.kept.len()
        ),
        (NOTHING, 0, 5)
    );
    assert_eq!(stage().faithful(&steps).events[0].outcome, NOTHING);
    let matched = Stage::new("chained", &[Ok(SUMMARY)]).plain(&steps);
    assert_eq!(
        (matched.events[0].outcome.clone(), matched.kept.len()),
        (Outcome::Applied, 4)
    );
}

/// `compactionEvent`: `round` counts the summaries, `tokensBefore` and `tokensAfter` are in the
/// event, `summaryContent` is the record's body, and the ids are those of the log that the view no
/// longer holds.
#[test]
fn the_compaction_event() {
    let mut steps = vec![system("You help.")];
    for name in ["old", "new"] {
        steps.extend(turns(name, 8));
        steps.push(Step::Compact);
    }
    let shown = stage().plain(&steps);
    let rounds = shown
        .history
        .iter()
        .filter(|saved| saved.kind == RecordKind::Summary)
        .count();
    assert_eq!(rounds, 2);
    assert!(request(&shown.calls[1]).contains("(Compaction Round 2)"));
    for (event, saved) in shown.events.iter().zip(&shown.history) {
        assert_eq!(
            (event.tokens_before, event.tokens_after),
            (saved.tokens_before, saved.tokens_after)
        );
        assert_eq!(saved.body, SUMMARY);
    }
    assert!(shown.events[1].tokens_after < shown.events[1].tokens_before);
    let said = (0..34).filter(|id| *id != 17);
    let left = said
        .filter(|id| !shown.kept.contains(id))
        .collect::<Vec<_>>();
    assert_eq!(left, (1..17).chain(18..29).collect::<Vec<_>>());
    let covers = shown
        .history
        .iter()
        .map(|saved| saved.covers.unwrap())
        .collect::<Vec<_>>();
    assert_eq!(
        covers,
        [
            (MessageId(1), MessageId(11)),
            (MessageId(12), MessageId(28))
        ]
    );
}
