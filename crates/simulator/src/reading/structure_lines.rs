//! Lines that structure a text: headings, labels, and lines that open a message of a transcript.

/// The lines of a text with their ends, like `split_inclusive`, but faster because it examines many
/// bytes at once.
pub(crate) fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    let ends = memchr::memchr_iter(b'\n', text.as_bytes())
        .map(|at| at + 1)
        .chain([text.len()]);
    let mut start = 0;
    ends.map(move |end| &text[std::mem::replace(&mut start, end)..end])
        .filter(|line| !line.is_empty())
}

/// A line without its line break, like [`str::lines`].
pub(crate) fn without_end(line: &str) -> &str {
    line.strip_suffix('\n')
        .map_or(line, |line| line.strip_suffix('\r').unwrap_or(line))
}

/// Whether a line is a marker such as `[SUMMARY]`.
pub(crate) fn is_marker(line: &str) -> bool {
    let name = line
        .strip_prefix('[')
        .and_then(|line| line.strip_suffix(']'))
        .unwrap_or_default();
    name.len() > 2
        && name
            .chars()
            .all(|letter| letter.is_ascii_uppercase() || "_ ".contains(letter))
}

/// A heading with its level, or a short line that ends in a colon, with level 0.
pub(crate) fn title(line: &str) -> Option<(usize, &str)> {
    let line = line.trim();
    if line.starts_with('#') {
        let (level, name) = (heading_level(line), line.trim_start_matches('#').trim());
        return (level > 0 && !name.is_empty()).then_some((level, name));
    }
    let name = line.strip_suffix(':')?;
    let is_label = name.split_whitespace().count() <= 3
        && name.starts_with(char::is_uppercase)
        && header(line).is_none();
    is_label.then_some((0, name))
}

/// The number of marks that open a Markdown heading, or 0 if the line is none.
pub(crate) fn heading_level(line: &str) -> usize {
    let name = line.trim_start_matches('#');
    if name.starts_with(' ') {
        line.len() - name.len()
    } else {
        0
    }
}

/// The number of a line such as `1. First`, and the text after one of the marks that may end a
/// number.
pub(crate) fn numbered<'l>(line: &'l str, marks: &[char]) -> Option<(&'l str, &'l str)> {
    let (number, rest) = line.split_at(line.bytes().take_while(u8::is_ascii_digit).count());
    let rest = rest
        .strip_prefix(marks)
        .filter(|rest| rest.starts_with(' '))?;
    (!number.is_empty()).then_some((number, rest))
}

/// A line that opens a message: its number if it has one, its speaker's name, and the rest of the
/// line.
pub(crate) fn header(line: &str) -> Option<(Option<u32>, &str, &str)> {
    let line = line.trim_start();
    let (number, rest) = match line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((number, rest)) => (Some(number.parse().ok()?), rest.trim_start()),
        None => (None, line),
    };
    let (speaker, said) = rest.split_once(':')?;
    let speaker = speaker.trim_matches(|letter: char| "*[] ".contains(letter));
    let names = [
        "system",
        "user",
        "human",
        "assistant",
        "ai",
        "agent",
        "model",
        "tool",
        "function",
    ];
    let is_name = names.iter().any(|name| name.eq_ignore_ascii_case(speaker));
    // Without a number, only capitals distinguish a speaker from a key such as `user: 7`.
    let is_marked =
        number.is_some() || speaker.starts_with(char::is_uppercase) || rest.starts_with(['*', '[']);
    (is_name && is_marked).then_some((number, speaker, said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_the_library() {
        for text in ["", "a", "\n", "a\n\nb", "a\r\nb\n", "é\n\n"] {
            assert_eq!(
                lines_of(text).collect::<Vec<_>>(),
                text.split_inclusive('\n').collect::<Vec<_>>(),
                "{text:?}"
            );
            assert_eq!(
                lines_of(text).map(without_end).collect::<Vec<_>>(),
                text.lines().collect::<Vec<_>>(),
                "{text:?}"
            );
        }
    }

    #[test]
    fn keys_are_not_speakers() {
        assert_eq!(header("user: 7"), None);
        assert_eq!(
            header("[3] tool:").map(|(number, name, _)| (number, name)),
            Some((Some(3), "tool"))
        );
        assert_eq!(
            header("**User**: hi").map(|(_, name, said)| (name, said)),
            Some(("User", " hi"))
        );
    }
}
