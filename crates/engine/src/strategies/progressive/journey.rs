//! The checkpoints of the progressive plan as its `CompressionCheckpoint` describes them, their
//! statistics and their events, derived from what a session saved.
//!
//! Nothing of it is stored: a summary's level and its neighbours follow from the summaries after
//! it. One thing is not seen here: a compaction that was asked for twice, because its first answer
//! broke the budget, shows less than `written` allows.

use std::collections::BTreeMap;

use serde::Serialize;

pub use super::decisions::ArchitectureDecision;
use super::levels::{AgeLevels, Leg, ShownMessage};
use super::pins::Pins;
use super::shorten::items;
use crate::conversation::record::{History, RecordKind, SessionRecord};
use crate::message::MessageId;
pub use crate::strategy::journey::{Change, Level};
use crate::strategy::journey::{Journey, ShownSummary};
use crate::strategy::params::Settings;
use crate::tokens::TokenCounter;

/// One summary of the journey, or several merged ones, as a compaction left it (the progressive
/// plan, data structures).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CompressionCheckpoint {
    /// The number of its newest record, see [`SessionRecord::number`].
    pub id: u32,
    /// The numbers of all its records, oldest first; several where they are merged.
    pub members: Vec<u32>,
    /// How much of it is shown.
    pub level: Level,
    /// First and last message that it represents: the source's `range`.
    pub range: Option<(MessageId, MessageId)>,
    /// The text that is shown: the source's `summary`.
    pub summary: String,
    /// When its oldest record was written, in milliseconds since the Unix epoch.
    pub created_at_ms: Option<i64>,
    /// When it was last lowered or merged.
    pub compressed_at_ms: Option<i64>,
    /// Tokens of its summaries as they were written.
    pub original_tokens: u32,
    /// Tokens of the message that shows it.
    pub current_tokens: u32,
    /// How often it was lowered or merged.
    pub compression_count: u32,
    /// Decisions that its summaries list, also those that are no longer shown.
    pub key_decisions: Vec<String>,
    /// Files that its summaries list.
    pub files_modified: Vec<String>,
    /// Next steps that its summaries list.
    pub next_steps: Vec<String>,
}

/// One compaction: what it left and what it changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Round {
    /// The number of its summary.
    pub number: u32,
    /// The journey after it, oldest first.
    pub checkpoints: Vec<CompressionCheckpoint>,
    /// What it changed, oldest checkpoint first.
    pub changes: Vec<Change>,
}

/// What the checkpoints of a session come to (the progressive plan, `getCheckpointStats`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// Checkpoints.
    pub total: usize,
    /// Checkpoints at each level that occurs.
    pub by_level: BTreeMap<Level, usize>,
    /// Tokens of the messages that show them.
    pub total_tokens: u32,
    /// When the oldest was written, in milliseconds since the Unix epoch.
    pub oldest_date_ms: Option<i64>,
}

impl Stats {
    /// Counts these checkpoints.
    pub fn new(checkpoints: &[CompressionCheckpoint]) -> Self {
        let Journey {
            total,
            by_level,
            tokens,
            ..
        } = Journey::new(
            checkpoints
                .iter()
                .map(CompressionCheckpoint::summary)
                .collect(),
        );
        let oldest_date_ms = checkpoints
            .iter()
            .filter_map(|checkpoint| checkpoint.created_at_ms)
            .min();
        Stats {
            total,
            by_level,
            total_tokens: tokens,
            oldest_date_ms,
        }
    }
}

impl CompressionCheckpoint {
    /// What of it the context shows.
    fn summary(&self) -> ShownSummary {
        ShownSummary {
            id: self.id,
            members: self.members.clone(),
            level: self.level,
            tokens: self.current_tokens,
        }
    }
}

/// The architecture decisions that a session of `progressive` carries through every compaction,
/// oldest first.
pub fn decisions(history: &History) -> Vec<ArchitectureDecision> {
    Pins::latest(history).map_or_else(Vec::new, |(pins, _)| pins.architecture_decisions)
}

/// Every compaction of a session of `progressive`, oldest first. `written` is what its budget lets
/// it write, in tokens of `counter`.
pub fn rounds(
    history: &[SessionRecord],
    settings: &Settings,
    written: u32,
    counter: &dyn TokenCounter,
) -> Vec<Round> {
    let levels = AgeLevels::new(settings);
    let mut rounds: Vec<Round> = Vec::new();
    let mut journey: Vec<&SessionRecord> = Vec::new();
    let mut so_far = History::default();
    for (at, saved) in history
        .iter()
        .enumerate()
        .filter(|(_, saved)| saved.kind == RecordKind::Summary)
    {
        journey.push(saved);
        // The record of what a round pins follows its summary.
        let end = at
            + 1
            + usize::from(
                history
                    .get(at + 1)
                    .is_some_and(|next| next.kind == RecordKind::Pinned),
            );
        so_far.extend(history[so_far.len()..end].to_vec());
        let pins = Pins::latest(&so_far).map_or(0, |(pins, _)| pins.tokens_shown(counter));
        let bodies = journey
            .iter()
            .map(|saved| Leg {
                number: saved.number,
                body: &saved.body,
            })
            .collect::<Vec<_>>();
        let shown = levels.fit(&bodies, written.saturating_sub(pins), counter);
        let before = rounds.last().map_or(&[][..], |round| &round.checkpoints);
        let checkpoints = shown
            .into_iter()
            .map(|shown| checkpoint(shown, &journey, before, counter));
        let checkpoints = checkpoints.collect::<Vec<_>>();
        let shown = |checkpoints: &[CompressionCheckpoint]| {
            checkpoints
                .iter()
                .map(CompressionCheckpoint::summary)
                .collect::<Vec<_>>()
        };
        let changes = Journey::new(shown(&checkpoints)).changes_since(&shown(before));
        rounds.push(Round {
            number: saved.number,
            checkpoints,
            changes,
        });
    }
    rounds
}

fn checkpoint(
    shown: ShownMessage,
    journey: &[&SessionRecord],
    before: &[CompressionCheckpoint],
    counter: &dyn TokenCounter,
) -> CompressionCheckpoint {
    let members = &journey[shown.members.clone()];
    let numbers = members.iter().map(|saved| saved.number).collect::<Vec<_>>();
    let holds =
        |was: &&CompressionCheckpoint| was.members.iter().any(|member| numbers.contains(member));
    let was = before.iter().filter(holds).collect::<Vec<_>>();
    let is_compressed = was.len() > 1
        || was
            .iter()
            .any(|was| was.level > shown.level || was.members.len() < numbers.len());
    let now = journey.last().and_then(|saved| saved.created_at_ms);
    let covers = || members.iter().filter_map(|saved| saved.covers);
    let listed = |word| {
        let all = members.iter().flat_map(|saved| items(&saved.body, word));
        all.map(|item| item.trim().trim_start_matches(['-', '*']).trim().to_owned())
            .collect()
    };
    CompressionCheckpoint {
        id: shown.number,
        level: shown.level,
        range: covers()
            .map(|(first, _)| first)
            .min()
            .zip(covers().map(|(_, last)| last).max()),
        created_at_ms: members.first().and_then(|saved| saved.created_at_ms),
        compressed_at_ms: if is_compressed {
            now
        } else {
            was.iter().filter_map(|was| was.compressed_at_ms).max()
        },
        original_tokens: members
            .iter()
            .map(|saved| counter.count_text(&saved.body))
            .sum(),
        current_tokens: shown.tokens,
        compression_count: was
            .iter()
            .map(|was| was.compression_count)
            .max()
            .unwrap_or_default()
            + u32::from(is_compressed),
        key_decisions: listed("decisions"),
        files_modified: listed("files modified"),
        next_steps: listed("next steps"),
        members: numbers,
        summary: shown.text,
    }
}
