//! How often 95 % intervals hold the mean of what they were drawn from, on recorded unit scores.

use std::collections::BTreeMap;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::Deserialize;

use super::{interval, mean};

/// Samples of each size from each pool.
const DRAWS: usize = 2_000;
/// Of fewer intervals a share says little.
const FEWEST: usize = 40;

#[derive(Deserialize)]
struct RecordedCoverage {
    pools: BTreeMap<String, Vec<f64>>,
}

/// For each pool, the intervals of so many samples: how many there are, and how many hold the
/// pool's mean.
fn drawn(
    units: usize,
    of: impl Fn(&[f64]) -> Option<(f64, f64)>,
) -> BTreeMap<String, (usize, usize)> {
    let recorded: RecordedCoverage =
        serde_json::from_str(include_str!("../../tests/fixtures/unit-scores.json")).unwrap();
    let count = |pool: &[f64]| {
        let (mut random, expected) = (ChaCha8Rng::seed_from_u64(units as u64), mean(pool).unwrap());
        let mut unit = || pool[(random.next_u64() % pool.len() as u64) as usize];
        let samples = (0..DRAWS).map(|_| (0..units).map(|_| unit()).collect::<Vec<f64>>());
        let found: Vec<_> = samples.filter_map(|sample| of(&sample)).collect();
        (
            found.len(),
            found
                .iter()
                .filter(|(low, high)| *low <= expected && expected <= *high)
                .count(),
        )
    };
    recorded
        .pools
        .into_iter()
        .map(|(name, pool)| (name, count(&pool)))
        .collect()
}

fn assert_covered(units: usize) {
    let found = drawn(units, interval::of_mean);
    for (name, (shown, holding)) in found.iter().filter(|(_, (shown, _))| *shown >= FEWEST) {
        let share = *holding as f64 / *shown as f64;
        assert!(
            share >= 0.93,
            "{name}, {units} conversations: {share:.3} of {shown} intervals hold the mean"
        );
    }
    let usual = found
        .values()
        .filter(|(shown, _)| *shown as f64 >= 0.9 * DRAWS as f64)
        .count();
    assert!(
        usual >= 13,
        "{units} conversations: only {usual} of {} pools mostly have an interval",
        found.len()
    );
}

#[test]
fn six_units_cover() {
    assert_covered(6);
}

#[test]
fn eight_units_cover() {
    assert_covered(8);
}

#[test]
fn sixteen_units_cover() {
    assert_covered(16);
}

#[test]
fn thirty_units_cover() {
    assert_covered(30);
}

/// Almost every score of this pool is 0: what a sample shows of it says next to nothing of its
/// mean.
#[test]
fn few_units_of_almost_nothing_but_zeros_have_no_interval() {
    let (shown, _) = drawn(6, interval::of_mean)["progressive over_window_share"];
    assert!(shown < DRAWS / 200, "{shown}");
}
