//! Shares of independent yes-or-no outcomes.

use super::{LEVEL, normal};

/// The 95 % interval of Wilson (1927) for a share of `hits` in `of`; (0, 1) of nothing.
pub(crate) fn wilson(hits: usize, of: usize) -> (f64, f64) {
    wilson_among(1, hits, of)
}

/// The same for one of `shares` shares, wider, so that all their intervals together cover with at
/// least 95 % (Bonferroni).
pub(crate) fn wilson_among(shares: usize, hits: usize, of: usize) -> (f64, f64) {
    if of == 0 {
        return (0.0, 1.0);
    }
    let z = normal::quantile(1.0 - 0.5 * LEVEL / shares.max(1) as f64);
    let (n, share) = (of as f64, hits as f64 / of as f64);
    let scale = 1.0 / (1.0 + z * z / n);
    let middle = scale * (share + 0.5 * z * z / n);
    let reach = scale * z * libm::sqrt(share * (1.0 - share) / n + 0.25 * z * z / (n * n));
    ((middle - reach).max(0.0), (middle + reach).min(1.0))
}

/// The 95 % upper bound of a share: 3 / n where nothing was seen (the rule of three), else that of
/// [`wilson`].
pub(crate) fn most(hits: usize, of: usize) -> f64 {
    if hits == 0 && of > 0 {
        (3.0 / of as f64).min(1.0)
    } else {
        wilson(hits, of).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values: `statsmodels.stats.proportion.proportion_confint(..., method="wilson")`,
    /// statsmodels 0.15.0.
    #[test]
    fn agrees_with_statsmodels() {
        let expected = [
            (0, 1_000, 0.0, 0.003826758485555125),
            (37, 1_000, 0.026961180875554734, 0.05058239748206931),
            (1_000, 1_000, 0.996173241514445, 1.0),
            (5, 16, 0.14164643854782027, 0.5559564416525933),
        ];
        for (hits, of, low, high) in expected {
            let found = wilson(hits, of);
            assert!(
                (found.0 - low).abs() < 1e-12 && (found.1 - high).abs() < 1e-12,
                "{hits} of {of}: {found:?}"
            );
        }
    }

    /// Expected values: Wilson's interval with z = 2.5758, the quantile of .995, computed with
    /// Python's `statistics`.
    #[test]
    fn of_several_shares_each_has_a_wider_interval() {
        let (low, high) = wilson_among(5, 65, 1_000);
        assert!(
            (low - 0.047648387365485).abs() < 1e-12 && (high - 0.088085926100479).abs() < 1e-12,
            "{low} {high}"
        );
    }

    #[test]
    fn nothing_seen_is_bounded_by_the_rule_of_three() {
        assert_eq!(most(0, 1_000), 0.003);
        assert_eq!(most(0, 2), 1.0);
        assert_eq!(most(5, 16), wilson(5, 16).1);
    }
}
