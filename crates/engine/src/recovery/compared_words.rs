//! Words and sentences, for rules that compare what a text says with what a checkpoint holds.

/// The lower-cased words of a text.
pub(super) fn words(text: &str) -> Vec<String> {
    text.split(between)
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Words that carry something: four letters or more, or a digit.
pub(super) fn telling(text: &str) -> Vec<String> {
    let mut words = words(text);
    words.retain(|word| word.chars().count() >= 4 || has_digit(word));
    words
}

pub(super) fn has_digit(word: &str) -> bool {
    word.chars().any(|letter| letter.is_ascii_digit())
}

/// Sentences and lines, each with the mark that ends it. A full stop inside a name or a number ends
/// nothing.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (sentence, after) = rest.split_at(end_of_sentence(rest));
        rest = after;
        Some(sentence.trim())
    })
    .filter(|sentence| !sentence.is_empty())
}

fn end_of_sentence(text: &str) -> usize {
    let is_before_blank = |at: usize| {
        text[at + 1..]
            .chars()
            .next()
            .is_none_or(char::is_whitespace)
    };
    // Every mark is one byte, and no byte of a longer letter is one of them.
    let ends =
        |(at, mark): (usize, u8)| mark == b'\n' || (b".?!".contains(&mark) && is_before_blank(at));
    text.bytes()
        .enumerate()
        .position(ends)
        .map_or(text.len(), |at| at + 1)
}

/// Whether a text holds words in a row, whatever their case and the blanks between.
pub(super) fn stands_in(text: &str, value: &str) -> bool {
    let value = spaced(value);
    !value.trim().is_empty() && spaced(text).contains(&value)
}

/// The lower-cased words of a text in one string, a blank before each and after the last: a search
/// in it costs less than one in [`words`].
pub(super) fn spaced(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len() + 2);
    spaced.push(' ');
    for word in text.split(between).filter(|word| !word.is_empty()) {
        if word.is_ascii() {
            spaced.extend(word.chars().map(|letter| letter.to_ascii_lowercase()));
        } else {
            spaced += &word.to_lowercase();
        }
        spaced.push(' ');
    }
    spaced
}

/// Whether a letter separates words.
pub(super) fn between(letter: char) -> bool {
    !letter.is_alphanumeric() && letter != '_'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn words_are_the_same_alone_and_in_one_string(text in "(\\PC|[ .?_aZ\u{3a3}]){0,60}") {
            let joined: String = words(&text).iter().map(|word| format!("{word} ")).collect();
            prop_assert_eq!(spaced(&text), format!(" {joined}"));
        }
    }

    #[test]
    fn sentences_end_at_marks_before_blanks() {
        let found = sentences("Which file? I saw auth.py, v1.2.\nDone").collect::<Vec<_>>();
        assert_eq!(found, ["Which file?", "I saw auth.py, v1.2.", "Done"]);
        assert!(stands_in("It is JWT  Tokens.", "jwt tokens") && !stands_in("a tokenset", "token"));
    }
}
