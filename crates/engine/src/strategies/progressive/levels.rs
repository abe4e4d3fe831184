//! How much of each summary `progressive` shows: by age, merged where there are too many, and less where all together would
//! not fit.
//!
//! Neither level nor merging is stored: both follow from the summaries in their order. Absent on purpose: a call that rewrites
//! what is merged; each merged summary keeps its first line.

use std::cell::OnceCell;
use std::ops::Range;

use serde::Serialize;

use super::Options;
use super::published::Deviations;
use crate::model::embed::{Lexical, similarity};
use crate::strategy::params::Settings;
use crate::tokens::{MESSAGE_OVERHEAD, TokenCounter, total};

/// The ages and sizes of the progressive plan.
pub(super) struct Levels {
    pub(super) moderate_age: usize,
    pub(super) compact_age: usize,
    pub(super) most: usize,
    pub(super) lines: usize,
    /// Whether the neighbours that are most alike are merged, and not the oldest.
    pub(super) by_likeness: bool,
    /// Whether only ages decide, whatever the budget.
    pub(super) unbounded: bool,
}

/// How much of a summary is shown (the source's compression levels).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Its first line.
    Compact = 1,
    /// Its first lines and its decisions.
    Moderate,
    /// All of it.
    Detailed,
}

impl Level {
    fn lower(self) -> Self {
        if self == Level::Detailed { Level::Moderate } else { Level::Compact }
    }
}

/// A leg of the journey: one summary.
pub(super) struct Leg<'j> {
    number: u32,
    body: &'j str,
    /// Shown, counted and shown again at each step towards the budget; a body has to be read for it once.
    first_line: OnceCell<&'j str>,
}

impl<'j> Leg<'j> {
    pub(super) fn new(number: u32, body: &'j str) -> Self {
        Leg { number, body, first_line: OnceCell::new() }
    }

    fn first_line(&self) -> &'j str {
        self.first_line.get_or_init(|| self.body.lines().find(|line| !line.trim().is_empty()).unwrap_or_default())
    }
}

/// One message of the journey.
pub(super) struct Shown {
    /// The summaries that it shows, as places in the journey; several where they are merged.
    pub(super) members: Range<usize>,
    pub(super) level: Level,
    /// The number of the newest of them.
    pub(super) number: u32,
    pub(super) text: String,
}

impl Shown {
    /// Its tokens as a message.
    pub(super) fn tokens(&self, counter: &dyn TokenCounter) -> u32 {
        MESSAGE_OVERHEAD + counter.count_text(&self.text)
    }
}

/// Neighbouring summaries that are shown as one.
struct Group {
    members: Range<usize>,
    level: Level,
}

impl Group {
    /// Its newest `number` members.
    fn newest(&self, number: usize) -> Group {
        Group { members: self.members.end - number..self.members.end, level: self.level }
    }
}

impl Levels {
    pub(super) fn new(settings: &Settings) -> Self {
        let Options { moderate_age, compact_age, most, lines, merge, .. } = Options::read(settings);
        let Deviations { unbounded } = Deviations::read(settings);
        Levels { moderate_age, compact_age, most, lines, by_likeness: merge, unbounded }
    }

    /// The journey at the levels of its ages, lowered from the oldest on until it fits; the oldest are left out last.
    pub(super) fn fit(&self, journey: &[Leg<'_>], budget: u32, counter: &dyn TokenCounter) -> Vec<Shown> {
        let mut groups = self.groups(journey);
        if !self.unbounded {
            self.lower(&mut groups, journey, budget, counter);
        }
        groups.iter().map(|group| self.show(group, journey)).collect()
    }

    /// Steps towards fewer tokens until all fit: the oldest that can be lowered, else the oldest summaries go. The newest is
    /// lowered only after all others have gone. What a step leaves as it is is not counted again.
    fn lower(&self, groups: &mut Vec<Group>, journey: &[Leg<'_>], budget: u32, counter: &dyn TokenCounter) {
        let exactly = |group: &Group| self.show(group, journey).tokens(counter);
        let is_within = |group: &Group, number, room| exactly(&group.newest(number)) <= room;
        let guess = |group: &Group, room| lines_that_fit(&journey[group.members.clone()], room, counter);
        let newest_that_fit = |group: &Group, room| {
            largest(group.members.len(), guess(group, room), |number| is_within(group, number, room))
        };
        // A few too many tell that all are too many, and are counted sooner.
        let fits_alone = |group: &Group| {
            let (all, few) = (group.members.len(), guess(group, budget) * 2 + 1);
            (few >= all || is_within(group, few, budget)) && is_within(group, all, budget)
        };
        let tokens_of = |group: &Group| match group.members.len() == 1 || fits_alone(group) {
            true => exactly(group),
            false => u32::MAX,
        };
        let mut tokens = groups.iter().map(tokens_of).collect::<Vec<_>>();
        while total(tokens.iter().copied()) > budget {
            let alone = groups.len() == 1;
            match groups.iter().position(|group| group.level > Level::Compact) {
                Some(at) if at + 1 < groups.len() || alone => {
                    groups[at].level = groups[at].level.lower();
                    tokens[at] = tokens_of(&groups[at]);
                }
                _ if alone && groups[0].members.len() == 1 => return,
                _ => {
                    let room = budget.saturating_sub(total(tokens[1..].iter().copied()));
                    match newest_that_fit(&groups[0], room).max(usize::from(alone)) {
                        0 => {
                            groups.remove(0);
                            tokens.remove(0);
                        }
                        kept => {
                            groups[0] = groups[0].newest(kept);
                            tokens[0] = exactly(&groups[0]);
                        }
                    }
                }
            }
        }
    }

    /// What is shown as one, as if the summaries had come one by one: what was merged once stays merged.
    fn groups(&self, journey: &[Leg<'_>]) -> Vec<Group> {
        let groups = match self.by_likeness {
            true => self.merged_by_likeness(journey),
            false => self.merged_from_the_oldest(journey.len()),
        };
        let level = |members: &Range<usize>| match members.len() {
            1 => self.level(journey.len() - 1 - members.start),
            _ => Level::Compact,
        };
        groups.into_iter().map(|members| Group { level: level(&members), members }).collect()
    }

    /// The first group takes all summaries beyond the limit.
    fn merged_from_the_oldest(&self, summaries: usize) -> Vec<Range<usize>> {
        let single = summaries.saturating_sub(self.most - 1);
        let merged = (single > 0).then_some(0..single);
        merged.into_iter().chain((single..summaries).map(|one| one..one + 1)).collect()
    }

    fn merged_by_likeness(&self, journey: &[Leg<'_>]) -> Vec<Range<usize>> {
        let vectors = journey.iter().map(|leg| Lexical.vector(leg.body)).collect::<Vec<_>>();
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

    /// Place of the first of two neighbours to merge: only those that are no longer shown in full are merged, or the oldest where
    /// there are none.
    fn pair_to_merge(&self, groups: &[Range<usize>], vectors: &[Vec<f32>]) -> usize {
        let newest = groups.last().map_or(0, |group| group.end - 1);
        let sum = |members: &Range<usize>| {
            let mut sum = vectors[members.start].clone();
            for vector in &vectors[members.start + 1..members.end] {
                sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
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

    fn show(&self, group: &Group, journey: &[Leg<'_>]) -> Shown {
        let members = &journey[group.members.clone()];
        let text = match members {
            [leg] => self.text(leg, group.level),
            merged => {
                let lines = merged.iter().flat_map(|leg| ["\n- ", leg.first_line()]);
                ["Earlier parts:"].into_iter().chain(lines).collect::<Vec<_>>().concat()
            }
        };
        Shown {
            members: group.members.clone(),
            level: group.level,
            number: members.last().map_or(0, |leg| leg.number),
            text: format!("Summary of an earlier part:\n\n{text}"),
        }
    }

    fn text(&self, leg: &Leg<'_>, level: Level) -> String {
        let body = leg.body;
        match level {
            Level::Detailed => body.to_owned(),
            Level::Moderate => {
                let mut kept = body.lines().filter(|line| !line.trim().is_empty()).take(self.lines).collect::<Vec<_>>();
                for decision in items(body, "decisions") {
                    if !kept.contains(&decision) {
                        kept.push(decision);
                    }
                }
                kept.join("\n")
            }
            Level::Compact => leg.first_line().to_owned(),
        }
    }
}

/// The largest number up to `limit` that fits, where whatever is less than a fitting number fits too. Looked for around the
/// guess, so that a good one takes few trials and the cost follows from what fits and not from the limit.
fn largest(limit: usize, guess: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut fitting, mut over, mut step) = (0, limit + 1, 1);
    let mut tried = guess.max(1).min(limit);
    while fitting + 1 < over {
        if fits(tried) {
            fitting = tried
        } else {
            over = tried
        }
        tried = match (fitting, over) {
            _ if over > limit => limit.min(fitting + step),
            (0, _) => over.saturating_sub(step).max(1),
            _ => fitting.midpoint(over),
        };
        step *= 2;
    }
    fitting
}

/// How many of the newest summaries have first lines that fit the room, each counted by itself: nearly as many as fit in one
/// message.
fn lines_that_fit(members: &[Leg<'_>], room: u32, counter: &dyn TokenCounter) -> usize {
    /// The mark and the line break.
    const AROUND: u32 = 2;
    let mut taken = MESSAGE_OVERHEAD;
    let fits = |leg: &&Leg<'_>| {
        taken = total([taken, counter.count_text(leg.first_line()), AROUND]);
        taken <= room
    };
    members.iter().rev().take_while(fits).count()
}

/// The list items, marks included, under each heading that holds that word.
pub(super) fn items<'b>(body: &'b str, word: &'static str) -> impl Iterator<Item = &'b str> {
    let mut under = false;
    body.lines().filter(move |line| {
        let is_item = line.trim_start().starts_with(['-', '*']);
        under = if is_item || line.trim().is_empty() { under } else { line.to_lowercase().contains(word) };
        is_item && under
    })
}

#[cfg(test)]
mod tests;
