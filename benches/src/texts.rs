//! Texts by kind: prose, code, JSON results of tools, logs, mixed scripts. The same seed gives the
//! same text on every platform.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::words::{ENGLISH, SCRIPTS, SYLLABLES};

/// The kind of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// English sentences in which one word in ten is made up.
    Prose,
    /// Functions of a made-up program.
    Code,
    /// Results of tools: one JSON object per line.
    Json,
    /// Lines of a server's log.
    Log,
    /// Sentences in nine scripts and languages, and emoji.
    Mixed,
}

impl Kind {
    /// Every kind, with its name on the command line.
    pub const ALL: &'static [(&'static str, Kind)] = &[
        ("prose", Kind::Prose),
        ("code", Kind::Code),
        ("json", Kind::Json),
        ("log", Kind::Log),
        ("mixed", Kind::Mixed),
    ];

    /// The kind with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, kind)| *kind)
    }

    /// Text of at least `bytes` bytes, in whole lines.
    pub fn text(self, seed: u64, bytes: usize) -> String {
        let mut writer = Writer {
            random: ChaCha8Rng::seed_from_u64(seed),
            text: String::with_capacity(bytes + 512),
        };
        while writer.text.len() < bytes {
            match self {
                Kind::Prose => writer.paragraph(),
                Kind::Code => writer.function(),
                Kind::Json => writer.object(),
                Kind::Log => writer.line_of_log(),
                Kind::Mixed => writer.mixed_line(),
            }
        }
        writer.text
    }
}

/// The text in chunks of about `bytes` bytes, split between characters: the unit of counting.
pub fn chunks(text: &str, bytes: usize) -> Vec<&str> {
    let mut chunks = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let cut = (bytes.min(rest.len())..rest.len())
            .find(|at| rest.is_char_boundary(*at))
            .unwrap_or(rest.len());
        let (chunk, tail) = rest.split_at(cut);
        chunks.push(chunk);
        rest = tail;
    }
    chunks
}

/// Texts of about `bytes` bytes that are hard to split or to merge, each with a description.
pub fn hard(bytes: usize) -> Vec<(&'static str, String)> {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let mut drawn = |letter: fn(u32) -> char| {
        let mut text = String::with_capacity(bytes + 4);
        while text.len() < bytes {
            text.push(letter(random.next_u32()));
        }
        text
    };
    let letters = drawn(|number| char::from(b'a' + (number % 26) as u8));
    let blanks = drawn(|number| [' ', '\t', '\n', '\r', '\u{a0}', '\u{2003}'][number as usize % 6]);
    let any =
        drawn(|number| char::from_u32(number % 0x11_0000).unwrap_or(char::REPLACEMENT_CHARACTER));
    vec![
        ("one letter", "a".repeat(bytes)),
        ("dashes", "-".repeat(bytes)),
        ("blanks", " ".repeat(bytes)),
        ("line ends", "\n".repeat(bytes)),
        ("random letters", letters),
        ("random blanks", blanks),
        ("random characters", any),
    ]
}

struct Writer {
    random: ChaCha8Rng,
    text: String,
}

impl Writer {
    fn below(&mut self, limit: usize) -> usize {
        ((u64::from(self.random.next_u32()) * limit as u64) >> 32) as usize
    }

    /// Words early in the list are more frequent, as in natural text.
    fn word(&mut self) -> String {
        if self.below(10) == 0 {
            return self.name();
        }
        let within = 1 + self.below(ENGLISH.len());
        ENGLISH[self.below(within)].to_owned()
    }

    fn name(&mut self) -> String {
        (0..2 + self.below(2))
            .map(|_| SYLLABLES[self.below(SYLLABLES.len())])
            .collect()
    }

    fn identifier(&mut self) -> String {
        let rare = |writer: &mut Self| ENGLISH[writer.below(ENGLISH.len())];
        format!("{}_{}", rare(self), rare(self))
    }

    fn hex(&mut self, digits: usize) -> String {
        (0..digits)
            .map(|_| char::from(b"0123456789abcdef"[self.below(16)]))
            .collect()
    }

    fn path(&mut self) -> String {
        format!("src/{}/{}.rs", self.name(), self.identifier())
    }

    fn sentence(&mut self) -> String {
        let words = (0..6 + self.below(14))
            .map(|_| self.word())
            .collect::<Vec<_>>();
        let mut sentence = words.join(" ");
        if self.below(3) == 0 {
            sentence = sentence.replacen(' ', ", ", 1);
        }
        let mut letters = sentence.chars();
        let first = letters
            .next()
            .map(|letter| letter.to_ascii_uppercase())
            .unwrap_or_default();
        format!("{first}{}.", letters.as_str())
    }

    fn paragraph(&mut self) {
        for place in 0..3 + self.below(4) {
            let sentence = self.sentence();
            self.text += if place == 0 { "" } else { " " };
            self.text += &sentence;
        }
        self.text += "\n\n";
    }

    fn function(&mut self) {
        let (name, argument, sentence) = (self.identifier(), self.identifier(), self.sentence());
        self.text +=
            &format!("/// {sentence}\npub fn {name}({argument}: &[u32]) -> Option<usize> {{\n");
        for _ in 0..2 + self.below(5) {
            let statement = self.statement(&argument);
            self.text += &statement;
        }
        self.text += "    Some(0)\n}\n\n";
    }

    fn statement(&mut self, argument: &str) -> String {
        let (left, right, number, words) = (
            self.identifier(),
            self.identifier(),
            self.below(4_096),
            self.sentence(),
        );
        match self.below(4) {
            0 => format!(
                "    let {left} = {argument}.iter().filter(|{right}| **{right} > {number}).count();\n"
            ),
            1 => format!(
                "    if {left} != {number} && self.{right}.is_empty() {{\n        return None;\n    }}\n"
            ),
            2 => {
                format!("    // {words}\n    self.{left}[{number}] += {right}::new(\"{left}\")?;\n")
            }
            _ => format!(
                "    for {left} in 0..{number} {{\n        println!(\"{{{left}}} of {number}\");\n    }}\n"
            ),
        }
    }

    fn object(&mut self) {
        let (id, path, words) = (self.hex(12), self.path(), self.sentence());
        let (owner, tag, status) = (self.name(), self.identifier(), self.below(600));
        let (lines, share) = (self.below(100_000), self.below(10_000));
        self.text += &format!(
            "{{\"id\":\"{id}\",\"path\":\"{path}\",\"owner\":\"{owner}\",\"status\":{status},\"lines\":{lines},\
             \"share\":0.{share:04},\"tags\":[\"{tag}\",\"done\"],\"message\":\"{words}\",\"nested\":{{\"next\":null}}}}\n",
        );
    }

    fn line_of_log(&mut self) {
        let level = ["INFO", "DEBUG", "WARN", "ERROR"][self.below(4)];
        let (hour, minute, second, milli) = (
            self.below(24),
            self.below(60),
            self.below(60),
            self.below(1_000),
        );
        let (rack, host, took, retries) = (
            self.below(256),
            self.below(256),
            self.below(9_000),
            self.below(5),
        );
        let (request, module, path) = (self.hex(16), self.identifier(), self.path());
        self.text += &format!(
            "2026-03-14T{hour:02}:{minute:02}:{second:02}.{milli:03}Z {level:5} [10.0.{rack}.{host}] {module}: \
             request={request} took={took}ms path=/{path} retries={retries}\n",
        );
    }

    fn mixed_line(&mut self) {
        let script = SCRIPTS[self.below(SCRIPTS.len())];
        for _ in 0..8 + self.below(16) {
            let word = if self.below(8) == 0 {
                self.word()
            } else {
                script[self.below(script.len())].to_owned()
            };
            let end = if self.below(4) == 0 { "、" } else { " " };
            self.text += &word;
            self.text += end;
        }
        self.text += "。\n";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_text_and_another_seed_another() {
        for (name, kind) in Kind::ALL {
            let text = kind.text(1, 20_000);
            assert!(
                text.len() >= 20_000 && text.len() < 22_000,
                "{name}: {} bytes",
                text.len()
            );
            assert_eq!(text, kind.text(1, 20_000));
            assert_ne!(text, kind.text(2, 20_000));
            assert_eq!(Kind::by_name(name), Some(*kind));
        }
    }

    #[test]
    fn chunks_are_the_text() {
        let text = Kind::Mixed.text(1, 9_000);
        let chunks = chunks(&text, 1_000);
        assert_eq!(chunks.concat(), text);
        assert!(
            chunks
                .iter()
                .rev()
                .skip(1)
                .all(|chunk| (1_000..1_004).contains(&chunk.len()))
        );
    }
}
