//! How much of each summary `progressive` shows: by age, merged where there are too many, and less
//! where all together would not fit.
//!
//! Neither level nor merging is stored: both follow from the summaries in their order. Absent on
//! purpose: a call that rewrites what is merged; of each merged summary the first sentence is
//! shown.

use std::ops::Range;

use super::Options;
use super::published::Deviations;
use super::shorten::{first_sentence, outline};
use crate::model::embed::{Lexical, similarity};
use crate::strategy::journey::{Level, ShownSummary};
use crate::strategy::params::Settings;
use crate::tokens::{MESSAGE_OVERHEAD, TokenCounter, total};

/// The ages and sizes of the progressive plan.
pub(super) struct Levels {
    pub(super) moderate_age: usize,
    pub(super) compact_age: usize,
    pub(super) most: usize,
    /// Sentences that a moderate summary keeps, where its size lets it.
    pub(super) lines: usize,
    /// Most tokens of a moderate summary.
    pub(super) moderate: u32,
    /// Most tokens of a compact summary, or of merged ones together.
    pub(super) compact: u32,
    /// Whether the neighbours that are most alike are merged, and not the oldest.
    pub(super) by_likeness: bool,
    /// Whether only ages decide, whatever the budget.
    pub(super) unbounded: bool,
}

/// A leg of the journey: one summary.
pub(super) struct Leg<'j> {
    pub(super) number: u32,
    pub(super) body: &'j str,
}

/// One message of the journey.
pub(super) struct Shown {
    /// The summaries that it shows, as places in the journey; several where they are merged.
    pub(super) members: Range<usize>,
    pub(super) level: Level,
    /// The number of the newest of them.
    pub(super) number: u32,
    pub(super) text: String,
    /// Its tokens as a message.
    pub(super) tokens: u32,
}

impl Shown {
    pub(super) fn summary(&self, journey: &[Leg<'_>]) -> ShownSummary {
        let members = journey[self.members.clone()]
            .iter()
            .map(|leg| leg.number)
            .collect();
        ShownSummary {
            id: self.number,
            members,
            level: self.level,
            tokens: self.tokens,
        }
    }
}

/// Neighbouring summaries that are shown as one.
#[derive(Clone)]
struct Group {
    members: Range<usize>,
    level: Level,
}

impl Levels {
    pub(super) fn new(settings: &Settings) -> Self {
        let Options {
            moderate_age,
            compact_age,
            most,
            lines,
            moderate,
            compact,
            merge,
            ..
        } = Options::read(settings);
        let Deviations { unbounded } = Deviations::read(settings);
        Levels {
            moderate_age,
            compact_age,
            most,
            lines,
            moderate,
            compact,
            by_likeness: merge,
            unbounded,
        }
    }

    /// The journey at the levels of its ages. If it does not fit, summaries are lowered from the
    /// oldest on, then the oldest are left out. The newest is lowered, and at last cut, only after
    /// all others have gone.
    pub(super) fn fit(
        &self,
        journey: &[Leg<'_>],
        budget: u32,
        counter: &dyn TokenCounter,
    ) -> Vec<Shown> {
        let mut groups = self.groups(journey);
        let mut shown = groups
            .iter()
            .map(|group| self.show(group, journey, counter))
            .collect::<Vec<_>>();
        if self.unbounded {
            return shown;
        }
        while total(shown.iter().map(|shown| shown.tokens)) > budget {
            let alone = groups.len() == 1;
            match groups.iter().position(|group| group.level > Level::Compact) {
                Some(at) if at + 1 < groups.len() || alone => {
                    groups[at].level = groups[at].level.lower();
                    shown[at] = self.show(&groups[at], journey, counter);
                }
                _ if alone => {
                    shown[0] = self
                        .within(budget, counter)
                        .show(&groups[0], journey, counter);
                    break;
                }
                _ => {
                    groups.remove(0);
                    shown.remove(0);
                }
            }
        }
        shown
    }

    /// With compact summaries that fit into a budget together with their frame.
    fn within(&self, budget: u32, counter: &dyn TokenCounter) -> Levels {
        // The frame and the text, counted apart, may take a token more than together.
        let frame = MESSAGE_OVERHEAD + counter.count_text(HEADER);
        let compact = self.compact.min(budget.saturating_sub(frame));
        Levels { compact, ..*self }
    }

    /// What is shown as one, as if the summaries had come one by one: what was merged once stays
    /// merged.
    fn groups(&self, journey: &[Leg<'_>]) -> Vec<Group> {
        let groups = match self.by_likeness {
            true => self.merged_by_likeness(journey),
            false => self.merged_from_the_oldest(journey.len()),
        };
        let level = |members: &Range<usize>| match members.len() {
            1 => self.level(journey.len() - 1 - members.start),
            _ => Level::Compact,
        };
        groups
            .into_iter()
            .map(|members| Group {
                level: level(&members),
                members,
            })
            .collect()
    }

    /// The first group takes all summaries beyond the limit.
    fn merged_from_the_oldest(&self, summaries: usize) -> Vec<Range<usize>> {
        let single = summaries.saturating_sub(self.most - 1);
        let merged = (single > 0).then_some(0..single);
        merged
            .into_iter()
            .chain((single..summaries).map(|one| one..one + 1))
            .collect()
    }

    fn merged_by_likeness(&self, journey: &[Leg<'_>]) -> Vec<Range<usize>> {
        let vectors = journey
            .iter()
            .map(|leg| Lexical.vector(leg.body))
            .collect::<Vec<_>>();
        let mut groups: Vec<Range<usize>> = Vec::new();
        for newest in 0..journey.len() {
            groups.push(newest..newest + 1);
            if groups.len() > self.most {
                let at = self.pair_to_merge(&groups, &vectors);
                let end = groups.remove(at + 1).end;
                groups[at].end = end;
            }
        }
        groups
    }

    /// Place of the first of two neighbours to merge: only those that are no longer shown in full
    /// are merged, or the oldest where there are none.
    fn pair_to_merge(&self, groups: &[Range<usize>], vectors: &[Vec<f32>]) -> usize {
        let newest = groups.last().map_or(0, |group| group.end - 1);
        let sum = |members: &Range<usize>| {
            let mut sum = vectors[members.start].clone();
            for vector in &vectors[members.start + 1..members.end] {
                sum.iter_mut()
                    .zip(vector)
                    .for_each(|(sum, value)| *sum += value);
            }
            sum
        };
        let mut best = (0, f32::NEG_INFINITY);
        let pairs = groups.windows(2).enumerate();
        for (at, pair) in pairs.filter(|(_, pair)| newest + 1 - pair[1].end >= self.moderate_age) {
            let alike = similarity(&sum(&pair[0]), &sum(&pair[1]));
            if alike > best.1 {
                best = (at, alike);
            }
        }
        best.0
    }

    fn level(&self, age: usize) -> Level {
        match age {
            age if age >= self.compact_age => Level::Compact,
            age if age >= self.moderate_age => Level::Moderate,
            _ => Level::Detailed,
        }
    }

    fn show(&self, group: &Group, journey: &[Leg<'_>], counter: &dyn TokenCounter) -> Shown {
        let Group { mut members, level } = group.clone();
        let text = match (&journey[members.clone()], level) {
            ([leg], Level::Detailed) => leg.body.to_owned(),
            ([leg], Level::Moderate) => outline(leg.body, self.lines, self.moderate, counter),
            ([leg], Level::Compact) => first_sentence(leg.body, self.compact, counter),
            (merged, _) => {
                let (named, text) = self.merged(merged, counter);
                members.start = members.end - named;
                text
            }
        };
        let text = format!("{HEADER}{text}");
        let tokens = MESSAGE_OVERHEAD + counter.count_text(&text);
        let number = journey[members.clone()].last().map_or(0, |leg| leg.number);
        Shown {
            members,
            level,
            number,
            text,
            tokens,
        }
    }

    /// The first sentences of as many of the newest as fit the compact size together, one at least,
    /// and their number.
    fn merged(&self, legs: &[Leg<'_>], counter: &dyn TokenCounter) -> (usize, String) {
        const TITLE: &str = "Earlier parts:";
        let room = self.compact.saturating_sub(counter.count_text(TITLE) + 2);
        let mut lines = Vec::new();
        for leg in legs.iter().rev() {
            lines.insert(
                0,
                format!("\n- {}", first_sentence(leg.body, room, counter)),
            );
            if lines.len() > 1
                && counter.count_text(&format!("{TITLE}{}", lines.concat())) > self.compact
            {
                lines.remove(0);
                break;
            }
        }
        (lines.len(), format!("{TITLE}{}", lines.concat()))
    }
}

const HEADER: &str = "Summary of an earlier part:\n\n";

#[cfg(test)]
mod tests;
