//! How much of each summary `progressive` shows: by age, and less where all together would not fit.
//!
//! A level is not stored: it follows from a summary's age, the number of summaries written after it.

use crate::params::Settings;
use crate::tokens::{MESSAGE_OVERHEAD, TokenCounter};

/// The ages and sizes of source 002.
pub(super) struct Levels {
    pub(super) moderate_age: usize,
    pub(super) compact_age: usize,
    pub(super) most: usize,
    pub(super) lines: usize,
}

/// How much of a summary is shown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Compact,
    Moderate,
    Detailed,
}

impl Levels {
    pub(super) fn new(settings: &Settings) -> Self {
        let count = |name| settings.count(name) as usize;
        Levels {
            moderate_age: count("moderate_age"),
            compact_age: count("compact_age"),
            most: count("most"),
            lines: count("lines"),
        }
    }

    /// The journey at the levels of its ages, lowered from the oldest on until it fits; the oldest are left out last.
    pub(super) fn fit(&self, journey: &[(u32, &str)], budget: u32, counter: &dyn TokenCounter) -> Vec<(u32, String)> {
        let mut levels = (0..journey.len()).map(|at| self.level(journey.len() - 1 - at)).collect::<Vec<_>>();
        let mut first = 0;
        loop {
            let shown = self.show(&journey[first..], &levels[first..]);
            let size = shown.iter().map(|(_, text)| MESSAGE_OVERHEAD + counter.count_text(text)).sum::<u32>();
            if size <= budget || first + 1 >= journey.len() && levels[first] == Level::Compact {
                return shown;
            }
            match levels[first..].iter().position(|level| *level > Level::Compact) {
                // The newest is lowered only after all others.
                Some(at) if first + at + 1 < journey.len() || first + 1 == journey.len() => {
                    levels[first + at] =
                        if levels[first + at] == Level::Detailed { Level::Moderate } else { Level::Compact };
                }
                _ => first += 1,
            }
        }
    }

    fn level(&self, age: usize) -> Level {
        match age {
            age if age >= self.compact_age => Level::Compact,
            age if age >= self.moderate_age => Level::Moderate,
            _ => Level::Detailed,
        }
    }

    /// One text a summary; those beyond the most are merged into the oldest text that is shown.
    fn show(&self, journey: &[(u32, &str)], levels: &[Level]) -> Vec<(u32, String)> {
        let texts = journey.iter().zip(levels).map(|((number, body), level)| (*number, self.text(body, *level)));
        let mut texts = texts.collect::<Vec<_>>();
        let merged = texts.len().saturating_sub(self.most);
        if merged > 0 {
            let oldest = texts.drain(..=merged).collect::<Vec<_>>();
            let lines = oldest.iter().map(|(_, text)| format!("- {}", first_line(text))).collect::<Vec<_>>();
            let number = oldest.last().map_or(0, |(number, _)| *number);
            texts.insert(0, (number, format!("Earlier parts:\n{}", lines.join("\n"))));
        }
        for (_, text) in &mut texts {
            text.insert_str(0, "Summary of an earlier part:\n\n");
        }
        texts
    }

    fn text(&self, body: &str, level: Level) -> String {
        match level {
            Level::Detailed => body.to_owned(),
            Level::Moderate => {
                let mut kept = body.lines().filter(|line| !line.trim().is_empty()).take(self.lines).collect::<Vec<_>>();
                for decision in decisions(body) {
                    if !kept.contains(&decision) {
                        kept.push(decision);
                    }
                }
                kept.join("\n")
            }
            Level::Compact => first_line(body).to_owned(),
        }
    }
}

fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
}

/// The lists under the headings of decisions: key decisions, and architecture decisions that could not be pinned.
fn decisions(body: &str) -> impl Iterator<Item = &str> {
    let mut under = false;
    body.lines().filter(move |line| {
        let is_item = line.trim_start().starts_with(['-', '*']);
        under = if is_item { under } else { line.to_lowercase().contains("decisions") };
        is_item && under
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::Encoding;

    const BODY: &str = "Summary: built the store.\nIt has two tables.\nIt is tested.\nIt is fast.\nIt is small.\nIt is new.\n\nKey Decisions:\n- use pg\n\nNext Steps:\n- ship\n\nArchitecture Decisions:\n- no cache";

    fn shown(rounds: usize, budget: u32) -> Vec<(u32, String)> {
        let bodies = (0..rounds).map(|round| format!("Summary: part {round}.\n{BODY}")).collect::<Vec<_>>();
        let journey =
            bodies.iter().enumerate().map(|(number, body)| (number as u32, body.as_str())).collect::<Vec<_>>();
        let levels = Levels { moderate_age: 5, compact_age: 10, most: 10, lines: 5 };
        levels.fit(&journey, budget, &Encoding::O200k)
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
                let size =
                    shown.iter().map(|(_, text)| MESSAGE_OVERHEAD + Encoding::O200k.count_text(text)).sum::<u32>();
                assert!(size <= budget && !shown.is_empty(), "{rounds} rounds: {size} of {budget}");
                assert!(
                    shown.iter().any(|(_, text)| text.contains(&format!("part {}.", rounds - 1))),
                    "the newest stays"
                );
            }
        }
    }
}
