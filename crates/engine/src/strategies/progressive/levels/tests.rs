use proptest::prelude::*;

use super::*;
use crate::tokens::Encoding;

const BODY: &str = "Summary: built the store.\nIt has two tables.\nIt is tested.\nIt is fast.\nIt is small.\nIt is new.\n\nKey Decisions:\n- use pg\n\nNext Steps:\n- ship\n\nArchitecture Decisions:\n- no cache";

const LEVELS: Levels = Levels {
    moderate_age: 5,
    compact_age: 10,
    most: 10,
    lines: 5,
    moderate: 300,
    compact: 80,
    by_likeness: false,
    unbounded: false,
};

fn summaries(rounds: usize, budget: u32) -> Vec<(u32, String)> {
    let bodies = (0..rounds)
        .map(|round| format!("Summary: part {round}.\n{BODY}"))
        .collect::<Vec<_>>();
    let journey = bodies
        .iter()
        .enumerate()
        .map(|(number, body)| Leg {
            number: number as u32,
            body,
        })
        .collect::<Vec<_>>();
    let shown = LEVELS.fit(&journey, budget, &Encoding::O200k);
    shown
        .into_iter()
        .map(|shown| (shown.number, shown.text))
        .collect()
}

#[test]
fn summaries_shrink_with_age() {
    let shown = summaries(8, 100_000);
    assert_eq!(shown.len(), 8);
    assert!(
        shown[7].1.contains("ship") && shown[3].1.contains("ship"),
        "ages 0 to 4 are whole"
    );
    let old = &shown[2].1;
    assert!(
        old.contains("use pg") && old.contains("no cache"),
        "age 5 keeps its decisions: {old}"
    );
    assert!(!old.contains("ship"), "age 5 keeps no steps: {old}");
}

#[test]
fn the_oldest_are_merged_and_every_part_is_named() {
    let shown = summaries(14, 100_000);
    assert_eq!(shown.len(), 10);
    let all = shown
        .iter()
        .map(|(_, text)| text.as_str())
        .collect::<String>();
    assert!(
        (0..14).all(|round| all.contains(&format!("part {round}."))),
        "{all}"
    );
}

#[test]
fn a_hundred_rounds_stay_in_the_budget() {
    for rounds in [1, 5, 20, 100] {
        for budget in [30, 100, 400, 1_500] {
            let shown = summaries(rounds, budget);
            let size = shown
                .iter()
                .map(|(_, text)| MESSAGE_OVERHEAD + Encoding::O200k.count_text(text))
                .sum::<u32>();
            assert!(
                size <= budget && !shown.is_empty(),
                "{rounds} rounds: {size} of {budget}"
            );
            assert!(
                shown
                    .iter()
                    .any(|(_, text)| text.contains(&format!("part {}.", rounds - 1))),
                "the newest stays"
            );
        }
    }
}

fn groups(levels: &Levels, parts: &[&str]) -> Vec<Range<usize>> {
    let journey = parts
        .iter()
        .enumerate()
        .map(|(number, body)| Leg {
            number: number as u32,
            body,
        })
        .collect::<Vec<_>>();
    levels
        .groups(&journey)
        .into_iter()
        .map(|group| group.members)
        .collect()
}

const PHASES: [&str; 8] = [
    "Summary: tables and columns of the store",
    "Summary: keys and columns of the store tables",
    "Summary: colours of the welcome screen",
    "Summary: the welcome screen and its colours again",
    "Summary: an exporter to spreadsheets",
    "Summary: mail",
    "Summary: search",
    "Summary: release",
];

#[test]
fn likeness_merges_the_neighbours_of_one_phase_and_keeps_phases_apart() {
    let oldest = Levels {
        most: 6,
        moderate_age: 2,
        ..LEVELS
    };
    assert_eq!(
        groups(&oldest, &PHASES),
        [0..3, 3..4, 4..5, 5..6, 6..7, 7..8],
        "the oldest, whatever they are about"
    );
    let alike = Levels {
        by_likeness: true,
        ..oldest
    };
    assert_eq!(
        groups(&alike, &PHASES),
        [0..2, 2..4, 4..5, 5..6, 6..7, 7..8]
    );
}

#[test]
fn what_still_stands_in_full_is_not_merged_by_likeness() {
    let levels = Levels {
        most: 4,
        moderate_age: 4,
        by_likeness: true,
        ..LEVELS
    };
    let parts = [PHASES[4], PHASES[5], PHASES[6], PHASES[0], PHASES[1]];
    assert_eq!(
        groups(&levels, &parts),
        [0..2, 2..3, 3..4, 4..5],
        "the two of one phase are new"
    );
}

#[test]
fn what_is_merged_stays_merged() {
    for by_likeness in [false, true] {
        let levels = Levels {
            most: 4,
            moderate_age: 1,
            by_likeness,
            ..LEVELS
        };
        let parts = PHASES.iter().cycle().take(40).copied().collect::<Vec<_>>();
        for rounds in 5..40 {
            let (before, after) = (
                groups(&levels, &parts[..rounds - 1]),
                groups(&levels, &parts[..rounds]),
            );
            let is_within = |old: &Range<usize>| {
                after
                    .iter()
                    .any(|new| new.start <= old.start && old.end <= new.end)
            };
            assert!(
                after.len() == 4 && before.iter().all(is_within),
                "{before:?} and then {after:?}"
            );
        }
    }
}

#[test]
fn each_level_keeps_to_its_size() {
    let long = format!("{BODY}\n").repeat(30);
    let journey = (0..14)
        .map(|number| Leg {
            number,
            body: &long,
        })
        .collect::<Vec<_>>();
    let levels = Levels {
        moderate: 60,
        compact: 20,
        ..LEVELS
    };
    let shown = levels.fit(&journey, u32::MAX, &Encoding::O200k);
    let size = |shown: &Shown| Encoding::O200k.count_text(&shown.text[HEADER.len()..]);
    assert!(
        shown.iter().any(|shown| size(shown) > 300),
        "the newest are whole"
    );
    for (level, most) in [(Level::Moderate, 60), (Level::Compact, 20)] {
        let sizes = shown
            .iter()
            .filter(|shown| shown.level == level)
            .map(size)
            .collect::<Vec<_>>();
        assert!(
            !sizes.is_empty() && sizes.iter().all(|size| *size <= most),
            "{level:?}: {sizes:?}"
        );
    }
    assert_eq!(
        shown[0].members.end, 5,
        "the first shows several merged summaries, of which the newest are named"
    );
    assert!(
        shown[0].text.contains("Earlier parts:\n- built the store."),
        "{}",
        shown[0].text
    );
}

proptest! {
    #[test]
    fn what_is_shown_fits_and_no_step_was_needless(
        bodies in prop::collection::vec("[a-z .一-龥-]{0,30}(\n[a-z -]{0,12}){0,7}(\nDecisions:\n- [a-z]{1,9}){0,1}", 1..40),
        budget in 30..400_u32,
        by_likeness in any::<bool>(),
    ) {
        let levels = Levels { moderate_age: 2, compact_age: 4, most: 5, lines: 2, moderate: 30, compact: 15, by_likeness, unbounded: false };
        let journey = bodies.iter().enumerate().map(|(at, body)| Leg { number: at as u32, body }).collect::<Vec<_>>();
        let tokens = |shown: &[Shown]| shown.iter().map(|shown| shown.tokens).sum::<u32>();
        let (found, all) = (levels.fit(&journey, budget, &Encoding::O200k), levels.fit(&journey, u32::MAX, &Encoding::O200k));
        prop_assert!(tokens(&found) <= budget);
        prop_assert_eq!(found.last().map(|shown| shown.members.end), Some(bodies.len()), "the newest is shown");
        prop_assert_eq!(tokens(&found) < tokens(&all), tokens(&all) > budget);
        // What is left out is older than all that is shown, and then all but the newest are as low
        // as they get.
        let left_out = all.len() - found.len();
        for (shown, before) in found.iter().zip(&all[left_out..]) {
            prop_assert!(shown.members == before.members && shown.level <= before.level);
        }
        if left_out > 0 {
            prop_assert!(found[..found.len() - 1].iter().all(|shown| shown.level == Level::Compact));
        }
    }
}
