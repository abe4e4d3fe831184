//! Lines that list the names in a folder: `src/pay/: refund.rs, card.rs`. Such a line spells out
//! the path of each.

/// The paths that the lines of a text spell out.
pub fn spelled_out(text: &str) -> impl Iterator<Item = String> {
    text.lines()
        .filter(|line| line.contains("/:") || line.contains("/`:"))
        .flat_map(|line| {
            let (folder, names) = line.split_once(": ").unwrap_or_default();
            let folder = folder.trim_start_matches(|letter: char| {
                letter.is_whitespace() || "-*•`".contains(letter)
            });
            let folder = folder.trim_end_matches('`');
            let is_folder = folder.ends_with('/') && !folder.contains(char::is_whitespace);
            let names = names
                .split(',')
                .map(|name| name.trim().trim_matches('`'))
                .take_while(|name| is_name(name));
            names
                .filter(move |_| is_folder)
                .map(move |name| format!("{folder}{name}"))
        })
}

/// Whether a text is a name that a folder may hold.
fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.contains(|letter: char| letter.is_whitespace() || letter == '/')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> Vec<String> {
        spelled_out(text).collect()
    }

    #[test]
    fn a_line_of_a_folder_spells_out_the_paths_of_its_names() {
        assert_eq!(
            paths("Files:\nsrc/pay/: a.rs, b.rs\n- `web/`: `x.ts`"),
            ["src/pay/a.rs", "src/pay/b.rs", "web/x.ts"]
        );
    }

    #[test]
    fn other_lines_spell_out_nothing() {
        for text in [
            "src/pay: a.rs",
            "in src/pay/: a.rs",
            "src/pay/ a.rs",
            "src/: see the other file, a.rs",
            "a/: b/c.rs",
            ": a.rs",
        ] {
            assert!(paths(text).is_empty(), "{text}");
        }
    }
}
