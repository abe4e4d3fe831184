//! How a generated conversation resembles a session of a real agent: the optional table `[session]`
//! of a spec.

use std::ops::RangeInclusive;

use serde::Deserialize;

use crate::dice::SeededDice;
use crate::generate::domains::SubjectClaim;
use crate::generate::range::{SHARES, within};
use compactometer_formats::scenario::Speaker;

/// Percentage of statements that are said once, where the others are said up to `mentions` times.
const ONCE: usize = 40;
/// Percentage of statements that are said again, and how often at most, without `mentions`.
const REPEATED: usize = 25;
const MOST_AGAIN: usize = 2;
/// Mentions of a statement that a spec may ask for.
const MENTIONS: RangeInclusive<usize> = 2..=20;

/// The table's keys. Shares are percentages.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SessionTable {
    /// The share of incidental sentences and lines that use the templates of claims. Without it,
    /// wording distinguishes a claim.
    pub(crate) alike: usize,
    /// The most times that a statement is made. Without it, few are made more than once.
    pub(crate) mentions: Option<usize>,
    /// The share of repeated statements of tools that the agent quotes.
    pub(crate) quotes: usize,
    /// The shares of claims by each speaker. Without them, each claim is made equally often.
    pub(crate) speakers: Option<Speakers>,
    /// Whether the shares hold even if a conversation then has no claim of some categories.
    pub(crate) strict_speakers: bool,
}

/// Shares that add up to 100.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Speakers {
    user: usize,
    agent: usize,
    tools: usize,
}

impl SessionTable {
    /// What is wrong with the keys, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        within("session.alike", self.alike, &SHARES)?;
        within("session.quotes", self.quotes, &SHARES)?;
        if let Some(mentions) = self.mentions {
            within("session.mentions", mentions, &MENTIONS)?;
        }
        let Some(Speakers { user, agent, tools }) = self.speakers else {
            return Ok(());
        };
        if [user, agent, tools]
            .into_iter()
            .fold(0, usize::saturating_add)
            != 100
        {
            return Err(format!(
                "`session.speakers` are `{user}`, `{agent}` and `{tools}`; expected a sum of `100`"
            ));
        }
        Ok(())
    }

    /// How often a statement is made again.
    pub(crate) fn again(&self, dice: &mut SeededDice) -> usize {
        match self.mentions {
            Some(_) if dice.chance(ONCE) => 0,
            Some(most) => dice.between(1, most - 1),
            None if dice.chance(REPEATED) => dice.between(1, MOST_AGAIN),
            None => 0,
        }
    }

    /// The percentage of statements that repeat an earlier one.
    pub(crate) fn repeated(&self) -> usize {
        let again = match self.mentions {
            Some(most) => (100 - ONCE) * most / 2,
            None => REPEATED * (1 + MOST_AGAIN) / 2,
        };
        100 * again / (100 + again)
    }

    /// `count` of these claims in turn: the first of each category, then those of the speaker who
    /// has the fewest for their share.
    pub(crate) fn claims(
        &self,
        claims: &[&'static SubjectClaim],
        count: usize,
    ) -> Vec<&'static SubjectClaim> {
        let Some(Speakers { user, agent, tools }) = self.speakers else {
            return claims.iter().cycle().take(count).copied().collect();
        };
        let is_first = |at: &usize| {
            claims[..*at]
                .iter()
                .all(|earlier| earlier.category != claims[*at].category)
        };
        let (first, rest): (Vec<usize>, Vec<usize>) =
            (0..claims.len()).partition(|at| !self.strict_speakers && is_first(at));
        let shares = [
            (Speaker::User, user),
            (Speaker::Assistant, agent),
            (Speaker::Tool, tools),
        ];
        let of = |speaker| {
            rest.iter()
                .chain(&first)
                .map(|at| claims[*at])
                .filter(move |claim| claim.speaker == speaker)
        };
        let mut in_turn =
            shares.map(|(speaker, _)| of(speaker).collect::<Vec<_>>().into_iter().cycle());
        let mut drawn: Vec<&'static SubjectClaim> =
            first.iter().take(count).map(|at| claims[*at]).collect();
        while drawn.len() < count {
            let made = |speaker| {
                drawn
                    .iter()
                    .filter(|claim| claim.speaker == speaker)
                    .count()
            };
            let lacking =
                |at: &usize| (shares[*at].1 * count) as i64 - (100 * made(shares[*at].0)) as i64;
            let Some(claim) = (0..3).max_by_key(lacking).and_then(|at| in_turn[at].next()) else {
                break;
            };
            drawn.push(claim);
        }
        drawn
    }
}
