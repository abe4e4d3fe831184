//! A text cut into units, each of which says something about a subject: a sentence within a line, a
//! row or cell of a table, a pair of a JSON object. A unit inherits what it is placed under.

use serde_json::{Map, Value};

/// One unit, as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextUnit {
    pub(super) text: String,
    /// The headings, keys and items that it is placed under.
    pub(super) inherited: String,
}

/// The units of a text. JSON is read by its structure, anything else by lines.
pub(super) fn units(text: &str) -> Vec<TextUnit> {
    let mut found = Units::default();
    found.text(text);
    found.all
}

#[derive(Default)]
struct Units {
    all: Vec<TextUnit>,
    /// The headings and less indented items above the current line, the outermost first.
    above: Vec<(LineLevel, String)>,
    /// The first row of the current table.
    table_head: Option<String>,
    follows_blank: bool,
}

/// How deep a line that others are placed under is: headings by their number of `#`, then lines
/// that end in a colon, then items by their indentation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LineLevel {
    Heading(usize),
    Introduction,
    Indented(usize),
}

impl Units {
    fn text(&mut self, text: &str) {
        if let Some(json) = json_of(text) {
            return self.json(&json, "");
        }
        self.follows_blank = true;
        text.lines().for_each(|line| self.line(line));
    }

    fn push(&mut self, text: &str, inherited: &str) {
        if !text.trim().is_empty() {
            self.all.push(TextUnit {
                text: text.to_owned(),
                inherited: inherited.to_owned(),
            });
        }
    }

    fn json(&mut self, json: &Value, path: &str) {
        match json {
            Value::Object(pairs) => {
                self.scalars(pairs, path);
                for (key, value) in pairs.iter().filter(|(_, value)| scalar(value).is_none()) {
                    self.json(value, &format!("{path} {key}"));
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.json(item, path)),
            other => {
                let text = scalar(other).unwrap_or_default();
                sentences(&text).for_each(|sentence| self.push(sentence, path));
            }
        }
    }

    fn scalars(&mut self, pairs: &Map<String, Value>, path: &str) {
        let scalars = pairs
            .iter()
            .filter_map(|(key, value)| Some((key, scalar(value)?)))
            .collect::<Vec<_>>();
        let siblings = scalars
            .iter()
            .map(|(key, value)| format!(" ; {key}: {value}"));
        let inherited = format!("{path}{}", siblings.collect::<String>());
        for (key, value) in &scalars {
            sentences(value)
                .for_each(|sentence| self.push(&format!("{key}: {sentence}"), &inherited));
        }
    }

    fn line(&mut self, line: &str) {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            self.follows_blank = true;
            self.table_head = None;
        } else if let Some(json) = json_of(trimmed) {
            self.json(&json, &self.inherited());
        } else if trimmed.starts_with('|') {
            self.table_row(trimmed);
        } else {
            self.prose(line, trimmed);
        }
    }

    fn table_row(&mut self, row: &str) {
        if row
            .chars()
            .all(|letter| matches!(letter, '|' | '-' | ':' | ' '))
        {
            return;
        }
        self.push(row, &self.inherited());
        let Some(head) = self.table_head.clone() else {
            self.table_head = Some(row.to_owned());
            return;
        };
        let cells = |row: &str| {
            row.trim_matches('|')
                .split('|')
                .map(|cell| cell.trim().to_owned())
                .collect::<Vec<_>>()
        };
        for (cell, column) in cells(row).iter().zip(cells(&head)) {
            self.push(cell, &column);
        }
    }

    fn prose(&mut self, line: &str, trimmed: &str) {
        let indent = line
            .chars()
            .take_while(|letter| letter.is_whitespace())
            .count();
        let is_item = is_item(trimmed);
        let is_heading = trimmed.starts_with('#');
        let introduces = is_heading || trimmed.ends_with(':') || is_bold_line(trimmed);
        let level = match (is_heading, introduces && !is_item && indent == 0) {
            (true, _) => {
                LineLevel::Heading(trimmed.chars().take_while(|letter| *letter == '#').count())
            }
            (_, true) => LineLevel::Introduction,
            _ => LineLevel::Indented(indent * 2 + usize::from(is_item)),
        };
        while self.above.last().is_some_and(|(above, _)| *above >= level) {
            self.above.pop();
        }
        // A paragraph of its own, after a blank line, is placed under nothing.
        let belongs = is_item || indent > 0 || !self.follows_blank;
        let inherited = if belongs {
            self.inherited()
        } else {
            String::new()
        };
        let mut before = "";
        for sentence in sentences(line) {
            let refers_back = begins_with_pronoun(sentence);
            let inherited = if refers_back {
                format!("{inherited} {before}")
            } else {
                inherited.clone()
            };
            self.push(sentence, &inherited);
            before = sentence;
        }
        if introduces || is_item {
            self.above.push((level, trimmed.to_owned()));
        }
        self.follows_blank = false;
    }

    fn inherited(&self) -> String {
        self.above
            .iter()
            .map(|(_, line)| line.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// An object or array that is the whole text, perhaps fenced.
fn json_of(text: &str) -> Option<Value> {
    let text = text.trim();
    let unfenced = text
        .strip_prefix("```")
        .and_then(|rest| rest.split_once('\n')?.1.strip_suffix("```"));
    let text = unfenced.unwrap_or(text).trim();
    if text.starts_with(['{', '[']) {
        serde_json::from_str(text).ok()
    } else {
        None
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Object(_) | Value::Array(_) => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

fn is_item(line: &str) -> bool {
    let after_number = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_numbered = after_number.len() < line.len()
        && (after_number.starts_with(". ") || after_number.starts_with(") "));
    is_numbered
        || ["- ", "* ", "+ ", "• "]
            .iter()
            .any(|bullet| line.starts_with(bullet))
}

/// A line in bold type, which serves as a heading.
fn is_bold_line(line: &str) -> bool {
    let inner = line
        .trim_end_matches(':')
        .strip_prefix("**")
        .and_then(|rest| rest.strip_suffix("**"));
    inner.is_some_and(|inner| !inner.contains(['*', '.']) && inner.chars().count() <= 80)
}

const PRONOUNS: &[&str] = &[
    "it", "its", "this", "that", "these", "those", "they", "their", "he", "she", "his", "her",
    "there",
];

fn begins_with_pronoun(sentence: &str) -> bool {
    let first = sentence
        .trim_start()
        .split(|letter: char| !letter.is_alphabetic())
        .next()
        .unwrap_or_default();
    PRONOUNS.contains(&first.to_lowercase().as_str())
}

/// Endings after which a full stop ends no sentence.
const ABBREVIATIONS: &[&str] = &[
    "e.g.", "i.e.", "etc.", "vs.", "approx.", "no.", "nr.", "cf.",
];

/// The sentences of a line. A sentence ends with `.`, `!` or `?`, perhaps a closing mark, and a
/// blank.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let end = sentence_end(rest);
        let (sentence, after) = rest.split_at(end);
        rest = after;
        (!sentence.is_empty()).then_some(sentence.trim())
    })
    .filter(|sentence| !sentence.is_empty())
}

fn sentence_end(text: &str) -> usize {
    for (at, _) in text.match_indices(['.', '!', '?']) {
        let closing = |letter: char| matches!(letter, '"' | '\'' | ')' | ']' | '*' | '_');
        let after = text[at + 1..].trim_start_matches(closing);
        let end = text.len() - after.len();
        let last = text[..=at]
            .rsplit(|letter: char| letter.is_whitespace() || letter == '(')
            .next()
            .unwrap_or_default();
        if after.starts_with(char::is_whitespace)
            && !ABBREVIATIONS.contains(&last.to_lowercase().as_str())
        {
            return end;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(text: &str) -> Vec<String> {
        units(text)
            .into_iter()
            .map(|unit| format!("{} < {}", unit.text.trim(), unit.inherited.trim()))
            .collect()
    }

    #[test]
    fn sentences_inherit_headings_items_and_what_a_pronoun_refers_to() {
        let text = "# Cache\n- The limit is 5. It was 4, e.g. before.\n  - of reads\n\nA new paragraph.\nIts second line.";
        let expected = [
            "# Cache < ",
            "- The limit is 5. < # Cache",
            "It was 4, e.g. before. < # Cache - The limit is 5.",
            "- of reads < # Cache - The limit is 5. It was 4, e.g. before.",
            "A new paragraph. < ",
            "Its second line. < # Cache",
        ];
        assert_eq!(render(text), expected);
    }

    #[test]
    fn a_table_gives_rows_and_cells_under_their_columns() {
        let expected = [
            "| name | port | < ",
            "| cache | 6379 | < ",
            "cache < name",
            "6379 < port",
        ];
        assert_eq!(
            render("| name | port |\n|---|:--|\n| cache | 6379 |"),
            expected
        );
    }

    #[test]
    fn json_gives_pairs_under_their_keys_and_siblings() {
        let expected = [
            "limit: 5 < cache ; limit: 5 ; note: Set. By hand.",
            "note: Set. < cache ; limit: 5 ; note: Set. By hand.",
            "note: By hand. < cache ; limit: 5 ; note: Set. By hand.",
            "one < cache names",
            "{\"broken\": < ",
        ];
        assert_eq!(
            render(
                "```json\n{\"cache\": {\"limit\": 5, \"note\": \"Set. By hand.\", \"names\": [\"one\"]}}\n```"
            ),
            expected[..4]
        );
        assert_eq!(render("{\"broken\":"), expected[4..]);
    }
}
