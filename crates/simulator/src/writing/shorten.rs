//! Shortens a statement like a summarizer: the opener is removed, and a long statement is reduced
//! to the clauses with values.

use std::borrow::Cow;

use crate::reading::cues::Cues;
use crate::reading::terms::{ReadTerm, terms};

/// The text of a statement in at most `most_words` words.
pub(crate) fn shorten(text: &str, most_words: usize) -> String {
    let text = without_opener(text).trim_end_matches(['.', '!', ';', ',', ':', ' ']);
    if text.split_whitespace().count() <= most_words {
        return plain(text);
    }
    let clauses = clauses(text);
    let mut order: Vec<usize> = (0..clauses.len()).collect();
    let worth = clauses
        .iter()
        .map(|clause| worth(clause))
        .collect::<Vec<_>>();
    order.sort_by(|one, other| worth[*other].total_cmp(&worth[*one]).then(one.cmp(other)));
    let mut room = most_words;
    let mut kept = Vec::new();
    for index in order {
        let words = clauses[index].split_whitespace().count();
        if words <= room {
            room -= words;
            kept.push(index);
        } else if kept.is_empty() {
            return plain(&around_value(clauses[index], most_words));
        }
    }
    kept.sort_unstable();
    plain(
        &kept
            .into_iter()
            .map(|index| clauses[index].trim())
            .collect::<Vec<_>>()
            .join(", "),
    )
}

/// The text without bold markers, table bars and the marks of JSON.
fn plain(text: &str) -> String {
    without_json(text).replace("**", "").replace(" | ", "; ")
}

/// The text without quotation marks, and the brackets beside them, if they are those of JSON: a
/// cut line of a file is no whole value, but a summarizer says what it says.
fn without_json(text: &str) -> Cow<'_, str> {
    let after = |quote: usize| text[quote + 1..].trim_start();
    let before = |quote: usize| text[..quote].trim_end();
    let is_of_json = |quote: usize| {
        before(quote).ends_with(['{', '[', '\\'])
            || after(quote).starts_with(['}', ']'])
            || after(quote)
                .strip_prefix(':')
                .is_some_and(|value| opens_value(value.trim_start()))
    };
    if !text.match_indices('"').any(|(quote, _)| is_of_json(quote)) {
        return Cow::Borrowed(text);
    }
    let mut said = String::with_capacity(text.len());
    for part in text.split('"') {
        let part = part.trim_end_matches('\\');
        let part = part.strip_suffix(['{', '[']).unwrap_or(part);
        said.push_str(part.strip_prefix(['}', ']']).unwrap_or(part));
    }
    said.into()
}

/// Whether a text begins like a value of JSON.
fn opens_value(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_digit() || "\"{[".contains(letter))
}

/// Removes "Okay, so just to be clear, ..." and the like: an opener up to a comma that consists of
/// filler words only.
fn without_opener(text: &str) -> &str {
    const FILLER: &str = "actually again ah alright also and anyway be btw but by clear for forget fyi great hello \
                          hey hi i just more note oh ok okay one perfect please quick record reference right so \
                          sure thank thanks that the thing to way well yeah yes you";
    let mut text = text.trim();
    while let Some((opener, rest)) = text.split_once([',', ':', '!']) {
        let words = || {
            terms(opener)
                .into_iter()
                .map(|term| term.text.to_lowercase())
        };
        if rest.trim().is_empty()
            || !words().all(|word| FILLER.split(' ').any(|filler| filler == word))
        {
            break;
        }
        text = rest.trim_start();
    }
    text
}

fn clauses(text: &str) -> Vec<&str> {
    let joints = [
        ", ",
        "; ",
        " - ",
        " – ",
        " — ",
        " (",
        ") ",
        " because ",
        " which ",
        " so that ",
        "，",
        "、",
    ];
    let mut clauses = Vec::new();
    let mut rest = text;
    while let Some((at, joint)) = joints
        .iter()
        .filter_map(|joint| Some((rest.find(joint)?, joint)))
        .min()
    {
        clauses.push(&rest[..at]);
        // A conjunction belongs to the clause after it.
        let skipped = if joint.trim().chars().all(char::is_alphabetic) {
            1
        } else {
            joint.len()
        };
        rest = &rest[at + skipped..];
    }
    clauses.push(rest);
    clauses.retain(|clause| !clause.trim().is_empty());
    clauses
}

fn worth(clause: &str) -> f64 {
    let values = terms(clause).iter().filter(|term| term.is_value()).count();
    values.min(3) as f64 + Cues::new(clause).modality().min(2.0)
}

/// A window of words around the clause's first value.
fn around_value(clause: &str, most_words: usize) -> String {
    let words: Vec<&str> = clause.split_whitespace().collect();
    let value = words
        .iter()
        .position(|word| terms(word).iter().any(ReadTerm::is_value))
        .unwrap_or(0);
    let start = (value + 1).saturating_sub(most_words);
    words[start..words.len().min(start + most_words)].join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_json_go_and_its_words_stay() {
        for (said, expected) in [
            (
                r#"check "pool.size": "sk-41", back"#,
                "check pool.size: sk-41, back",
            ),
            (r#"file {"/srv/data": [{"id"}]"#, "file /srv/data: [id]"),
            (r#"say \"wide-7\" twice"#, "say wide-7 twice"),
            (r#"the "wide" gate: x"#, r#"the "wide" gate: x"#),
        ] {
            assert_eq!(shorten(said, 20), expected);
        }
    }

    #[test]
    fn openers_go_and_clauses_with_values_stay() {
        assert_eq!(
            shorten("Okay, by the way, the port is 8042.", 20),
            "the port is 8042"
        );
        assert_eq!(shorten("No, the port is 8042.", 20), "No, the port is 8042");
        let long = "The weather was nice on our long walk, we must keep port 8042 open, and lunch was good too";
        assert_eq!(shorten(long, 9), "we must keep port 8042 open");
        assert_eq!(
            shorten("one two three four five six x77 eight nine", 3),
            "five six x77"
        );
    }
}
