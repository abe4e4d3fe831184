//! Faults of form: the text is there, but not in the shape that was requested.

use super::{Effect, ModelFault, json};
use crate::reading::structure_lines::{heading_level, is_marker, numbered};

pub(super) const MALFORMED_JSON: ModelFault = ModelFault {
    name: "malformed-json",
    about: "the JSON object closes after a stray comma, with or without an ellipsis",
    effect: Effect::Text(|text, scene| {
        let close = json::object(text)?.end - 1;
        let stray = scene.pick(&[",", ", ..."])?;
        Some(format!("{}{stray}{}", &text[..close], &text[close..]))
    }),
};

pub(super) const BROKEN_JSON: ModelFault = ModelFault {
    name: "broken-json",
    about: "the JSON object lacks its last brace, or has unescaped quotes in a text, although the model finished",
    effect: Effect::Text(|text, scene| {
        let object = json::object(text)?;
        let texts = json::texts(text, object.clone());
        let quoted = texts.iter().find(|quoted| quoted.end > quoted.start);
        match quoted.filter(|_| scene.pick(&[true, false]) == Some(true)) {
            Some(quoted) => Some(with_quotes(text, quoted.start..quoted.end)),
            None => Some(format!(
                "{}{}",
                &text[..object.end - 1],
                &text[object.end..]
            )),
        }
    }),
};

pub(super) const FENCED_JSON: ModelFault = ModelFault {
    name: "fenced-json",
    about: "the JSON object is inside a Markdown code fence",
    effect: Effect::Text(|text, _| {
        let object = json::object(text)?;
        let (before, after) = (&text[..object.start], &text[object.end..]);
        Some(format!("{before}```json\n{}\n```{after}", &text[object]))
    }),
};

pub(super) const MISSING_SECTION: ModelFault = ModelFault {
    name: "missing-section",
    about: "the last part with a [MARKER], # heading or number is missing",
    effect: Effect::Text(|text, _| {
        let before = text[..last_marker(text)?.start].trim_end();
        (!before.is_empty()).then(|| before.to_owned())
    }),
};

pub(super) const MISSING_MARKER: ModelFault = ModelFault {
    name: "missing-marker",
    about: "the last [MARKER], # heading or numbered line is missing, but the text below it is there",
    effect: Effect::Text(|text, _| {
        let marker = last_marker(text)?;
        Some(format!("{}{}", &text[..marker.start], &text[marker.end..]))
    }),
};

/// The text with the first word of a range put in quotes.
fn with_quotes(text: &str, range: std::ops::Range<usize>) -> String {
    let end = text[range.clone()]
        .find(' ')
        .map_or(range.end, |at| range.start + at);
    format!(
        "{}\"{}\"{}",
        &text[..range.start],
        &text[range.start..end],
        &text[end..]
    )
}

/// The last line that opens a part, with its line break. Markers take precedence over headings, and
/// headings over numbered lines.
fn last_marker(text: &str) -> Option<std::ops::Range<usize>> {
    let opens: [fn(&str) -> bool; 3] = [
        is_marker,
        |line| heading_level(line) > 0,
        |line| numbered(line, &['.']).is_some(),
    ];
    opens.into_iter().find_map(|opens| {
        let mut found = None;
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            if opens(line.trim()) {
                found = Some(start..start + line.len());
            }
            start += line.len();
        }
        found
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_marker_goes_by_rank() {
        let last = |text: &'static str| last_marker(text).map(|range| &text[range]);
        assert_eq!(
            last("[SUMMARY]\na\n# b\n1. c\n[CHECKPOINT]\n{}"),
            Some("[CHECKPOINT]\n")
        );
        assert_eq!(last("# a\n## b\n1. c\n#d"), Some("## b\n"));
        assert_eq!(last("1. a\nx\n2. b"), Some("2. b"));
        assert_eq!(last("plain [x] text"), None);
    }
}
