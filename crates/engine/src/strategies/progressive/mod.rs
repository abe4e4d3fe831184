//! `progressive`: source 002. Summaries add up instead of replacing each other; with age a summary shrinks to its first lines
//! and decisions, then to its first line; the oldest are merged. The task definition and the architecture decisions are asked
//! for in the same call, pinned in a block of their own and never compressed (`pins`).
//!
//! Mended against the source: merging is defined (the first lines of the oldest, or of the neighbours that are most alike,
//! together), and all of it stays within the budget for any number of rounds, so that a summary is lowered when there is no
//! room and not at an age alone (`levels`). Ours: the share of the budget that pins may take. The source's records, statistics
//! and events are derived (`journey`).

pub mod journey;
mod levels;
mod pins;

use std::sync::Arc;

use async_trait::async_trait;

use self::levels::{Leg, Levels};
use self::pins::Pins;
use super::summarize::ask_for_summary;
use super::{Faithful, defect, recent_or_skip, share, system_with_sections, tokens};
use crate::budget::{Limits, Tail};
use crate::conversation::record::{NewRecord, RecordKind};
use crate::conversation::view::{Edit, Entry, Origin, WrittenPart};
use crate::message::{Part, Role};
use crate::strategy::declined::Declined;
use crate::strategy::params::{Param, ParamError, Settings, Unit};
use crate::strategy::selection::Selection;
use crate::strategy::{Compacted, Context, Strategy, StrategySpec};

/// Registry entry, with the source's `ContextConfig`, its limits, and the window and sizes of its budget example.
pub(super) const SPEC: StrategySpec = StrategySpec {
    name: "progressive",
    about: "summaries that add up and shrink with age; task and architecture decisions stay whole",
    source: "002",
    prompt: include_str!("prompt.md"),
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
        Param {
            name: "pinned",
            about: "share of `written` that pinned items may take together (ours); 0 pins nothing",
            unit: Unit::Share,
            default: 0.25,
            range: (0.0, 0.5),
        },
        Param {
            name: "merge",
            about: "which are merged: the oldest, or the neighbours that are most alike and no longer whole",
            unit: Unit::Choice(&["oldest", "similar"]),
            default: 0.0,
            range: (0.0, 1.0),
        },
        defect("unbounded", "ages alone decide what is shown, whether it fits or not"),
    ],
    limits,
    build: |settings| {
        Arc::new(Progressive {
            prompt: settings.prompt().to_owned(),
            summary: settings.count("summary"),
            pinned: settings.number("pinned"),
            levels: Levels::new(settings),
        })
    },
};

/// Place of `similar` among the choices of `merge`.
const BY_LIKENESS: u32 = 1;

/// As the document has it. Its task definition and architecture decisions are planned only, so its prompt does not ask for them
/// and nothing is pinned; how it merges it does not say, so that stays ours.
pub(super) const FAITHFUL: Faithful = Faithful {
    spec: &SPEC,
    values: &[("prompt", include_str!("published.md")), ("pinned", "0"), ("unbounded", "faithful")],
    breaks: &[10],
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
    prompt: String,
    summary: u32,
    pinned: f64,
    levels: Levels,
}

#[async_trait]
impl Strategy for Progressive {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let selection = recent_or_skip(cx)?;
        let selection = Selection { leaving: spoken_that_leave(cx, &selection), ..selection };
        // Half of the budget at most, so that a new summary never pushes out all others.
        let most = self.summary.min(cx.budget.half_of_written());
        let answer = ask_for_summary(cx, &self.prompt, &selection, most).await?;
        let (earlier, earlier_number) = Pins::latest(cx.history).unwrap_or_default();
        let room = (f64::from(cx.budget.written) * self.pinned) as u32;
        let (pins, body) = earlier.with(&answer, room, cx.counter);

        let covers = selection.covers();
        let mut saved = vec![NewRecord { kind: RecordKind::Summary, covers, body }];
        let mut pins_number = earlier_number;
        if pins != earlier {
            pins_number = cx.number_of_new(1);
            let body = serde_json::to_string(&pins).unwrap_or_default();
            saved.push(NewRecord { kind: RecordKind::Pinned, covers, body });
        }
        let mut edits: Vec<Edit> = system_with_sections(cx, &selection).into_iter().collect();
        let mut budget = cx.budget.written;
        if !pins.is_empty() {
            budget = budget.saturating_sub(pins.tokens_shown(cx.counter));
            edits.push(turn(Origin::Checkpoint(pins_number), pins.text()));
        }
        let journey = journey(cx, &saved[0].body);
        let shown = self.levels.fit(&journey, budget, cx.counter);
        edits.extend(shown.into_iter().map(|shown| turn(Origin::Summary(shown.number), shown.text)));
        edits.extend(selection.keep_edits());
        Ok(Compacted { edits, saved, fallback: None, unread: Vec::new() })
    }
}

/// Every summary so far and the new one, with their numbers.
fn journey<'c>(cx: &'c Context<'_>, newest: &'c str) -> Vec<Leg<'c>> {
    let mut journey = Vec::with_capacity(cx.history.len() + 1);
    for saved in cx.history {
        if saved.kind == RecordKind::Summary {
            journey.push(Leg::new(saved.number, &saved.body));
        }
    }
    journey.push(Leg::new(cx.number_of_new(0), newest));
    journey
}

/// What leaves and was said: earlier summaries and pins stay by themselves.
fn spoken_that_leave<'s>(cx: &Context<'s>, selection: &Selection<'s>) -> Vec<&'s Entry> {
    let entries = cx.view.entries().iter().filter(|entry| entry.role() != Role::System && entry.written().is_none());
    let leaves = |entry: &&Entry| entry.message_id().is_none_or(|id| selection.kept.binary_search(&id).is_err());
    entries.filter(leaves).collect()
}

fn turn(origin: Origin, text: String) -> Edit {
    Edit::Insert(Role::User, vec![WrittenPart { part: Part::Text { text }, origin }])
}
