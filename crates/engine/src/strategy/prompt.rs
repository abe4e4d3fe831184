//! Prompts: their placeholders, explained and filled, and the words that fit a number of tokens.

/// A `{name}` in a prompt that a value replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placeholder {
    /// The name between the braces.
    pub name: &'static str,
    /// What replaces it.
    pub about: &'static str,
}

impl Placeholder {
    /// Those that a prompt has.
    pub fn within(prompt: &str) -> impl Iterator<Item = Placeholder> {
        PLACEHOLDERS
            .iter()
            .copied()
            .filter(|placeholder| prompt.contains(&placeholder.place()))
    }

    /// The place in a prompt, with its braces.
    pub fn place(&self) -> String {
        format!("{{{}}}", self.name)
    }
}

/// Every placeholder that any prompt has.
const PLACEHOLDERS: &[Placeholder] = &[
    Placeholder {
        name: "messages",
        about: "the messages that leave the context, or a piece of them",
    },
    Placeholder {
        name: "previous",
        about: "the summary or checkpoint of the compaction before, which the reply then replaces",
    },
    Placeholder {
        name: "task",
        about: "the first message of the user",
    },
    Placeholder {
        name: "tokens",
        about: "the most tokens that the reply may have",
    },
    Placeholder {
        name: "words",
        about: "the most English words that fit these tokens",
    },
    Placeholder {
        name: "user",
        about: "what is before it is the system message, and what follows the user's",
    },
    Placeholder {
        name: "round",
        about: "the number of the compaction, from 1",
    },
];

/// Fills the `{name}` placeholders of a prompt. Values are inserted once and never searched for
/// placeholders.
pub(crate) fn fill(prompt: &str, values: &[(&str, &str)]) -> String {
    let length = values.iter().map(|(_, value)| value.len()).sum::<usize>();
    let mut text = String::with_capacity(prompt.len() + length);
    let mut rest = prompt;
    while let Some(open) = rest.find('{') {
        let (before, after) = rest.split_at(open);
        text.push_str(before);
        let value = after.find('}').and_then(|close| {
            let name = &after[1..close];
            values
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| (close, *value))
        });
        match value {
            Some((close, value)) => {
                text.push_str(value);
                rest = &after[close + 1..];
            }
            None => {
                text.push('{');
                rest = &after[1..];
            }
        }
    }
    text + rest
}

/// The system message and the user's of a prompt; without the place `{user}`, all of it is the
/// user's.
pub(crate) fn messages(prompt: &str) -> (&str, &str) {
    let (system, user) = prompt.split_once("{user}").unwrap_or(("", prompt));
    (system.trim(), user.trim_start())
}

/// English words that fit a number of tokens, for prompts that limit words: three words in four
/// tokens.
pub(crate) fn words_in(tokens: u32) -> u32 {
    (tokens - tokens.div_ceil(4)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_placeholder_of_a_shipped_prompt_is_explained() {
        // Braces around other text, as in an example of JSON, are not placeholders.
        let is_name = |name: &&str| {
            !name.is_empty() && name.chars().all(|letter| letter.is_ascii_lowercase())
        };
        for spec in crate::strategies::ALL {
            let published = spec
                .published
                .iter()
                .flat_map(|form| form.values)
                .filter(|(name, _)| *name == "prompt");
            for prompt in published.map(|(_, prompt)| *prompt).chain([spec.prompt]) {
                let explained = Placeholder::within(prompt)
                    .map(|one| one.name)
                    .collect::<Vec<_>>();
                let used = prompt
                    .split('{')
                    .skip(1)
                    .filter_map(|rest| Some(rest.split_once('}')?.0))
                    .filter(is_name);
                let used = used.collect::<Vec<_>>();
                assert!(
                    used.iter().all(|name| explained.contains(name)),
                    "{}: {used:?}",
                    spec.name
                );
                assert!(
                    spec.placeholders
                        .iter()
                        .all(|name| explained.contains(name)),
                    "{}",
                    spec.name
                );
            }
        }
    }

    #[test]
    fn placeholders_in_values_stay_text() {
        let values = [("x", "{y}"), ("y", "2")];
        assert_eq!(fill("a {x} {y} {z} {", &values), "a {y} 2 {z} {");
    }
}
