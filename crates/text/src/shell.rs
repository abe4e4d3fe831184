//! Words as a POSIX shell takes them.

/// A word that a shell reads back as it is, quoted only if it must be.
pub fn shell_word(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,@+".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_can_be_pasted() {
        assert_eq!(shell_word("a/b-c.jsonl"), "a/b-c.jsonl");
        assert_eq!(shell_word("my file.jsonl"), "'my file.jsonl'");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!(shell_word(""), "''");
    }
}
