//! One conversation step by step: what left, what was written, and what each fact went through; as
//! text or as a page.
//!
//! Absent on purpose: means over conversations, which the report has.

pub(super) mod marked;
mod story_page;
mod story_text;
pub(super) mod template_values;
mod timeline;

use std::collections::BTreeMap;
use std::sync::Arc;

use compactometer_engine::tokens::CountedMessage;
use compactometer_formats::fate::Fate;
use compactometer_formats::record::{CheckpointRow, CompactionRow, Record, Unusable};
use compactometer_formats::scenario::{Fact, MemoryPart, Scenario};

use self::marked::FactMarks;
use self::timeline::FactsAround;
use super::plots::{draw, views_of};
use super::{ReportError, made};
use crate::numbers::grouped;

/// One case and its messages.
pub struct Story<'s> {
    /// The conversation.
    pub scenario: &'s Scenario,
    /// The conversation's messages.
    pub messages: &'s [Arc<CountedMessage>],
    /// The case's record.
    pub record: &'s Record,
    /// The texts that the record names, by hash.
    pub texts: &'s BTreeMap<String, String>,
    /// The only fact to follow; if absent, all facts that are not decoys.
    pub only: Option<&'s str>,
}

/// A fact whose fate a compaction changed.
struct ExplainedChange<'s> {
    fact: &'s Fact,
    from: Fate,
    to: Fate,
}

impl<'s> Story<'s> {
    pub(super) fn title(&self) -> String {
        format!(
            "{} on {}",
            self.record.case.strategy, self.record.case.scenario
        )
    }

    pub(super) fn limits(&self) -> String {
        let budget = &self.record.case.budget;
        let tokens = |count: u32| grouped(f64::from(count));
        let retained = budget
            .retained
            .map_or("as the strategy likes".to_owned(), |most| {
                format!("{} tokens", tokens(most))
            });
        let assumed = if budget.assumed_window {
            " (assumed)"
        } else {
            ""
        };
        format!(
            "context window {}{assumed}, trigger {} tokens, retained {retained}",
            tokens(budget.window),
            tokens(budget.trigger)
        )
    }

    /// Why the context counts as empty at the end; nothing if it can be used.
    pub(super) fn unusable(&self) -> Option<&'static str> {
        Some(match self.record.observations.last()?.unusable? {
            Unusable::OverWindow => {
                "its last request is over the context window, so that a provider refuses it"
            }
            Unusable::CompactionFailed => "a compaction was due and failed",
        })
    }

    /// The view after each round as a picture, if one is recorded.
    pub(in crate::render) fn picture(&self) -> Result<Option<String>, ReportError> {
        let figure = views_of(self.record);
        figure
            .map(|figure| draw::svg(&figure).map_err(|what| made("a picture", &what)))
            .transpose()
    }

    /// The facts to report, with their indices.
    pub(super) fn facts(&self) -> impl Iterator<Item = (usize, &'s Fact)> {
        let is_told = |fact: &Fact| {
            self.only
                .map_or(fact.decoy_of.is_none(), |id| fact.id == id)
        };
        self.scenario
            .facts
            .iter()
            .enumerate()
            .filter(move |(_, fact)| is_told(fact))
    }

    /// For each part of memory that is asked: the questions whose requests held the answer, and
    /// all.
    fn memory(&self) -> impl Iterator<Item = (MemoryPart, usize, usize)> {
        [MemoryPart::Document, MemoryPart::Notes]
            .into_iter()
            .filter_map(|part| {
                let is_held = |probe: usize| {
                    self.record
                        .answers
                        .iter()
                        .any(|answer| answer.probe as usize == probe && answer.present)
                };
                let probes = self
                    .record
                    .probes
                    .iter()
                    .enumerate()
                    .filter(|(_, probe)| probe.memory == Some(part));
                let held = probes.map(|(probe, _)| is_held(probe)).collect::<Vec<_>>();
                (!held.is_empty())
                    .then(|| (part, held.iter().filter(|held| **held).count(), held.len()))
            })
    }

    /// Finds the values of these facts.
    pub(super) fn marks(&self) -> FactMarks<'s> {
        FactMarks::new(self.facts().map(|(_, fact)| fact))
    }

    /// What a compaction changed, losses first.
    fn changes(&self, FactsAround { before, after }: FactsAround<'s>) -> Vec<ExplainedChange<'s>> {
        let change = |(index, fact): (usize, &'s Fact)| {
            let earlier = before.map_or(Fate::Unstated, |observation| observation.fates.0[index]);
            let from = if earlier == Fate::Unstated {
                Fate::Verbatim
            } else {
                earlier
            };
            ExplainedChange {
                fact,
                from,
                to: after.fates.0[index],
            }
        };
        let changed =
            |change: &ExplainedChange<'_>| change.to != Fate::Unstated && change.to != change.from;
        let mut changes = self.facts().map(change).filter(changed).collect::<Vec<_>>();
        changes.sort_by_key(|change| change.to.is_present());
        changes
    }

    /// What a summarizer answered when it was asked for a checkpoint before a turn.
    fn answers(&self, row: &CheckpointRow) -> impl Iterator<Item = &'s str> {
        let replies = row.calls.iter().filter_map(|call| call.reply.as_ref());
        replies.filter_map(|hash| self.texts.get(hash).map(String::as_str))
    }

    /// What a compaction put into the view.
    fn texts_added(&self, row: &CompactionRow) -> impl Iterator<Item = &'s str> {
        row.inserted
            .iter()
            .filter_map(|hash| self.texts.get(hash).map(String::as_str))
    }
}

/// The ranges of messages that left; nothing if none did.
fn left(row: &CompactionRow) -> Option<String> {
    let runs = row.left.iter().map(|(first, last)| (first.0, last.0));
    (!row.left.is_empty()).then(|| format!("messages {}", ranges(runs)))
}

/// Runs of numbers, each as its first and last.
fn ranges(runs: impl Iterator<Item = (u32, u32)>) -> String {
    let words = runs.map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// What left without being read; nothing if all was read.
fn unread(row: &CompactionRow) -> Option<String> {
    let count = row.event.unread.len();
    (count > 0).then(|| format!("{count} message(s) left with text that no summarizer read"))
}

/// A part of memory in a sentence.
fn memory_name(part: MemoryPart) -> &'static str {
    match part {
        MemoryPart::Document => "the memory document",
        MemoryPart::Notes => "a note of memory",
    }
}
