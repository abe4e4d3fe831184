//! What the values of metrics count, and how people read them.

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
    pub(crate) fn show(self, value: f64) -> String {
        match self {
            MetricUnit::Share | MetricUnit::Ratio => plain_zero(format!("{value:.2}")),
            // A mean of few things.
            MetricUnit::Count if value.abs() < 10.0 && value.fract() != 0.0 => plain_zero(format!("{value:.1}")),
            MetricUnit::Tokens | MetricUnit::Milliseconds | MetricUnit::Bytes | MetricUnit::Count => grouped(value),
            MetricUnit::Usd => format!("{value:.3}"),
        }
    }
}

/// A negative zero would look like a value.
fn plain_zero(text: String) -> String {
    if text.starts_with('-') && text.bytes().all(|byte| b"-0.".contains(&byte)) { text[1..].to_owned() } else { text }
}

/// A share without its leading zero, for text with many of them.
pub(crate) fn short_share(value: f64) -> String {
    MetricUnit::Share.show(value).replacen("0.", ".", usize::from(value.abs() < 0.995))
}

/// A whole number in groups of three digits.
pub(crate) fn grouped(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    if value <= -0.5 { format!("-{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_plainly() {
        assert_eq!(grouped(1234567.4), "1,234,567");
        assert_eq!(grouped(-999.6), "-1,000");
        assert_eq!(grouped(12.0), "12");
        assert_eq!(MetricUnit::Share.show(-0.001), "0.00");
        assert_eq!([2.08, 3.0, -0.01, 12.6].map(|count| MetricUnit::Count.show(count)), ["2.1", "3", "0.0", "13"]);
        assert_eq!(MetricUnit::Share.show(-0.126), "-0.13");
        assert_eq!([0.126, -0.126, 0.997, 0.0].map(short_share), [".13", "-.13", "1.00", ".00"]);
    }
}
