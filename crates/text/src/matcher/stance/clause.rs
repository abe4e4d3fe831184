//! Clauses, sentences and words around a value.

/// Words that begin a separate clause.
pub(super) const CONJUNCTIONS: &[&str] = &[
    "and", "although", "as", "because", "but", "if", "since", "so", "that", "then", "though",
    "when", "where", "which", "while", "who",
];
/// Words after a denial that cancel it: "not only V", "do not forget V", "nothing but V".
pub(super) const RELEASES: &[&str] = &[
    "doubt",
    "doubted",
    "except",
    "forget",
    "hesitate",
    "just",
    "merely",
    "necessarily",
    "only",
    "regret",
    "regretted",
    "simply",
    "until",
    "unless",
    "yet",
];
/// Words that, with a number, turn a denial or a doubt into a limit: "not above V" states V.
pub(super) const LIMITS: &[&str] = &[
    "above", "after", "at", "before", "below", "beyond", "exceed", "exceeds", "faster", "later",
    "less", "longer", "more", "over", "past", "slower", "than", "to", "under", "within",
];
/// Words that say that something has been chosen.
pub(super) const CHOSEN: &[&str] = &[
    "adopted",
    "choose",
    "chose",
    "chosen",
    "favor",
    "favored",
    "favour",
    "favoured",
    "pick",
    "picked",
    "prefer",
    "preferred",
    "prefers",
    "select",
    "selected",
];

/// The number of bytes examined on each side of a value.
const REACH: usize = 120;
/// Characters that open a quotation or emphasis before a value, and those that close it.
pub(super) const OPENING: [char; 7] = ['"', '\'', '`', '*', '_', '<', '/'];
pub(super) const CLOSING: [char; 7] = ['"', '\'', '`', '*', '_', '>', '/'];

/// Small words before a value, with a blank.
pub(super) const PREPOSITIONS: &[&str] =
    &["at ", "by ", "for ", "from ", "in ", "on ", "to ", "with "];

pub(super) fn without_preposition(text: &str) -> &str {
    PREPOSITIONS
        .iter()
        .find_map(|word| text.strip_prefix(word))
        .unwrap_or(text)
}

/// Words, counted from a value. Beyond the last there are empty ones.
pub(super) struct ClauseWords<'t>(pub(super) Vec<&'t str>);

impl<'t> ClauseWords<'t> {
    /// Those of the clause before the value, the nearest first.
    pub(super) fn before(text: &'t str) -> Self {
        ClauseWords(
            words(last_clause(text.trim_end_matches(OPENING)))
                .rev()
                .collect(),
        )
    }

    pub(super) fn after(text: &'t str) -> Self {
        ClauseWords(words(text).collect())
    }

    pub(super) fn get(&self, at: usize) -> &'t str {
        self.0.get(at).copied().unwrap_or_default()
    }

    pub(super) fn has(&self, from: usize, most: usize, wanted: &[&str]) -> bool {
        self.0
            .iter()
            .skip(from)
            .take(most)
            .any(|word| wanted.contains(word))
    }
}

pub(super) fn words(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    let is_no_letter =
        |letter: char| !(letter.is_alphanumeric() || matches!(letter, '\'' | '-' | '_'));
    text.split(is_no_letter).filter(|word| !word.is_empty())
}

pub(super) fn is_plain_denial(word: &str) -> bool {
    matches!(word, "cannot" | "neither" | "never" | "nor" | "not") || word.ends_with("n't")
}

fn ends_clause(letter: char) -> bool {
    matches!(
        letter,
        '!' | '?' | ';' | ':' | ',' | '\n' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '—' | '"'
    )
}

/// The text after the last character that ends a clause. A full stop ends one if a blank follows.
pub(super) fn last_clause(text: &str) -> &str {
    let stop = text.rfind(". ").map(|at| at + 1);
    let mark = text
        .char_indices()
        .rev()
        .find(|(_, letter)| ends_clause(*letter))
        .map(|(at, letter)| at + letter.len_utf8());
    &text[stop.max(mark).unwrap_or(0)..]
}

pub(super) fn first_clause(text: &str) -> &str {
    let stop = text
        .find(". ")
        .or_else(|| text.ends_with('.').then(|| text.len() - 1));
    let stop = stop.into_iter().chain(text.find(".\n")).min();
    let end = stop.into_iter().chain(text.find(ends_clause)).min();
    &text[..end.unwrap_or(text.len())]
}

/// The part of the sentence after a value, with the mark at its end.
pub(super) fn sentence_after(text: &str) -> &str {
    let ends = text
        .char_indices()
        .find(|(at, letter)| ends_sentence(text, *at, *letter));
    ends.map_or(text, |(at, letter)| &text[..at + letter.len_utf8()])
}

fn ends_sentence(text: &str, at: usize, letter: char) -> bool {
    let next = || text[at + letter.len_utf8()..].chars().next();
    match letter {
        '\n' | ';' => true,
        '.' | '!' | '?' => {
            next().is_none_or(|next| next.is_whitespace() || CLOSING.contains(&next))
        }
        _ => false,
    }
}

/// Whether a text begins with another value of the form of this one. A word must end its clause.
pub(super) fn begins_alike(text: &str, value: &str, is_number: bool) -> bool {
    let text = text.trim_start_matches(' ').trim_start_matches(OPENING);
    let end = text
        .find(|letter: char| letter == ' ' || ends_clause(letter))
        .unwrap_or(text.len());
    let rest = first_clause(text[end..].trim_start_matches(CLOSING)).trim();
    let is_word = || {
        value
            .chars()
            .all(|letter| !letter.is_ascii_digit() && !matches!(letter, '/' | '.'))
    };
    is_alike(&text[..end], value, is_number) && (is_number || !is_word() || rest.is_empty())
}

/// Whether a text without blanks has the form of this value.
pub(super) fn is_alike(text: &str, value: &str, is_number: bool) -> bool {
    let other = text
        .trim_start_matches(OPENING)
        .trim_end_matches('.')
        .trim_end_matches(CLOSING)
        .trim_end_matches('.');
    let has = |text: &str, kind: fn(&char) -> bool| text.chars().any(|letter| kind(&letter));
    let is_separator: fn(&char) -> bool = |letter| matches!(letter, '/' | '.');
    match (has(value, char::is_ascii_digit), has(value, is_separator)) {
        _ if other.is_empty() => false,
        _ if is_number => has(other, char::is_ascii_digit),
        (true, _) => {
            let is_letter: fn(&char) -> bool = |letter| letter.is_alphabetic();
            has(other, char::is_ascii_digit) && has(other, is_letter) == has(value, is_letter)
        }
        (false, true) => has(other, is_separator),
        (false, false) => other.chars().all(char::is_alphabetic),
    }
}

/// The last bytes of a text, in whole words.
pub(super) fn tail(text: &str) -> &str {
    let Some(from) = text.len().checked_sub(REACH) else {
        return text;
    };
    let from = (from..text.len())
        .find(|at| text.is_char_boundary(*at) && text[*at..].starts_with([' ', '\n']));
    from.map_or("", |from| &text[from..])
}

/// The first bytes of a text, in whole words.
pub(super) fn head(text: &str) -> &str {
    if text.len() <= REACH {
        return text;
    }
    let to = (0..=REACH)
        .rev()
        .find(|at| text.is_char_boundary(*at) && text[*at..].starts_with([' ', '\n']));
    to.map_or("", |to| &text[..to])
}
