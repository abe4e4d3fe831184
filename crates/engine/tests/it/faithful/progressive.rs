//! The progressive plan.

use compactometer_engine::params::Settings;
use compactometer_engine::record::SessionRecord;
use compactometer_engine::strategies::ALL;
use compactometer_engine::strategies::journey::{self, Level, Round};
use compactometer_engine::tokens::Encoding;

use super::stage::{Shown, Stage, Step, request, turns};

/// As much as all summaries may have together.
const WRITTEN: u32 = 600;

/// So many compactions by hand, each answered with a part, a decision and a rule of its own.
fn played(rounds: usize) -> (Shown, Shown) {
    let answer = |round: usize| -> &'static str {
        let lines = (0..8)
            .map(|line| format!("It took step {line} of them.\n"))
            .collect::<String>();
        let text = format!(
            "Summary: part {round} is done.\n{lines}\nKey Decisions:\n- use port {round}\n\nArchitecture Decisions:\n- rule \
             {round}\n\nNext Steps:\n- go on from {round}"
        );
        Box::leak(text.into_boxed_str())
    };
    let answers = (0..rounds)
        .map(|round| Ok(answer(round)))
        .collect::<Vec<_>>();
    let stage = Stage {
        budget: None,
        ..Stage::new("progressive", &answers)
    };
    let stage = stage.with(&[
        ("window", "4000"),
        ("tail", "250"),
        ("summary", "300"),
        ("written", "600"),
    ]);
    let part = || turns("item", 8).into_iter().chain([Step::Compact]);
    let steps = (0..rounds).flat_map(|_| part()).collect::<Vec<_>>();
    (stage.faithful(&steps), stage.plain(&steps))
}

fn journeys(history: &[SessionRecord], settings: &Settings) -> Vec<Round> {
    journey::rounds(history, settings, WRITTEN, &Encoding::O200k)
}

fn settings() -> (Settings, Settings) {
    let plain = ALL.iter().find(|spec| spec.name == "progressive").unwrap();
    (
        Settings::published(plain).unwrap().unwrap(),
        Settings::defaults(plain),
    )
}

#[test]
fn task_definition_and_decisions_are_only_planned_and_the_compact_level_loses_them() {
    let (faithful, plain) = played(14);
    assert!(!request(&faithful.calls[0]).contains("Architecture Decisions"));
    assert!(request(&plain.calls[0]).contains("Architecture Decisions"));
    let says = |shown: &Shown, text: &str| shown.view.iter().any(|entry| entry.contains(text));
    assert!(
        says(&faithful, "part 0 is done") && !says(&faithful, "rule 0\n"),
        "a first line holds no decision"
    );
    assert!(says(&plain, "rule 0\n"), "{:?}", plain.view);
}

#[test]
fn the_compact_level_is_reached_only_at_the_cap_and_the_budget_example_never() {
    let (faithful, plain) = played(30);
    let (own, corrected) = settings();
    let levels = |round: &Round| {
        round
            .checkpoints
            .iter()
            .map(|it| it.level)
            .collect::<Vec<_>>()
    };
    let (faithful, plain) = (
        journeys(&faithful.history, &own),
        journeys(&plain.history, &corrected),
    );
    for round in &faithful[..10] {
        assert!(
            !levels(round).contains(&Level::Compact),
            "{:?}",
            levels(round)
        );
    }
    assert!(
        faithful[10..]
            .iter()
            .all(|round| levels(round)[0] == Level::Compact && round.checkpoints.len() == 10)
    );
    for (plain, faithful) in plain.iter().zip(&faithful) {
        let (plain, faithful) = (levels(plain), levels(faithful));
        assert!(
            faithful.ends_with(&plain[1..]),
            "age decides in both: {plain:?}"
        );
    }
    let example = [
        Level::Compact,
        Level::Compact,
        Level::Moderate,
        Level::Moderate,
        Level::Detailed,
        Level::Detailed,
    ];
    assert!(
        faithful.iter().all(|round| levels(round) != example),
        "its example needs merging that it does not define"
    );
}

#[test]
fn ages_alone_break_the_budget_but_levels_and_merges_keep_to_their_sizes() {
    let (faithful, plain) = played(60);
    let (own, corrected) = settings();
    let tokens = |round: &Round| {
        round
            .checkpoints
            .iter()
            .map(|it| it.current_tokens)
            .sum::<u32>()
    };
    let (faithful, plain) = (
        journeys(&faithful.history, &own),
        journeys(&plain.history, &corrected),
    );
    assert!(
        faithful.iter().any(|round| tokens(round) > WRITTEN),
        "ten summaries take more than ten times their mean"
    );
    let frame = 20;
    assert!(
        faithful
            .iter()
            .all(|round| tokens(round) <= 5 * (300 + frame) + 5 * (300 + frame))
    );
    let merged = &faithful[59].checkpoints[0];
    assert!(
        merged.summary.contains("Earlier parts:") && merged.current_tokens <= 300 + frame,
        "{merged:?}"
    );
    assert!(plain.iter().all(|round| tokens(round) <= WRITTEN));
}
