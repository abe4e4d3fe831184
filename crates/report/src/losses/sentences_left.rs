//! What is left of what persons said, by the number of compactions since.

use std::collections::{BTreeMap, BTreeSet};

use compactometer_formats::losses::{Count, SentenceSeen, SessionLosses};
use compactometer_text::sentences::{Sentence, SentenceLines};
use serde::Serialize;

use super::Losses;
use super::losses_screen::{bracketed, counted, percent, thousands};
use super::pooled::{PooledGroup, pooled, within_one};

/// Compactions of other projects in which a sentence is looked for.
const FOREIGN: usize = 8;
/// The number of quotes that a terminal shows.
const SHOWN: usize = 3;
/// The most letters of a quote.
const LETTERS: usize = 60;

/// What is left of what persons said.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SaidShares {
    /// The sentences after one compaction, after two and after three, as far as there are any.
    pub after: Vec<LeftOfSentence>,
}

/// The sentences that are left after a number of compactions.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LeftOfSentence {
    /// The compactions since they were last said.
    pub compactions: usize,
    /// How many are left.
    pub all: Count,
    /// The 95 % interval of the share; absent where there are fewer than six sessions.
    pub interval: Option<(f64, f64)>,
    /// How many of those that state a rule.
    pub rules: Count,
    /// How many are left or in the ledger.
    pub with_ledger: Count,
    /// How many are left or in what each hook added, in the order of the hooks.
    pub with_hooks: Vec<Count>,
    /// The share that summaries of other projects hold; absent where there is one project.
    pub by_chance: Option<f64>,
}

/// A sentence with its session.
pub(super) type SentenceRow<'s> = (&'s SessionLosses, &'s SentenceSeen);

impl SaidShares {
    /// Of the sentences of these sessions.
    pub(super) fn new(sessions: &[SessionLosses]) -> Self {
        let rows = sessions
            .iter()
            .flat_map(|session| session.said.iter().map(move |seen| (session, seen)));
        SaidShares::beside(&rows.collect::<Vec<_>>(), &Foreign::new(sessions))
    }

    /// Of some sentences, without chance.
    pub(super) fn of(rows: &[SentenceRow<'_>]) -> Self {
        SaidShares::beside(rows, &Foreign::default())
    }

    fn beside(rows: &[SentenceRow<'_>], foreign: &Foreign<'_>) -> Self {
        let after = (1..)
            .map(|compactions| LeftOfSentence::new(compactions, rows, foreign))
            .take_while(|left| left.all.of > 0);
        SaidShares {
            after: after.collect(),
        }
    }
}

impl LeftOfSentence {
    fn new(compactions: usize, rows: &[SentenceRow<'_>], foreign: &Foreign<'_>) -> Self {
        let (mut left, mut drawn) = (LeftOfSentence::default(), Vec::new());
        left.compactions = compactions;
        for (session, seen) in rows
            .iter()
            .filter(|(_, seen)| seen.compactions == compactions)
        {
            left.all.add(seen.is_left);
            left.with_ledger.add(seen.with_ledger);
            let hooks = seen.with_hooks.len().max(left.with_hooks.len());
            left.with_hooks.resize(hooks, Count::default());
            for (count, is_said) in left.with_hooks.iter_mut().zip(&seen.with_hooks) {
                count.add(*is_said);
            }
            if seen.is_rule {
                left.rules.add(seen.is_left);
            }
            drawn.extend(foreign.share(session, seen, left.all.of));
        }
        let of_number = |(_, seen): &&SentenceRow<'_>| seen.compactions == compactions;
        let groups = PooledGroup::all(rows.iter().filter(of_number).copied());
        let (_, ends) = pooled(&groups, |seen| f64::from(u8::from(seen.is_left)));
        left.interval = ends.map(within_one);
        let drawn_of = drawn.len() as f64;
        left.by_chance = (drawn_of > 0.0).then(|| drawn.iter().sum::<f64>() / drawn_of);
        left
    }
}

/// What compactions of other projects wrote.
#[derive(Default)]
struct Foreign<'s> {
    written: Vec<(BTreeSet<&'s str>, SentenceLines)>,
}

impl<'s> Foreign<'s> {
    fn new(sessions: &'s [SessionLosses]) -> Self {
        let of_session = |session: &'s SessionLosses| {
            let projects = projects(session);
            let written = session.compactions.iter();
            let written = written.filter(|made| !made.written.is_empty());
            written
                .map(|made| {
                    let texts = made.written.iter().map(String::as_str);
                    (projects.clone(), SentenceLines::new(texts))
                })
                .collect::<Vec<_>>()
        };
        Foreign {
            written: sessions.iter().flat_map(of_session).collect(),
        }
    }

    /// The share of some of those of other projects that say a sentence. `number` chooses them.
    fn share(&self, session: &SessionLosses, seen: &SentenceSeen, number: usize) -> Option<f64> {
        let sentence = Sentence::of(&seen.sentence)?;
        let own = projects(session);
        let others = self
            .written
            .iter()
            .filter(|(projects, _)| projects.is_disjoint(&own));
        let others = others.map(|(_, lines)| lines).collect::<Vec<_>>();
        let chosen = (0..others.len().min(FOREIGN)).map(|step| {
            let stride = (others.len() / FOREIGN).max(1);
            others[(number + step * stride) % others.len()]
        });
        let said = chosen.map(|lines| f64::from(u8::from(lines.say(&sentence))));
        let said = said.collect::<Vec<_>>();
        (!said.is_empty()).then(|| said.iter().sum::<f64>() / said.len() as f64)
    }
}

/// The projects of a session; its own name if they are not known.
fn projects(session: &SessionLosses) -> BTreeSet<&str> {
    match session.projects.is_empty() {
        true => BTreeSet::from([session.group.as_str()]),
        false => session.projects.iter().map(String::as_str).collect(),
    }
}

impl Losses {
    /// What is left of what persons said, in lines.
    pub(super) fn said_lines(&self) -> Vec<String> {
        let rows = self.said_rows();
        if rows.is_empty() {
            return Vec::new();
        }
        let quotes = self.gone().into_iter().take(SHOWN);
        let quotes = quotes.map(|seen| format!("  gone: {}", quote(seen)));
        ["Of your sentences, left after".to_owned()]
            .into_iter()
            .chain(
                rows.into_iter()
                    .map(|(after, share)| format!("  {after:<16}{share}")),
            )
            .chain(quotes)
            .collect()
    }

    /// The shares after one compaction and more, by chance, and with what can be added.
    pub(super) fn said_rows(&self) -> Vec<(String, String)> {
        let after = self.said.after.iter().map(|left| {
            let times = match left.compactions {
                1 => "one compaction",
                2 => "two",
                _ => "three",
            };
            let share = left.all.share().map_or(String::new(), percent);
            let ends = left.interval.map_or(String::new(), bracketed);
            let rules = left.rules.share().map_or(String::new(), |share| {
                format!("; {} of {}", percent(share), counted(left.rules.of, "rule"))
            });
            let of = thousands(left.all.of as u64);
            (times.to_owned(), format!("{share}{ends} of {of}{rules}"))
        });
        let chance = self.said.after.first().and_then(|first| first.by_chance);
        let chance = chance.map(|share| {
            let share = percent(share);
            (
                "by chance".to_owned(),
                format!("{share}, in summaries of other projects"),
            )
        });
        after.chain(chance).chain(self.said_beside()).collect()
    }

    /// The shares after one compaction and more with a ledger and with each hook.
    fn said_beside(&self) -> Vec<(String, String)> {
        let shares = |count: &dyn Fn(&LeftOfSentence) -> Option<Count>| {
            let after = self.said.after.iter();
            let shares = after.filter_map(|left| count(left)?.share()).map(percent);
            shares.collect::<Vec<_>>().join(", ")
        };
        if self.said.after.is_empty() {
            return Vec::new();
        }
        let ledger = shares(&|left| Some(left.with_ledger));
        let hooks = (0..self.hooks.len()).map(|hook| {
            let name = match self.hooks.len() {
                1 => "with the hook".to_owned(),
                _ => format!("with hook {}", hook + 1),
            };
            (name, shares(&|left| left.with_hooks.get(hook).copied()))
        });
        [("with a ledger".to_owned(), ledger)]
            .into_iter()
            .chain(hooks)
            .collect()
    }

    /// Sentences that are gone, each after its first compaction without it: rules first, then those
    /// that can be quoted whole, the longest first.
    pub(super) fn gone(&self) -> Vec<&SentenceSeen> {
        let mut first = BTreeMap::<_, &SentenceSeen>::new();
        for seen in self.each_sentence.iter().filter(|seen| !seen.is_left) {
            let one = first.entry((&seen.session, &seen.sentence)).or_insert(seen);
            if seen.compaction < one.compaction {
                *one = seen;
            }
        }
        let mut gone = first.into_values().collect::<Vec<_>>();
        gone.sort_by_key(|seen| {
            let is_short = seen.sentence.chars().count() <= LETTERS;
            std::cmp::Reverse((seen.is_rule, is_short, seen.sentence.len()))
        });
        gone
    }
}

/// A sentence with its place.
pub(super) fn quote(seen: &SentenceSeen) -> String {
    let text = compactometer_text::wrapping::clipped(&seen.sentence, LETTERS);
    let text = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter });
    format!("“{}” (message {})", text.collect::<String>(), seen.said_at,)
}
