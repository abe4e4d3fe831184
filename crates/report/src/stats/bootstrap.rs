//! 95 % percentile bootstrap intervals over units, with 10,000 draws: for statistics that jump
//! where one unit is left out, such as the order of strategies.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::{LEVEL, quantile};

const DRAWS: usize = 10_000;
const SEED: u64 = 0x00C0_FFEE;
/// Fewer units than this carry no interval.
const FEWEST_UNITS: usize = 3;
const TAILS: [f64; 2] = [0.5 * LEVEL, 1.0 - 0.5 * LEVEL];

/// The interval of a statistic over `units` units.
///
/// The statistic gets how often each unit was drawn; it may be undefined for a draw, which then
/// does not count. `None` for under three units or where no draw is defined.
pub fn interval(units: usize, statistic: impl Fn(&[u32]) -> Option<f64>) -> Option<(f64, f64)> {
    if units < FEWEST_UNITS {
        return None;
    }
    let mut draws = draw(units, &statistic);
    draws.sort_by(f64::total_cmp);
    Some((quantile(&draws, TAILS[0])?, quantile(&draws, TAILS[1])?))
}

fn draw(units: usize, statistic: impl Fn(&[u32]) -> Option<f64>) -> Vec<f64> {
    /// Of more units, what was drawn takes too much memory to keep.
    const MOST_KEPT: usize = 1_000;
    if units > MOST_KEPT {
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        let mut times = vec![0; units];
        return (0..DRAWS)
            .filter_map(|_| statistic(draw_once(&mut random, &mut times)))
            .collect();
    }
    let drawn = DRAWN.with(|drawn| {
        Rc::clone(
            drawn
                .borrow_mut()
                .entry(units)
                .or_insert_with(|| draw_all(units)),
        )
    });
    drawn.chunks_exact(units).filter_map(statistic).collect()
}

thread_local! {
    /// What is drawn depends on the number of units alone, and a report has many statistics of the
    /// same units.
    static DRAWN: RefCell<BTreeMap<usize, Rc<[u32]>>> = const { RefCell::new(BTreeMap::new()) };
}

/// Every draw's times, one after the other.
fn draw_all(units: usize) -> Rc<[u32]> {
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let mut all = vec![0; DRAWS * units];
    all.chunks_exact_mut(units).for_each(|times| {
        draw_once(&mut random, times);
    });
    all.into()
}

/// How often each unit is drawn, once.
fn draw_once<'t>(random: &mut ChaCha8Rng, times: &'t mut [u32]) -> &'t [u32] {
    times.fill(0);
    for _ in 0..times.len() {
        // Scaling 32 random bits: the bias, units / 2^32, is far under the resolution of the draws.
        let unit = (u64::from(random.next_u32()) * times.len() as u64) >> 32;
        times[unit as usize] += 1;
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_of(values: &[f64]) -> impl Fn(&[u32]) -> Option<f64> {
        |times| {
            let drawn: u32 = times.iter().sum();
            let sum: f64 = values
                .iter()
                .zip(times)
                .map(|(value, times)| value * f64::from(*times))
                .sum();
            (drawn > 0).then(|| sum / f64::from(drawn))
        }
    }

    /// Expected values: `scipy.stats.bootstrap(..., np.mean, method="percentile",
    /// n_resamples=1_000_000)`, SciPy 1.17.1; the tolerance is about four standard errors of a tail
    /// from 10,000 draws.
    #[test]
    fn the_percentiles_agree_with_scipy() {
        let skewed = [0.02, 0.05, 0.05, 0.11, 0.12, 0.20, 0.31, 0.44, 0.71, 0.98];
        let (low, high) =
            interval(skewed.len(), mean_of(&skewed)).expect("ten units have an interval");
        assert!((low - 0.128).abs() < 0.01, "{low}");
        assert!((high - 0.503).abs() < 0.02, "{high}");
    }

    #[test]
    fn equal_units_have_a_point_and_two_units_none() {
        assert_eq!(interval(4, mean_of(&[1.0; 4])), Some((1.0, 1.0)));
        assert_eq!(interval(2, mean_of(&[0.0, 1.0])), None);
        assert_eq!(interval(5, |_| None), None);
    }

    #[test]
    fn the_same_units_give_the_same_bits() {
        let values = [0.1, 0.7, 0.4, 0.9];
        assert_eq!(interval(4, mean_of(&values)), interval(4, mean_of(&values)));
    }
}
