//! What a context shows where a strategy keeps several summaries side by side, and what a
//! compaction changed about it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// How much of a summary is shown (the progressive plan, compression levels).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// What fits the smallest size: its first sentence and decisions.
    Compact = 1,
    /// Its decisions and first sentences.
    Moderate,
    /// All of it, where there is room.
    Detailed,
}

impl Level {
    /// Every level, the one that shows most first.
    pub const ALL: &[Level] = &[Level::Detailed, Level::Moderate, Level::Compact];

    /// The name that files use.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Compact => "compact",
            Level::Moderate => "moderate",
            Level::Detailed => "detailed",
        }
    }
}

/// A summary in a context, or several that are shown as one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ShownSummary {
    /// The number of its newest record, see [`crate::record::SessionRecord::number`].
    pub id: u32,
    /// The numbers of all its records, oldest first; several where they are merged.
    pub members: Vec<u32>,
    /// How much of it is shown.
    pub level: Level,
    /// Tokens of the message that shows it.
    pub tokens: u32,
}

/// The summaries of a context, oldest first, and their totals (the progressive plan,
/// `getCheckpointStats`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Journey {
    /// The number of summaries; merged ones count as one.
    pub total: usize,
    /// How many are shown at each level that occurs.
    pub by_level: BTreeMap<Level, usize>,
    /// Tokens of the messages that show them.
    pub tokens: u32,
    /// The summaries, oldest first.
    pub summaries: Vec<ShownSummary>,
}

impl Journey {
    /// With the totals of these summaries.
    pub fn new(summaries: Vec<ShownSummary>) -> Self {
        let mut by_level = BTreeMap::new();
        for summary in &summaries {
            *by_level.entry(summary.level).or_default() += 1;
        }
        let tokens = crate::tokens::total(summaries.iter().map(|summary| summary.tokens));
        Journey {
            total: summaries.len(),
            by_level,
            tokens,
            summaries,
        }
    }

    /// What a compaction changed that made this of the summaries before, oldest summary first. The
    /// newest is always shown.
    pub fn changes_since(&self, before: &[ShownSummary]) -> Vec<Change> {
        let newest = self.summaries.last().map(|summary| summary.id);
        let mut changes = Vec::new();
        for now in &self.summaries {
            let was = parts_of(before, &now.members);
            let mut parts = was.iter().map(|was| was.id).collect::<Vec<_>>();
            if let Some(newest) = newest.filter(|newest| now.id == *newest) {
                changes.push(Change::Created(newest));
                parts.push(newest);
            }
            match was.as_slice() {
                _ if parts.len() > 1 => changes.push(Change::Merged {
                    merged: parts,
                    result: now.id,
                }),
                [was] if was.level != now.level => {
                    changes.push(Change::Compressed {
                        id: now.id,
                        old_level: was.level,
                        new_level: now.level,
                    });
                }
                _ => {}
            }
        }
        let members = |summaries: &[ShownSummary]| {
            summaries
                .iter()
                .flat_map(|summary| summary.members.clone())
                .collect::<BTreeSet<_>>()
        };
        let (old, new) = (members(before), members(&self.summaries));
        let left = old.difference(&new).copied().collect::<Vec<_>>();
        let again = new
            .difference(&old)
            .copied()
            .filter(|number| Some(*number) != newest)
            .collect::<Vec<_>>();
        changes.extend((!left.is_empty()).then_some(Change::LeftOut(left)));
        changes.extend((!again.is_empty()).then_some(Change::ShownAgain(again)));
        changes
    }
}

/// The summaries before that hold some of these records.
fn parts_of<'s>(before: &'s [ShownSummary], numbers: &[u32]) -> Vec<&'s ShownSummary> {
    before
        .iter()
        .filter(|was| was.members.iter().any(|member| numbers.contains(member)))
        .collect()
}

/// What a compaction did to one summary (the progressive plan, events). Numbers are those of
/// [`ShownSummary::id`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// `auto-summary-created`.
    Created(u32),
    /// `checkpoint-compressed`. The new level is the higher one where a shorter neighbour made room
    /// again.
    Compressed {
        /// The summary.
        id: u32,
        /// Its level before.
        old_level: Level,
        /// Its level now.
        new_level: Level,
    },
    /// `checkpoints-merged`: which into which.
    Merged {
        /// The summaries before.
        merged: Vec<u32>,
        /// The one that they are now.
        result: u32,
    },
    /// Records that are no longer shown, since all together would not fit; the source knows no such
    /// bound.
    LeftOut(Vec<u32>),
    /// Records for which there is room again.
    ShownAgain(Vec<u32>),
}
