//! How numbers are written.

/// A negative zero would look like a value.
pub(crate) fn plain_zero(text: String) -> String {
    if text.starts_with('-') && text.bytes().all(|byte| b"-0.".contains(&byte)) {
        text[1..].to_owned()
    } else {
        text
    }
}

/// A share without its leading zero, for text with many of them.
pub(crate) fn short_share(value: f64) -> String {
    plain_zero(format!("{value:.2}")).replacen("0.", ".", usize::from(value.abs() < 0.995))
}

/// A share in whole percent, as in `7 %`.
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", whole_percent(share))
}

/// The least and the greatest share, as in `6 to 19 %`.
pub(crate) fn percents(shares: impl Iterator<Item = f64>) -> Option<String> {
    range(shares, whole_percent).map(|range| format!("{range} %"))
}

/// A share in points of percent, without a fraction that is zero.
pub(crate) fn percent_points(share: f64) -> String {
    let points = format!("{:.1}", 100.0 * share);
    points.trim_end_matches(".0").to_owned()
}

/// A difference of shares in points of percent with its sign, as in `+7`.
pub(crate) fn points(difference: f64) -> String {
    let points = plain_zero(format!("{:.0}", 100.0 * difference));
    match points.starts_with('-') || points == "0" {
        true => points,
        false => format!("+{points}"),
    }
}

fn whole_percent(share: f64) -> String {
    plain_zero(format!("{:.0}", 100.0 * share))
}

/// The least and the greatest value, or the one that all have; nothing if there is none.
pub(crate) fn range(
    values: impl Iterator<Item = f64>,
    show: impl Fn(f64) -> String,
) -> Option<String> {
    let ends = values.fold(None, |ends: Option<(f64, f64)>, value| {
        Some(ends.map_or((value, value), |(low, high)| {
            (low.min(value), high.max(value))
        }))
    });
    let (low, high) = ends?;
    let (low, high) = (show(low), show(high));
    Some(if low == high {
        low
    } else {
        format!("{low} to {high}")
    })
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
    if value <= -0.5 {
        format!("-{text}")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_plainly() {
        assert_eq!(grouped(1234567.4), "1,234,567");
        assert_eq!(grouped(-999.6), "-1,000");
        assert_eq!(grouped(12.0), "12");
        assert_eq!(
            [0.126, -0.126, 0.997, 0.0].map(short_share),
            [".13", "-.13", "1.00", ".00"]
        );
    }
}
