//! How much of each summary `progressive` shows: the size of its level, which its age decides,
//! merged where there are too many, and all sizes shrunk in proportion where they would not fit
//! together.
//!
//! Neither level nor merging is stored: both follow from the summaries in their order. Absent on
//! purpose: a call that rewrites what is merged; of each merged summary the first sentence is
//! shown.

use std::ops::Range;

use super::Options;
use super::published::Deviations;
use super::shorten::{first_sentence, shortened};
use crate::model::embed::{Lexical, similarity};
use crate::strategy::journey::{Level, ShownSummary};
use crate::strategy::params::Settings;
use crate::tokens::{MESSAGE_OVERHEAD, TokenCounter};

/// The ages and sizes of the progressive plan.
pub(super) struct AgeLevels {
    pub(super) moderate_age: usize,
    pub(super) compact_age: usize,
    pub(super) most: usize,
    /// Sentences that a moderate summary keeps, where its size lets it.
    pub(super) lines: usize,
    /// What a detailed summary counts for where all are shrunk in proportion, in tokens.
    pub(super) detailed: u32,
    /// Most tokens of a moderate summary, or of merged ones together.
    pub(super) moderate: u32,
    /// Most tokens of a compact summary, or of each that is merged.
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
pub(super) struct ShownMessage {
    /// The summaries that it shows, as places in the journey; several where they are merged.
    pub(super) members: Range<usize>,
    pub(super) level: Level,
    /// The number of the newest of them.
    pub(super) number: u32,
    pub(super) text: String,
    /// Its tokens as a message.
    pub(super) tokens: u32,
}

impl ShownMessage {
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
struct MessageGroup {
    members: Range<usize>,
    level: Level,
}

impl AgeLevels {
    pub(super) fn new(settings: &Settings) -> Self {
        let Options {
            moderate_age,
            compact_age,
            most,
            lines,
            detailed,
            moderate,
            compact,
            merge,
            ..
        } = Options::read(settings);
        let Deviations { unbounded } = Deviations::read(settings);
        AgeLevels {
            moderate_age,
            compact_age,
            most,
            lines,
            detailed,
            moderate,
            compact,
            by_likeness: merge,
            unbounded,
        }
    }

    /// The journey at the levels of its ages, each at most as large as its level. If it does not
    /// fit, all sizes shrink in proportion to those of their levels, and a summary that is smaller
    /// than its share leaves the rest to the others. If that would leave less than a sentence of
    /// the oldest two, they are merged.
    pub(super) fn fit(
        &self,
        journey: &[Leg<'_>],
        budget: u32,
        counter: &dyn TokenCounter,
    ) -> Vec<ShownMessage> {
        let mut groups = self.groups(journey);
        if self.unbounded {
            let show = |group: &MessageGroup| self.show(group, self.size(group), journey, counter);
            return groups.iter().map(show).collect();
        }
        // The frame and the text, counted apart, may take a token more than together.
        let frame = MESSAGE_OVERHEAD + counter.count_text(HEADER) + 1;
        loop {
            let room = budget.saturating_sub(frame * groups.len() as u32);
            let needs = |group: &MessageGroup| self.needs(group, journey, counter);
            let needs = groups.iter().map(needs).collect::<Vec<_>>();
            let sizes = shares(&needs, room);
            let too_small = |(size, need): (&u32, &Need)| *size < need.most.min(SENTENCE);
            if groups.len() > 1 && sizes.iter().zip(&needs).any(too_small) {
                let end = groups.remove(1).members.end;
                groups[0] = MessageGroup {
                    members: groups[0].members.start..end,
                    level: Level::Compact,
                };
                continue;
            }
            // What one leaves of its share, since sentences are kept whole, the next may use.
            let mut left = 0;
            let show = |(group, size): (&MessageGroup, &u32)| {
                let size = size + left;
                let shown = self.show(group, size.min(self.size(group)), journey, counter);
                left = (size + frame).saturating_sub(shown.tokens);
                shown
            };
            return groups.iter().zip(&sizes).map(show).collect();
        }
    }

    /// The most that a group may take, in tokens of its text.
    fn size(&self, group: &MessageGroup) -> u32 {
        match (group.members.len(), group.level) {
            (1, Level::Detailed) => u32::MAX,
            (1, Level::Moderate) => self.moderate,
            (1, Level::Compact) => self.compact,
            (members, _) => self
                .compact
                .saturating_mul(members as u32)
                .min(self.moderate),
        }
    }

    fn needs(&self, group: &MessageGroup, journey: &[Leg<'_>], counter: &dyn TokenCounter) -> Need {
        let size = self.size(group);
        let mut written = 0_u32;
        let legs = &journey[group.members.clone()];
        for leg in legs {
            written = written.saturating_add(counter.count_text(leg.body));
            if written >= size {
                break;
            }
        }
        let weight = match group.level {
            Level::Detailed => self.detailed,
            _ => size,
        };
        Need {
            most: written.min(size),
            weight,
        }
    }

    /// What is shown as one, as if the summaries had come one by one: what was merged once stays
    /// merged.
    fn groups(&self, journey: &[Leg<'_>]) -> Vec<MessageGroup> {
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
            .map(|members| MessageGroup {
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

    fn show(
        &self,
        group: &MessageGroup,
        most: u32,
        journey: &[Leg<'_>],
        counter: &dyn TokenCounter,
    ) -> ShownMessage {
        let MessageGroup { mut members, level } = group.clone();
        let text = match (&journey[members.clone()], level) {
            ([leg], Level::Detailed) => shortened(leg.body, None, most, counter),
            ([leg], _) => shortened(leg.body, Some(self.lines), most, counter),
            (merged, _) => {
                let (named, text) = merged_text(merged, most, counter);
                members.start = members.end - named;
                text
            }
        };
        let text = format!("{HEADER}{text}");
        let tokens = MESSAGE_OVERHEAD + counter.count_text(&text);
        let number = journey[members.clone()].last().map_or(0, |leg| leg.number);
        ShownMessage {
            members,
            level,
            number,
            text,
            tokens,
        }
    }
}

/// What a group of summaries may take.
struct Need {
    /// Its tokens, or the most that its level allows.
    most: u32,
    /// Its part of what there is where all are shrunk.
    weight: u32,
}

/// Tokens for each need, in proportion to the weights and none above its most, that together take
/// all the room that there is use for.
fn shares(needs: &[Need], room: u32) -> Vec<u32> {
    let mut by_use = (0..needs.len()).collect::<Vec<_>>();
    by_use.sort_by(|one, other| {
        let (one, other) = (&needs[*one], &needs[*other]);
        let cross = |a: &Need, b: &Need| u64::from(a.most) * u64::from(b.weight.max(1));
        cross(one, other).cmp(&cross(other, one))
    });
    let mut left = u64::from(room);
    let mut weights = needs
        .iter()
        .map(|need| u64::from(need.weight.max(1)))
        .sum::<u64>();
    let mut sizes = vec![0; needs.len()];
    for at in by_use {
        let need = &needs[at];
        let weight = u64::from(need.weight.max(1));
        let size = (left * weight / weights).min(u64::from(need.most));
        sizes[at] = size as u32;
        left -= size;
        weights -= weight;
    }
    sizes
}

/// The first sentences of the merged summaries, oldest first: of all, as far as each has room for a
/// sentence, else of the newest; and how many. What a short one leaves, those after it may use.
fn merged_text(legs: &[Leg<'_>], most: u32, counter: &dyn TokenCounter) -> (usize, String) {
    const TITLE: &str = "Earlier parts:";
    // A line break and a mark take two tokens at most.
    let mut left = most.saturating_sub(counter.count_text(TITLE) + 1);
    let named = ((left / (SENTENCE + 2)) as usize).clamp(1, legs.len());
    let mut text = TITLE.to_owned();
    for (at, leg) in legs[legs.len() - named..].iter().enumerate() {
        let share = left / (named - at) as u32;
        let line = format!(
            "\n- {}",
            first_sentence(leg.body, share.saturating_sub(2), counter)
        );
        left = left.saturating_sub(counter.count_text(&line));
        text.push_str(&line);
    }
    (named, text)
}

/// Tokens of a short sentence: with fewer, little is said.
const SENTENCE: u32 = 12;
const HEADER: &str = "Summary of an earlier part:\n\n";

#[cfg(test)]
mod tests;
