//! Words for a name that is none of the choices.

/// Such as: unknown strategy `chaned` (did you mean `chained`?); choose from `a`, `b`.
pub fn unknown<'c>(what: &str, given: &str, choices: impl IntoIterator<Item = &'c str>) -> String {
    let choices = choices.into_iter().collect::<Vec<_>>();
    let nearest = choices.iter().map(|choice| (strsim::levenshtein(given, choice), choice)).min();
    let suggestion = match nearest {
        Some((distance, choice)) if distance <= FARTHEST => format!(" (did you mean `{choice}`?)"),
        _ => String::new(),
    };
    format!("unknown {what} `{given}`{suggestion}; choose from {}", listed(&choices))
}

/// Most edits between a typing error and what was meant.
const FARTHEST: usize = 3;
/// Most choices that are listed.
const LISTED: usize = 24;

fn listed(choices: &[&str]) -> String {
    let shown = choices.iter().take(LISTED).map(|choice| format!("`{choice}`")).collect::<Vec<_>>().join(", ");
    match choices.len().checked_sub(LISTED) {
        Some(more) if more > 0 => format!("{shown} and {more} more"),
        _ => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        let choices = ["chained", "null"];
        assert_eq!(
            unknown("strategy", "chaned", choices),
            "unknown strategy `chaned` (did you mean `chained`?); choose from `chained`, `null`"
        );
        assert_eq!(
            unknown("strategy", "something", choices),
            "unknown strategy `something`; choose from `chained`, `null`"
        );
    }
}
