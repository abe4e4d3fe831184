//! The sweeps of a run: the same conversations under other retained budgets, and under other splits
//! of the retained budget between the verbatim tail and what a strategy writes.
//!
//! Their cases come after all others and enter no table: the report draws curves of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::window::smallest_feasible;
use super::{Entrant, PlanError, PlanOptions, Shares, Sizes, points};
use crate::prepare::PreparedScenario;

/// Shares of the window that `--sweep` lets compactions leave, of those near the headline's.
const SIZES: [f64; 4] = [0.4, 0.3, 0.2, 0.1];
/// The largest factor between the headline's size and another. That many times its size is swept
/// too.
const FARTHEST: f64 = 4.0;
/// Shares of the retained budget that `--sweep` gives to the tail. Each strategy's own share is a
/// further point.
const SPLITS: [f64; 2] = [0.0, 0.5];
/// Most groups of which `--sweep` replays a conversation: the fewest units for which an interval
/// holds what it promises.
const GROUPS: usize = 6;

/// What a run replays beside the headline's size and the strategies' own splits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlannedSweep {
    /// Retained budgets that all conversations and entrants are replayed under, in tokens,
    /// descending.
    whole: Vec<u32>,
    /// Those that only the sampled conversations are replayed under, descending.
    sampled: Vec<u32>,
    /// Shares of the retained budget that are kept verbatim, for strategies with a tail, ascending.
    pub splits: Vec<f64>,
    /// Places in the suite of the sampled conversations: the shortest that tell anything, one of a
    /// group.
    pub places: Vec<usize>,
}

/// One set of limits, and what is replayed under it.
pub(super) struct Condition<'s> {
    pub(super) sizes: Sizes,
    /// The conversations; all if absent.
    places: Option<&'s [usize]>,
}

impl Condition<'_> {
    /// Everything at the headline's sizes.
    pub(super) fn whole(sizes: Sizes) -> Self {
        Condition {
            sizes,
            places: None,
        }
    }

    pub(super) fn takes(&self, place: usize) -> bool {
        self.places.is_none_or(|places| places.contains(&place))
    }

    /// A sample is too dear for controls.
    pub(super) fn runs(&self, entrant: &Entrant) -> bool {
        match self.sizes.split {
            Some(_) => entrant.has_tail() && entrant.family.is_tested(),
            None => self.places.is_none() || entrant.family.is_tested(),
        }
    }
}

impl PlannedSweep {
    pub(super) fn new(
        options: &PlanOptions,
        sizes: Sizes,
        suite: &[Arc<PreparedScenario>],
    ) -> Result<Self, PlanError> {
        let whole = smaller(options, sizes)?;
        if !options.sweep {
            return Ok(PlannedSweep {
                whole,
                ..PlannedSweep::default()
            });
        }
        if !has_limits_of_run(options) {
            return Err(PlanError::SweepOfPublished);
        }
        let is_new = |retained: &u32| {
            *retained > 0 && *retained != sizes.retained && !whole.contains(retained)
        };
        let fits = |share: &f64| {
            let shares = Shares {
                retained: *share,
                ..options.shares
            };
            shares.retained < shares.trigger && smallest_feasible(suite, shares) <= sizes.window
        };
        let own = options.shares.retained;
        let is_near = |share: &f64| (own / FARTHEST..=own * FARTHEST).contains(share);
        let mut sampled: Vec<u32> = SIZES
            .into_iter()
            .chain([own * FARTHEST])
            .filter(|share| is_near(share) && fits(share))
            .map(|share| tokens(sizes, share))
            .filter(is_new)
            .collect();
        sampled.sort_unstable_by(|one, other| other.cmp(one));
        sampled.dedup();
        Ok(PlannedSweep {
            sampled,
            whole,
            splits: SPLITS.to_vec(),
            places: shortest(suite, sizes.trigger),
        })
    }

    /// Whether a run has none.
    pub fn is_empty(&self) -> bool {
        self.whole.is_empty() && self.places.is_empty()
    }

    /// The further retained budgets in tokens, descending.
    pub fn sizes(&self) -> Vec<u32> {
        let mut sizes = [&self.whole[..], &self.sampled[..]].concat();
        sizes.sort_unstable_by(|one, other| other.cmp(one));
        sizes
    }

    pub(super) fn conditions(&self, headline: Sizes) -> impl Iterator<Item = Condition<'_>> {
        let at = move |retained: &u32| Sizes {
            retained: *retained,
            ..headline
        };
        let whole = self
            .whole
            .iter()
            .map(move |retained| Condition::whole(at(retained)));
        let some = |sizes| Condition {
            sizes,
            places: Some(&self.places),
        };
        let sampled = self.sampled.iter().map(move |retained| some(at(retained)));
        let splits = self.splits.iter().map(move |split| {
            some(Sizes {
                split: Some(*split),
                ..headline
            })
        });
        whole.chain(sampled).chain(splits)
    }
}

fn has_limits_of_run(options: &PlanOptions) -> bool {
    let mut protocols = options.protocols.iter();
    protocols.any(|protocol| protocol.has_limits_of_run())
}

fn tokens(sizes: Sizes, share: f64) -> u32 {
    (f64::from(sizes.window) * share) as u32
}

/// The budgets of the shares that a user listed after the largest.
fn smaller(options: &PlanOptions, sizes: Sizes) -> Result<Vec<u32>, PlanError> {
    let mut found = Vec::new();
    let mut before = sizes.retained;
    for share in &options.smaller_retained {
        let retained = tokens(sizes, *share);
        if retained == 0
            || retained >= before
            || !options
                .protocols
                .iter()
                .any(|protocol| protocol.has_limits_of_run())
        {
            return Err(PlanError::Share { share: *share });
        }
        found.push(retained);
        before = retained;
    }
    Ok(found)
}

/// The places of the shortest conversations in which recall is asked for an old fact, one of a
/// group.
fn shortest(suite: &[Arc<PreparedScenario>], trigger: u32) -> Vec<usize> {
    let tells = |place: &usize| {
        points(&suite[*place], trigger)
            .iter()
            .any(|point| !point.eligible.is_empty())
    };
    let mut places = (0..suite.len()).filter(tells).collect::<Vec<_>>();
    places.sort_by_key(|place| suite[*place].tokens_between(0, suite[*place].messages.len()));
    let mut groups = BTreeSet::new();
    places.retain(|place| groups.insert(suite[*place].scenario.group_id.as_str()));
    places.truncate(GROUPS);
    places.sort_unstable();
    places
}
