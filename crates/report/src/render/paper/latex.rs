//! Text as LaTeX reads it. What pdfLaTeX has no letter for becomes a question mark, since it would
//! end the typesetting.

/// Most letters of a word without a place where it may be broken.
const PIECE: usize = 24;
/// Marks of addresses, paths and lists, behind which a word may be broken.
const MARKS: &str = "/:,=";

/// The text, without anything that LaTeX takes for a command.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        push(&mut out, letter);
    }
    out
}

/// The same, where long words may be broken between two lines without a hyphen.
pub(super) fn breakable(text: &str) -> String {
    let mut out = String::new();
    let mut unbroken = 0;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        push(&mut out, letter);
        unbroken = if letter.is_whitespace() {
            0
        } else {
            unbroken + 1
        };
        let is_inside = unbroken > 0 && letters.peek().is_some_and(|next| !next.is_whitespace());
        if is_inside && (unbroken >= PIECE || MARKS.contains(letter)) {
            out.push_str("\\allowbreak{}");
            unbroken = 0;
        }
    }
    out
}

/// Letters that are commands of LaTeX, or that its fonts show as another.
const NAMED: [(char, &str); 13] = [
    ('\\', "\\textbackslash{}"),
    ('~', "\\textasciitilde{}"),
    ('^', "\\textasciicircum{}"),
    ('<', "\\textless{}"),
    ('>', "\\textgreater{}"),
    ('|', "\\textbar{}"),
    ('"', "\\textquotedbl{}"),
    ('\'', "\\textquotesingle{}"),
    ('`', "\\textasciigrave{}"),
    ('–', "--"),
    ('†', "\\textdagger{}"),
    ('‡', "\\textdaggerdbl{}"),
    ('×', "\\texttimes{}"),
];

fn push(out: &mut String, letter: char) {
    let mut names = NAMED.iter();
    if let Some((_, name)) = names.find(|(named, _)| *named == letter) {
        out.push_str(name);
        return;
    }
    match letter {
        '{' | '}' | '$' | '&' | '#' | '_' | '%' => out.extend(['\\', letter]),
        // Two of them would become a dash.
        '-' if out.ends_with('-') => out.push_str("{}-"),
        _ if letter.is_whitespace() => out.push(' '),
        _ if letter.is_ascii_graphic() || ('\u{c0}'..='\u{ff}').contains(&letter) => {
            out.push(letter);
        }
        _ => out.push('?'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_stay_apart_and_letters_of_europe_stay() {
        assert_eq!(escaped("--out a---b"), "-{}-out a-{}-{}-b");
        assert_eq!(escaped("é ✗ 5 % $1\t&"), "é ? 5 \\% \\$1 \\&");
    }

    #[test]
    fn long_words_break_behind_marks_and_short_ones_do_not() {
        assert_eq!(
            breakable("--sample 3 -s one,two"),
            "-{}-sample 3 -s one,\\allowbreak{}two"
        );
        assert_eq!(
            breakable("docs.example.com/a b"),
            "docs.example.com/\\allowbreak{}a b"
        );
        let hash = "0".repeat(PIECE + 1);
        assert_eq!(
            breakable(&hash),
            format!("{}\\allowbreak{{}}0", "0".repeat(PIECE))
        );
        assert_eq!(breakable("short words only"), "short words only");
    }
}
