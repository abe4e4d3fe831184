use proptest::prelude::*;

use super::*;
use crate::tokens::Encoding;

const BODY: &str = "Summary: built the store.\nIt has two tables.\nIt is tested.\nIt is fast.\nIt is small.\nIt is new.\n\nKey Decisions:\n- use pg\n\nNext Steps:\n- ship\n\nArchitecture Decisions:\n- no cache";

const LEVELS: Levels =
    Levels { moderate_age: 5, compact_age: 10, most: 10, lines: 5, by_likeness: false, unbounded: false };

fn shown(rounds: usize, budget: u32) -> Vec<(u32, String)> {
    let bodies = (0..rounds).map(|round| format!("Summary: part {round}.\n{BODY}")).collect::<Vec<_>>();
    let journey = bodies.iter().enumerate().map(|(number, body)| Leg::new(number as u32, body)).collect::<Vec<_>>();
    let shown = LEVELS.fit(&journey, budget, &Encoding::O200k);
    shown.into_iter().map(|shown| (shown.number, shown.text)).collect()
}

#[test]
fn summaries_shrink_with_age() {
    let shown = shown(8, 100_000);
    assert_eq!(shown.len(), 8);
    assert!(shown[7].1.contains("ship") && shown[3].1.contains("ship"), "ages 0 to 4 are whole");
    let old = &shown[2].1;
    assert!(old.contains("use pg") && old.contains("no cache"), "age 5 keeps its decisions: {old}");
    assert!(!old.contains("ship"), "age 5 keeps no steps: {old}");
}

#[test]
fn the_oldest_are_merged_and_every_part_is_named() {
    let shown = shown(14, 100_000);
    assert_eq!(shown.len(), 10);
    let all = shown.iter().map(|(_, text)| text.as_str()).collect::<String>();
    assert!((0..14).all(|round| all.contains(&format!("part {round}."))), "{all}");
}

#[test]
fn a_hundred_rounds_stay_in_the_budget() {
    for rounds in [1, 5, 20, 100] {
        for budget in [100, 400, 1_500] {
            let shown = shown(rounds, budget);
            let size = shown.iter().map(|(_, text)| MESSAGE_OVERHEAD + Encoding::O200k.count_text(text)).sum::<u32>();
            assert!(size <= budget && !shown.is_empty(), "{rounds} rounds: {size} of {budget}");
            assert!(shown.iter().any(|(_, text)| text.contains(&format!("part {}.", rounds - 1))), "the newest stays");
        }
    }
}

fn groups(levels: &Levels, parts: &[&str]) -> Vec<Range<usize>> {
    let journey = parts.iter().enumerate().map(|(number, body)| Leg::new(number as u32, body)).collect::<Vec<_>>();
    levels.groups(&journey).into_iter().map(|group| group.members).collect()
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
    let oldest = Levels { most: 6, moderate_age: 2, ..LEVELS };
    assert_eq!(groups(&oldest, &PHASES), [0..3, 3..4, 4..5, 5..6, 6..7, 7..8], "the oldest, whatever they are about");
    let alike = Levels { by_likeness: true, ..oldest };
    assert_eq!(groups(&alike, &PHASES), [0..2, 2..4, 4..5, 5..6, 6..7, 7..8]);
}

#[test]
fn what_still_stands_in_full_is_not_merged_by_likeness() {
    let levels = Levels { most: 4, moderate_age: 4, by_likeness: true, ..LEVELS };
    let parts = [PHASES[4], PHASES[5], PHASES[6], PHASES[0], PHASES[1]];
    assert_eq!(groups(&levels, &parts), [0..2, 2..3, 3..4, 4..5], "the two of one phase are new");
}

#[test]
fn what_is_merged_stays_merged() {
    for by_likeness in [false, true] {
        let levels = Levels { most: 4, moderate_age: 1, by_likeness, ..LEVELS };
        let parts = PHASES.iter().cycle().take(40).copied().collect::<Vec<_>>();
        for rounds in 5..40 {
            let (before, after) = (groups(&levels, &parts[..rounds - 1]), groups(&levels, &parts[..rounds]));
            let is_within = |old: &Range<usize>| after.iter().any(|new| new.start <= old.start && old.end <= new.end);
            assert!(after.len() == 4 && before.iter().all(is_within), "{before:?} and then {after:?}");
        }
    }
}

/// The rule as it is said: one step, then everything is shown and counted again.
fn step(groups: &mut Vec<Group>) -> bool {
    match groups.iter().position(|group| group.level > Level::Compact) {
        Some(at) if at + 1 < groups.len() || groups.len() == 1 => groups[at].level = groups[at].level.lower(),
        _ if groups.len() == 1 && groups[0].members.len() == 1 => return false,
        _ => {
            groups[0].members.start += 1;
            groups.retain(|group| !group.members.is_empty());
        }
    }
    true
}

proptest! {
    #[test]
    fn what_is_shown_is_what_single_steps_come_to(
        bodies in prop::collection::vec("[a-z .一-龥-]{0,30}(\n[a-z -]{0,12}){0,7}(\nDecisions:\n- [a-z]{1,9}){0,1}", 1..40),
        budget in 0..400_u32,
        by_likeness in any::<bool>(),
    ) {
        let levels = Levels { moderate_age: 2, compact_age: 4, most: 5, lines: 2, by_likeness, unbounded: false };
        let journey = bodies.iter().enumerate().map(|(at, body)| Leg::new(at as u32, body)).collect::<Vec<_>>();
        let mut groups = levels.groups(&journey);
        let tokens = |shown: &[Shown]| shown.iter().map(|shown| shown.tokens(&Encoding::O200k)).sum::<u32>();
        let show = |groups: &[Group]| groups.iter().map(|group| levels.show(group, &journey)).collect::<Vec<_>>();
        let mut expected = show(&groups);
        while tokens(&expected) > budget && step(&mut groups) {
            expected = show(&groups);
        }
        let found = levels.fit(&journey, budget, &Encoding::O200k);
        let texts = |shown: &[Shown]| shown.iter().map(|one| (one.members.clone(), one.text.clone())).collect::<Vec<_>>();
        prop_assert_eq!(texts(&found), texts(&expected));
    }
}
