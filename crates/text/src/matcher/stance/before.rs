//! What the words before a value say about it.

use super::Stance;
use super::clause::{CHOSEN, CONJUNCTIONS, ClauseWords, LIMITS, RELEASES, is_plain_denial};

/// The largest number of words between a denial and what it governs, and between a denial and a
/// number.
const WORDS: usize = 9;
const WORDS_OF_NUMBER: usize = 3;

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
const DECIDED: &[&str] = &[
    "advise",
    "advised",
    "decide",
    "decided",
    "recommend",
    "recommended",
    "voted",
    "warned",
];
const CHANGED: &[&str] = &[
    "changed",
    "changing",
    "migrated",
    "migrating",
    "moved",
    "renamed",
    "switched",
    "switching",
    "updated",
    "upgraded",
];
const TURNED: &[&str] = &[
    "bumped",
    "change",
    "decreased",
    "dropped",
    "fell",
    "grew",
    "increased",
    "lowered",
    "move",
    "raised",
    "reduced",
    "rename",
    "replace",
    "rose",
    "swapped",
    "switch",
    "went",
];
const CONSIDERED: &[&str] = &[
    "considered",
    "considering",
    "debated",
    "discussed",
    "discussing",
    "evaluated",
    "evaluating",
    "proposed",
    "proposing",
    "suggested",
    "weighed",
    "weighing",
];
const PREFERRED: &[&str] = &["prefer", "preferred", "preferring", "prefers"];
const WITHOUT: &[&str] = &[
    "has", "have", "is", "need", "needs", "there", "use", "want", "with",
];
/// "Hands off V", "stay off V".
const KEPT_OFF: &[&str] = &["fingers", "hands", "keep", "stay"];
/// "No changes to V".
const CHANGES: &[&str] = &[
    "access",
    "change",
    "changes",
    "commits",
    "edit",
    "edits",
    "modification",
    "modifications",
    "updates",
    "writes",
];

pub(super) fn stance(words: &ClauseWords<'_>, is_number: bool) -> Stance {
    let most = if is_number { WORDS_OF_NUMBER } else { WORDS };
    let said = (0..words.0.len().min(most)).find_map(|at| {
        let near = || if at < 2 { governing(words, at) } else { None };
        phrase(words, at)
            .or_else(near)
            .or_else(|| single(words, at, is_number))
    });
    said.unwrap_or(Stance::Asserted)
}

/// Two words or more that belong together, anywhere before the value.
fn phrase(words: &ClauseWords<'_>, at: usize) -> Option<Stance> {
    let earlier = words.get(at + 1);
    match words.get(at) {
        "longer" if earlier == "no" => Some(Stance::Replaced),
        "out" if earlier.starts_with("rul") => Some(Stance::Denied),
        "against" if DECIDED.contains(&earlier) => Some(Stance::Denied),
        "of" if matches!(earlier, "favor" | "favour") => Some(Stance::Asserted),
        "from" if earlier == "refrain" => Some(Stance::Denied),
        "fail" if at > 0 && words.get(at - 1) == "to" => Some(Stance::Asserted),
        // What cannot be done without a value needs it.
        word if DENIALS.contains(&word)
            && words
                .0
                .iter()
                .skip(at + 1)
                .take(3)
                .any(|word| is_plain_denial(word)) =>
        {
            Some(Stance::Asserted)
        }
        _ => None,
    }
}

/// Words directly before the value, or before its article.
fn governing(words: &ClauseWords<'_>, at: usize) -> Option<Stance> {
    let earlier = words.get(at + 1);
    let is_next = at == 0 || matches!(words.get(0), "a" | "an" | "the");
    let is_denied = match words.get(at) {
        "of" => {
            matches!(earlier, "clear" | "instead" | "lieu")
                || (earlier == "place" && words.get(at + 2) == "in")
        }
        "than" => earlier == "rather",
        "to" if earlier == "opposed" || (is_next && words.has(at + 2, 3, PREFERRED)) => true,
        "over" => is_next && words.has(at + 1, 8, CHOSEN),
        "off" => words.has(at + 1, 2, KEPT_OFF),
        "from" => earlier == "away",
        "beat" | "beats" | "unlike" => is_next,
        "changing" | "editing" | "touching" | "using" => matches!(earlier, "no" | "stop"),
        _ => false,
    };
    let is_barred =
        matches!(words.get(at), "in" | "of" | "on" | "to") && CHANGES.contains(&earlier);
    match words.get(at) {
        _ if is_denied || (is_barred && words.get(at + 2) == "no") => Some(Stance::Denied),
        "be" if earlier == "to" && words.get(at + 2) == "used" => Some(Stance::Replaced),
        "from" if CHANGED.contains(&earlier) || TURNED.contains(&earlier) => Some(Stance::Replaced),
        // "4 s (was V)"
        "was" | "were" if is_next && earlier.is_empty() => Some(Stance::Replaced),
        "initially" | "old" | "originally" => Some(Stance::Replaced),
        "by" | "with" if at == 0 && words.has(1, 3, REPLACEMENTS) => Some(Stance::Asserted),
        "no" if WITHOUT.contains(&earlier) => Some(Stance::Denied),
        word if is_next && CONSIDERED.contains(&word) => Some(Stance::Open),
        _ => None,
    }
}

fn single(words: &ClauseWords<'_>, at: usize, is_number: bool) -> Option<Stance> {
    match words.get(at) {
        word if CONJUNCTIONS.contains(&word) || RELEASES.contains(&word) => Some(Stance::Asserted),
        word if is_number && LIMITS.contains(&word) => Some(Stance::Asserted),
        // `rejected 40 rows` is a count, not a denial.
        word if is_plain_denial(word) || (!is_number && DENIALS.contains(&word)) => {
            Some(Stance::Denied)
        }
        word if at < 3 && REPLACEMENTS.contains(&word) => Some(Stance::Replaced),
        _ => None,
    }
}

/// Whether the words before the value are the start of a change: "renamed V to W".
pub(super) fn changes(words: &ClauseWords<'_>) -> bool {
    words.has(0, 3, CHANGED) || words.has(0, 3, TURNED)
}

/// Whether the words before the value ask to leave it as it is: "leave V", "keep V".
pub(super) fn leaves(words: &ClauseWords<'_>) -> bool {
    words.has(0, 3, &["keep", "keeps", "leave", "leaves", "leaving"])
}

/// Whether a denial before the value forbids something. "We never closed V" does not.
pub(super) fn forbids(words: &ClauseWords<'_>) -> bool {
    let opens = |first: &&str| is_plain_denial(first) || OPENINGS.contains(first);
    words.0.last().is_none_or(opens) || words.has(0, usize::MAX, MODALS)
}

const OPENINGS: &[&str] = &["avoid", "do", "no", "please", "without"];
const MODALS: &[&str] = &[
    "can",
    "cannot",
    "can't",
    "may",
    "must",
    "mustn't",
    "shall",
    "should",
    "shouldn't",
];
