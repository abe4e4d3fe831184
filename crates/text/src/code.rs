//! Names and values in backticks: terminals show such text unchanged, and pages show it as code.

/// The text as a CommonMark code span in one line. The fence is longer than any run of backticks in
/// the text, and the text is padded with blanks if it could not be read back without them.
pub fn code(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    let longest = text
        .split(|letter| letter != '`')
        .map(str::len)
        .max()
        .unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let loses_blanks =
        text.starts_with(' ') && text.ends_with(' ') && !text.trim_matches(' ').is_empty();
    let pad = if text.is_empty() || text.starts_with('`') || text.ends_with('`') || loses_blanks {
        " "
    } else {
        ""
    };
    // An empty text becomes one blank, since a code span cannot be empty.
    let end = if text.is_empty() { "" } else { pad };
    format!("{fence}{pad}{text}{end}{fence}")
}

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'t> {
    /// Plain text; never empty.
    Plain(&'t str),
    /// The text of a code span, without its fence.
    Code(&'t str),
}

/// The text split at its code spans. Backticks that open no span are plain text.
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let (mut plain, mut at) = (0, 0);
    while let Some(start) = text[at..].find('`').map(|next| at + next) {
        let fence = run(&text[start..]);
        let inside = start + fence;
        match closing(&text[inside..], fence) {
            None => at = inside,
            Some(length) => {
                if plain < start {
                    found.push(Piece::Plain(&text[plain..start]));
                }
                found.push(Piece::Code(unpadded(&text[inside..inside + length])));
                at = inside + length + fence;
                plain = at;
            }
        }
    }
    if plain < text.len() {
        found.push(Piece::Plain(&text[plain..]));
    }
    found
}

/// The number of backticks that a text begins with.
fn run(text: &str) -> usize {
    text.len() - text.trim_start_matches('`').len()
}

/// The position of the next run of exactly `fence` backticks.
fn closing(text: &str, fence: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(start) = text[at..].find('`').map(|next| at + next) {
        match run(&text[start..]) {
            length if length == fence => return Some(start),
            length => at = start + length,
        }
    }
    None
}

fn unpadded(inside: &str) -> &str {
    let without = inside
        .strip_prefix(' ')
        .and_then(|rest| rest.strip_suffix(' '));
    without
        .filter(|rest| !rest.trim_matches(' ').is_empty())
        .unwrap_or(inside)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_run_inside() {
        for (text, span) in [
            ("plain", "`plain`"),
            ("a`b", "``a`b``"),
            ("`", "`` ` ``"),
            ("a``", "``` a`` ```"),
            (" both ", "`  both  `"),
            ("two\nlines", "`two lines`"),
            ("", "` `"),
        ] {
            assert_eq!(code(text), span);
        }
    }

    #[test]
    fn backticks_without_a_partner_are_plain() {
        assert_eq!(pieces("odd ` tick"), [Piece::Plain("odd ` tick")]);
        assert_eq!(
            pieces("`a` and ``b`"),
            [Piece::Code("a"), Piece::Plain(" and ``b`")]
        );
    }

    proptest! {
        #[test]
        fn a_span_is_read_back_as_it_was(text in "[`a |\\\\<]{1,12}", before in "[a <]{0,4}", after in "[a <]{0,4}") {
            let whole = format!("{before}{}{after}", code(&text));
            let found = pieces(&whole);
            let codes = found.iter().filter_map(|piece| match piece {
                Piece::Code(inside) => Some(*inside),
                Piece::Plain(_) => None,
            });
            prop_assert_eq!(codes.collect::<Vec<_>>(), [text.as_str()]);
        }
    }
}
