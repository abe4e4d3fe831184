//! The standard normal distribution, through `libm` so that every platform gives the same bits.

use std::f64::consts::SQRT_2;

/// P(Z <= x).
pub(crate) fn cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x / SQRT_2)
}

/// The x with P(Z <= x) = `p`; infinite at 0 and 1.
///
/// Found by halving, which is slow and needs no coefficients; a report calls it a few hundred
/// times.
pub(crate) fn quantile(p: f64) -> f64 {
    if p <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if p >= 1.0 {
        return f64::INFINITY;
    }
    super::halved(-40.0, 40.0, |middle| cdf(middle) < p)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values: `scipy.stats.norm.cdf` and `.ppf`, SciPy 1.17.1.
    #[test]
    fn agrees_with_scipy() {
        for (x, p) in [
            (0.0, 0.5),
            (1.0, 0.841344746068543),
            (-1.96, 0.024997895148220),
            (3.0, 0.998650101968370),
        ] {
            assert!((cdf(x) - p).abs() < 1e-14, "{x}");
        }
        for (p, x) in [
            (0.025, -1.959963984540054),
            (0.2, -0.841621233572914),
            (0.999, 3.090232306167813),
        ] {
            assert!((quantile(p) - x).abs() < 1e-12, "{p}");
        }
        assert_eq!(quantile(0.0), f64::NEG_INFINITY);
    }
}
