//! Lines that fit a terminal.

/// Narrower than this, lines are not broken further.
const NARROWEST: usize = 40;

/// The line broken at blanks; further lines are indented by two more than it is. A number and its
/// `%` stay together.
pub fn wrapped(line: &str, width: usize) -> Vec<String> {
    let indent = line.chars().take_while(|letter| *letter == ' ').count();
    let text = line[indent..].replace(" %", "\u{a0}%");
    let (mut lines, mut line) = (Vec::new(), " ".repeat(indent));
    for (at, word) in text.split(' ').enumerate() {
        if at > 0 && line.chars().count() + 1 + word.chars().count() > width.max(NARROWEST) {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent + 2)));
        } else if at > 0 {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
        .into_iter()
        .map(|line| line.replace('\u{a0}', " ").trim_end().to_owned())
        .collect()
}

/// The text with its middle left out where it is longer than `most`.
pub fn clipped(text: &str, most: usize) -> String {
    let letters = text.chars().collect::<Vec<_>>();
    if letters.len() <= most {
        return text.to_owned();
    }
    let end = most.saturating_sub(1) / 2;
    let begin = most.saturating_sub(1) - end;
    letters[..begin]
        .iter()
        .chain(['…'].iter())
        .chain(&letters[letters.len() - end..])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_blanks_and_keep_their_indent() {
        let line = format!("  - {}", "word ".repeat(12).trim_end());
        let lines = wrapped(&line, 40);
        assert!(
            lines.iter().all(|line| line.chars().count() <= 40),
            "{lines:?}"
        );
        assert!(
            lines[0].starts_with("  - word") && lines[1].starts_with("    word"),
            "{lines:?}"
        );
        assert_eq!(lines.join(" ").split_whitespace().count(), 13);
        // A word that is longer than the line has one of its own.
        assert_eq!(wrapped(&format!("a {} b", "x".repeat(60)), 40).len(), 3);
        assert_eq!(wrapped("", 80), [""]);
        let share = format!("{} 43 % less", "x".repeat(38));
        assert_eq!(wrapped(&share, 40)[1], "  43 % less");
    }

    #[test]
    fn a_long_name_keeps_both_ends() {
        assert_eq!(
            clipped("middleware-checkpoint", 21),
            "middleware-checkpoint"
        );
        assert_eq!(clipped("middleware-checkpoint", 12), "middle…point");
        assert_eq!(clipped("abc", 1), "…");
    }
}
