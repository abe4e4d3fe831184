//! Kendall's tau-b: how far two lists of numbers put the same things in the same order (Kendall,
//! 1945, "The treatment of ties in ranking problems").

use std::cmp::Ordering;

/// Numbers nearer than this are tied: what lies below is rounding of sums.
const TIE: f64 = 1e-9;

/// From -1 (reversed) to 1 (the same order); nothing if one of the lists has no order at all.
pub(crate) fn tau_b(one: &[f64], other: &[f64]) -> Option<f64> {
    let (mut agreeing, mut ordered_one, mut ordered_other) = (0_i64, 0_i64, 0_i64);
    for at in 0..one.len().min(other.len()) {
        for before in 0..at {
            let (first, second) = (order(one[before], one[at]), order(other[before], other[at]));
            agreeing += first * second;
            ordered_one += first * first;
            ordered_other += second * second;
        }
    }
    let ordered = libm::sqrt(ordered_one as f64 * ordered_other as f64);
    (ordered > 0.0).then(|| agreeing as f64 / ordered)
}

fn order(before: f64, after: f64) -> i64 {
    if (before - after).abs() < TIE {
        return 0;
    }
    match before.total_cmp(&after) {
        Ordering::Less => 1,
        _ => -1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last is the example in the documentation of `scipy.stats.kendalltau`; the others are
    /// counted by hand.
    #[test]
    fn orders_are_compared_pair_by_pair() {
        for (one, other, expected) in [
            (&[1.0, 2.0, 3.0, 4.0][..], &[1.0, 2.0, 3.0, 4.0][..], 1.0),
            (&[1.0, 2.0, 3.0, 4.0], &[4.0, 3.0, 2.0, 1.0], -1.0),
            (&[1.0, 2.0, 3.0, 4.0], &[1.0, 3.0, 2.0, 4.0], 2.0 / 3.0),
            // One pair is tied in the first list: 5 of sqrt(5 * 6).
            (
                &[1.0, 1.0, 2.0, 3.0],
                &[1.0, 2.0, 3.0, 4.0],
                0.912_870_929_175_276_9,
            ),
            (
                &[12.0, 2.0, 1.0, 12.0, 2.0],
                &[1.0, 4.0, 7.0, 1.0, 0.0],
                -0.471_404_520_791_031_7,
            ),
        ] {
            let found = tau_b(one, other).expect("ordered");
            assert!(
                (found - expected).abs() < 1e-12,
                "{one:?} {other:?}: {found}"
            );
        }
    }

    #[test]
    fn what_has_no_order_has_no_tau() {
        assert_eq!(tau_b(&[0.5, 0.5, 0.5 + 1e-12], &[1.0, 2.0, 3.0]), None);
        assert_eq!(tau_b(&[1.0], &[1.0]), None);
        assert_eq!(tau_b(&[], &[]), None);
    }
}
