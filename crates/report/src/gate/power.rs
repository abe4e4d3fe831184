//! How many units a gate needs: losses are planted in what contexts held, units are drawn again,
//! and the full rule is applied.
//!
//! Absent on purpose: any assumed distribution. Spread and shape come from the records.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

use super::{GateVerdict, rule};
use crate::stats::{mean, normal, paired::PairedSums, proportion};

/// Gates simulated for each number of units that is tried.
const GATES: usize = 1_000;
/// No suite is told to grow beyond this.
const MOST_UNITS: usize = 4_096;
/// The probability with which a loss of two margins is to be found.
pub(crate) const POWER: f64 = 0.8;

/// A unit as it can be drawn: what sets its two sides apart without any loss, and what each fact
/// that its contexts hold adds to its score.
#[derive(Clone, Debug)]
pub(crate) struct Arm {
    pub(crate) noise: f64,
    pub(crate) held: Vec<f64>,
}

/// Units to draw from. Their noise has mean 0.
pub(crate) struct Population {
    arms: Vec<Arm>,
}

impl Population {
    /// Takes the mean out of the noise.
    pub(crate) fn new(mut arms: Vec<Arm>) -> Self {
        let noises: Vec<f64> = arms.iter().map(|arm| arm.noise).collect();
        let middle = mean(&noises).unwrap_or(0.0);
        arms.iter_mut().for_each(|arm| arm.noise -= middle);
        Population { arms }
    }

    /// Standard deviation without any loss.
    pub(crate) fn noise_sd(&self) -> f64 {
        let noises: Vec<f64> = self.arms.iter().map(|arm| arm.noise).collect();
        PairedSums::new(&noises).map_or(0.0, |paired| paired.sd)
    }

    /// Every arm's difference once facts drawn from all that contexts hold are lost, one after
    /// another, until the mean loss is `loss`; the last one counts in part, so that the mean is
    /// exact. Nothing where contexts hold less than that.
    pub(crate) fn planted(&self, loss: f64, random: &mut ChaCha8Rng) -> Option<Vec<f64>> {
        let mut differences: Vec<f64> = self.arms.iter().map(|arm| arm.noise).collect();
        let facts = self
            .arms
            .iter()
            .enumerate()
            .flat_map(|(at, arm)| arm.held.iter().map(move |held| (at, *held)));
        let mut facts: Vec<(usize, f64)> = facts.collect();
        let mut left = loss * self.arms.len() as f64;
        while left > 0.0 {
            let last = facts.len().checked_sub(1)?;
            facts.swap(below(last + 1, random), last);
            let (at, held) = facts.pop()?;
            differences[at] -= held.min(left);
            left -= held;
        }
        Some(differences)
    }

    /// Verdicts of gates of `units` units drawn where the true difference is minus `loss`, each
    /// after a planting of its own: gates that share one are not independent, so the intervals of
    /// their rates would be too narrow. With `widest`, planted differences are stretched to the
    /// spread of the noise where that is larger.
    pub(crate) fn gates(&self, at: &Gates, random: &mut ChaCha8Rng) -> Option<Vec<GateVerdict>> {
        let gate = |_| {
            let mut pool = self.planted(at.loss, random)?;
            if at.widest {
                stretch(&mut pool, self.noise_sd());
            }
            let drawn: Vec<f64> = (0..at.units)
                .map(|_| pool[below(pool.len(), random)])
                .collect();
            Some(rule::alone(&drawn, at.margin, at.tests))
        };
        (0..at.gates).map(gate).collect()
    }

    /// The share of gates of so many units that find a loss of two margins. Nothing where contexts
    /// hold less than that.
    pub(crate) fn power(
        &self,
        units: usize,
        margin: f64,
        tests: usize,
        random: &mut ChaCha8Rng,
    ) -> Option<f64> {
        let found = self
            .losses_found(units, margin, tests, random)
            .filter(|_| units > 0)?;
        Some(found as f64 / GATES as f64)
    }

    /// How many of the simulated gates find a loss of two margins.
    fn losses_found(
        &self,
        units: usize,
        margin: f64,
        tests: usize,
        random: &mut ChaCha8Rng,
    ) -> Option<usize> {
        let at = Gates {
            loss: 2.0 * margin,
            units,
            margin,
            tests,
            gates: GATES,
            widest: true,
        };
        let verdicts = self.gates(&at, random)?;
        Some(
            verdicts
                .iter()
                .filter(|verdict| **verdict == GateVerdict::Regression)
                .count(),
        )
    }

    /// G*: the fewest units at which the full rule finds a loss of two margins with probability
    /// .80, as far as the lower end of Wilson's interval over 1,000 simulated gates tells. Spread
    /// is the larger of the noise's and the planted differences'. Nothing where contexts hold less
    /// than two margins, or 4,096 units are too few.
    pub(crate) fn needed(
        &self,
        margin: f64,
        tests: usize,
        random: &mut ChaCha8Rng,
    ) -> Option<usize> {
        let fewest = rule::fewest(tests);
        let sd = PairedSums::new(&self.planted(2.0 * margin, random)?)?
            .sd
            .max(self.noise_sd());
        let start = by_normal(sd, margin).clamp(fewest, MOST_UNITS);
        let mut is_enough = |units| {
            let found = self.losses_found(units, margin, tests, random)?;
            Some(proportion::wilson(found, GATES).0 >= POWER)
        };
        let (mut too_few, mut enough) = (fewest - 1, start);
        while !is_enough(enough)? {
            too_few = enough;
            enough = enough.checked_mul(2).filter(|units| *units <= MOST_UNITS)?;
        }
        while enough - too_few > 1 {
            let middle = too_few + (enough - too_few) / 2;
            if is_enough(middle)? {
                enough = middle
            } else {
                too_few = middle
            }
        }
        Some(enough)
    }
}

/// Units that a normal approximation asks for.
fn by_normal(sd: f64, margin: f64) -> usize {
    let quantiles = normal::quantile(1.0 - crate::stats::LEVEL) + normal::quantile(POWER);
    let reach = quantiles * sd / margin;
    libm::ceil(reach * reach) as usize
}

/// What gates are simulated.
pub(crate) struct Gates {
    /// True loss.
    pub(crate) loss: f64,
    /// Units of each.
    pub(crate) units: usize,
    pub(crate) margin: f64,
    /// Tests that Holm's first step counts.
    pub(crate) tests: usize,
    /// How many.
    pub(crate) gates: usize,
    /// See [`Population::gates`].
    pub(crate) widest: bool,
}

/// Widens differences around their mean to this standard deviation, where theirs is smaller.
fn stretch(differences: &mut [f64], sd: f64) {
    let Some(paired) =
        PairedSums::new(differences).filter(|paired| paired.sd > 0.0 && paired.sd < sd)
    else {
        return;
    };
    for value in differences {
        *value = paired.mean + (*value - paired.mean) * sd / paired.sd;
    }
}

/// A number under `count`. Scaling 32 random bits: the bias, count / 2^32, is far under the
/// resolution of the draws.
fn below(count: usize, random: &mut ChaCha8Rng) -> usize {
    ((u64::from(random.next_u32()) * count as u64) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use rand_chacha::rand_core::SeedableRng;

    use super::*;

    fn population(sd: f64) -> Population {
        let arm = |at: usize| Arm {
            noise: sd * [1.0, -1.0, 0.5, -0.5][at % 4],
            held: vec![0.05; 8],
        };
        Population::new((0..16).map(arm).collect())
    }

    #[test]
    fn planted_losses_come_to_the_stated_mean() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for loss in [0.0, 0.05, 0.1, 0.123] {
            let planted = population(0.1).planted(loss, &mut random).unwrap();
            assert!((mean(&planted).unwrap() + loss).abs() < 1e-12, "{loss}");
        }
        assert_eq!(
            population(0.1).planted(0.41, &mut random),
            None,
            "contexts hold .4"
        );
    }

    /// Two arms of two facts each, of which two facts are lost: both of one arm in a third of the
    /// plantings, which no gate of eight units settles, else one of each, which every gate finds.
    /// Gates that share a planting would all say the same.
    #[test]
    fn each_gate_has_losses_of_its_own() {
        let arm = Arm {
            noise: 0.0,
            held: vec![0.1; 2],
        };
        let at = Gates {
            loss: 0.1,
            units: 8,
            margin: 0.05,
            tests: 1,
            gates: 20,
            widest: false,
        };
        for seed in 0..5 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let verdicts = Population::new(vec![arm.clone(), arm.clone()])
                .gates(&at, &mut random)
                .unwrap();
            let found = verdicts
                .iter()
                .filter(|verdict| **verdict == GateVerdict::Regression)
                .count();
            assert!((6..20).contains(&found), "{found} of 20 with seed {seed}");
        }
    }

    #[test]
    fn more_spread_needs_more_units() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut needed = |sd, tests| population(sd).needed(0.05, tests, &mut random).unwrap();
        let (narrow, wide, among_eight) = (needed(0.05, 1), needed(0.15, 1), needed(0.05, 8));
        assert!(
            narrow < wide && narrow < among_eight,
            "{narrow} {wide} {among_eight}"
        );
        assert!(narrow >= 5);
    }
}
