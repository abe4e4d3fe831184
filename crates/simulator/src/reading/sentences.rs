//! Splits a line into sentences.

/// The sentences of a line, each of at most [`LONGEST`] characters.
pub(crate) fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line.trim();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (sentence, tail) = rest.split_at(sentence_end(rest));
        rest = tail.trim_start();
        Some(sentence.trim())
    })
}

fn sentence_end(text: &str) -> usize {
    let limit = if text.len() > LONGEST { text.char_indices().nth(LONGEST) } else { None };
    let window = limit.map_or(text, |(end, _)| &text[..end]);
    let is_mark = |letter| matches!(letter, '.' | '!' | '?' | '。' | '！' | '？');
    let ends = window.match_indices(is_mark).map(|(at, mark)| at + mark.len());
    let is_end = |end: &usize| !window[..*end].ends_with(['.', '!', '?']) || starts_sentence(&text[*end..]);
    let blank = || window.rfind(char::is_whitespace).filter(|_| limit.is_some());
    let after = |at: usize| at + window[at..].chars().next().map_or(0, char::len_utf8);
    ends.into_iter().find(is_end).or_else(|| blank().map(after)).unwrap_or(window.len())
}

/// Whether the text after a full stop begins a new sentence: blanks, then neither a lowercase letter nor a digit.
fn starts_sentence(after: &str) -> bool {
    let next = after.trim_start();
    next.len() < after.len() && !next.starts_with(|letter: char| letter.is_lowercase() || letter.is_numeric())
}

/// The largest number of characters in a sentence. A longer one is split.
const LONGEST: usize = 400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_between_characters_or_words() {
        let lengths = |line: &str| sentences(line).map(|piece| piece.chars().count()).collect::<Vec<_>>();
        assert_eq!(lengths(&"é".repeat(1_000)), [400, 400, 200]);
        assert_eq!(lengths(&"six to ".repeat(100)), [398, 300]);
        assert_eq!(lengths(&"x".repeat(400)), [400]);
        assert_eq!(sentences("第一。第二！").collect::<Vec<_>>(), ["第一。", "第二！"]);
        assert_eq!(sentences("At 3. p.m. Then! So").collect::<Vec<_>>(), ["At 3. p.m.", "Then!", "So"]);
    }
}
