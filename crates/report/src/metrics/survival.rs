//! How long what was written lasts: facts by the rounds, and by the tokens, since their last
//! original left.
//!
//! Kaplan and Meier (1958) to the first absence: a fact enters a cohort at the compaction in which
//! its last original carrier leaves, which is its round 1, and leaves it unharmed at the end, at a
//! restatement, or when it is replaced. Each unit weighs the same. Absent on purpose: what comes
//! back after an absence, and what is stored and not shown.

use compactometer_engine::message::MessageId;
use compactometer_formats::fate::Fate;
use compactometer_formats::record::{Observation, ObservationKind, Record};
use compactometer_formats::summary::MetricValue;

use super::{Better, Metric, MetricsSection};
use crate::data::{StrategyRecords, UnitRecords};
use crate::metrics::MetricUnit;
use crate::metrics::value::{defined, estimated, rounded, undefined, within};

/// Rounds over which drift is taken.
const DRIFT_ROUNDS: usize = 4;

pub(crate) const SURVIVAL_FIRST_ROUND: Metric = Metric {
    id: "survival_first_round",
    definition: "S(1): facts that the context holds after the compaction in which their last original left / such facts, each conversation \
              weighing the same",
    compute: |_, strategy| over_units(strategy, |survival| survival.value(|curve| at(curve, 1))),
    ..Metric::share(MetricsSection::Survival, "Survival")
};

pub(crate) const DRIFT: Metric = Metric {
    id: "drift",
    is_signed: true,
    better: Better::Lower,
    definition: "S(1) - S(4), S by Kaplan-Meier the share of facts never absent up to that round since their last original left; \
              censored at the end, a restatement or a replacement; each conversation weighs the same",
    compute: |_, strategy| drift_at(strategy, DRIFT_ROUNDS),
    ..Metric::share(MetricsSection::Survival, "Survival")
};

pub(crate) const DRIFT_20_ROUNDS: Metric = Metric {
    id: "drift_20_rounds",
    definition: "as drift, to S(20)",
    compute: |_, strategy| drift_at(strategy, 20),
    ..DRIFT
};

pub(crate) const DRIFT_100_ROUNDS: Metric = Metric {
    id: "drift_100_rounds",
    definition: "as drift, to S(100)",
    compute: |_, strategy| drift_at(strategy, 100),
    ..DRIFT
};

pub(crate) const CLIFF: Metric = Metric {
    id: "cliff",
    unit: MetricUnit::Count,
    definition: "the first round a with S(a) < S(1) / 2; no interval",
    compute: |_, strategy| over_units(strategy, cliff),
    ..Metric::share(MetricsSection::Survival, "Survival")
};

/// S(1) - S(`rounds`), with its interval.
pub(crate) fn drift_at(strategy: &StrategyRecords, rounds: usize) -> MetricValue {
    over_units(strategy, |survival| {
        let curve = survival.whole();
        match at(&curve, rounds) {
            _ if at(&curve, 1) == Some(0.0) => undefined("nothing survives the first round"),
            None => undefined(format!("no fact is followed for {rounds} rounds")),
            Some(_) => survival.value(|curve| Some(at(curve, 1)? - at(curve, rounds)?)),
        }
    })
}

/// The least that S falls from round 1 to `rounds`, if facts are not followed that far: S never
/// rises, so it is what S has fallen by the last round to which they are. Nothing if no curve can
/// be drawn, or nothing survives the first round.
pub(crate) fn least_drift(strategy: &StrategyRecords, rounds: usize) -> Option<f64> {
    let curve = Survival::new(strategy).ok()?.whole();
    let first = at(&curve, 1).filter(|first| *first > 0.0)?;
    at(&curve, rounds.min(curve.len())).map(|last| first - last)
}

/// Whether no fact survives the round in which its last original left.
pub(crate) fn nothing_survives(strategy: &StrategyRecords) -> bool {
    Survival::new(strategy).is_ok_and(|survival| at(&survival.whole(), 1) == Some(0.0))
}

/// S by rounds, from round 1, each with its interval and the number of units that still have a fact
/// at risk.
pub(crate) fn by_rounds(strategy: &StrategyRecords) -> Vec<MetricValue> {
    let Ok(survival) = Survival::new(strategy) else {
        return Vec::new();
    };
    let value = |place| {
        let value = within(
            MetricUnit::Share,
            0.0,
            survival.value(|curve| at(curve, place + 1)),
        );
        rounded(
            MetricUnit::Share,
            MetricValue {
                n: survival.at_risk(place),
                ..value
            },
        )
    };
    (0..survival.whole().len()).map(value).collect()
}

/// S by tokens since: each length at which some fact is absent, with what survives it, ascending,
/// and last the greatest length that any fact is followed for. Nothing where a record does not tell
/// when facts were mentioned, as by rounds.
pub(crate) fn by_tokens(strategy: &StrategyRecords) -> Vec<(u64, f64)> {
    let Some(units) = strategy
        .units
        .iter()
        .map(of_unit)
        .collect::<Option<Vec<_>>>()
    else {
        return Vec::new();
    };
    let weighted = |members: Vec<FollowedFact>| {
        let whole: f64 = members.iter().map(|member| member.weight).sum();
        members.into_iter().map(move |member| FollowedFact {
            weight: member.weight / whole,
            ..member
        })
    };
    let mut all: Vec<FollowedFact> = units.into_iter().flat_map(weighted).collect();
    all.sort_by_key(|member| member.tokens);
    let mut at_risk: f64 = all.iter().map(|member| member.weight).sum();
    let mut share = 1.0;
    let mut curve: Vec<(u64, f64)> = Vec::new();
    for same in all.chunk_by(|one, other| one.tokens == other.tokens) {
        let died: f64 = same
            .iter()
            .filter(|member| member.is_absent)
            .map(|member| member.weight)
            .sum();
        if died > 0.0 {
            share *= (1.0 - died / at_risk).max(0.0);
            curve.push((same[0].tokens, share));
        }
        at_risk -= same.iter().map(|member| member.weight).sum::<f64>();
    }
    let last = all.last().map_or(0, |member| member.tokens);
    if curve.last().is_some_and(|(tokens, _)| *tokens < last) {
        curve.push((last, share));
    }
    curve
}

fn over_units(strategy: &StrategyRecords, tell: impl Fn(&Survival) -> MetricValue) -> MetricValue {
    match Survival::new(strategy) {
        Ok(survival) => tell(&survival),
        Err(reason) => undefined(reason),
    }
}

fn cliff(survival: &Survival) -> MetricValue {
    let curve = survival.whole();
    let first = at(&curve, 1).unwrap_or(0.0);
    if first == 0.0 {
        return undefined("nothing survives the first round");
    }
    match curve.iter().position(|share| *share < first / 2.0) {
        Some(place) => defined(place as f64 + 1.0, None, survival.at_risk(place)),
        None => undefined(format!(
            "none: survival does not fall below half of the first round's in {} rounds",
            curve.len()
        )),
    }
}

/// A strategy's facts since their last originals left, by unit.
struct Survival {
    units: Vec<UnitCohort>,
}

/// One unit's facts: weight at risk and weight absent, by round from 1; together the unit weighs 1.
type UnitCohort = Vec<(f64, f64)>;

/// S in a round, from round 1: as far as anything is at risk, and 0 from where nothing is left.
fn at(curve: &[f64], round: usize) -> Option<f64> {
    let of_round = curve.get(round.checked_sub(1)?);
    of_round
        .or_else(|| curve.last().filter(|share| **share == 0.0))
        .copied()
}

fn cohort(members: &[FollowedFact]) -> UnitCohort {
    let whole: f64 = members.iter().map(|member| member.weight).sum();
    let rounds = members
        .iter()
        .map(|member| member.rounds)
        .max()
        .unwrap_or(0);
    let mut found = vec![(0.0, 0.0); rounds];
    for member in members {
        let weight = member.weight / whole;
        found[..member.rounds]
            .iter_mut()
            .for_each(|(at_risk, _)| *at_risk += weight);
        found[member.rounds - 1].1 += if member.is_absent { weight } else { 0.0 };
    }
    found
}

impl Survival {
    fn new(strategy: &StrategyRecords) -> Result<Self, &'static str> {
        let units: Option<Vec<_>> = strategy
            .units
            .iter()
            .map(|unit| Some(cohort(&of_unit(unit)?)))
            .collect();
        match units {
            None => Err("the records are too old to hold mentions"),
            Some(units) if units.iter().all(Vec::is_empty) => {
                Err("the last original of no fact left")
            }
            Some(units) => Ok(Survival { units }),
        }
    }

    /// Units that have a fact at risk in the round after so many.
    fn at_risk(&self, place: usize) -> usize {
        self.units
            .iter()
            .filter(|unit| unit.get(place).is_some_and(|(at_risk, _)| *at_risk > 0.0))
            .count()
    }

    fn whole(&self) -> Vec<f64> {
        self.drawn(&vec![1; self.units.len()])
    }

    /// The curve over units, each drawn the given number of times.
    fn drawn(&self, times: &[u32]) -> Vec<f64> {
        let rounds = self.units.iter().map(|unit| unit.len()).max().unwrap_or(0);
        let mut curve = Vec::with_capacity(rounds);
        let mut share = 1.0;
        for round in 0..rounds {
            let (mut at_risk, mut died) = (0.0, 0.0);
            for (unit, times) in self.units.iter().zip(times) {
                let (unit_at_risk, unit_died) = unit.get(round).copied().unwrap_or_default();
                at_risk += f64::from(*times) * unit_at_risk;
                died += f64::from(*times) * unit_died;
            }
            if at_risk <= 0.0 {
                break;
            }
            share *= 1.0 - died / at_risk;
            curve.push(share);
        }
        curve
    }

    fn value(&self, of: impl Fn(&[f64]) -> Option<f64>) -> MetricValue {
        let n = self.units.iter().filter(|unit| !unit.is_empty()).count();
        estimated(self.units.len(), n, |times| of(&self.drawn(times)))
    }
}

/// A fact from the compaction in which its last original left on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FollowedFact {
    /// Rounds up to its first absence, or up to the last at which it is known to be held; at least
    /// 1.
    rounds: usize,
    /// Tokens of the log since, at that round.
    tokens: u64,
    is_absent: bool,
    weight: f64,
}

/// Every followed fact of a unit; nothing if one of its records has no mentions.
fn of_unit(unit: &UnitRecords) -> Option<Vec<FollowedFact>> {
    Some(
        unit.records
            .iter()
            .map(|record| members(record))
            .collect::<Option<Vec<_>>>()?
            .concat(),
    )
}

/// Every followed fact of one conversation; nothing if the record has no mentions.
fn members(record: &Record) -> Option<Vec<FollowedFact>> {
    let compactions: Vec<&Observation> = record
        .observations
        .iter()
        .filter(|seen| seen.kind == ObservationKind::Compaction)
        .collect();
    let last = record.observations.last().map_or(0, |seen| seen.log_tokens);
    let mut found = Vec::new();
    for (index, fact) in record
        .facts
        .iter()
        .enumerate()
        .filter(|(_, fact)| !fact.decoy && !fact.generic)
    {
        let is_stated = |seen: &&Observation| {
            seen.fates
                .0
                .get(index)
                .is_some_and(|fate| *fate != Fate::Unstated)
        };
        if fact.mentions.is_empty() && compactions.iter().any(is_stated) {
            return None;
        }
        let followed = follow(&compactions, last, index, &fact.mentions).into_iter();
        found.extend(followed.map(|member| FollowedFact {
            weight: fact.weight,
            ..member
        }));
    }
    Some(found)
}

/// Follows one fact from compaction to compaction; `last` are the tokens of the whole log.
fn follow(
    compactions: &[&Observation],
    last: u32,
    fact: usize,
    mentions: &[MessageId],
) -> Vec<FollowedFact> {
    let mut found = Vec::new();
    let member = |rounds: usize, from: u32, to: u32, is_absent| FollowedFact {
        rounds,
        tokens: u64::from(to.saturating_sub(from)),
        is_absent,
        weight: 1.0,
    };
    // The compaction in which its last original left, while it is held since.
    let mut left_at: Option<usize> = None;
    let mut before: Option<MessageId> = None;
    for (at, seen) in compactions.iter().enumerate() {
        let fate = seen.fates.0.get(fact).copied().unwrap_or(Fate::Unstated);
        let was_verbatim = at > 0 && compactions[at - 1].fates.0.get(fact) == Some(&Fate::Verbatim);
        let is_restated = mentions
            .iter()
            .any(|mention| *mention <= seen.after && before.is_none_or(|before| *mention > before));
        let has_original = matches!(fate, Fate::Verbatim | Fate::Superseded | Fate::Unstated);
        if let Some(from) = left_at.filter(|_| is_restated || has_original) {
            found.push(member(
                at - from,
                compactions[from].log_tokens,
                compactions[at - 1].log_tokens,
                false,
            ));
            left_at = None;
        }
        if left_at.is_none() && !has_original && (is_restated || was_verbatim) {
            left_at = Some(at);
        }
        if let Some(from) = left_at.filter(|_| !fate.is_present()) {
            found.push(member(
                at - from + 1,
                compactions[from].log_tokens,
                seen.log_tokens,
                true,
            ));
            left_at = None;
        }
        before = Some(seen.after);
    }
    if let Some(from) = left_at {
        found.push(member(
            compactions.len() - from,
            compactions[from].log_tokens,
            last,
            false,
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(after: u32, letter: &str) -> Observation {
        let json = format!(
            r#"{{"after":{after},"kind":"compaction","round":1,"tokens_since_compaction":0,"log_tokens":{},"fates":"{letter}","eligible":[],"random_hits":[],"chance":[],"random_chance":[]}}"#,
            after * 100
        );
        serde_json::from_str(&json).expect("an observation")
    }

    /// Rounds, tokens and whether it is absent, of a fact with these mentions and one fate after
    /// each compaction.
    fn followed(letters: &str, mentions: &[u32]) -> Vec<(usize, u64, bool)> {
        let all: Vec<Observation> = letters
            .chars()
            .enumerate()
            .map(|(at, letter)| seen(10 * (at as u32 + 1), &letter.to_string()))
            .collect();
        let mentions: Vec<MessageId> = mentions.iter().map(|id| MessageId(*id)).collect();
        let end = letters.len() as u32 * 1_000 + 500;
        let found = follow(&all.iter().collect::<Vec<_>>(), end, 0, &mentions).into_iter();
        found
            .map(|of| (of.rounds, of.tokens, of.is_absent))
            .collect()
    }

    #[test]
    fn a_fact_is_followed_to_its_first_absence() {
        assert_eq!(followed("vuu", &[1]), [(1, 0, true)]);
        assert_eq!(followed("vcce", &[1]), [(3, 2_000, true)]);
        assert_eq!(
            followed("vcec", &[1]),
            [(2, 1_000, true)],
            "what comes back does not count"
        );
        assert_eq!(
            followed("vcc", &[1]),
            [(2, 1_500, false)],
            "held at the end"
        );
        assert_eq!(followed("vvv", &[1]), [], "its original never left");
        assert_eq!(followed("..v", &[25]), []);
        assert_eq!(
            followed("s", &[1]),
            [(1, 0, true)],
            "in a store is not in the context"
        );
    }

    #[test]
    fn restatement_and_replacement_end_the_following_unharmed() {
        assert_eq!(followed("cxx", &[1]), [(1, 0, false)]);
        assert_eq!(followed("cve", &[1, 15]), [(1, 0, false), (1, 0, true)]);
        // Restated and gone again between two compactions: a new episode.
        assert_eq!(followed("ccu", &[1, 15]), [(1, 0, false), (2, 1_000, true)]);
    }

    /// Worked out by hand: of four facts one is absent at round 1, one is censored after it, one
    /// absent at round 2.
    #[test]
    fn censored_facts_leave_the_risk_set() {
        let member = |rounds, is_absent| FollowedFact {
            rounds,
            tokens: 0,
            is_absent,
            weight: 1.0,
        };
        let unit = cohort(&[
            member(1, true),
            member(1, false),
            member(2, true),
            member(3, false),
        ]);
        let curve = Survival { units: vec![unit] }.whole();
        // 3/4, then of two at risk one is lost.
        assert_eq!(curve, [0.75, 0.375, 0.375]);
    }

    /// What is lost stays lost: a curve that has come down to 0 is 0 in every later round, though
    /// nothing is at risk there.
    #[test]
    fn nothing_rises_again() {
        assert_eq!(at(&[0.75, 0.0], 20), Some(0.0));
        assert_eq!(
            at(&[0.75, 0.5], 20),
            None,
            "what is not followed is unknown"
        );
        assert_eq!(at(&[], 1), None);
    }

    /// Old records do not keep mentions, so it is unknown when facts left; no curve may then be
    /// drawn from the other records.
    #[test]
    fn one_old_record_leaves_no_curve() {
        let (manifest, mut records) = crate::common::simulated::run(6);
        let prices = crate::common::prices();
        let curves = |records: &[Record]| {
            let runs = crate::data::ProtocolRun::by_protocol(&manifest, records, &prices);
            runs[0]
                .strategies
                .iter()
                .map(|one| (by_tokens(one), by_rounds(one)))
                .collect::<Vec<_>>()
        };
        let drawn = curves(&records)
            .iter()
            .position(|(tokens, rounds)| !tokens.is_empty() && !rounds.is_empty());
        let drawn = drawn.expect("one that has a curve");
        for record in records
            .iter_mut()
            .filter(|record| record.case.scenario == "talk-00")
        {
            record
                .facts
                .iter_mut()
                .for_each(|fact| fact.mentions.clear());
        }
        let found = &curves(&records)[drawn];
        assert_eq!(found, &(Vec::new(), Vec::new()));
    }

    #[test]
    fn units_weigh_the_same_whatever_their_facts() {
        let member = |is_absent| FollowedFact {
            rounds: 1,
            tokens: 0,
            is_absent,
            weight: 1.0,
        };
        let (small, large) = (cohort(&[member(true)]), cohort(&[member(false); 9]));
        let survival = Survival {
            units: vec![small, large],
        };
        assert_eq!(at(&survival.whole(), 1), Some(0.5));
        assert_eq!(at(&survival.drawn(&[0, 2]), 1), Some(1.0));
    }
}
