//! From skeletons to conversations.

mod filler;
mod fresh_names;

use compactometer_engine::message::{Message, MessageId, Part, Role, Usage};
use compactometer_engine::tokens::{Encoding, TokenCounter};
use compactometer_formats::scenario::Scenario;
use serde_json::{Map, Value};

use super::cased;
use super::format::{
    ArgumentNode, Gap, SkeletonMessage, SkeletonPart, SkeletonSession, Skeletons, Text, TextClass,
    ValuePiece,
};
use super::words::{ARGUMENTS, CHOICES, FIRST_UNNAMED, tool_name, word};
use crate::dice::{SeededDice, Stream};
use crate::each::each;
use filler::Filler;
use fresh_names::NameMaker;

/// When a rendered conversation begins: 2025-06-15, in milliseconds.
const START_MS: i64 = 1_750_000_000_000;

/// Conversations with the structure of skeletons. The same seed gives the same text. They have no
/// facts yet.
pub fn render(skeletons: &Skeletons, name: &str, seed: u64) -> Vec<Scenario> {
    // The names that sessions share come from a stream of their own.
    let mut dice = SeededDice::new(seed, usize::MAX, Stream::Skeleton);
    let shared = NameMaker::new(&mut dice, &[]).all(&skeletons.shared);
    let to_text = |points: &Vec<u32>| points.iter().copied().filter_map(char::from_u32).collect();
    let marks: Vec<String> = skeletons.punctuation.iter().map(to_text).collect();
    each(&skeletons.sessions, |number, session| {
        let mut dice = SeededDice::new(seed, number, Stream::Skeleton);
        let atoms = NameMaker::new(&mut dice, &shared).all(&session.atoms);
        let value = |pieces: &Vec<ValuePiece>| {
            pieces
                .iter()
                .map(|piece| spelled(piece, &atoms, &shared))
                .collect()
        };
        let values: Vec<String> = session.values.iter().map(value).collect();
        let mut writer = SkeletonWriter {
            marks: &marks,
            values,
            dice,
        };
        writer.scenario(session, format!("{name}-{number:02}"), seed)
    })
}

fn spelled(piece: &ValuePiece, own: &[String], shared: &[String]) -> String {
    let cased = |atom: Option<&String>, capitals: &[u16]| {
        atom.map_or(String::new(), |atom| cased(atom, capitals))
    };
    match piece {
        ValuePiece::Mark(mark) => mark.to_string(),
        ValuePiece::Word(number) => word(*number).unwrap_or_default().to_owned(),
        ValuePiece::Own(number, capitals) => cased(own.get(*number), capitals),
        ValuePiece::Shared(number, capitals) => cased(shared.get(*number), capitals),
    }
}

/// Writes one session.
struct SkeletonWriter<'m> {
    marks: &'m [String],
    values: Vec<String>,
    dice: SeededDice,
}

impl SkeletonWriter<'_> {
    fn scenario(&mut self, session: &SkeletonSession, id: String, seed: u64) -> Scenario {
        let mut at_ms = START_MS;
        let messages = session.messages.iter().zip(1..).map(|(spoken, number)| {
            let pause = i64::try_from(spoken.1).unwrap_or_default();
            at_ms = at_ms.saturating_add(pause.saturating_mul(1_000));
            self.message(spoken, MessageId(number), at_ms)
        });
        let messages = messages.collect();
        let directories = session
            .directories
            .iter()
            .filter_map(|value| self.values.get(*value as usize));
        Scenario {
            group_id: id.clone(),
            id,
            projects: vec![format!("project-{}", session.project)],
            version: 1,
            seed: Some(seed),
            source: "skeleton".to_owned(),
            licence: None,
            split: Default::default(),
            tools: Vec::new(),
            messages,
            compactions: Vec::new(),
            shaped_after: session.compactions.first().map(|at| MessageId(at + 1)),
            unmeasured: Vec::new(),
            directories: directories.cloned().collect(),
            reattached: None,
            log: Default::default(),
            memory_notes: Vec::new(),
            said: Vec::new(),
            facts: Vec::new(),
            probes: Vec::new(),
        }
    }

    fn message(
        &mut self,
        SkeletonMessage(role, _, said, usage): &SkeletonMessage,
        id: MessageId,
        at_ms: i64,
    ) -> Message {
        let usage = match usage[..] {
            [input, cache_read, cache_write, output] => Some(Box::new(Usage {
                input,
                cache_read,
                cache_write,
                output,
            })),
            _ => None,
        };
        Message {
            id,
            role: match role {
                0 => Role::System,
                1 => Role::User,
                2 => Role::Assistant,
                _ => Role::Tool,
            },
            at_ms: Some(at_ms),
            parts: said.iter().map(|said| self.part(said)).collect(),
            usage,
        }
    }

    fn part(&mut self, said: &SkeletonPart) -> Part {
        match said {
            SkeletonPart::Text(text) => Part::Text {
                text: self.text(text),
            },
            SkeletonPart::Thinking(text) => Part::Thinking {
                text: self.text(text),
                signature: None,
            },
            SkeletonPart::Call(number, tool, arguments) => {
                let arguments = match self.node(arguments) {
                    Value::Object(fields) => Value::Object(fields),
                    other => serde_json::json!({ "text": other }),
                };
                Part::ToolCall {
                    id: format!("call{number}"),
                    name: tool_name(*tool),
                    arguments: arguments.to_string(),
                }
            }
            SkeletonPart::Result(call, is_error, text) => Part::ToolResult {
                call_id: call.map_or("none".to_owned(), |number| format!("call{number}")),
                text: self.text(text),
                is_error: *is_error,
            },
            SkeletonPart::Media(tokens) => Part::Media {
                media_type: "image/png".to_owned(),
                digest: format!("{:016x}", self.dice.below(usize::MAX)),
                tokens: *tokens,
            },
        }
    }

    fn node(&mut self, node: &ArgumentNode) -> Value {
        match node {
            ArgumentNode::Text(text) => Value::String(self.text(text)),
            ArgumentNode::Value(number) => self.number(*number),
            ArgumentNode::Number(digits, is_negative) => {
                let least = 10_i64.pow(u32::from(*digits).saturating_sub(1).min(17));
                let number = least + self.dice.below(9 * least as usize) as i64;
                (if *is_negative { -number } else { number }).into()
            }
            ArgumentNode::Flag(flag) => flag.map_or(Value::Null, Value::Bool),
            ArgumentNode::Choice(number) => {
                CHOICES.get(*number).copied().unwrap_or_default().into()
            }
            ArgumentNode::List(items) => items.iter().map(|item| self.node(item)).collect(),
            ArgumentNode::Fields(fields) => {
                let field =
                    |(name, node): &(u32, ArgumentNode)| (field_name(*name), self.node(node));
                Value::Object(fields.iter().map(field).collect::<Map<_, _>>())
            }
        }
    }

    /// A value as a number where its form is that of one.
    fn number(&self, value: u32) -> Value {
        let value = self.values.get(value as usize).cloned().unwrap_or_default();
        let is_plain = !value.starts_with('0');
        match value.parse::<u64>().ok().filter(|_| is_plain) {
            Some(number) => number.into(),
            None => Value::String(value),
        }
    }

    fn text(&mut self, text: &Text) -> String {
        let Text(tokens, class, starts, ends, gaps) = text;
        let (mean, starts) = self.words_of(text, *tokens, *starts);
        let line = self.dice.between(1, 400);
        let mut filler = Filler {
            dice: &mut self.dice,
            class: *class,
            mean,
            starts,
            line,
            debt: 0.0,
        };
        let mut written = String::new();
        let mut ends = ends.iter().peekable();
        for (number, gap) in gaps.iter().enumerate() {
            let is_here = |end: &&u32| **end as usize / 2 == number;
            let here = std::iter::from_fn(|| ends.next_if(is_here));
            let ends: Vec<bool> = here.map(|end| end % 2 == 1).collect();
            written.push_str(mark(self.marks, gap.0));
            written.push_str(&filler.write(gap.1 as usize, gap.2 as usize, &ends));
            if let Some(value) = gap.4.and_then(|value| self.values.get(value as usize)) {
                let before = mark(self.marks, gap.3);
                // Filler must not run into a value.
                if gap.1 > 0 && before.is_empty() {
                    written.push(' ');
                }
                written.extend([before, value]);
            }
        }
        written
    }

    /// The tokens of the values and the punctuation beside them.
    fn tokens_of_values(&self, gaps: &[Gap]) -> f64 {
        let mut fixed = String::new();
        for gap in gaps {
            let value = gap.4.and_then(|value| self.values.get(value as usize));
            let value = value.map_or("", String::as_str);
            fixed.extend([mark(self.marks, gap.0), mark(self.marks, gap.3), value]);
        }
        f64::from(Encoding::O200k.count_text(&fixed))
    }

    /// The mean length of words by which filler takes the tokens that values leave, and how lines
    /// begin, if there is room for that.
    fn words_of(&self, Text(_, class, _, _, gaps): &Text, tokens: u32, starts: u32) -> (f64, u32) {
        let free: f64 = gaps.iter().map(|gap| f64::from(gap.1)).sum();
        if free == 0.0 {
            return (4.0, starts);
        }
        let fixed = self.tokens_of_values(gaps);
        let lines: f64 = gaps.iter().map(|gap| f64::from(gap.2)).sum();
        let is_numbered = starts % 2 == 1;
        let width = |starts: u32| f64::from(7 * (starts % 2) + starts / 2 + 1) * lines;
        let starts = if width(starts) > 0.8 * free {
            0
        } else {
            starts
        };
        let of_starts =
            if is_numbered { 3.0 } else { 0.0 } + if starts > 1 { 1.0 } else { 0.0 } + 0.5;
        let left = (f64::from(tokens) - fixed - lines * of_starts).max(1.0);
        let most = if *class == TextClass::Code { 9.0 } else { 11.0 };
        (((free - width(starts)) / left).clamp(1.2, most), starts)
    }
}

fn mark(marks: &[String], number: u32) -> &str {
    marks.get(number as usize).map_or("", String::as_str)
}

fn field_name(number: u32) -> String {
    match number.checked_sub(FIRST_UNNAMED) {
        // Names by which the finder of uses sees what an argument is for.
        Some(number) if number % 2 == 1 => format!("text{}", number / 2),
        Some(number) => format!("target{}", number / 2),
        None => ARGUMENTS
            .get(number as usize)
            .copied()
            .unwrap_or("text")
            .to_owned(),
    }
}
