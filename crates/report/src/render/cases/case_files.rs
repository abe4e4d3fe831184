//! Names of files for names of strategies and conversations, which may hold anything.

use compactometer_formats::record::text_hash;

/// Letters of a name that its file keeps.
const MOST: usize = 40;

/// The name of a file or folder: the name itself where every file system can hold it and no other
/// name looks alike to one, else what it keeps of it and a hash.
pub(super) fn file_name(name: &str) -> String {
    let is_kept = |letter: char| {
        letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_".contains(letter)
    };
    let kept = name
        .chars()
        .map(|letter| if is_kept(letter) { letter } else { '-' })
        .take(MOST)
        .collect::<String>();
    if kept == name && !name.is_empty() {
        kept
    } else {
        format!("{kept}.{}", &text_hash(name)[..8])
    }
}

/// The file of a page, numbered from the second page of a series on.
pub(super) fn numbered(stem: &str, page: usize) -> String {
    if page == 0 {
        format!("{stem}.html")
    } else {
        format!("{stem}.page{}.html", page + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_anything_are_names_of_files() {
        assert_eq!(file_name("smoke-software-00"), "smoke-software-00");
        let names = [
            "A",
            "a",
            "a b",
            "a-b",
            "../x",
            "",
            ".",
            "..",
            "a/b",
            "a\\b",
            "\u{202e}",
            "é",
            &"x".repeat(300),
        ];
        let mut files = names.map(file_name).to_vec();
        for file in &files {
            assert!(
                !file.is_empty() && file.len() < 60 && *file != "." && *file != "..",
                "{file}"
            );
            assert!(
                file.chars()
                    .all(|letter| letter.is_ascii_alphanumeric() || "-.".contains(letter)),
                "{file}"
            );
        }
        files.sort();
        files.dedup();
        assert_eq!(
            files.len(),
            names.len(),
            "two names share a file: {files:?}"
        );
    }
}
