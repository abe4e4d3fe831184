//! How many units a difference needs, and how much alike facts of one unit are. For planning alone:
//! no verdict uses these.

use super::paired::PairedSums;
use super::{LEVEL, mean, student};

/// The smallest true difference that a two-sided test at 5 % finds with probability .80: (t.975 +
/// t.8) s / sqrt(G), both t at G - 1 degrees of freedom.
pub(crate) fn detectable(paired: &PairedSums) -> f64 {
    let quantiles = student::quantile(1.0 - 0.5 * LEVEL, paired.freedom())
        + student::quantile(0.8, paired.freedom());
    quantiles * paired.sd / libm::sqrt(paired.units as f64)
}

/// How alike values of one cluster are, and what that costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Clustering {
    /// The intraclass correlation of one value, ICC(1) of a one-way analysis of variance; negative
    /// where values of one cluster differ more than chance would have it.
    pub(crate) icc: f64,
    /// By what the variance of the mean exceeds that of as many independent values: 1 + (mean size
    /// - 1) ICC.
    pub(crate) design_effect: f64,
}

/// Nothing where all values are equal, or there are under two clusters or no cluster of two values.
pub(crate) fn clustering(clusters: &[Vec<f64>]) -> Option<Clustering> {
    let clusters: Vec<&Vec<f64>> = clusters
        .iter()
        .filter(|values| !values.is_empty())
        .collect();
    let all: Vec<f64> = clusters
        .iter()
        .flat_map(|values| values.iter().copied())
        .collect();
    let (count, total) = (clusters.len() as f64, all.len() as f64);
    if clusters.len() < 2 || all.len() <= clusters.len() {
        return None;
    }
    let overall = mean(&all)?;
    let (mut between, mut within, mut squared_sizes) = (0.0, 0.0, 0.0);
    for values in clusters {
        let (size, own) = (values.len() as f64, mean(values)?);
        between += size * (own - overall) * (own - overall);
        within += values
            .iter()
            .map(|value| (value - own) * (value - own))
            .sum::<f64>();
        squared_sizes += size * size;
    }
    let (between, within) = (between / (count - 1.0), within / (total - count));
    let size = (total - squared_sizes / total) / (count - 1.0);
    let whole = between + (size - 1.0) * within;
    let icc = (between - within) / whole;
    (whole > 0.0).then(|| Clustering {
        icc,
        design_effect: 1.0 + (total / count - 1.0) * icc,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected value: `scipy.stats.t.ppf`, SciPy 1.17.1, in the formula above.
    #[test]
    fn the_detectable_difference_agrees_with_scipy() {
        let found = detectable(&PairedSums {
            units: 16,
            mean: 0.3,
            sd: 0.08,
        });
        assert!((found - 0.059953890375094555).abs() < 1e-12, "{found}");
    }

    /// Expected values: from `scipy.stats.f_oneway(...).statistic`, SciPy 1.17.1, as (F - 1) / (F +
    /// n0 - 1) with n0 = 2.6667.
    #[test]
    fn the_correlation_agrees_with_scipy() {
        let clusters = [
            vec![1.0, 2.0, 3.0],
            vec![2.0, 4.0],
            vec![5.0, 6.0, 7.0, 6.0],
            vec![1.0, 1.0],
        ];
        let found = clustering(&clusters).unwrap();
        assert!((found.icc - 0.8600953895071541).abs() < 1e-12, "{found:?}");
        assert!(
            (found.design_effect - 2.50516693163752).abs() < 1e-12,
            "{found:?}"
        );
        assert_eq!(clustering(&[vec![1.0], vec![2.0]]), None);
        assert_eq!(clustering(&[vec![1.0, 1.0], vec![1.0]]), None);
    }
}
