//! `progressive`: source 002. Summaries add up instead of replacing each other; with age a summary shrinks to its first lines
//! and decisions, then to its first line; the oldest are merged. Absent so far: the source's task definition and decisions that
//! are never compressed; here decisions go with a summary's compact level.
//!
//! A level is not stored: it follows from a summary's age, the number of summaries written after it. Mended against the source:
//! merging is defined (the first lines of the oldest, together), and all of it stays within the budget for any number of rounds.

use std::sync::Arc;

use async_trait::async_trait;

use super::summarize::ask_for_summary;
use super::{recent_or_skip, share, tokens};
use crate::budget::{Limits, Tail};
use crate::message::{Part, Role};
use crate::params::{Param, ParamError, Settings, Unit};
use crate::saved::{NewSaved, SavedKind};
use crate::select::Selection;
use crate::strategy::{Compacted, Context, Declined, Strategy, StrategySpec};
use crate::tokens::{MESSAGE_OVERHEAD, TokenCounter};
use crate::view::{Edit, Origin, WrittenPart};

/// Registry entry, with the source's `ContextConfig`, its limits, and the window and sizes of its budget example.
pub(super) const SPEC: StrategySpec = StrategySpec {
    name: "progressive",
    about: "summaries that add up and shrink with age, the oldest merged",
    source: "002",
    prompt: include_str!("progressive.md"),
    placeholders: &["messages"],
    params: &[
        tokens("window", "context window of the model", 32_000),
        share("threshold", "share of the window at which a compaction starts", 0.8),
        tokens("tail", "kept verbatim", 4_096),
        tokens("summary", "most that one summary may have", 1_024),
        tokens("written", "most that all summaries may have together", 3_000),
        rounds("moderate_age", "age at which a summary keeps its first lines and decisions", 5),
        rounds("compact_age", "age at which a summary keeps its first line", 10),
        rounds("most", "most summaries before the oldest are merged", 10),
        Param {
            name: "lines",
            about: "lines that a moderate summary keeps",
            unit: Unit::Lines,
            default: 5.0,
            range: (1.0, 100.0),
        },
    ],
    limits,
    build: |settings| Arc::new(Progressive { settings: settings.clone() }),
};

const fn rounds(name: &'static str, about: &'static str, default: u32) -> Param {
    Param { name, about, unit: Unit::Rounds, default: default as f64, range: (1.0, 10_000.0) }
}

fn limits(settings: &Settings) -> Result<Limits, ParamError> {
    let window = settings.count("window");
    Ok(Limits {
        window,
        trigger: (f64::from(window) * settings.number("threshold")) as u32,
        tail: Tail::Tokens(settings.count("tail")),
        written: settings.count("written"),
    })
}

struct Progressive {
    settings: Settings,
}

#[async_trait]
impl Strategy for Progressive {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let selection = Selection { leaving: Vec::new(), ..recent_or_skip(cx)? };
        let selection = Selection { leaving: spoken_that_leave(cx, &selection), ..selection };
        // Half of the budget at most, so that a new summary never pushes out all others.
        let most = self.settings.count("summary").min(cx.budget.written / 2);
        let summary = ask_for_summary(cx, self.settings.prompt(), &selection, most).await?;
        let number = cx.number_of_new(0);
        let earlier = cx.history.iter().filter(|saved| saved.kind == SavedKind::Summary);
        let mut journey = earlier.map(|saved| (saved.number, saved.body.as_str())).collect::<Vec<_>>();
        journey.push((number, &summary));
        let mut edits: Vec<Edit> = selection.system.map(|system| Edit::Keep(system.id)).into_iter().collect();
        let shown = self.fit(&journey, cx.budget.written, cx.counter);
        edits.extend(shown.into_iter().map(|(number, text)| turn(number, text)));
        edits.extend(selection.keep_edits());
        let saved = NewSaved { kind: SavedKind::Summary, covers: selection.covers(), body: summary };
        Ok(Compacted { edits, saved: vec![saved], fallback: None, unread: Vec::new() })
    }
}

/// What leaves and was said: earlier summaries stay by themselves.
fn spoken_that_leave<'s>(cx: &Context<'s>, selection: &Selection<'s>) -> Vec<&'s crate::view::Entry> {
    let entries = cx.view.entries().iter().filter(|entry| entry.role != Role::System && entry.written().is_none());
    let leaves =
        |entry: &&crate::view::Entry| entry.message_id().is_none_or(|id| selection.kept.binary_search(&id).is_err());
    entries.filter(leaves).collect()
}

/// How much of a summary is shown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Compact,
    Moderate,
    Detailed,
}

impl Progressive {
    /// The journey at the levels of its ages, lowered from the oldest on until it fits; the oldest are left out last.
    fn fit(&self, journey: &[(u32, &str)], budget: u32, counter: &dyn TokenCounter) -> Vec<(u32, String)> {
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
        match age as u32 {
            age if age >= self.settings.count("compact_age") => Level::Compact,
            age if age >= self.settings.count("moderate_age") => Level::Moderate,
            _ => Level::Detailed,
        }
    }

    /// One text a summary; those beyond the most are merged into the oldest text that is shown.
    fn show(&self, journey: &[(u32, &str)], levels: &[Level]) -> Vec<(u32, String)> {
        let texts = journey.iter().zip(levels).map(|((number, body), level)| (*number, self.text(body, *level)));
        let mut texts = texts.collect::<Vec<_>>();
        let merged = texts.len().saturating_sub(self.settings.count("most") as usize);
        if merged > 0 {
            let oldest = texts.drain(..=merged).collect::<Vec<_>>();
            let lines = oldest.iter().map(|(_, text)| format!("- {}", first_line(text))).collect::<Vec<_>>();
            let number = oldest.last().map_or(0, |(number, _)| *number);
            texts.insert(0, (number, format!("Earlier parts:\n{}", lines.join("\n"))));
        }
        texts
    }

    fn text(&self, body: &str, level: Level) -> String {
        match level {
            Level::Detailed => body.to_owned(),
            Level::Moderate => {
                let lines = body.lines().filter(|line| !line.trim().is_empty());
                let kept = lines.take(self.settings.count("lines") as usize).map(str::to_owned);
                let mut kept = kept.collect::<Vec<_>>();
                kept.extend(
                    decisions(body)
                        .filter(|decision| !kept.iter().any(|line| line == decision))
                        .map(str::to_owned)
                        .collect::<Vec<_>>(),
                );
                kept.join("\n")
            }
            Level::Compact => first_line(body).to_owned(),
        }
    }
}

fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
}

/// The list under the heading of the decisions.
fn decisions(body: &str) -> impl Iterator<Item = &str> {
    let under = body.lines().skip_while(|line| !line.to_lowercase().contains("key decisions")).skip(1);
    under.take_while(|line| line.trim_start().starts_with(['-', '*']))
}

fn turn(number: u32, text: String) -> Edit {
    let text = format!("Summary of an earlier part:\n\n{text}");
    Edit::Insert(Role::User, vec![WrittenPart { part: Part::Text { text }, origin: Origin::Summary(number) }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::Encoding;

    const BODY: &str = "Summary: built the store.\nIt has two tables.\nIt is tested.\nIt is fast.\nIt is small.\nIt is new.\n\nKey Decisions:\n- use pg\n\nNext Steps:\n- ship";

    fn shown(rounds: usize, budget: u32) -> Vec<(u32, String)> {
        let bodies = (0..rounds).map(|round| format!("Summary: part {round}.\n{BODY}")).collect::<Vec<_>>();
        let journey =
            bodies.iter().enumerate().map(|(number, body)| (number as u32, body.as_str())).collect::<Vec<_>>();
        Progressive { settings: Settings::defaults(&SPEC) }.fit(&journey, budget, &Encoding::O200k)
    }

    #[test]
    fn summaries_shrink_with_age() {
        let shown = shown(8, 100_000);
        assert_eq!(shown.len(), 8);
        assert!(shown[7].1.contains("ship") && shown[3].1.contains("ship"), "ages 0 to 4 are whole");
        assert!(shown[2].1.contains("use pg") && !shown[2].1.contains("ship"), "age 5 keeps its decisions");
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
