//! Paraphrases a statement and sometimes omits an exact value, like a summarizer that paraphrases.

use crate::draw::{keyed, uniform};
use crate::profile::Profile;
use crate::reading::terms::{Term, terms};

/// The text, paraphrased if the profile's draw says so. The draw depends only on the text and the
/// seed.
pub(crate) fn reword(text: String, profile: &Profile, seed: u64) -> String {
    if profile.reworded.value <= 0.0 {
        return text;
    }
    let mut rng = keyed("reword", seed, [text.as_bytes()]);
    if uniform(&mut rng) >= profile.reworded.value {
        return text;
    }
    in_other_words(&text, uniform(&mut rng) < profile.value_omitted.value)
}

/// Synonyms. Several are longer than the original, as is common in paraphrases.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("always", "every time"),
    ("because", "since"),
    ("before", "ahead of"),
    ("decided", "chose"),
    ("keep", "retain"),
    ("must", "has to"),
    ("need", "require"),
    ("never", "at no time"),
    ("prefer", "would rather have"),
    ("still", "yet"),
    ("use", "work with"),
    ("want", "would like"),
];

/// The replacement for a value that is omitted.
const OMITTED: &str = "a certain value";

fn in_other_words(text: &str, omits: bool) -> String {
    let terms = terms(text);
    let omitted = terms.iter().rposition(Term::is_value).filter(|_| omits);
    let mut reworded = String::new();
    let mut at = 0;
    for (index, term) in terms.iter().enumerate() {
        let other = OTHER_WORDS
            .iter()
            .find(|(word, _)| term.text.eq_ignore_ascii_case(word))
            .map(|(_, other)| *other);
        let said = if omitted == Some(index) {
            Some(OMITTED)
        } else {
            other
        };
        if let Some(said) = said {
            reworded.push_str(&text[at..term.start]);
            reworded.push_str(said);
            at = term.start + term.text.len();
        }
    }
    reworded + &text[at..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_change_and_an_omitted_value_disappears() {
        let text = "We decided to keep port 8042 because it must stay";
        assert_eq!(
            in_other_words(text, false),
            "We chose to retain port 8042 since it has to stay"
        );
        assert_eq!(
            in_other_words(text, true),
            "We chose to retain port a certain value since it has to stay"
        );
    }
}
