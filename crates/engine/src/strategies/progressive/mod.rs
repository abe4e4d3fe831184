//! `progressive`: the progressive plan. Summaries add up instead of replacing each other; with age
//! a summary shrinks to the size of a moderate and then of a compact one: its first sentence, its
//! decisions and as many more sentences as fit (`shorten`); the oldest are merged. The task
//! definition and the architecture decisions are asked for in the same call, pinned in a block of
//! their own beside the summaries and never compressed (`pins`).
//!
//! Corrected against the source: all of it stays within the budget for any number of rounds, so
//! that all summaries shrink in the proportion of their levels where there is no room (`levels`).
//! Assumed, since the source does not define it: merging shows the first sentences of the oldest,
//! or of the neighbours that are most alike, each at most as large as a compact summary and
//! together as a moderate one. Ours: the room of pins. The source's records, statistics and events
//! are derived (`journey`).

mod decisions;
pub mod journey;
mod levels;
mod pins;
mod published;
mod shorten;

use std::sync::Arc;

use async_trait::async_trait;

use self::levels::{AgeLevels, Leg};
use self::pins::Pins;
use self::published::Deviations;
use super::summarize::ask_for_summary;
use crate::budget::estimate::Estimator;
use crate::budget::{Limits, Tail};
use crate::conversation::record::{NewRecord, RecordKind};
use crate::conversation::view::{Edit, Entry, Origin};
use crate::message::Role;
use crate::strategy::approach::Approach;
use crate::strategy::ask::AskOptions;
use crate::strategy::journey::Journey;
use crate::strategy::next_view::{recent_or_skip, system_with_sections};
use crate::strategy::params::{Param, ParamError, ParamUnit, Settings, parameters};
use crate::strategy::selection::Selection;
use crate::strategy::{Compacted, Context, Declined, Strategy, StrategySpec};

/// Registry entry, with the source's `ContextConfig`, its limits, and the window and sizes of its
/// budget example.
pub(super) const SPEC: StrategySpec = StrategySpec {
    name: "progressive",
    about: "summaries that add up and shrink with age; task and architecture decisions stay whole",
    source: "the progressive plan",
    approach: Some(Approach::Levels),
    prompt: include_str!("prompt.md"),
    placeholders: &["messages"],
    params: &[Options::PARAMS, Deviations::PARAMS],
    limits,
    build: |settings| {
        let options = Options::read(settings);
        Arc::new(Progressive {
            prompt: settings.prompt().to_owned(),
            summary: options.summary,
            pinned: options.pinned,
            levels: AgeLevels::new(settings),
        })
    },
    published: Some(published::FORM),
};

parameters! {
    /// The source's settings.
    Options {
        window: u32 = Param::tokens(32_000).of_limits(), "context window of the model";
        threshold: f64 = Param::share(0.8).of_limits(), "share of the context window at which a compaction starts";
        tail: u32 = Param::tokens_or_none(4_096).of_limits(), "kept verbatim";
        summary: u32 = Param::tokens(1_024), "most that one summary may have";
        written: u32 = Param::tokens(3_000).of_limits(), "most that all summaries may have together";
        detailed: u32 = Param::tokens(800), "tokens that a newer summary counts for where all shrink in proportion";
        moderate_age: usize = rounds(5), "age at which a summary keeps its first sentences and its decisions";
        moderate: u32 = Param::tokens(300), "most tokens of a summary of that age, and of all that are merged together";
        lines: usize = Param::count(ParamUnit::Lines, 5, (1, 100)), "sentences or list items that it keeps beside its decisions";
        compact_age: usize = rounds(10), "age at which a summary keeps what fits the smallest size";
        compact: u32 = Param::tokens(80), "most tokens of a summary of that age, and of each that is merged";
        most: usize = rounds(10), "most summaries before the oldest are merged";
        pinned: f64 = Param::new(ParamUnit::Share, 0.25, (0.0, 0.5)), "room for pinned items beside the summaries, as a share of `written`; 0 pins nothing";
        merge: bool = Param::choice(&["oldest", "similar"], 0), "which are merged (assumed, since the source does not say): the oldest, or the neighbours that are most alike and no longer whole";
    }
}

const fn rounds(default: u32) -> Param {
    Param::count(ParamUnit::Rounds, default, (1, 10_000))
}

fn limits(settings: &Settings) -> Result<Limits, ParamError> {
    let Options {
        window,
        threshold,
        tail,
        written,
        pinned,
        detailed,
        moderate_age,
        moderate,
        compact_age,
        compact,
        ..
    } = Options::read(settings);
    at_most("compact", compact, "moderate", moderate)?;
    at_most("moderate", moderate, "detailed", detailed)?;
    at_most("moderate", moderate, "written", written)?;
    if moderate_age > compact_age {
        return Err(ParamError(format!(
            "`moderate_age` is {moderate_age} rounds; it may be at most `compact_age`, {compact_age}"
        )));
    }
    Ok(Limits {
        window,
        assumed_window: false,
        trigger: (f64::from(window) * threshold) as u32,
        tail: Tail::Tokens(tail),
        written: written + (f64::from(written) * pinned) as u32,
        estimator: Estimator::Exact,
    })
}

fn at_most(name: &str, tokens: u32, bound: &str, most: u32) -> Result<(), ParamError> {
    if tokens <= most {
        return Ok(());
    }
    Err(ParamError(format!(
        "`{name}` is {tokens} tokens; it may have at most as many as `{bound}`, {most}"
    )))
}

struct Progressive {
    prompt: String,
    summary: u32,
    pinned: f64,
    levels: AgeLevels,
}

#[async_trait]
impl Strategy for Progressive {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let selection = recent_or_skip(cx)?;
        let selection = Selection {
            leaving: spoken_that_leave(cx, &selection),
            ..selection
        };
        // Half of the budget at most, so that a new summary never pushes out all others.
        let most = self.summary.min(cx.budget.half_of_written());
        let answer = ask_for_summary(
            cx,
            &self.prompt,
            &selection.leaving,
            most,
            AskOptions::default(),
        )
        .await?;
        let (earlier, earlier_number) = Pins::latest(cx.history).unwrap_or_default();
        let room = (f64::from(cx.budget.written) * self.pinned / (1.0 + self.pinned)) as u32;
        let covers = selection.covers();
        let at_ms = covers
            .and_then(|(_, last)| cx.log.get(last))
            .and_then(|said| said.message.at_ms);
        let (pins, body) = earlier.with(&answer, at_ms, room, cx.counter);
        let mut saved = vec![NewRecord::new(RecordKind::Summary, covers, body)];
        let mut pins_number = earlier_number;
        if pins != earlier {
            pins_number = cx.number_of_new(1);
            let body = serde_json::to_string(&pins).unwrap_or_default();
            saved.push(NewRecord::new(RecordKind::Pinned, covers, body));
        }
        let mut edits: Vec<Edit> = system_with_sections(cx, &selection).into_iter().collect();
        let mut budget = cx.budget.written;
        if !pins.is_empty() {
            budget = budget.saturating_sub(pins.tokens_shown(cx.counter));
            edits.push(Edit::turn(pins.text(), Origin::Checkpoint(pins_number)));
        }
        let journey = journey(cx, &saved[0].body);
        let shown = self.levels.fit(&journey, budget, cx.counter);
        let summaries = Journey::new(shown.iter().map(|shown| shown.summary(&journey)).collect());
        edits.extend(
            shown
                .into_iter()
                .map(|shown| Edit::turn(shown.text, Origin::Summary(shown.number))),
        );
        edits.extend(selection.keep_edits());
        Ok(Compacted {
            edits,
            saved,
            journey: Some(summaries),
            ..Compacted::default()
        })
    }
}

/// Every summary so far and the new one, with their numbers.
fn journey<'c>(cx: &'c Context<'_>, newest: &'c str) -> Vec<Leg<'c>> {
    let saved = cx
        .history
        .iter()
        .filter(|saved| saved.kind == RecordKind::Summary);
    let mut journey = Vec::with_capacity(cx.history.len() + 1);
    journey.extend(saved.map(|saved| Leg {
        number: saved.number,
        body: &saved.body,
    }));
    journey.push(Leg {
        number: cx.number_of_new(0),
        body: newest,
    });
    journey
}

/// What leaves and was said: earlier summaries and pins stay by themselves.
fn spoken_that_leave<'s>(cx: &Context<'s>, selection: &Selection<'s>) -> Vec<&'s Entry> {
    let entries = cx
        .view
        .entries()
        .iter()
        .filter(|entry| entry.role() != Role::System && entry.written_parts().is_none());
    let leaves = |entry: &&Entry| {
        entry
            .message_id()
            .is_none_or(|id| selection.kept.binary_search(&id).is_err())
    };
    entries.filter(leaves).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::default_limits;

    #[test]
    fn the_limits_are_the_sources() {
        assert_eq!(
            default_limits(&SPEC),
            (32_000, 25_600, Tail::Tokens(4_096), 3_750)
        );
    }
}
