//! Messages about an unknown name.

/// For example: unknown strategy `chaned` (did you mean `chained`?); choose from `a`, `b`.
pub fn unknown<'c>(what: &str, given: &str, choices: impl IntoIterator<Item = &'c str>) -> String {
    let choices = choices.into_iter().collect::<Vec<_>>();
    let suggestion = match nearest(given, choices.iter().copied()) {
        Some(choice) => format!(" (did you mean `{choice}`?)"),
        None => String::new(),
    };
    format!(
        "unknown {what} `{given}`{suggestion}; choose from {}",
        join_choices(&choices)
    )
}

/// A clause for the end of a message: `; did you mean CHOICE?`, or nothing if no choice is similar.
pub fn hint<'c>(given: &str, choices: impl IntoIterator<Item = &'c str>) -> String {
    nearest(given, choices).map_or_else(String::new, |choice| format!("; did you mean `{choice}`?"))
}

/// The only choice that begins with what is given, else the one with the fewest typing errors.
fn nearest<'c>(given: &str, choices: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let choices = choices.into_iter().collect::<Vec<_>>();
    let begun = choices
        .iter()
        .filter(|choice| given.len() >= BEGINNING && choice.starts_with(given))
        .collect::<Vec<_>>();
    if let [only] = begun[..] {
        return Some(only);
    }
    let distances = choices
        .into_iter()
        .map(|choice| (strsim::levenshtein(given, choice), choice));
    distances
        .min()
        .filter(|(distance, _)| *distance <= FARTHEST)
        .map(|(_, choice)| choice)
}

/// Whether one letter was added, left out or changed.
pub fn is_one_edit(one: &str, other: &str) -> bool {
    one.len().abs_diff(other.len()) <= 4 && strsim::levenshtein(one, other) == 1
}

/// Fewest letters that count as the beginning of a name.
const BEGINNING: usize = 3;

/// The largest edit distance between a typing error and the name that was meant.
const FARTHEST: usize = 3;
/// The largest number of choices that are listed.
const LISTED: usize = 24;

fn join_choices(choices: &[&str]) -> String {
    let shown = choices
        .iter()
        .take(LISTED)
        .map(|choice| format!("`{choice}`"))
        .collect::<Vec<_>>()
        .join(", ");
    match choices.len().checked_sub(LISTED) {
        Some(more) if more > 0 => format!("{shown} and {more} more"),
        _ => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_are_suggested_and_others_are_not() {
        let choices = ["chained", "null"];
        assert_eq!(
            unknown("strategy", "chaned", choices),
            "unknown strategy `chaned` (did you mean `chained`?); choose from `chained`, `null`"
        );
        assert_eq!(
            unknown("strategy", "something", choices),
            "unknown strategy `something`; choose from `chained`, `null`"
        );
        let formats = ["claude-code", "codex", "copilot"];
        assert!(unknown("format", "claude", formats).contains("did you mean `claude-code`?"));
        assert!(
            !unknown("format", "claude", ["claude-code", "claude-desktop"])
                .contains("did you mean"),
            "two begin with it"
        );
    }
}
