//! The closed table of units, and units beside a number.

/// A unit. Units of one family convert into each other; `size` is in the smallest unit of the
/// family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MeasureUnit {
    pub(super) family: UnitFamily,
    pub(super) size: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnitFamily {
    /// In nanoseconds.
    Time,
    /// In bytes.
    Bytes,
    Kilobytes,
    Megabytes,
    Gigabytes,
    Terabytes,
    Percent,
    Euros,
    Dollars,
    Pounds,
}

pub(super) struct UnitRow {
    pub(super) family: UnitFamily,
    pub(super) size: u64,
    names: &'static [&'static str],
}

const fn row(family: UnitFamily, size: u64, names: &'static [&'static str]) -> UnitRow {
    UnitRow {
        family,
        size,
        names,
    }
}

/// Every unit, with its names in lower case.
pub(super) const UNITS: &[UnitRow] = &[
    row(UnitFamily::Time, 1, &["ns", "nanosecond", "nanoseconds"]),
    row(
        UnitFamily::Time,
        1_000,
        &["us", "μs", "microsecond", "microseconds"],
    ),
    row(
        UnitFamily::Time,
        1_000_000,
        &["ms", "msec", "millis", "millisecond", "milliseconds"],
    ),
    row(
        UnitFamily::Time,
        1_000_000_000,
        &["s", "sec", "secs", "second", "seconds"],
    ),
    row(
        UnitFamily::Time,
        MINUTE,
        &["min", "mins", "minute", "minutes"],
    ),
    row(
        UnitFamily::Time,
        3_600_000_000_000,
        &["h", "hr", "hrs", "hour", "hours"],
    ),
    row(UnitFamily::Time, 86_400_000_000_000, &["d", "day", "days"]),
    row(UnitFamily::Time, 604_800_000_000_000, &["week", "weeks"]),
    row(UnitFamily::Bytes, 1, &["b", "byte", "bytes"]),
    row(
        UnitFamily::Bytes,
        1 << 10,
        &["kib", "kibibyte", "kibibytes"],
    ),
    row(
        UnitFamily::Bytes,
        1 << 20,
        &["mib", "mebibyte", "mebibytes"],
    ),
    row(
        UnitFamily::Bytes,
        1 << 30,
        &["gib", "gibibyte", "gibibytes"],
    ),
    row(
        UnitFamily::Bytes,
        1 << 40,
        &["tib", "tebibyte", "tebibytes"],
    ),
    row(UnitFamily::Kilobytes, 1, &["kb", "kilobyte", "kilobytes"]),
    row(UnitFamily::Megabytes, 1, &["mb", "megabyte", "megabytes"]),
    row(UnitFamily::Gigabytes, 1, &["gb", "gigabyte", "gigabytes"]),
    row(UnitFamily::Terabytes, 1, &["tb", "terabyte", "terabytes"]),
    row(UnitFamily::Percent, 1, &["%", "percent", "pct", "per cent"]),
    row(UnitFamily::Euros, 1, &["€", "eur", "euro", "euros"]),
    row(UnitFamily::Dollars, 1, &["$", "usd", "dollar", "dollars"]),
    row(UnitFamily::Pounds, 1, &["£", "gbp", "pound", "pounds"]),
];
const MINUTE: u64 = 60_000_000_000;
/// Units that may precede the number.
const BEFORE: &[&str] = &["€", "$", "£", "eur", "usd", "gbp"];
/// The most characters between a number and its unit, such as a blank, a hyphen or the end of
/// emphasis.
const WIDEST_GAP: usize = 3;

/// The unit with this name in lower case.
pub(super) fn measure(name: &str) -> Option<MeasureUnit> {
    let row = UNITS.iter().find(|row| row.names.contains(&name))?;
    Some(MeasureUnit {
        family: row.family,
        size: row.size,
    })
}

/// A unit of time, where `m` beside other units can only mean minutes.
pub(super) fn part_of_duration(name: &str) -> Option<u64> {
    let name = name.to_lowercase();
    if name == "m" {
        return Some(MINUTE);
    }
    measure(&name)
        .filter(|unit| unit.family == UnitFamily::Time)
        .map(|unit| unit.size)
}

/// The unit at the start of a text after a number, and the number of bytes up to its end.
pub(super) fn unit_after(text: &str) -> Option<(MeasureUnit, usize)> {
    let gap = gap(text);
    let name = letters(&text[gap..]);
    let symbol = text[gap..]
        .chars()
        .next()
        .filter(|letter| matches!(letter, '%' | '€' | '$' | '£'));
    let mut name = symbol.map_or_else(|| name.to_lowercase(), String::from);
    if name == "per"
        && text[gap + 3..]
            .get(..5)
            .is_some_and(|next| next.eq_ignore_ascii_case(" cent"))
    {
        name.push_str(" cent");
    }
    // Lowercase letters may take more bytes than capitals, but units contain no such letters.
    Some((measure(&name)?, gap + name.len()))
}

/// The letters at the start of a text.
pub(super) fn letters(text: &str) -> &str {
    text.find(|letter: char| !letter.is_alphabetic())
        .map_or(text, |end| &text[..end])
}

/// The bytes of what may be between a number and its unit.
pub(super) fn gap(text: &str) -> usize {
    text.bytes()
        .take(WIDEST_GAP)
        .take_while(|byte| matches!(byte, b' ' | b'\n' | b'-' | b'`' | b'*' | b'_'))
        .count()
}

/// The unit before a number: `€4,812`, `EUR 4,812`.
pub(super) fn unit_before(before: &str) -> Option<MeasureUnit> {
    let name = last_word(before).0.to_lowercase();
    BEFORE.contains(&name.as_str()).then(|| measure(&name))?
}

/// The unit at the end of a key before a number: `timeout_ms: 4500`, `maxSizeMB=20`.
pub(super) fn of_key(before: &str) -> Option<MeasureUnit> {
    match &key(before)[..] {
        // `pool_min` is a minimum, and other single letters are seldom units.
        [_, .., last] if last != "min" && (last.len() > 1 || last == "s") => measure(last),
        _ => None,
    }
}

/// Whether the key before a number names what is counted: `rows: 12`, `row_count: 12`.
pub(super) fn is_in_key(before: &str, words: &str) -> bool {
    match &key(before)[..] {
        [.., counted, last] if last == "count" => {
            counted == words || Some(counted.as_str()) == words.strip_suffix('s')
        }
        [.., last] => last == words,
        [] => false,
    }
}

/// The parts of the key before a number, in lower case.
fn key(before: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut was_small = false;
    for letter in key_name(before).chars() {
        if matches!(letter, '_' | '-') || (letter.is_uppercase() && was_small) {
            parts.push(String::new());
        }
        was_small = letter.is_lowercase();
        if let Some(part) = parts.last_mut().filter(|_| !matches!(letter, '_' | '-')) {
            part.extend(letter.to_lowercase());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// The key before a number, after which only a colon, an equals sign or the bar of a table may
/// stand; else nothing.
fn key_name(before: &str) -> &str {
    let quotes = ['"', '\'', '`', '*', ' '];
    let text = before.trim_end_matches(quotes);
    let Some(text) = text.strip_suffix([':', '=', '|']) else {
        return "";
    };
    let text = text.trim_end_matches(quotes);
    &text[text
        .trim_end_matches(|letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-'))
        .len()..]
}

/// The text before a number without the unit at its end.
pub(super) fn without_unit(before: &str) -> &str {
    last_word(before).1
}

fn last_word(before: &str) -> (&str, &str) {
    let trimmed = before.strip_suffix(' ').unwrap_or(before);
    let symbol = trimmed
        .char_indices()
        .next_back()
        .filter(|(_, letter)| matches!(letter, '€' | '$' | '£'));
    let start = symbol.map_or_else(
        || trimmed.trim_end_matches(char::is_alphabetic).len(),
        |(at, _)| at,
    );
    let rest = &trimmed[..start];
    // `US$ 20`
    let rest = if symbol.is_some() {
        rest.strip_suffix("US").unwrap_or(rest)
    } else {
        rest
    };
    (&trimmed[start..], rest)
}

/// The unit at the start of a value, and the rest of the value.
pub(super) fn leading_unit(text: &str) -> (Option<MeasureUnit>, &str) {
    for name in BEFORE {
        if let Some(rest) = text.strip_prefix(name) {
            return (measure(name), rest.trim_start());
        }
    }
    (None, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_of_a_key_is_its_last_part() {
        for (before, unit) in [
            ("timeout_ms: ", "ms"),
            ("\"requestTimeoutMs\": ", "ms"),
            ("| memory_gb | ", "gb"),
            ("TTL_SECONDS=", "s"),
            ("ttl-s = ", "s"),
        ] {
            assert_eq!(of_key(before), measure(unit), "{before}");
        }
        for before in [
            "pool_min: ",
            "ms: ",
            "timeout_ms ",
            "items: ",
            "",
            ": ",
            "plan_b: ",
        ] {
            assert_eq!(of_key(before), None, "{before}");
        }
        assert!(
            is_in_key("rows: ", "rows")
                && is_in_key("\"rowCount\": ", "rows")
                && is_in_key("max_rows=", "rows")
        );
        assert!(
            !is_in_key("arrow_count: ", "rows")
                && !is_in_key("count: ", "rows")
                && !is_in_key("rows ", "rows")
        );
    }
}
