//! What the words after a value say about it.

use super::Stance;
use super::clause::{
    CHOSEN, CLOSING, CONJUNCTIONS, RELEASES, begins_alike, first_clause, without_preposition, words,
};

/// The largest number of words between a value and the verb whose subject it is.
const WORDS: usize = 5;

/// Words after a form of "to be" that say that something is over.
const ENDED: &[&str] = &[
    "abandoned",
    "deprecated",
    "dropped",
    "obsolete",
    "outdated",
    "replaced",
    "retired",
    "superseded",
];
/// Words after a form of "to be" that say that something must not be.
const BARRED: &[&str] = &[
    "excluded",
    "forbidden",
    "off",
    "off-limits",
    "out",
    "prohibited",
    "rejected",
    "ruled",
];
/// Words after a form of "to be" that leave open whether something was chosen.
const CONSIDERED: &[&str] = &[
    "alternative",
    "candidate",
    "considered",
    "contender",
    "debated",
    "discussed",
    "evaluated",
    "option",
    "proposed",
    "runner-up",
    "suggested",
    "weighed",
];
/// Words after a verb that say that something else is meant.
const OTHER: &[&str] = &[
    "another",
    "different",
    "incorrect",
    "mistaken",
    "unrelated",
    "wrong",
];
/// Small words before them.
const SMALL: &[&str] = &[
    "a", "an", "been", "for", "just", "merely", "one", "only", "the", "to",
];
const AUXILIARIES: &[&str] = &[
    "are", "be", "been", "can", "could", "did", "do", "does", "had", "has", "have", "is", "may",
    "might", "must", "shall", "should", "was", "were", "will", "would",
];
const PRONOUNS: &[&str] = &["it", "they", "this", "which"];
/// Words that say that something is as it was.
const STILL: &[&str] = &["alone", "intact", "unchanged", "unmodified", "untouched"];

/// The text after a value, without what closes a quotation.
pub(super) struct After<'t> {
    text: &'t str,
}

impl<'t> After<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        After {
            text: text.trim_start_matches(CLOSING),
        }
    }

    pub(super) fn stance(&self, value: &str, is_number: bool) -> Stance {
        let own = first_clause(self.text);
        match verb(own, WORDS, is_number) {
            Stance::Asserted => self.continued(own, value, is_number),
            other => other,
        }
    }

    /// A bracket or a pronoun directly after the value continues the statement about it.
    fn continued(&self, own: &str, value: &str, is_number: bool) -> Stance {
        let text = &self.text[own.len()..];
        let next = first_clause(text.trim_start_matches([',', ':', ';', '(', ' ', '"', '.']));
        let (first, others) = next.split_once(' ').unwrap_or((next, ""));
        if !own.trim().is_empty() {
            return Stance::Asserted;
        }
        match first {
            pronoun if PRONOUNS.contains(&pronoun) && !self.text.trim_start().starts_with('.') => {
                verb(others, 1, is_number)
            }
            // `V, formerly 4711` says what V replaced.
            "formerly" if has_digit(others.split(' ').next()) => Stance::Asserted,
            "replaced" | "superseded" | "formerly" | "obsolete" | "deprecated" => Stance::Replaced,
            "now" if begins_alike(without_preposition(others), value, is_number) => {
                Stance::Replaced
            }
            "no" if others.starts_with("longer") => Stance::Replaced,
            "not" if text.starts_with('(') => Stance::Denied,
            "rejected" if text.starts_with(['(', ':']) => Stance::Denied,
            _ if forbids(next) => Stance::Denied,
            _ => Stance::Asserted,
        }
    }

    /// Whether another value follows an arrow or, after the start of a change, a preposition: `V ->
    /// W`, "renamed V to W".
    pub(super) fn turns(&self, value: &str, is_number: bool, is_change: bool) -> bool {
        let text = self.text.trim_start_matches(' ');
        let arrow = ["→", "->", "=>", "⇒", "-->"]
            .iter()
            .find_map(|arrow| text.strip_prefix(arrow));
        let change = || {
            ["to ", "with ", "by ", "for ", "into "]
                .iter()
                .find_map(|word| text.strip_prefix(word))
        };
        let other = arrow.or_else(|| change().filter(|_| is_change));
        other.is_some_and(|other| begins_alike(other, value, is_number))
    }

    /// Whether the value is to stay as it is, after "leave V".
    pub(super) fn is_left(&self) -> bool {
        let words = words(self.text).take(4).collect::<Vec<_>>();
        words.first().is_some_and(|first| STILL.contains(first)) || is_as_before(&words)
    }

    /// Whether the value is what is spoken of: "V, that is the ticket".
    pub(super) fn identifies(&self) -> bool {
        let rest = self.text[first_clause(self.text).len()..].trim_start_matches([',', ' ']);
        let words = words(rest).take(3).collect::<Vec<_>>();
        let article = match words[..] {
            ["that" | "this" | "which", "is" | "was", article] | ["that's", article, ..] => article,
            _ => return false,
        };
        matches!(article, "my" | "our" | "the" | "your")
    }
}

/// "V: do not touch", "V (never edit it)". What has an object of its own is said of that.
fn forbids(clause: &str) -> bool {
    let words = words(clause).collect::<Vec<_>>();
    let rest = match words[..] {
        ["do", "not", ref rest @ ..] | ["don't" | "never", ref rest @ ..] => rest,
        ["no", change, ..] => {
            return matches!(change, "changes" | "edits" | "modifications" | "writes");
        }
        ["hands" | "keep" | "stay", "off", ..] => return true,
        _ => return false,
    };
    let ends = matches!(
        rest,
        [_] | [_, "anything" | "it" | "that" | "them" | "this", ..]
    );
    ends && !RELEASES.contains(&rest[0])
}

fn has_digit(word: Option<&str>) -> bool {
    word.is_some_and(|word| word.bytes().any(|byte| byte.is_ascii_digit()))
}

fn is_as_before(words: &[&str]) -> bool {
    matches!(
        words,
        ["as", "before" | "is" | "it" | "they", ..] | ["as-is", ..] | ["the", "same" | "way", ..]
    )
}

/// What the first verb that says anything says, if it begins within `most` words.
fn verb(clause: &str, most: usize, is_number: bool) -> Stance {
    let words = words(clause).collect::<Vec<_>>();
    for (at, word) in words.iter().take(most).enumerate() {
        let rest = &words[at + 1..];
        let next = rest.first().copied().unwrap_or_default();
        // "is to remain", "has to remain"
        let is_duty = *word == "to" && at > 0 && AUXILIARIES.contains(&words[at - 1]);
        match *word {
            word if !is_duty && (CONJUNCTIONS.contains(&word) || matches!(word, "to" | "or")) => {
                return Stance::Asserted;
            }
            "not" | "never" | "cannot" if at == 0 && most > 1 => return Stance::Asserted,
            word if word == "cannot" || word.ends_with("n't") => return denied(next),
            "remain" | "remains" | "stay" | "stays" if !is_number && is_still(rest) => {
                return Stance::Denied;
            }
            "lost" if matches!(next, "against" | "out" | "to") => return Stance::Denied,
            "belongs" | "refers" if content(rest).is_some_and(|word| OTHER.contains(&word)) => {
                return Stance::Denied;
            }
            word if AUXILIARIES.contains(&word) => match auxiliary(rest) {
                Stance::Asserted => {}
                other => return other,
            },
            _ => {}
        }
    }
    Stance::Asserted
}

fn is_still(rest: &[&str]) -> bool {
    rest.first().is_some_and(|next| STILL.contains(next)) || is_as_before(rest)
}

/// What the words after an auxiliary say.
fn auxiliary(rest: &[&str]) -> Stance {
    let word = |at: usize| rest.get(at).copied().unwrap_or_default();
    let is_chosen = || rest.iter().any(|word| CHOSEN.contains(word));
    match (word(0), word(1)) {
        ("no", "longer") => Stance::Replaced,
        ("not" | "never", third) => denied(third),
        ("been", ended) | (ended, _) if ENDED.contains(&ended) => Stance::Replaced,
        ("been", barred) | (barred, _) if BARRED.contains(&barred) => Stance::Denied,
        _ => match content(rest) {
            Some(other) if OTHER.contains(&other) => Stance::Denied,
            Some(considered) if CONSIDERED.contains(&considered) && !is_chosen() => Stance::Open,
            _ => Stance::Asserted,
        },
    }
}

/// The first word that is not a small one.
fn content<'t>(words: &[&'t str]) -> Option<&'t str> {
    words.iter().find(|word| !SMALL.contains(word)).copied()
}

fn denied(next: &str) -> Stance {
    if RELEASES.contains(&next) {
        Stance::Asserted
    } else {
        Stance::Denied
    }
}
