//! Terms of a text: what they are, which of them look like exact values, and their stems.

/// A word, number, path or identifier, without the punctuation around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Term<'t> {
    /// The term as written.
    pub(crate) text: &'t str,
    /// Where it starts in the text, in bytes.
    pub(crate) start: usize,
}

impl Term<'_> {
    /// Whether it looks like an exact value: a number, a path, an identifier.
    pub(crate) fn is_value(&self) -> bool {
        let text = self.text;
        let has = |wanted: &[char]| text.contains(wanted);
        let inner_dot = || text.split('.').filter(|piece| piece.chars().any(char::is_alphanumeric)).count() > 1;
        text.chars().any(char::is_numeric) || has(&['_', '@', '\\', '/', '#']) || inner_dot() || is_camel(text)
    }

    /// Whether it looks like a file or a web address.
    pub(super) fn is_path(&self) -> bool {
        let name = self.text.rsplit(['/', '\\']).next().unwrap_or_default();
        let extension = name.rsplit_once('.').map(|(stem, extension)| (stem, extension.len()));
        let has_letters = self.text.chars().any(char::is_alphabetic);
        let named = extension.is_some_and(|(stem, length)| !stem.is_empty() && (1..=5).contains(&length));
        has_letters && (self.text.contains(['/', '\\']) || named) && !self.text.contains('@')
    }
}

fn is_camel(text: &str) -> bool {
    let mut letters = text.chars().zip(text.chars().skip(1));
    letters.any(|(left, right)| left.is_lowercase() && right.is_uppercase())
}

/// The terms of a text, in order. Each ideograph is a term of its own, since no blanks part them.
pub(crate) fn terms(text: &str) -> Vec<Term<'_>> {
    let mut terms = Vec::new();
    let mut open: Option<usize> = None;
    for (at, letter) in text.char_indices() {
        let joins = letter.is_alphanumeric() || "_-./\\:@#%$+~'".contains(letter);
        if (!joins || is_ideograph(letter))
            && let Some(start) = open.take()
        {
            terms.extend(trimmed(text, start, at));
        }
        if is_ideograph(letter) {
            terms.push(Term { text: &text[at..at + letter.len_utf8()], start: at });
        } else if joins && open.is_none() {
            open = Some(at);
        }
    }
    terms.extend(open.and_then(|start| trimmed(text, start, text.len())));
    terms
}

/// From U+2E80 on, scripts are written without blanks between words.
fn is_ideograph(letter: char) -> bool {
    letter >= '\u{2E80}' && letter.is_alphanumeric()
}

fn trimmed(text: &str, start: usize, end: usize) -> Option<Term<'_>> {
    let whole = &text[start..end];
    let left = whole.trim_start_matches(|letter: char| !letter.is_alphanumeric() && !"/#$~.@".contains(letter));
    let inside = left.trim_end_matches(|letter: char| !letter.is_alphanumeric() && !"%/+".contains(letter));
    let skipped = whole.len() - left.len();
    inside.chars().any(char::is_alphanumeric).then_some(Term { text: inside, start: start + skipped })
}

/// The stem of a word in lower case: common English endings are dropped, exact values are kept.
pub(crate) fn stem(word: &str) -> String {
    let mut stem = word.to_lowercase();
    if stem.chars().any(|letter| !letter.is_alphabetic()) {
        return stem;
    }
    for (ending, least) in [("ing", 6), ("ed", 5), ("es", 5), ("s", 4)] {
        if stem.len() >= least && stem.ends_with(ending) && !stem.ends_with("ss") {
            stem.truncate(stem.len() - ending.len());
            break;
        }
    }
    if stem.len() > 3 && stem.ends_with('e') {
        stem.pop();
    }
    stem
}

/// Words that say nothing of the subject, as stems.
pub(crate) fn is_stop_word(stem: &str) -> bool {
    const STOP_WORDS: &[&str] = &[
        "a", "about", "after", "an", "and", "ani", "any", "are", "as", "at", "be", "becaus", "been", "befor", "but",
        "by", "can", "could", "did", "do", "doe", "does", "dur", "for", "from", "had", "has", "hav", "have", "he",
        "her", "his", "how", "i", "if", "in", "into", "is", "it", "its", "let", "look", "may", "me", "my", "of", "on",
        "onc", "onli", "or", "our", "she", "should", "so", "some", "somebody", "someon", "still", "than", "that",
        "the", "their", "them", "then", "there", "thes", "they", "thi", "this", "through", "to", "us", "wa", "was",
        "we", "wer", "were", "what", "when", "wher", "which", "while", "who", "whom", "whos", "why", "will", "with",
        "would", "you", "your",
    ];
    STOP_WORDS.binary_search(&stem).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_from_words() {
        let values = |text| terms(text).into_iter().filter(Term::is_value).map(|term| term.text).collect::<Vec<_>>();
        assert_eq!(
            values("Use port 8042, (see /etc/app.conf), `user_id` or maxRetries; e-mail ops@x.io. Done."),
            ["8042", "/etc/app.conf", "user_id", "maxRetries", "ops@x.io"]
        );
        assert!(values("Plain words, nothing exact... Well-known too!").is_empty());
    }

    #[test]
    fn ideographs_are_terms_of_their_own() {
        let texts = terms("使用 db7。é").into_iter().map(|term| term.text).collect::<Vec<_>>();
        assert_eq!(texts, ["使", "用", "db7", "é"]);
    }

    #[test]
    fn stems_meet_and_stop_words_are_sorted() {
        assert_eq!(stem("decided"), stem("decide"));
        assert_eq!(stem("files"), stem("file"));
        assert_eq!(stem("INV-77s"), "inv-77s");
        assert!(is_stop_word("your") && is_stop_word("a") && !is_stop_word("file"));
    }
}
