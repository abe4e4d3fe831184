//! Several tests at once: Holm's step-down adjustment.

/// P values adjusted for all that were tested, in the same order (Holm, 1979, "A simple
/// sequentially rejective multiple test procedure"). `tests` counts tests that gave no p as well,
/// and is at least the number of `p_values`.
pub(crate) fn holm(p_values: &[f64], tests: usize) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|one, other| p_values[*one].total_cmp(&p_values[*other]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut least: f64 = 0.0;
    for (step, at) in order.into_iter().enumerate() {
        let factor = tests.saturating_sub(step).max(1) as f64;
        least = least.max((factor * p_values[at]).min(1.0));
        adjusted[at] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        assert!(
            found
                .iter()
                .zip(expected)
                .all(|(one, other)| (one - other).abs() < 1e-15),
            "{found:?}"
        );
    }

    /// Expected values: `statsmodels.stats.multitest.multipletests(..., method="holm")`,
    /// statsmodels 0.15.0.
    #[test]
    fn agrees_with_statsmodels() {
        near(
            &holm(&[0.01, 0.04, 0.03, 0.005], 4),
            &[0.03, 0.06, 0.06, 0.02],
        );
        near(&holm(&[0.5, 0.5, 0.001], 3), &[1.0, 1.0, 0.003]);
    }

    #[test]
    fn tests_without_a_p_count_too() {
        near(&holm(&[0.01], 5), &[0.05]);
        near(&holm(&[], 3), &[]);
    }
}
