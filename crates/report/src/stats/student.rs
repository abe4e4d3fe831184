//! Student's t distribution, through `libm` so that every platform gives the same bits.
//!
//! Own lines instead of a library: those at hand use the platform's logarithms and powers, whose
//! last bits differ.

/// P(T <= t) with this number of degrees of freedom.
pub(crate) fn cdf(t: f64, freedom: f64) -> f64 {
    let square = t * t;
    // Near 0 the tail is close to a half, and its complement has the digits; far out, where t^2
    // overflows, nothing is left.
    let tail = if square < freedom {
        0.5 - 0.5 * incomplete_beta(0.5, 0.5 * freedom, square / (freedom + square))
    } else {
        0.5 * incomplete_beta(0.5 * freedom, 0.5, freedom / (freedom + square))
    };
    if t > 0.0 { 1.0 - tail } else { tail }
}

/// The t with P(T <= t) = `p`; infinite at 0 and 1.
///
/// Found by halving on the smaller tail, which keeps its digits.
pub(crate) fn quantile(p: f64, freedom: f64) -> f64 {
    if p <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if p >= 1.0 {
        return f64::INFINITY;
    }
    if p > 0.5 {
        return -quantile(1.0 - p, freedom);
    }
    let mut low = -1.0;
    while cdf(low, freedom) > p {
        low *= 2.0;
    }
    super::halved(low, 0.0, |middle| cdf(middle, freedom) < p)
}

/// The regularised incomplete beta function I_x(a, b), by its continued fraction (NIST DLMF
/// 8.17.22) on the side where that converges fast.
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let log_beta = libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
    let front = libm::exp(a * libm::log(x) + b * libm::log1p(-x) - log_beta);
    if x < (a + 1.0) / (a + b + 2.0) {
        front / (a * fraction(a, b, x))
    } else {
        1.0 - front / (b * fraction(b, a, 1.0 - x))
    }
}

/// The fraction 1 + d1 / (1 + d2 / (1 + ...)) by the modified algorithm of Lentz.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    const MOST_TERMS: u32 = 10_000;
    let not_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut value, mut above, mut below) = (1.0, 1.0, 0.0);
    for term in 1..=MOST_TERMS {
        let m = f64::from(term / 2);
        let coefficient = if term % 2 == 0 {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        } else {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        };
        below = 1.0 / not_zero(1.0 + coefficient * below);
        above = not_zero(1.0 + coefficient / above);
        let change: f64 = above * below;
        value *= change;
        if (change - 1.0).abs() < 1e-16 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values: `scipy.stats.t.cdf`, SciPy 1.17.1.
    #[test]
    fn the_distribution_agrees_with_scipy() {
        for (t, freedom, p) in CDF {
            let found = cdf(t, freedom);
            assert!(
                (found - p).abs() <= 1e-12 * p.max(1e-3),
                "t {t}, {freedom} degrees: {found} is not {p}"
            );
        }
    }

    /// Expected values: `scipy.stats.t.ppf`, SciPy 1.17.1.
    #[test]
    fn the_quantiles_agree_with_scipy() {
        for (p, freedom, t) in PPF {
            let found = quantile(p, freedom);
            assert!(
                (found - t).abs() < 1e-9 * t.abs().max(1.0),
                "p {p}, {freedom} degrees: {found} is not {t}"
            );
        }
        assert_eq!(quantile(0.0, 3.0), f64::NEG_INFINITY);
        assert_eq!(quantile(1.0, 3.0), f64::INFINITY);
    }

    const CDF: [(f64, f64, f64); 10] = [
        (0.0, 4.0, 0.5),
        (1.0, 1.0, 0.75),
        (-2.0, 2.0, 0.09175170953613698),
        (2.5, 4.0, 0.966616727594006),
        (-3.3, 15.0, 0.0024294532877640784),
        (0.3, 29.0, 0.6168414533355161),
        (-0.7, 119.0, 0.24264676123494192),
        (6.0, 7.0, 0.9997288708289986),
        (-12.0, 5.0, 3.544746258580761e-05),
        (1.96, 1000.0, 0.9748634075221256),
    ];

    const PPF: [(f64, f64, f64); 10] = [
        (0.95, 4.0, 2.1318467863266495),
        (0.05, 15.0, -1.7530503556925725),
        (0.975, 15.0, 2.131449545559776),
        (0.8, 15.0, 0.8662449731949518),
        (0.975, 1.0, 12.706204736174694),
        (0.999, 2.0, 22.327124770119866),
        (0.0005, 7.0, -5.407882520861726),
        (0.95, 29.0, 1.6991270265334972),
        (0.975, 119.0, 1.9800998764569397),
        (0.5, 3.0, 0.0),
    ];
}
