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
    let window = &text.as_bytes()[..text.len().min(LONGEST)];
    if window.is_ascii() {
        ascii_sentence_end(text, window)
    } else {
        sentence_end_in_any_script(text)
    }
}

/// The fast path, if the text begins with [`LONGEST`] ASCII characters or consists of fewer.
fn ascii_sentence_end(text: &str, window: &[u8]) -> usize {
    let mut marks = memchr::memchr3_iter(b'.', b'!', b'?', window);
    if let Some(at) = marks.find(|at| starts_sentence(&text[at + 1..])) {
        return at + 1;
    }
    let is_blank = |byte: &u8| char::from(*byte).is_whitespace();
    let blank = window
        .iter()
        .rposition(is_blank)
        .filter(|_| text.len() > LONGEST);
    blank.map_or(window.len(), |at| at + 1)
}

fn sentence_end_in_any_script(text: &str) -> usize {
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

/// Whether the text after a full stop begins a new sentence: blanks, then neither a lowercase
/// letter nor a digit.
fn starts_sentence(after: &str) -> bool {
    let next = after.trim_start();
    next.len() < after.len()
        && !next.starts_with(|letter: char| letter.is_lowercase() || letter.is_numeric())
}

/// The largest number of characters in a sentence. A longer one is split.
const LONGEST: usize = 400;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn long_lines_are_cut_between_characters_or_words() {
        let lengths = |line: &str| {
            sentences(line)
                .map(|piece| piece.chars().count())
                .collect::<Vec<_>>()
        };
        assert_eq!(lengths(&"é".repeat(1_000)), [400, 400, 200]);
        assert_eq!(lengths(&"six to ".repeat(100)), [398, 300]);
        assert_eq!(lengths(&"x".repeat(400)), [400]);
        assert_eq!(
            sentences("第一。第二！").collect::<Vec<_>>(),
            ["第一。", "第二！"]
        );
        assert_eq!(
            sentences("At 3. p.m. Then! So").collect::<Vec<_>>(),
            ["At 3. p.m.", "Then!", "So"]
        );
    }

    proptest! {
        #[test]
        fn ascii_is_cut_where_any_script_is(text in "([a-zA-Z0-9]{1,9}[.!?]?[ \t\u{b}]{0,2}|[a-z]{200}){0,80}", tail in "é?") {
            let text = text + &tail;
            prop_assert_eq!(sentence_end(&text), sentence_end_in_any_script(&text), "{}", text);
        }
    }
}
