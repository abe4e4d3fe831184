//! Lines that structure a text: headings, labels, and lines that open a message of a transcript.

/// Whether a line is a marker such as `[SUMMARY]`.
pub(crate) fn is_marker(line: &str) -> bool {
    let name = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')).unwrap_or_default();
    name.len() > 2 && name.chars().all(|letter| letter.is_ascii_uppercase() || "_ ".contains(letter))
}

/// A heading with its level, or a short line that ends in a colon, with level 0.
pub(crate) fn title(line: &str) -> Option<(usize, &str)> {
    let line = line.trim();
    let level = line.chars().take_while(|letter| *letter == '#').count();
    if level > 0 {
        let name = line[level..].trim();
        return (!name.is_empty() && line[level..].starts_with(' ')).then_some((level, name));
    }
    let name = line.strip_suffix(':')?;
    let is_label =
        name.split_whitespace().count() <= 3 && name.starts_with(char::is_uppercase) && header(line).is_none();
    is_label.then_some((0, name))
}

/// A line that opens a message: its number if it has one, its speaker's name, and the rest of the line.
pub(crate) fn header(line: &str) -> Option<(Option<u32>, &str, &str)> {
    let line = line.trim_start();
    let (number, rest) = match line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((number, rest)) => (Some(number.parse().ok()?), rest.trim_start()),
        None => (None, line),
    };
    let (speaker, said) = rest.split_once(':')?;
    let speaker = speaker.trim_matches(|letter: char| "*[] ".contains(letter));
    let names = ["system", "user", "human", "assistant", "ai", "agent", "model", "tool", "function"];
    let is_name = names.iter().any(|name| name.eq_ignore_ascii_case(speaker));
    // Without a number, only capitals distinguish a speaker from a key such as `user: 7`.
    let is_marked = number.is_some() || speaker.starts_with(char::is_uppercase) || rest.starts_with(['*', '[']);
    (is_name && is_marked).then_some((number, speaker, said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_not_speakers() {
        assert_eq!(header("user: 7"), None);
        assert_eq!(header("[3] tool:").map(|(number, name, _)| (number, name)), Some((Some(3), "tool")));
        assert_eq!(header("**User**: hi").map(|(_, name, said)| (name, said)), Some(("User", " hi")));
    }
}
