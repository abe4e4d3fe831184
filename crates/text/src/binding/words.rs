//! The words by which a text names a subject.

/// A word without its ending, and where it is in its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlacedWord {
    pub(super) stem: String,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The shortest word that names something, in letters.
const SHORTEST: usize = 3;

/// Words of English that name nothing, sorted.
const STOP_WORDS: &[&str] = &[
    "about", "after", "all", "also", "and", "any", "are", "been", "before", "being", "but", "can",
    "could", "did", "does", "each", "for", "from", "had", "has", "have", "her", "here", "his",
    "how", "into", "its", "may", "more", "must", "not", "now", "off", "one", "only", "onto", "our",
    "out", "over", "shall", "she", "should", "some", "such", "than", "that", "the", "their",
    "them", "then", "there", "these", "they", "this", "those", "under", "until", "upon", "very",
    "was", "were", "what", "when", "where", "which", "while", "who", "whose", "why", "will",
    "with", "would", "you", "your",
];

/// The words of a text in order: runs of letters, also within `snake_case` and `camelCase`, of
/// three letters or more.
pub(super) fn words(text: &str) -> Vec<PlacedWord> {
    words_where(text, |_| true)
}

/// Those of them that are wanted, as they are in the text.
pub(super) fn words_where(text: &str, is_wanted: impl Fn(&str) -> bool) -> Vec<PlacedWord> {
    let mut found = Vec::new();
    let mut start = None;
    let mut previous = None;
    for (at, letter) in text.char_indices().chain([(text.len(), ' ')]) {
        let ends = !letter.is_alphabetic()
            || (letter.is_uppercase() && previous.is_some_and(char::is_lowercase));
        if let Some(from) = start.filter(|_| ends) {
            let wanted = is_wanted(&text[from..at]).then_some(from);
            found.extend(wanted.and_then(|from| word(text, from, at)));
            start = None;
        }
        if start.is_none() && letter.is_alphabetic() {
            start = Some(at);
        }
        previous = Some(letter);
    }
    found
}

fn word(text: &str, start: usize, end: usize) -> Option<PlacedWord> {
    let lower = text[start..end].to_lowercase();
    let names =
        lower.chars().count() >= SHORTEST && STOP_WORDS.binary_search(&lower.as_str()).is_err();
    names.then(|| PlacedWord {
        stem: stem(lower),
        start,
        end,
    })
}

/// A word in lower case without its grammatical ending, so that `retries` and `retry` are one word.
fn stem(word: String) -> String {
    let mut stem = word;
    if is_long(&stem, 4) && stem.ends_with("ies") {
        cut(&mut stem, 3);
        stem.push('y');
    } else if is_long(&stem, 5) && stem.ends_with("ing") {
        cut(&mut stem, 3);
    } else if is_long(&stem, 4)
        && ["ed", "ses", "xes", "zes", "hes"]
            .iter()
            .any(|end| stem.ends_with(end))
    {
        cut(&mut stem, 2);
    } else if is_long(&stem, 3) && stem.ends_with('s') && !stem.ends_with("ss") {
        cut(&mut stem, 1);
    }
    if is_long(&stem, 5) && stem.ends_with("er") {
        cut(&mut stem, 2);
    }
    if is_long(&stem, 4) && stem.ends_with('e') {
        cut(&mut stem, 1);
    }
    if ends_doubled(&stem) {
        cut(&mut stem, 1);
    }
    stem
}

fn cut(stem: &mut String, letters: usize) {
    stem.truncate(stem.len() - letters);
}

fn is_long(stem: &str, letters: usize) -> bool {
    stem.chars().count() > letters
}

/// Whether the last letter is a doubled consonant, as in `stopp`.
fn ends_doubled(stem: &str) -> bool {
    let mut ends = stem.bytes().rev();
    let doubled = ends.next().filter(|last| ends.next() == Some(*last));
    doubled.is_some_and(|last| last.is_ascii_alphabetic() && !b"aeiouls".contains(&last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_names_and_without_endings() {
        let stems = |text| {
            words(text)
                .into_iter()
                .map(|word| word.stem)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            stems("the retry_limit of maxBackoffDelay, 3 retries"),
            ["retry", "limit", "max", "backof", "delay", "retry"]
        );
        assert_eq!(
            stems("stopped stopping classes boxes parser process"),
            ["stop", "stop", "class", "box", "pars", "process"]
        );
        assert_eq!(stems("a to of X1 Größe"), ["größ"]);
    }

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
    }
}
