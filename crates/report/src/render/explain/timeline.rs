//! Every decision of a case in order of the log: checkpoints before the trigger, checkpoints shown,
//! and compactions; in words.

use std::collections::BTreeMap;

use compactometer_engine::checkpoint::{Extraction, LadderReading, Rung, Unreadable};
use compactometer_engine::event::{Outcome, RecoveryEvent, RecoveryOutcome, RecoveryReason};
use compactometer_engine::journey::{Change, Journey, Level, ShownSummary};
use compactometer_engine::message::MessageId;
use compactometer_formats::record::{
    CallRow, CheckpointRow, CompactionRow, Observation, ObservationKind,
};

use super::{Story, ranges};
use crate::numbers::grouped;

/// The facts after the previous compaction, if there was one, and after this one.
#[derive(Clone, Copy)]
pub(super) struct FactsAround<'s> {
    pub(super) before: Option<&'s Observation>,
    pub(super) after: &'s Observation,
}

/// One decision of the session.
pub(super) enum TimelineStep<'s> {
    /// A checkpoint before a turn.
    Checkpoint(&'s CheckpointRow),
    /// A checkpoint shown outside a compaction.
    Recovery(&'s RecoveryEvent),
    /// A compaction, the facts around it if it changed the view, and what it did to the summaries
    /// that are shown.
    Compaction(&'s CompactionRow, Option<FactsAround<'s>>, Vec<String>),
}

impl TimelineStep<'_> {
    pub(super) fn after(&self) -> MessageId {
        match self {
            TimelineStep::Checkpoint(row) => row.event.after,
            TimelineStep::Recovery(event) => event.after,
            TimelineStep::Compaction(row, ..) => row.event.after,
        }
    }

    /// Before a turn, a checkpoint is written first, and a compaction comes last.
    fn rank(&self) -> u8 {
        match self {
            TimelineStep::Checkpoint(_) => 0,
            TimelineStep::Recovery(_) => 1,
            TimelineStep::Compaction(..) => 2,
        }
    }

    /// The decision, its outcome and its calls.
    pub(super) fn words(&self) -> String {
        match self {
            TimelineStep::Checkpoint(row) => checkpoint(row),
            TimelineStep::Recovery(event) => recovery(event),
            TimelineStep::Compaction(row, ..) => compaction(row),
        }
    }

    /// The calls that it made; those for showing a checkpoint are not kept.
    pub(super) fn calls(&self) -> &[CallRow] {
        match self {
            TimelineStep::Checkpoint(row) => &row.calls,
            TimelineStep::Recovery(_) => &[],
            TimelineStep::Compaction(row, ..) => &row.calls,
        }
    }
}

impl<'s> Story<'s> {
    /// Every decision in order of the log.
    pub(super) fn timeline(&self) -> Vec<TimelineStep<'s>> {
        let mut steps = self.compactions();
        steps.extend(self.record.checkpoints.iter().map(TimelineStep::Checkpoint));
        let showings = self
            .record
            .recoveries
            .iter()
            .filter(|event| event.outcome != RecoveryOutcome::NothingToShow);
        steps.extend(showings.map(TimelineStep::Recovery));
        steps.sort_by_key(|step| (step.after(), step.rank()));
        steps
    }

    /// The place of each compaction among all decisions, and the message before it.
    pub(in crate::render) fn compactions_by_step(&self) -> impl Iterator<Item = (usize, u32)> {
        let steps = self.timeline().into_iter().enumerate();
        steps
            .filter(|(_, step)| matches!(step, TimelineStep::Compaction(..)))
            .map(|(at, step)| (at, step.after().0))
    }

    fn compactions(&self) -> Vec<TimelineStep<'s>> {
        let is_round = |observation: &&Observation| observation.kind == ObservationKind::Compaction;
        let mut rounds = self.record.observations.iter().filter(is_round);
        let mut before = None;
        let mut levels = SummaryLevels::default();
        let step = |row: &'s CompactionRow| {
            let is_applied = row.event.outcome == Outcome::Applied;
            let after = if is_applied { rounds.next() } else { None };
            let around = after.map(|after| FactsAround { before, after });
            before = after.or(before);
            levels.round += u32::from(is_applied);
            let shown = row
                .event
                .journey
                .as_ref()
                .map_or_else(Vec::new, |journey| levels.next(journey));
            TimelineStep::Compaction(row, around, shown)
        };
        self.record.compactions.iter().map(step).collect()
    }
}

/// The summaries after the previous compaction, and the round that wrote each.
#[derive(Default)]
struct SummaryLevels<'s> {
    round: u32,
    before: &'s [ShownSummary],
    written_in: BTreeMap<u32, u32>,
}

impl<'s> SummaryLevels<'s> {
    /// What the next compaction made of the summaries, in words.
    fn next(&mut self, journey: &'s Journey) -> Vec<String> {
        self.written_in.extend(
            journey
                .summaries
                .last()
                .map(|newest| (newest.id, self.round)),
        );
        let levels = Level::ALL
            .iter()
            .filter_map(|level| Some(format!("{} {}", journey.by_level.get(level)?, level.name())));
        let mut lines = vec![format!(
            "summaries: {}; {} tokens",
            levels.collect::<Vec<_>>().join(", "),
            grouped(f64::from(journey.tokens))
        )];
        lines.extend(
            journey
                .changes_since(self.before)
                .iter()
                .filter_map(|change| self.words(journey, change)),
        );
        self.before = &journey.summaries;
        lines
    }

    /// A change; nothing for the new summary, which every compaction writes.
    fn words(&self, journey: &Journey, change: &Change) -> Option<String> {
        Some(match change {
            Change::Created(_) => return None,
            Change::Compressed {
                id,
                old_level,
                new_level,
            } => {
                format!(
                    "{}: {} -> {}",
                    self.rounds(&[*id]),
                    old_level.name(),
                    new_level.name()
                )
            }
            Change::Merged { result, .. } => {
                let now = journey
                    .summaries
                    .iter()
                    .find(|summary| summary.id == *result)?;
                format!("{}: merged", self.rounds(&now.members))
            }
            Change::LeftOut(numbers) => format!("{}: no longer shown", self.rounds(numbers)),
            Change::ShownAgain(numbers) => format!("{}: shown again", self.rounds(numbers)),
        })
    }

    /// The rounds that wrote these records, runs of them as first and last.
    fn rounds(&self, numbers: &[u32]) -> String {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for round in numbers
            .iter()
            .filter_map(|number| self.written_in.get(number).copied())
        {
            match runs.last_mut().filter(|(_, last)| *last + 1 == round) {
                Some((_, last)) => *last = round,
                None => runs.push((round, round)),
            }
        }
        let words = ranges(runs.into_iter());
        if numbers.len() == 1 {
            format!("summary of round {words}")
        } else {
            format!("summaries of rounds {words}")
        }
    }
}

fn compaction(row: &CompactionRow) -> String {
    let event = &row.event;
    let mut text = match &event.outcome {
        Outcome::Applied => format!(
            "compacted, {} -> {} tokens ({} retained){}",
            tokens(event.tokens_before),
            tokens(event.tokens_after),
            tokens(event.tokens_retained),
            if event.over_budget {
                ", OVER BUDGET"
            } else {
                ""
            }
        ),
        Outcome::Skipped(reason) => format!("skipped: {reason}"),
        Outcome::Failed(reason) => format!("failed: {reason}"),
    };
    for extraction in &event.extractions {
        text.push_str(&format!("; checkpoint {}", reading(extraction)));
    }
    text.push_str(&calls(&row.calls));
    text
}

fn checkpoint(row: &CheckpointRow) -> String {
    let event = &row.event;
    let size = tokens(event.tokens);
    let read = event
        .extraction
        .as_ref()
        .map(|extraction| format!(", {}", reading(extraction)))
        .unwrap_or_default();
    match &event.failed {
        None => format!("checkpoint, {size} tokens{read}{}", calls(&row.calls)),
        Some(reason) => format!(
            "no checkpoint, {size} tokens{read}: {reason}{}",
            calls(&row.calls)
        ),
    }
}

fn recovery(event: &RecoveryEvent) -> String {
    let why = why(&event.reason);
    match &event.outcome {
        RecoveryOutcome::Shown(items, all) if items == all => {
            format!("{why}: checkpoint shown, {items} items")
        }
        RecoveryOutcome::Shown(items, all) => {
            format!("{why}: checkpoint shown, {items} of {all} items")
        }
        RecoveryOutcome::NothingToShow => format!("{why}: nothing to show"),
        RecoveryOutcome::Failed(reason) => format!("{why}: checkpoint not shown: {reason}"),
    }
}

fn why(reason: &RecoveryReason) -> String {
    const HOUR_MS: f64 = 3_600_000.0;
    match reason {
        RecoveryReason::Absence(ms) => format!("back after {:.1} h", *ms as f64 / HOUR_MS),
        RecoveryReason::Lost => "the agent asks for what the checkpoint holds".to_owned(),
        RecoveryReason::OnDemand => "on demand".to_owned(),
        RecoveryReason::Written => "a checkpoint was written".to_owned(),
        RecoveryReason::Shared => "another conversation's share changed".to_owned(),
    }
}

/// How an answer was read.
fn reading(extraction: &Extraction) -> &'static str {
    match extraction.reading {
        LadderReading::Rung(Rung::Strict) => "read strict",
        LadderReading::Rung(Rung::Fenced) => "read out of a fence",
        LadderReading::Rung(Rung::Balanced) => "read from among other text",
        LadderReading::Rung(Rung::Lenient) => "read leniently",
        LadderReading::Rung(Rung::Partial) => "read up to where it was cut",
        LadderReading::Unreadable(Unreadable::NoAnswer) => "not answered",
        LadderReading::Unreadable(_) => "not readable",
    }
}

fn calls(calls: &[CallRow]) -> String {
    if calls.is_empty() {
        return String::new();
    }
    let sum = |of: fn(&CallRow) -> u64| grouped(calls.iter().map(of).sum::<u64>() as f64);
    let (input, output) = (
        sum(|call| call.usage.total_input()),
        sum(|call| call.usage.output),
    );
    format!(
        "; {} call{}, {input} tokens in, {output} out",
        calls.len(),
        if calls.len() == 1 { "" } else { "s" }
    )
}

fn tokens(count: u32) -> String {
    grouped(f64::from(count))
}
