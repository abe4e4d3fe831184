//! What a text says about a value that occurs in it: that it is so, that it is not, or that it has been replaced.
//!
//! A narrow rule for English, applied to the clause around the value. A word of denial or replacement before the value governs it
//! up to the clause's start ("never edit V", "instead of V", "no longer V"). A denied verb governs it if its subject is the
//! value, or a pronoun for it directly after ("V is not", "V must never", "V, it does not", "V was replaced"). The rule errs
//! towards not asserted: a wrong denial counts as missing, never as present.
//!
//! Absent on purpose: headings and keys that deny the text under them, and denials across sentences.

/// What is said about a value at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stance {
    /// It is so, or nothing is said against it.
    Asserted,
    /// It is not so, or must not be.
    Denied,
    /// It was so, and has been replaced.
    Replaced,
}

/// What the text says about the value from `start` to `end`. For a number, limits and counts are not denials.
pub(super) fn stance(text: &str, start: usize, end: usize, is_number: bool) -> Stance {
    let before = said_before(&text[..start], is_number);
    if before == Stance::Asserted { said_after(&text[end..]) } else { before }
}

/// The number of bytes examined on each side.
const REACH: usize = 120;
/// The largest number of words between a denial and what it governs, and between a denial and a number.
const WORDS_BEFORE: usize = 9;
const WORDS_BEFORE_NUMBER: usize = 3;
/// The largest number of words between a value and the verb whose subject it is.
const WORDS_AFTER: usize = 5;

/// Words that begin a separate clause.
const CONJUNCTIONS: &[&str] = &[
    "and", "although", "as", "because", "but", "if", "since", "so", "that", "then", "though", "when", "where", "which",
    "while", "who",
];
/// Words after a denial that cancel it: "not only V", "do not forget V", "nothing but V".
const RELEASES: &[&str] =
    &["except", "forget", "hesitate", "just", "merely", "necessarily", "only", "simply", "until", "unless", "yet"];
/// Words that, with a number, turn a denial into a limit: "not above V" states V.
const LIMITS: &[&str] = &[
    "above", "after", "at", "before", "below", "beyond", "exceed", "exceeds", "faster", "later", "less", "longer",
    "more", "over", "past", "slower", "than", "to", "under", "within",
];
const DENIALS: &[&str] = &[
    "avoid",
    "avoided",
    "avoiding",
    "avoids",
    "exclude",
    "excluded",
    "excludes",
    "excluding",
    "forbid",
    "forbids",
    "forbidden",
    "nobody",
    "prohibit",
    "prohibited",
    "prohibits",
    "reject",
    "rejected",
    "rejecting",
    "rejects",
    "without",
];
const REPLACEMENTS: &[&str] = &[
    "former",
    "formerly",
    "obsolete",
    "outdated",
    "previously",
    "replaced",
    "replaces",
    "replacing",
    "superseded",
    "supersedes",
];
/// Words after a form of "to be" that say that something is over.
const ENDED: &[&str] =
    &["abandoned", "deprecated", "dropped", "obsolete", "outdated", "replaced", "retired", "superseded"];
/// Words after a form of "to be" that say that something must not be.
const BARRED: &[&str] = &["excluded", "forbidden", "off", "out", "prohibited", "rejected", "ruled"];
const AUXILIARIES: &[&str] = &[
    "are", "be", "been", "can", "could", "did", "do", "does", "had", "has", "have", "is", "may", "might", "must",
    "shall", "should", "was", "were", "will", "would",
];
const PRONOUNS: &[&str] = &["it", "they", "this", "which"];

fn said_before(text: &str, is_number: bool) -> Stance {
    let text = text.trim_end_matches(OPENING);
    let clause = last_clause(tail(text)).to_ascii_lowercase();
    let words = clause.rsplit(is_no_letter).filter(|word| !word.is_empty()).collect::<Vec<_>>();
    let most = if is_number { WORDS_BEFORE_NUMBER } else { WORDS_BEFORE };
    for (at, word) in words.iter().take(most).enumerate() {
        let earlier = words.get(at + 1).copied().unwrap_or_default();
        match *word {
            "longer" if earlier == "no" => return Stance::Replaced,
            "of" if earlier == "instead" && at < 2 => return Stance::Denied,
            "than" if earlier == "rather" && at < 2 => return Stance::Denied,
            "out" if earlier.starts_with("rul") => return Stance::Denied,
            "against" if DECIDED.contains(&earlier) => return Stance::Denied,
            "from" if at < 2 && CHANGED.contains(&earlier) => return Stance::Replaced,
            "old" if at < 2 => return Stance::Replaced,
            "by" | "with" if at == 0 && words.iter().skip(1).take(3).any(|word| REPLACEMENTS.contains(word)) => break,
            "no" if at == 0 && WITHOUT.contains(&earlier) => return Stance::Denied,
            "fail" if at > 0 && words[at - 1] == "to" => return Stance::Asserted,
            word if CONJUNCTIONS.contains(&word) || RELEASES.contains(&word) => return Stance::Asserted,
            word if is_number && LIMITS.contains(&word) => return Stance::Asserted,
            // `rejected 40 rows` is a count, not a denial.
            word if is_plain_denial(word) || (!is_number && DENIALS.contains(&word)) => return Stance::Denied,
            word if at < 3 && REPLACEMENTS.contains(&word) => return Stance::Replaced,
            _ => {}
        }
    }
    Stance::Asserted
}

const DECIDED: &[&str] = &["advise", "advised", "decide", "decided", "recommend", "recommended", "voted", "warned"];
const CHANGED: &[&str] =
    &["changed", "changing", "migrated", "migrating", "switched", "switching", "updated", "upgraded"];
const WITHOUT: &[&str] = &["has", "have", "is", "need", "needs", "there", "use", "want", "with"];

fn has_digit(word: Option<&str>) -> bool {
    word.is_some_and(|word| word.bytes().any(|byte| byte.is_ascii_digit()))
}

fn said_after(text: &str) -> Stance {
    let text = head(text.trim_start_matches(CLOSING)).to_ascii_lowercase();
    let own = first_clause(&text);
    match verb(own, WORDS_AFTER) {
        Stance::Asserted => {}
        other => return other,
    }
    // A bracket or a pronoun directly after the value continues the statement about it.
    let rest = text[own.len()..].trim_start_matches([',', ':', ';', '(', ' ', '"', '.']);
    let next = first_clause(rest);
    let (first, others) = next.split_once(' ').unwrap_or((next, ""));
    let follows = own.trim().is_empty();
    match first {
        pronoun if follows && PRONOUNS.contains(&pronoun) && !text.trim_start().starts_with('.') => verb(others, 1),
        // `V, formerly 4711` says what V replaced.
        "formerly" if follows && has_digit(others.split(' ').next()) => Stance::Asserted,
        "replaced" | "superseded" | "formerly" | "obsolete" | "deprecated" if follows => Stance::Replaced,
        "no" if follows && others.starts_with("longer") => Stance::Replaced,
        "not" | "rejected" if follows && text[own.len()..].starts_with('(') => Stance::Denied,
        _ => Stance::Asserted,
    }
}

/// What the first denied verb says, if it begins within `most` words.
fn verb(clause: &str, most: usize) -> Stance {
    let words = clause.split(is_no_letter).filter(|word| !word.is_empty()).collect::<Vec<_>>();
    for (at, word) in words.iter().take(most).enumerate() {
        let next = |by: usize| words.get(at + by).copied().unwrap_or_default();
        match *word {
            word if CONJUNCTIONS.contains(&word) || matches!(word, "to" | "or") => return Stance::Asserted,
            "not" | "never" | "cannot" if at == 0 && most > 1 => return Stance::Asserted,
            word if word == "cannot" || word.ends_with("n't") => return denied(next(1)),
            word if AUXILIARIES.contains(&word) => match (next(1), next(2)) {
                ("no", "longer") => return Stance::Replaced,
                ("not" | "never", third) => return denied(third),
                ("been", ended) | (ended, _) if ENDED.contains(&ended) => return Stance::Replaced,
                ("been", barred) | (barred, _) if BARRED.contains(&barred) => return Stance::Denied,
                _ => {}
            },
            _ => {}
        }
    }
    Stance::Asserted
}

fn denied(next: &str) -> Stance {
    if RELEASES.contains(&next) { Stance::Asserted } else { Stance::Denied }
}

fn is_plain_denial(word: &str) -> bool {
    matches!(word, "cannot" | "neither" | "never" | "nor" | "not") || word.ends_with("n't")
}

fn is_no_letter(letter: char) -> bool {
    !(letter.is_alphanumeric() || matches!(letter, '\'' | '-' | '_'))
}

/// Characters that open a quotation or emphasis before a value, and those that close it.
const OPENING: [char; 7] = ['"', '\'', '`', '*', '_', '<', '/'];
const CLOSING: [char; 7] = ['"', '\'', '`', '*', '_', '>', '/'];

fn ends_clause(letter: char) -> bool {
    matches!(letter, '!' | '?' | ';' | ':' | ',' | '\n' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '—' | '"')
}

/// The text after the last character that ends a clause. A full stop ends one if a blank follows.
fn last_clause(text: &str) -> &str {
    let stop = text.rfind(". ").map(|at| at + 1);
    let mark =
        text.char_indices().rev().find(|(_, letter)| ends_clause(*letter)).map(|(at, letter)| at + letter.len_utf8());
    &text[stop.max(mark).unwrap_or(0)..]
}

fn first_clause(text: &str) -> &str {
    let stop = text.find(". ").or_else(|| text.ends_with('.').then(|| text.len() - 1));
    let stop = stop.into_iter().chain(text.find(".\n")).min();
    let end = stop.into_iter().chain(text.find(ends_clause)).min();
    &text[..end.unwrap_or(text.len())]
}

/// The last bytes of a text, in whole words.
fn tail(text: &str) -> &str {
    let Some(from) = text.len().checked_sub(REACH) else { return text };
    let from = (from..text.len()).find(|at| text.is_char_boundary(*at) && text[*at..].starts_with([' ', '\n']));
    from.map_or("", |from| &text[from..])
}

/// The first bytes of a text, in whole words.
fn head(text: &str) -> &str {
    if text.len() <= REACH {
        return text;
    }
    let to = (0..=REACH).rev().find(|at| text.is_char_boundary(*at) && text[*at..].starts_with([' ', '\n']));
    to.map_or("", |to| &text[..to])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Stance {
        let start = text.find("VALUE").expect("the text holds it");
        stance(text, start, start + 5, false)
    }

    #[test]
    fn what_is_said_of_a_value() {
        use Stance::{Asserted, Denied, Replaced};
        for (text, expected) in [
            ("We use VALUE.", Asserted),
            ("VALUE", Asserted),
            ("- VALUE", Asserted),
            ("{\"store\": \"VALUE\", \"not\": true}", Asserted),
            ("Never use VALUE.", Denied),
            ("Please do not touch `VALUE` while you work.", Denied),
            ("don't restart the payment gateway through the VALUE script", Denied),
            ("The gap was not caused by VALUE, that was later.", Denied),
            ("We use Redis, not VALUE.", Denied),
            ("Use Redis instead of VALUE", Denied),
            ("Redis rather than VALUE", Denied),
            ("They decided against VALUE", Denied),
            ("I ruled out commit VALUE for the slowdown", Denied),
            ("deploy without VALUE", Denied),
            ("VALUE is not what crashes it", Denied),
            ("Commit VALUE did not cause the slowdown; it was there before.", Denied),
            ("Version VALUE of the correction is not applied", Denied),
            ("The figures in VALUE must never be shown", Denied),
            ("I looked at host VALUE: it does not delay them", Denied),
            ("I tried VALUE, it isn't valid", Denied),
            ("the VALUE script is off limits", Denied),
            ("VALUE (not used)", Denied),
            ("VALUE, not Redis", Asserted),
            ("Not Redis, but VALUE", Asserted),
            ("It does not use Redis and runs VALUE", Asserted),
            ("not only VALUE", Asserted),
            ("Do not forget VALUE", Asserted),
            ("never fail to send VALUE", Asserted),
            ("The clean-up VALUE is not yet done", Asserted),
            ("The old one cannot stream. VALUE can.", Asserted),
            ("rolled out up to VALUE, what comes after it is not", Asserted),
            ("no longer VALUE", Replaced),
            ("VALUE is no longer used", Replaced),
            ("VALUE was replaced by Redis", Replaced),
            ("VALUE has been superseded", Replaced),
            ("VALUE (replaced by Redis)", Replaced),
            ("Redis replaced VALUE", Replaced),
            ("changed from VALUE to Redis", Replaced),
            ("formerly VALUE", Replaced),
            ("VALUE, formerly kx-11", Asserted),
            ("VALUE, formerly", Replaced),
            ("replaced Redis by VALUE", Asserted),
            ("copy from VALUE to there", Asserted),
        ] {
            assert_eq!(said(text), expected, "{text}");
        }
    }

    #[test]
    fn limits_state_their_number() {
        let said = |text: &str| stance(text, text.find("45").expect("there"), text.len(), true);
        assert_eq!(said("It must not exceed 4500 ms"), Stance::Asserted);
        assert_eq!(said("no longer than 4500 ms"), Stance::Asserted);
        assert_eq!(said("never above 4500 ms"), Stance::Asserted);
        assert_eq!(said("rejected 4500 rows"), Stance::Asserted);
        assert_eq!(said("It is not 4500 ms"), Stance::Denied);
        assert_eq!(said("no longer 4500 ms"), Stance::Replaced);
    }
}
