//! What the values of metrics count, and how people read them.

use crate::numbers::{grouped, plain_zero};

/// The unit of a metric's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricUnit {
    /// A share of 1, or a difference of shares.
    Share,
    /// One quantity over another of the same kind.
    Ratio,
    /// Tokens of the measuring counter.
    Tokens,
    /// US dollars.
    Usd,
    /// Milliseconds.
    Milliseconds,
    /// Bytes.
    Bytes,
    /// A plain number of things.
    Count,
}

impl MetricUnit {
    /// The name that files use.
    pub const fn name(self) -> &'static str {
        match self {
            MetricUnit::Share => "share",
            MetricUnit::Ratio => "ratio",
            MetricUnit::Tokens => "tokens",
            MetricUnit::Usd => "usd",
            MetricUnit::Milliseconds => "ms",
            MetricUnit::Bytes => "bytes",
            MetricUnit::Count => "count",
        }
    }

    /// A value with the digits that its unit deserves.
    /// A value of it as reports print it.
    pub fn show(self, value: f64) -> String {
        match self {
            MetricUnit::Share | MetricUnit::Ratio => plain_zero(format!("{value:.2}")),
            // A mean of few things.
            MetricUnit::Count if value.abs() < 10.0 && value.fract() != 0.0 => {
                plain_zero(format!("{value:.1}"))
            }
            MetricUnit::Tokens
            | MetricUnit::Milliseconds
            | MetricUnit::Bytes
            | MetricUnit::Count => grouped(value),
            MetricUnit::Usd => format!("{value:.3}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_plainly() {
        assert_eq!(MetricUnit::Share.show(-0.001), "0.00");
        assert_eq!(
            [2.08, 3.0, -0.01, 12.6].map(|count| MetricUnit::Count.show(count)),
            ["2.1", "3", "0.0", "13"]
        );
        assert_eq!(MetricUnit::Share.show(-0.126), "-0.13");
    }
}
