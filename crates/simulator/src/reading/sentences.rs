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
    let mut blank = None;
    for (count, (at, letter)) in text.char_indices().enumerate() {
        if count == LONGEST {
            return blank.unwrap_or(at);
        }
        let end = at + letter.len_utf8();
        let is_end = match letter {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => starts_sentence(&text[end..]),
            _ => false,
        };
        if is_end {
            return end;
        }
        if letter.is_whitespace() {
            blank = Some(end);
        }
    }
    text.len()
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
