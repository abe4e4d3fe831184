//! Parts a line into sentences.

/// The sentences of a line, none longer than [`LONGEST`].
pub(super) fn sentences(line: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut rest = line.trim();
    while !rest.is_empty() {
        let end = sentence_end(rest);
        let (sentence, tail) = rest.split_at(end);
        sentences.push(sentence.trim());
        rest = tail.trim_start();
    }
    sentences
}

fn sentence_end(text: &str) -> usize {
    let mut letters = text.char_indices().peekable();
    let mut blank = None;
    let mut count = 0;
    while let Some((at, letter)) = letters.next() {
        let end = at + letter.len_utf8();
        let is_end = match letter {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => starts_sentence(&text[end..]),
            _ => false,
        };
        count += 1;
        if is_end {
            return end;
        }
        if letter.is_whitespace() {
            blank = Some(end);
        }
        if count == LONGEST {
            return if letters.peek().is_some() { blank.unwrap_or(end) } else { end };
        }
    }
    text.len()
}

/// Whether what follows a full stop opens a new sentence: blanks, then no lower-case letter and no digit.
fn starts_sentence(after: &str) -> bool {
    let next = after.trim_start();
    next.len() < after.len() && !next.starts_with(|letter: char| letter.is_lowercase() || letter.is_numeric())
}

/// Characters of a sentence at most; a longer one is cut into several.
const LONGEST: usize = 400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_between_characters() {
        let line = "é".repeat(1_000);
        assert_eq!(sentences(&line).iter().map(|piece| piece.chars().count()).collect::<Vec<_>>(), [400, 400, 200]);
        assert_eq!(sentences("第一。第二！"), ["第一。", "第二！"]);
    }
}
