//! Parts material into statements: sentences, list items, table rows, lines of logs and data.

use std::borrow::Cow;

use super::cues::{Cue, Cues};
use super::lines::header;
use super::regions::{Kind, Region};
use super::sentences::sentences;
use super::words::{Term, stem, terms};

/// One statement of the material.
#[derive(Clone, Debug)]
pub(super) struct Statement<'m> {
    /// Its text, on one line.
    pub(super) text: &'m str,
    /// Who said it.
    pub(super) speaker: Speaker,
    /// Where it starts, as a share of the material from 0 to 1.
    pub(super) position: f64,
    /// Which message of the material it stands in.
    pub(super) turn: usize,
    /// Whether it is a line of a log, of code or of data rather than a sentence.
    pub(super) structured: bool,
    /// Its terms.
    pub(super) terms: Vec<Term<'m>>,
    /// The terms' stems, one each.
    pub(super) stems: Vec<Cow<'m, str>>,
    /// What it is about.
    pub(super) cues: Cues,
}

impl Statement<'_> {
    /// Its fifth of the material, from 0 to 4.
    pub(super) fn fifth(&self) -> usize {
        ((self.position * 5.0) as usize).min(4)
    }
}

/// Who says a statement of the material.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    User,
    Assistant,
    Tool,
    /// An earlier summary.
    Summary,
}

/// A message of the material.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn<'m> {
    pub(super) speaker: Speaker,
    pub(super) text: &'m str,
}

/// From this share of the material on, statements tell how things stand: assumed.
const LAST: f64 = 0.95;

/// The messages of a region of a prompt.
pub(super) fn turns<'m>(region: &Region<'m>) -> Vec<Turn<'m>> {
    match region.kind {
        Kind::EarlierSummary => vec![Turn { speaker: Speaker::Summary, text: region.text }],
        Kind::Task => vec![Turn { speaker: Speaker::User, text: region.text }],
        Kind::Conversation => spoken_turns(region.text),
    }
}

/// Parts at speaker lines. The first one sets the style (numbered or not), and numbers must rise, so that a quoted
/// speaker line seldom opens a message.
fn spoken_turns(text: &str) -> Vec<Turn<'_>> {
    let mut turns = Vec::new();
    let mut open = (Speaker::User, 0);
    let mut last: Option<Option<u32>> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if let Some((number, speaker, said)) = header(line.trim_end())
            && last.is_none_or(|last| last.is_some() == number.is_some() && (number.is_none() || number > last))
        {
            turns.push(Turn { speaker: open.0, text: &text[open.1..at] });
            open = (speaker_named(speaker), at + line.trim_end().len() - said.len());
            last = Some(number);
        }
        at += line.len();
    }
    turns.push(Turn { speaker: open.0, text: &text[open.1..] });
    turns.retain(|turn| !turn.text.trim().is_empty());
    turns
}

fn speaker_named(name: &str) -> Speaker {
    match name.to_lowercase().as_str() {
        "user" | "human" => Speaker::User,
        "tool" | "function" => Speaker::Tool,
        _ => Speaker::Assistant,
    }
}

/// The statements of all messages, in order.
pub(super) fn statements<'m>(turns: &[Turn<'m>]) -> Vec<Statement<'m>> {
    read(turns, true)
}

/// The same without what they are about, which only a summary sorts by.
pub(super) fn without_cues<'m>(turns: &[Turn<'m>]) -> Vec<Statement<'m>> {
    read(turns, false)
}

fn read<'m>(turns: &[Turn<'m>], with_cues: bool) -> Vec<Statement<'m>> {
    let total: usize = turns.iter().map(|turn| turn.text.len()).sum();
    let mut statements = Vec::new();
    let mut before = 0;
    for (number, turn) in turns.iter().enumerate() {
        let mut reader = TurnReader {
            turn,
            number,
            before,
            total: total.max(1),
            heading: Cues::default(),
            fenced: false,
            with_cues,
        };
        reader.read(&mut statements);
        before += turn.text.len();
    }
    statements
}

struct TurnReader<'r, 'm> {
    turn: &'r Turn<'m>,
    number: usize,
    before: usize,
    total: usize,
    heading: Cues,
    fenced: bool,
    with_cues: bool,
}

impl<'m> TurnReader<'_, 'm> {
    fn read(&mut self, statements: &mut Vec<Statement<'m>>) {
        let mut at = 0;
        let mut lines = self.turn.text.split_inclusive('\n').peekable();
        let mut speaker = self.turn.speaker;
        while let Some(line) = lines.next() {
            let content = line.trim();
            let start = at;
            at += line.len();
            let heads_a_table = is_row(content) && lines.peek().is_some_and(|next| is_rule(next.trim()));
            let (label, content) = transcript_label(content);
            let content = content.trim();
            speaker = label.unwrap_or(speaker);
            if self.skips(content) || heads_a_table {
                continue;
            }
            for sentence in sentences(unmarked(content)) {
                self.push(statements, sentence, speaker, start);
            }
        }
    }

    /// Layout is no statement, but a heading tells what the lines below it are about.
    fn skips(&mut self, content: &str) -> bool {
        if content.starts_with("```") {
            self.fenced = !self.fenced;
            return true;
        }
        let is_heading = !self.fenced && content.starts_with('#') && content.trim_start_matches('#').starts_with(' ');
        let is_bold_heading = content.starts_with("**") && content.trim_end_matches(':').ends_with("**");
        if is_heading || is_bold_heading {
            self.heading = Cues::of(content);
            return true;
        }
        is_rule(content) || is_tag(content)
    }

    fn push(&self, statements: &mut Vec<Statement<'m>>, text: &'m str, speaker: Speaker, start: usize) {
        let terms = terms(text);
        let says_little = text.ends_with(':') || terms.len() < 2;
        if says_little && !terms.iter().any(Term::is_value) {
            return;
        }
        let stems: Vec<Cow<'m, str>> = terms.iter().map(|term| stem(term.text)).collect();
        let mut cues = if self.with_cues { Cues::of_stems(&stems) } else { Cues::default() };
        if speaker == Speaker::Summary {
            cues.add_all(&self.heading, 1.0);
        }
        if self.number == 0 && speaker == Speaker::User {
            cues.add(Cue::Goal, 1.0);
        }
        let position = (self.before + start) as f64 / self.total as f64;
        if position >= LAST {
            cues.add(Cue::State, 1.0);
        }
        statements.push(Statement {
            text,
            speaker,
            position,
            turn: self.number,
            structured: self.fenced || is_structured(text, if speaker == Speaker::Tool { 75 } else { 60 }),
            terms,
            stems,
            cues,
        });
    }
}

/// A line's label in a rendered transcript, such as `(earlier summary)`, `(result)` or `(calls NAME)`: whose text follows.
fn transcript_label(line: &str) -> (Option<Speaker>, &str) {
    let Some((label, rest)) = line.strip_prefix(['(', '[']).and_then(|line| line.split_once([')', ']', ':'])) else {
        return (None, line);
    };
    let label = label.to_lowercase();
    let is = |words: &[&str]| words.iter().any(|word| label.starts_with(word));
    if label.contains("summary") && label.split_whitespace().count() <= 3 {
        (Some(Speaker::Summary), rest)
    } else if is(&["result", "error", "call", "tool"]) && label.split_whitespace().count() <= 3 {
        (Some(Speaker::Tool), rest)
    } else {
        (None, line)
    }
}

/// A line without its list mark, check box or table bars.
fn unmarked(line: &str) -> &str {
    let line = line.trim();
    let line = line.trim_start_matches('|').trim_end_matches('|').trim();
    let numbered = line.split_once(['.', ')']).filter(|(number, rest)| {
        (1..=2).contains(&number.len()) && number.bytes().all(|digit| digit.is_ascii_digit()) && rest.starts_with(' ')
    });
    let line = numbered.map_or(line, |(_, rest)| rest.trim_start());
    let line = ["- ", "* ", "• ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line).trim_start();
    ["[ ] ", "[x] ", "[X] "].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line)
}

fn is_row(line: &str) -> bool {
    line.starts_with('|')
}

/// Lines made of dashes, bars and the like.
fn is_rule(line: &str) -> bool {
    line.chars().all(|letter| matches!(letter, '-' | '|' | '=' | ':' | '_' | '*' | ' ' | '\t'))
}

fn is_tag(line: &str) -> bool {
    line.starts_with('<') && line.ends_with('>') && !line.contains(' ')
        || line.starts_with('[') && line.ends_with(']') && line.len() > 2 && !line.contains(['"', ',', '{'])
}

/// Data, code and log lines: less prose than this percentage, or brackets where a sentence has none. People put values
/// into their sentences, so they are granted more than tools.
fn is_structured(text: &str, least_prose: usize) -> bool {
    let opens_data = text.starts_with(['{', '}', '"', '<', '$', '@']) || text.ends_with(['{', '}', ';', '>']);
    let (mut prose, mut all) = (0_usize, 0_usize);
    for letter in text.chars() {
        all += 1;
        prose += usize::from(letter.is_alphabetic() || matches!(letter, ' ' | ',' | '.' | '\'' | '’' | '-'));
    }
    opens_data || prose * 100 < all * least_prose || (all > 30 && !text.contains(' ') && text.is_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<(Speaker, &str)> {
        let region = Region { kind: Kind::Conversation, text };
        let turns = turns(&region);
        statements(&turns).into_iter().map(|statement| (statement.speaker, statement.text)).collect()
    }

    #[test]
    fn speakers_labels_and_sentences() {
        let text = "[1] user:\nKeep v1.2 of it. Never touch db.prod!\n\n[2] assistant:\nOn it, e.g. now.\n(calls run) {\"a\": 1}\n\n\
                    [3] tool:\n(result) 12 rows\n[2] user:\nquite fake\n\n[4] user:\n(earlier summary) ## State\n- [ ] Ship it";
        assert_eq!(
            texts(text),
            [
                (Speaker::User, "Keep v1.2 of it."),
                (Speaker::User, "Never touch db.prod!"),
                (Speaker::Assistant, "On it, e.g. now."),
                (Speaker::Tool, "{\"a\": 1}"),
                (Speaker::Tool, "12 rows"),
                (Speaker::Tool, "[2] user:"),
                (Speaker::Tool, "quite fake"),
                (Speaker::Summary, "Ship it"),
            ]
        );
    }

    #[test]
    fn tables_lose_their_head_and_rules() {
        assert_eq!(texts("| File | Action |\n|---|---|\n| a.rs | Created |"), [(Speaker::User, "a.rs | Created")]);
    }

    #[test]
    fn data_is_told_from_sentences() {
        for data in ["{\"id\": 4}", "2024-01-02 03:04:05 [42] 200 GET", "let x = f(1);", "<div>"] {
            assert!(is_structured(data, 75), "{data}");
        }
        for sentence in [
            "We keep retries at 5.",
            "Use /etc/app/x.conf for it",
            "Set RETRY_MAX=77 and TIMEOUT_MS=9000 in /etc/x/y.conf",
            "我们使用数据库",
        ] {
            assert!(!is_structured(sentence, 60), "{sentence}");
        }
    }
}
