//! Kendall's tau-b between the right order and one that may leave items out.

/// `places` are those items that the answer names, each as its place in the right order of `count`
/// items, in the order of naming. A pair of which the answer does not name both is tied. 0 where
/// every pair is: nothing is said about any order.
pub(crate) fn tau_b(places: &[u32], count: usize) -> f64 {
    let named = places.len();
    let pairs = |of: usize| (of * of.saturating_sub(1) / 2) as f64;
    if named < 2 {
        return 0.0;
    }
    let later = (0..named).flat_map(|at| {
        places[at + 1..]
            .iter()
            .map(move |later| places[at] < *later)
    });
    let difference: f64 = later
        .map(|is_right| if is_right { 1.0 } else { -1.0 })
        .sum();
    // No pair of the right order is tied.
    difference / (pairs(count) * pairs(named)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first four as `scipy.stats.kendalltau` has them (variant `b`).
    #[test]
    fn orders_agree_oppose_or_say_nothing() {
        for (places, expected) in [
            (&[0, 1, 2, 3][..], 1.0),
            (&[3, 2, 1, 0], -1.0),
            (&[0, 2, 1, 3], 2.0 / 3.0),
            (&[1, 0, 3, 2], 1.0 / 3.0),
            (&[0, 1, 3], 3.0 / 18.0_f64.sqrt()),
            (&[2, 1], -1.0 / 6.0_f64.sqrt()),
            (&[2], 0.0),
            (&[], 0.0),
        ] {
            assert!((tau_b(places, 4) - expected).abs() < 1e-12, "{places:?}");
        }
    }
}
