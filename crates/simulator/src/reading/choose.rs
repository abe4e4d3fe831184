//! Answers with one of the words that an instruction offers, like a reader that compares words
//! without understanding them.
//!
//! It compares the last two labelled lines whose labels end in the same word ("Expected value: ..."
//! and "Found value: ..."). The answer is the first word offered if the later line has every
//! content word of the earlier one, otherwise the second. That the first word means agreement is
//! assumed, as in "YES or NO". It does not notice a wrong value next to the right one, or a denial.

use crate::reading::wanted;

/// The word, if the last line of the instruction offers two in capitals for an answer of one word.
pub(crate) fn chosen(lines: &[&str]) -> Option<String> {
    let last = lines.iter().rfind(|line| !line.trim().is_empty())?;
    let [first, second] = offered(last)?;
    let labelled = lines
        .iter()
        .filter_map(|line| labelled(line))
        .collect::<Vec<_>>();
    let (label, later) = labelled.last()?;
    let (_, earlier) = labelled
        .iter()
        .rev()
        .skip(1)
        .find(|(other, _)| end(other) == end(label))?;
    let (expected, found) = (wanted(earlier), wanted(later));
    let agrees = !expected.is_empty() && expected.iter().all(|stem| found.contains(stem));
    Some(if agrees { first } else { second }.to_owned())
}

/// The word that the last line of an instruction dictates, as in "Write nothing but OK".
pub(crate) fn dictated(lines: &[&str]) -> Option<String> {
    let last = lines.iter().rfind(|line| !line.trim().is_empty())?;
    let lower = last.to_ascii_lowercase();
    let (at, only) = [
        "nothing but ",
        "nothing except ",
        "only the word ",
        "just the word ",
    ]
    .iter()
    .find_map(|only| Some((lower.find(only)?, only)))?;
    let word = last[at + only.len()..].trim_matches(|letter: char| !letter.is_alphanumeric());
    let is_word = !word.is_empty() && word.chars().all(char::is_alphanumeric);
    is_word.then(|| word.to_owned())
}

/// The two words of a line such as "Answer with one word, YES or NO."
fn offered(line: &str) -> Option<[&str; 2]> {
    let asks = line.to_lowercase();
    if !["one word", "single word", "one of", "either"]
        .iter()
        .any(|asked| asks.contains(asked))
    {
        return None;
    }
    let words = line
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>();
    let is_offered =
        |word: &str| word.len() > 1 && word.chars().all(|letter| letter.is_ascii_uppercase());
    let mut triples = words
        .windows(3)
        .filter(|three| three[1] == "or" && is_offered(three[0]) && is_offered(three[2]));
    triples.next_back().map(|three| [three[0], three[2]])
}

/// A short label before a colon, and the text after it.
fn labelled(line: &str) -> Option<(&str, &str)> {
    /// The largest number of words in a label.
    const WORDS: usize = 3;
    let (label, text) = line.split_once(": ")?;
    (label.split_whitespace().count() <= WORDS && offered(line).is_none()).then_some((label, text))
}

fn end(label: &str) -> Option<String> {
    label.split_whitespace().last().map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(expected: &str, found: &str, last: &str) -> Option<String> {
        let text = format!(
            "Compare.\n\nTopic: tests\nExpected value: {expected}\nFound value: {found}\n\nBe strict.\n{last}\n"
        );
        chosen(&text.lines().collect::<Vec<_>>())
    }

    #[test]
    fn the_first_word_is_said_where_the_later_text_has_all_of_the_earlier() {
        for (last, yes, no) in [
            ("Answer with one word, YES or NO.", "YES", "NO"),
            ("Say either MATCH or MISMATCH", "MATCH", "MISMATCH"),
        ] {
            assert_eq!(
                asked("\"kx-4711\"", "\"It is KX-4711.\"", last).as_deref(),
                Some(yes)
            );
            assert_eq!(
                asked("\"kx-4711\"", "\"It is kx-4712.\"", last).as_deref(),
                Some(no)
            );
            assert_eq!(asked("", "\"It is kx-4712.\"", last).as_deref(), Some(no));
        }
    }

    #[test]
    fn a_dictated_word_is_said() {
        assert_eq!(
            dictated(&["Read it.", "Write nothing but \"OK\"."]).as_deref(),
            Some("OK")
        );
        assert_eq!(
            dictated(&["Answer with nothing but the summary of it."]),
            None
        );
    }

    #[test]
    fn where_nothing_is_offered_or_compared_nothing_is_chosen() {
        assert_eq!(
            asked("a", "a", "Answer YES or NO."),
            None,
            "not asked for one word"
        );
        assert_eq!(
            asked("a", "a", "Reply with the single word UNKNOWN."),
            None,
            "one word is not a choice"
        );
        assert_eq!(
            chosen(&["Topic: tests", "One word: YES or NO"]),
            None,
            "nothing to compare with"
        );
    }
}
