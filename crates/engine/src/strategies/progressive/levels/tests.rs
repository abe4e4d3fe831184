use proptest::prelude::*;

use super::*;
use crate::tokens::Encoding;

const BODY: &str = "Summary: built the store.\nIt has two tables.\nIt is tested.\nIt is fast.\nIt is small.\nIt is new.\n\nKey Decisions:\n- use pg\n\nNext Steps:\n- ship\n\nArchitecture Decisions:\n- no cache";

const LEVELS: AgeLevels = AgeLevels {
    moderate_age: 5,
    compact_age: 10,
    most: 10,
    lines: 5,
    detailed: 800,
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

fn groups(levels: &AgeLevels, parts: &[&str]) -> Vec<Range<usize>> {
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
    let oldest = AgeLevels {
        most: 6,
        moderate_age: 2,
        ..LEVELS
    };
    assert_eq!(
        groups(&oldest, &PHASES),
        [0..3, 3..4, 4..5, 5..6, 6..7, 7..8],
        "the oldest, whatever they are about"
    );
    let alike = AgeLevels {
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
    let levels = AgeLevels {
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
        let levels = AgeLevels {
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
    let levels = AgeLevels {
        compact_age: 8,
        moderate: 60,
        compact: 20,
        ..LEVELS
    };
    let shown = levels.fit(&journey, u32::MAX, &Encoding::O200k);
    let size = |shown: &ShownMessage| Encoding::O200k.count_text(&shown.text[HEADER.len()..]);
    assert!(
        shown.iter().any(|shown| size(shown) > 300),
        "the newest are whole"
    );
    for (level, most) in [(Level::Moderate, 60), (Level::Compact, 20)] {
        let sizes = shown
            .iter()
            .filter(|shown| shown.level == level && shown.members.len() == 1)
            .map(size)
            .collect::<Vec<_>>();
        assert!(
            !sizes.is_empty() && sizes.iter().all(|size| *size <= most),
            "{level:?}: {sizes:?}"
        );
    }
    assert!(
        size(&shown[0]) <= 60,
        "merged ones share the size of a moderate one"
    );
    assert_eq!(
        shown[0].members,
        1..5,
        "what has room for a sentence is named"
    );
    let merged = &shown[0].text;
    assert_eq!(
        merged.matches("\n- built the store.").count(),
        4,
        "{merged}"
    );
}

#[test]
fn short_of_room_all_levels_shrink_in_proportion() {
    let long = format!("{BODY}\n").repeat(30);
    let journey = (0..10)
        .map(|number| Leg {
            number,
            body: &long,
        })
        .collect::<Vec<_>>();
    let sizes = |levels: &AgeLevels, budget| {
        let shown = levels.fit(&journey, budget, &Encoding::O200k);
        let text = |shown: &ShownMessage| Encoding::O200k.count_text(&shown.text[HEADER.len()..]);
        shown.iter().map(text).collect::<Vec<_>>()
    };
    let aged = AgeLevels {
        compact_age: 8,
        ..LEVELS
    };
    let found = sizes(&aged, 1_200);
    let (compact, moderate, detailed) = (found[0], found[3], found[7]);
    assert!(
        moderate >= 2 * compact && detailed >= 2 * moderate,
        "{found:?}"
    );
    assert!(
        found[9] <= 2 * detailed,
        "the newest takes no more than the others: {found:?}"
    );
    let flat = AgeLevels {
        moderate_age: 1_000,
        compact_age: 1_001,
        ..LEVELS
    };
    let found = sizes(&flat, 1_200);
    assert!(
        found.iter().all(|size| size.abs_diff(found[0]) < 25),
        "one level: {found:?}"
    );
}

proptest! {
    #[test]
    fn what_is_shown_fits_and_all_is_named_or_older(
        bodies in prop::collection::vec("[a-z .一-龥-]{0,30}(\n[a-z -]{0,12}){0,7}(\nDecisions:\n- [a-z]{1,9}){0,1}", 1..40),
        budget in 30..400_u32,
        by_likeness in any::<bool>(),
    ) {
        let levels = AgeLevels { moderate_age: 2, compact_age: 4, most: 5, lines: 2, detailed: 80, moderate: 30, compact: 15, by_likeness, unbounded: false };
        let journey = bodies.iter().enumerate().map(|(at, body)| Leg { number: at as u32, body }).collect::<Vec<_>>();
        let tokens = |shown: &[ShownMessage]| shown.iter().map(|shown| shown.tokens).sum::<u32>();
        let (found, all) = (levels.fit(&journey, budget, &Encoding::O200k), levels.fit(&journey, u32::MAX / 2, &Encoding::O200k));
        prop_assert!(tokens(&found) <= budget, "{} of {budget}", tokens(&found));
        prop_assert_eq!(found.last().map(|shown| shown.members.end), Some(bodies.len()), "the newest is shown");
        prop_assert!(found.len() <= all.len());
        prop_assert!(found.windows(2).all(|pair| pair[0].members.end <= pair[1].members.start), "in order");
    }

    #[test]
    fn shares_use_the_room_and_keep_the_proportion(
        needs in prop::collection::vec((0..900_u32, 1..900_u32), 1..12),
        room in 0..3_000_u32,
    ) {
        let needs = needs.into_iter().map(|(most, weight)| Need { most, weight }).collect::<Vec<_>>();
        let sizes = shares(&needs, room);
        let (used, wanted) = (sizes.iter().sum::<u32>(), needs.iter().map(|need| need.most).sum::<u32>());
        prop_assert!(used <= room && used + needs.len() as u32 >= room.min(wanted), "{used} of {room}");
        for (size, need) in sizes.iter().zip(&needs) {
            prop_assert!(*size <= need.most);
            // Whoever gets less than it could use has no smaller part of its weight than another.
            let is_cut = *size < need.most;
            let per_weight = |size: u32, weight: u32| f64::from(size) / f64::from(weight);
            let others = sizes.iter().zip(&needs).all(|(other, of)| {
                let rounded = other.saturating_sub(needs.len() as u32);
                per_weight(rounded, of.weight) <= per_weight(size + 1, need.weight)
            });
            prop_assert!(!is_cut || others);
        }
    }
}
