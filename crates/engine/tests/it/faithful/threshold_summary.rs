//! The threshold plan.

use compactometer_engine::event::{FailReason, Outcome, SkipReason};
use compactometer_engine::message::MessageId;
use compactometer_engine::params::Settings;
use compactometer_engine::strategies::ALL;
use compactometer_engine::tokens::{Encoding, TokenCounter};

use super::stage::{Shown, Stage, Step, assistant, request, system, turns, user};

/// Under its own limits, scaled down; the last four messages stay.
fn stage() -> Stage {
    let stage = Stage::new(
        "threshold-summary",
        &[
            Ok("- The first list is done."),
            Ok("- Both lists are done."),
        ],
    );
    Stage {
        budget: None,
        ..stage
    }
    .with(&[
        ("window", "1000"),
        ("threshold", "800"),
        ("written", "150"),
        ("tail", "4"),
    ])
}

fn compacted(name: &str, pairs: usize) -> Vec<Step> {
    let mut steps = turns(name, pairs);
    steps.push(Step::Compact);
    steps
}

fn text(shown: &Shown) -> String {
    shown.view.join("\n")
}

#[test]
fn the_first_summary_is_reused_for_ever() {
    let steps = || {
        compacted("old", 8)
            .into_iter()
            .chain(compacted("new", 8))
            .collect::<Vec<_>>()
    };
    let faithful = stage().faithful(&steps());
    assert_eq!(
        (
            faithful.calls.len(),
            faithful.history.len(),
            faithful.events.len()
        ),
        (1, 1, 2)
    );
    assert!(
        text(&faithful).contains("The first list is done.")
            && !text(&faithful).contains("Both lists")
    );
    let lost = &faithful.events[1].unread;
    assert_eq!(
        (lost.first(), lost.last()),
        (Some(&MessageId(11)), Some(&MessageId(27))),
        "nobody has read them"
    );
    let plain = stage().plain(&steps());
    assert_eq!((plain.calls.len(), plain.history.len()), (2, 2));
    assert!(text(&plain).contains("Both lists are done.") && plain.events[1].unread.is_empty());
    let covers = plain
        .history
        .iter()
        .map(|saved| saved.covers.unwrap())
        .collect::<Vec<_>>();
    assert_eq!(
        covers,
        [
            (MessageId(0), MessageId(10)),
            (MessageId(11), MessageId(27))
        ],
        "several, each its own part"
    );
}

#[test]
fn messages_before_the_latest_hundred_vanish_unseen() {
    let steps = compacted("item", 60);
    let faithful = stage().faithful(&steps);
    assert!(
        !request(&faithful.calls[0]).contains("item 9:")
            && request(&faithful.calls[0]).contains("item 10:")
    );
    assert_eq!(
        faithful.events[0].unread,
        (0..20).map(MessageId).collect::<Vec<_>>()
    );
    let plain = stage().plain(&steps);
    assert!(request(&plain.calls[0]).contains("item 0:") && plain.events[0].unread.is_empty());
}

#[test]
fn the_summary_also_covers_what_stays() {
    let steps = compacted("item", 8);
    let reads_the_last = |shown: &Shown| request(&shown.calls[0]).contains("item 7:");
    assert!(reads_the_last(&stage().faithful(&steps)) && !reads_the_last(&stage().plain(&steps)));
}

#[test]
fn ids_are_taken_for_gapless() {
    let mut steps = turns("item", 8);
    steps.extend([
        Step::Gap(10),
        user("Go on."),
        assistant("I do."),
        Step::Compact,
    ]);
    let covers = |shown: Shown| shown.history[0].covers.unwrap();
    // 13, 14, 15 and 28 stay, and 27, which is still to be answered.
    assert_eq!(
        covers(stage().faithful(&steps)),
        (MessageId(0), MessageId(24))
    );
    assert_eq!(covers(stage().plain(&steps)), (MessageId(0), MessageId(12)));
}

#[test]
fn the_context_becomes_one_text() {
    let mut steps = vec![system("You help.")];
    steps.extend(turns("item", 8));
    steps.extend([
        user("Run it."),
        Step::Call("c1"),
        Step::Compact,
        Step::Result("c1", "exit 0 </messages>".into()),
    ]);
    let faithful = stage().faithful(&steps);
    let section = &faithful.view[1];
    assert!(
        section.starts_with("user: ## Previous Context (Summarized)\n- The first list is done."),
        "{section}"
    );
    assert!(
        section.contains("\n\n## Recent Conversation\n") && section.contains("user: Run it.\n")
    );
    // 1: the result that comes later finds no call. 8: the last user message is not a message any
    // more.
    assert_eq!((faithful.view.len(), faithful.violations), (3, 1));
    assert_eq!(faithful.kept, [0, 20]);
    let plain = stage().plain(&steps);
    assert!(plain.view.contains(&"user: Run it.".to_owned()) && plain.violations == 0);

    steps.extend([Step::Compact]);
    // 21: what a tool said now is in a user's turn, after a heading that any text may repeat.
    assert!(stage().faithful(&steps).view[1].contains("tool: exit 0"));
    assert!(
        stage()
            .plain(&steps)
            .view
            .contains(&"tool: exit 0 </messages>".to_owned())
    );
}

#[test]
fn a_short_or_unchanged_chat_is_compacted_and_grows() {
    let steps = [
        user("Hello."),
        assistant("Hello, what can I do?"),
        Step::Compact,
        Step::Compact,
    ];
    let faithful = stage().faithful(&steps);
    assert!(
        faithful
            .events
            .iter()
            .all(|event| event.outcome == Outcome::Applied)
    );
    assert!(faithful.events[0].tokens_after > faithful.events[0].tokens_before);
    assert_eq!(
        faithful.events[1].tokens_after,
        faithful.events[1].tokens_before
    );
    let plain = stage().plain(&steps);
    assert!(
        plain
            .events
            .iter()
            .all(|event| event.outcome == Outcome::Skipped(SkipReason::NothingToCompact))
    );
}

#[test]
fn key_facts_are_neither_asked_for_nor_bounded_by_a_tag() {
    let steps = compacted("item", 8);
    let faithful = request(&stage().faithful(&steps).calls[0]);
    assert!(
        !faithful.contains("Key facts") && !faithful.contains("<messages>"),
        "{faithful}"
    );
    assert!(faithful.trim_end().ends_with("SUMMARY:"));
    let plain = request(&stage().plain(&steps).calls[0]);
    assert!(plain.contains("Key facts:") && plain.contains("</messages>"));
}

#[test]
fn any_answer_is_taken_and_any_request_is_sent() {
    let steps = compacted("item", 12);
    let chatty = || Stage {
        answers: vec![Ok("Sure, let us go on!")],
        ..stage()
    };
    assert!(text(&chatty().faithful(&steps)).contains("Sure, let us go on!"));
    let plain = chatty().plain(&steps);
    assert!(
        matches!(plain.events[0].fallback, Some(FailReason::NoSummary(_))),
        "{:?}",
        plain.events[0]
    );
    let narrow = || Stage {
        summarizer_window: Some(900),
        ..stage()
    };
    assert_eq!(narrow().faithful(&steps).calls.len(), 1);
    assert!(narrow().plain(&steps).calls.len() > 1, "read in pieces");
}

#[test]
fn the_threshold_is_exceeded_and_not_reached() {
    let limits = |settings: Settings, name: &str| {
        let spec = ALL.iter().find(|spec| spec.name == name).unwrap();
        (spec.limits)(&settings).unwrap().trigger
    };
    let spec = ALL
        .iter()
        .find(|spec| spec.published_name() == "threshold-summary-faithful")
        .unwrap();
    assert_eq!(
        limits(Settings::published(spec).unwrap().unwrap(), spec.name),
        80_001
    );
    assert_eq!(limits(Settings::defaults(spec), spec.name), 80_000);
}

/// The threshold plan, test cases `threshold_below_80k` and `threshold_above_80k`; its diagram says
/// 50,000.
#[test]
fn the_codes_threshold_rules_and_the_diagrams_is_a_parameter() {
    let sized = |pairs: usize, changes| {
        let stage = Stage {
            budget: None,
            ..Stage::new("threshold-summary", &[Ok("- Done.")])
        }
        .with(changes);
        let mut steps = turns("item", pairs);
        steps.push(Step::Ask);
        (
            stage.plain(&steps).events.len(),
            stage.faithful(&steps).events.len(),
        )
    };
    assert_eq!(sized(550, &[]), (0, 0), "more than 50,000 tokens");
    assert_eq!(sized(550, &[("threshold", "50000")]), (1, 1));
    assert_eq!(sized(1_000, &[]), (1, 1), "more than 80,000 tokens");
}

#[test]
fn the_flag_turns_it_off() {
    let mut steps = turns("item", 12);
    steps.push(Step::Ask);
    assert_eq!(stage().plain(&steps).events.len(), 1);
    let off: &[_] = &[
        ("window", "1000"),
        ("threshold", "800"),
        ("enabled", "false"),
    ];
    assert_eq!(stage().with(off).plain(&steps).events.len(), 0);
    assert_eq!(stage().with(off).faithful(&steps).events.len(), 0);
}

/// The threshold plan, "reuse": where nothing left since the last summary, it stays and no call is
/// made. And its cost: each record has what its own calls used.
#[test]
fn a_summary_that_still_covers_the_history_stays_and_each_has_its_cost() {
    let steps = || {
        compacted("old", 8)
            .into_iter()
            .chain([Step::Compact])
            .collect::<Vec<_>>()
    };
    let plain = stage().plain(&steps());
    assert_eq!((plain.calls.len(), plain.history.len()), (1, 1));
    assert_eq!(
        plain.events[1].outcome,
        Outcome::Skipped(SkipReason::NothingToCompact)
    );
    assert!(plain.view[0].contains("The first list is done."));
    let twice = stage().plain(
        &steps()
            .into_iter()
            .chain(compacted("new", 8))
            .collect::<Vec<_>>(),
    );
    let used = twice
        .history
        .iter()
        .map(|saved| saved.usage.input)
        .collect::<Vec<_>>();
    assert_eq!(used, [1, 1]);
}

#[test]
fn a_cut_beside_a_full_summary_stays_within_the_budget() {
    let full = "word ".repeat(132).leak();
    let stage = Stage::new("threshold-summary", &[Ok(&*full)]).with(&[("calls", "1")]);
    let rounds = (0..2).flat_map(|round| {
        turns(&format!("part {round}"), 8)
            .into_iter()
            .chain([Step::Compact])
    });
    let shown = stage.plain(&rounds.collect::<Vec<_>>());
    let [first, cut] = &shown.events[..] else {
        panic!("{:?}", shown.events)
    };
    assert!(
        first.fallback.is_none() && cut.fallback.is_some(),
        "{:?}",
        shown.events
    );
    assert!(!first.over_budget && !cut.over_budget, "{:?}", shown.events);
    let summary = shown
        .view
        .iter()
        .find(|text| text.contains("word word"))
        .expect("it stays");
    assert!(
        Encoding::O200k.count_text(summary) > 138,
        "it leaves no room for the notice"
    );
    assert!(
        !shown
            .view
            .iter()
            .any(|text| text.contains("cut without a summary")),
        "{:?}",
        shown.view
    );
}

#[test]
fn a_summary_above_its_part_takes_the_rest_from_the_tail() {
    let long = "word ".repeat(160).leak();
    let stage = Stage::new("threshold-summary", &[Ok(&*long)]).with(&[("calls", "1")]);
    let short = (0..60).flat_map(|number| [user(&format!("{number}?")), assistant("Done.")]);
    let steps = compacted("part 0", 8)
        .into_iter()
        .chain(short)
        .chain([Step::Compact]);
    let shown = stage.plain(&steps.collect::<Vec<_>>());
    assert!(
        shown.view.iter().any(|text| text.contains("word word")),
        "the tail left it the room"
    );
    assert_eq!(
        shown
            .events
            .iter()
            .map(|event| event.over_budget)
            .collect::<Vec<_>>(),
        [false; 2],
        "{:?}",
        shown.events
    );
    assert!(shown.events[1].fallback.is_some() && !shown.kept.is_empty());
}
