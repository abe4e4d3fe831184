//! The matcher on arbitrary values and text: finding many values at once equals finding each by
//! itself, and the polarity only narrows the matches. Values come first, one per line after its
//! kind, followed by an empty line and the text.

use compactometer_formats::scenario::ValueKind;
use compactometer_text::matcher::{Matcher, Said, Sought};

/// The largest number of values in one input, because each is also searched for separately.
const MOST_VALUES: usize = 8;

pub(super) fn run(data: &[u8]) -> bool {
    let input = String::from_utf8_lossy(data);
    let (head, text) = input.split_once("\n\n").unwrap_or(("", &input));
    let values = head
        .lines()
        .take(MOST_VALUES)
        .map(value)
        .collect::<Vec<_>>();
    let together = marked(&values, Said::Either, text);
    let affirmed = marked(&values, Said::Affirmed, text);
    let denied = marked(&values, Said::Denied, text);
    for (at, (kind, value)) in values.iter().enumerate() {
        let alone = marked(&values[at..=at], Said::Either, text);
        assert_eq!(together[at], alone[0], "{kind:?} {value:?}");
        assert!(
            together[at] || !(affirmed[at] || denied[at]),
            "{kind:?} {value:?} is affirmed or denied, but not present"
        );
    }
    together.contains(&true)
}

/// A line such as `number 450 ms`.
fn value(line: &str) -> (ValueKind, &str) {
    let (kind, value) = line.split_once(' ').unwrap_or(("free", line));
    let kind = serde_json::from_value(kind.into()).unwrap_or(ValueKind::Free);
    (kind, value)
}

fn marked(values: &[(ValueKind, &str)], said: Said, text: &str) -> Vec<bool> {
    let sought = values
        .iter()
        .map(|(kind, value)| (Sought { kind: *kind, said }, [*value]));
    let matcher = Matcher::new(sought);
    let mut present = vec![false; matcher.len()];
    matcher.mark(text, &mut present);
    present
}
