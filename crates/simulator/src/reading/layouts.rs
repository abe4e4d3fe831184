//! Other layouts of a conversation in a prompt, rewritten as the one that is read: blocks that open
//! with a line such as `[1] user:`.
//!
//! Lines of speakers in several styles, messages between tags, and messages as JSON are known. A text
//! that has such blocks already stays as it is.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::reading::structure_lines::{header, lines_of, numbered};

/// The text in the layout that is read.
pub(crate) fn rewritten(said: String) -> String {
    let has_blocks = said.contains("[1] ")
        && lines_of(&said).any(|line| line.starts_with("[1] ") && header(line).is_some());
    if has_blocks || !said.contains([':', '<', '{', '#']) {
        return said;
    }
    of_lines(&said)
        .or_else(|| of_json(&said))
        .or_else(|| of_tags(&said))
        .unwrap_or(said)
}

/// Who speaks, as the rewritten text names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LayoutRole {
    User,
    Assistant,
    Call,
    Tool,
}

/// The role that a name stands for, if it is the name of a speaker.
fn role(name: &str) -> Option<LayoutRole> {
    let name = name.trim().to_lowercase().replace(['_', '-'], " ");
    let is = |names: &[&str]| names.contains(&name.as_str());
    let opens = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
    match () {
        () if is(&["user", "human"]) => Some(LayoutRole::User),
        () if is(&[
            "assistant",
            "ai",
            "agent",
            "model",
            "system",
            "developer",
            "thinking",
        ]) =>
        {
            Some(LayoutRole::Assistant)
        }
        () if is(&["tool", "function", "observation"])
            || opens(&["tool result", "tool response", "tool output"]) =>
        {
            Some(LayoutRole::Tool)
        }
        () if is(&["action"])
            || opens(&["tool call", "assistant tool call"])
            || name.ends_with("called tool") =>
        {
            Some(LayoutRole::Call)
        }
        () => None,
    }
}

/// A conversation as it is rewritten.
#[derive(Default)]
struct LayoutBlocks {
    text: String,
    number: usize,
}

impl LayoutBlocks {
    fn open(&mut self, role: LayoutRole) {
        self.number += 1;
        let name = match role {
            LayoutRole::User => "user",
            LayoutRole::Assistant | LayoutRole::Call => "assistant",
            LayoutRole::Tool => "tool",
        };
        let _ = writeln!(self.text, "[{}] {name}:", self.number);
    }

    fn say(&mut self, role: LayoutRole, said: &str) {
        if said.trim().is_empty() {
            return;
        }
        self.open(role);
        let said = said.trim();
        match role {
            LayoutRole::Call => self.text.push_str(&calls(said)),
            LayoutRole::Tool => self.text.extend(["(result) ", said]),
            LayoutRole::User => self.text.push_str(said),
            LayoutRole::Assistant => {
                // A call may follow on the line.
                let (said, called) = said.split_once("function_call ").unwrap_or((said, ""));
                self.text.push_str(said);
                if !called.is_empty() {
                    self.text.extend(["\n", &calls(called)]);
                }
            }
        }
        self.text.push_str("\n\n");
    }

    /// Adds a message that may have tags for its text and its calls.
    fn say_tagged(&mut self, role: LayoutRole, inner: &str) {
        let mut parts = inner.split("<tool_call ");
        let said = parts.next().unwrap_or_default().trim();
        let said = said.strip_prefix("<content>").unwrap_or(said);
        self.say(role, said.strip_suffix("</content>").unwrap_or(said));
        for part in parts {
            let name = part
                .split_once("name=\"")
                .and_then(|(_, rest)| rest.split_once('"'));
            let inner = part
                .split_once('>')
                .and_then(|(_, rest)| rest.split_once("</tool_call>"));
            if let (Some((name, _)), Some((arguments, _))) = (name, inner) {
                self.open(LayoutRole::Call);
                let _ = write!(self.text, "(calls {name}) {}\n\n", arguments.trim());
            }
        }
    }
}

/// The style of a line that opens a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LayoutStyle {
    /// `[User]: text`
    Bracket,
    /// `## User`
    Heading,
    /// `user: text`
    Colon,
}

/// A line that opens a message in a style, with the rest of the line.
fn opened(line: &str) -> Option<(LayoutStyle, LayoutRole, &str)> {
    let line = line.trim();
    let line = numbered(line, &['.']).map_or(line, |(_, rest)| rest.trim_start());
    if let Some((name, rest)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
        let rest = rest.strip_prefix(':').or(rest.strip_prefix(' '))?;
        return Some((LayoutStyle::Bracket, role(name)?, rest));
    }
    if line.starts_with('#') {
        let name = line.trim_start_matches('#').trim().trim_end_matches(':');
        return Some((LayoutStyle::Heading, role(name)?, ""));
    }
    let (name, rest) = line.split_once(':')?;
    let role = role(name.trim_matches('*'))?;
    // A value without a blank before it is that of a key.
    (rest.is_empty() || rest.starts_with([' ', '*'])).then_some((
        LayoutStyle::Colon,
        role,
        rest.trim_start_matches('*'),
    ))
}

/// The text with its lines of speakers as blocks. Two different speakers in one style make a
/// conversation; a single one may be a key.
fn of_lines(said: &str) -> Option<String> {
    let mut seen: [Vec<LayoutRole>; 3] = Default::default();
    for (style, role, _) in lines_of(said).filter_map(opened) {
        let roles = &mut seen[style as usize];
        if !roles.contains(&role) {
            roles.push(role);
        }
    }
    let styles = [
        LayoutStyle::Bracket,
        LayoutStyle::Heading,
        LayoutStyle::Colon,
    ];
    let style = styles
        .into_iter()
        .find(|style| seen[*style as usize].len() > 1)?;
    let mut blocks = LayoutBlocks::default();
    let mut open: Option<(LayoutRole, String)> = None;
    for line in lines_of(said) {
        match opened(line).filter(|(found, ..)| *found == style) {
            Some((_, role, rest)) => {
                if let Some((role, said)) = open.take() {
                    blocks.say(role, &said);
                }
                open = Some((role, format!("{}\n", rest.trim_start().trim_end())));
            }
            // A closing tag or the last paragraph may end the conversation, which is judged later.
            None => match &mut open {
                Some(_) if line.trim_start().starts_with("</") => {
                    let (role, said) = open.take()?;
                    blocks.say(role, &said);
                    blocks.text.push_str(line);
                }
                Some((_, said)) => said.push_str(line),
                None => blocks.text.push_str(line),
            },
        }
    }
    let (role, last) = open.unwrap_or((LayoutRole::User, String::new()));
    let (last, after) = last_paragraph(&last);
    blocks.say(role, last);
    blocks.text.push_str(after);
    Some(blocks.text)
}

/// A last message, and the paragraph after it that gives an instruction.
fn last_paragraph(text: &str) -> (&str, &str) {
    let text = text.trim_end();
    match text.rsplit_once("\n\n") {
        Some((message, after)) if super::asks_to_condense(after) => (message, after),
        _ => (text, ""),
    }
}

/// Calls as a transcript has them, of `read(path="a.rs", limit=4)` and the like.
fn calls(said: &str) -> String {
    let mut rest = said.trim();
    let mut text = String::new();
    while let Some((name, arguments, after)) = call(rest) {
        let _ = writeln!(text, "(calls {name}) {}", Value::Object(arguments));
        rest = after.trim_start_matches([';', ',', ' ', '\n']);
    }
    text.push_str(rest);
    text.trim_end().to_owned()
}

fn is_tool_name(text: &str) -> bool {
    let is_of_name = |letter: char| letter.is_alphanumeric() || "_.-".contains(letter);
    !text.is_empty() && text.chars().all(is_of_name)
}

fn call(text: &str) -> Option<(&str, Map<String, Value>, &str)> {
    let (name, mut rest) = text.split_once('(')?;
    if !is_tool_name(name) {
        return None;
    }
    if rest.starts_with('{') {
        let (value, length) = object(rest)?;
        return Some((name, value, rest[length..].strip_prefix(')')?));
    }
    let mut arguments = Map::new();
    loop {
        rest = rest.trim_start_matches([',', ' ', '\n']);
        if let Some(after) = rest.strip_prefix(')') {
            return Some((name, arguments, after));
        }
        let (key, value) = rest.split_once('=')?;
        let mut values = serde_json::Deserializer::from_str(value).into_iter::<Value>();
        arguments.insert(key.trim().to_owned(), values.next()?.ok()?);
        rest = &value[values.byte_offset()..];
    }
}

/// The object that a text begins with, in JSON or as Python prints it, and its length in bytes.
fn object(text: &str) -> Option<(Map<String, Value>, usize)> {
    let read = |text: &str| {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Map<String, Value>>();
        let value = values.next()?.ok()?;
        Some((value, values.byte_offset()))
    };
    read(text).or_else(|| read(&text.replace('\'', "\"")))
}

/// The text with its messages in JSON as blocks: a list of objects with roles, or such a list under a
/// key, or one object on each line.
fn of_json(said: &str) -> Option<String> {
    /// Hostile text may open many lists.
    const TRIES: usize = 16;
    let starts = said.match_indices(['[', '{']).map(|(at, _)| at);
    let opens = starts.filter(|at| {
        said[*at..].starts_with("[{")
            || said[*at..].starts_with("[\n")
            || said[*at..].starts_with('{')
    });
    opens.take(TRIES).find_map(|at| {
        let mut values = serde_json::Deserializer::from_str(&said[at..]).into_iter::<Value>();
        let (mut messages, mut end) = (Vec::new(), at);
        while let Some(Ok(value)) = values.next() {
            let found = messages_in(value);
            if found.is_empty() {
                break;
            }
            messages.extend(found);
            end = at + values.byte_offset();
        }
        (messages.len() > 1).then(|| {
            let mut blocks = LayoutBlocks::default();
            blocks.text.push_str(said[..at].trim_end());
            blocks.text.push_str("\n\n");
            messages
                .iter()
                .for_each(|message| add(message, &mut blocks));
            blocks.text.push_str(said[end..].trim_start());
            blocks.text
        })
    })
}

/// The messages that a value is or holds.
fn messages_in(value: Value) -> Vec<Map<String, Value>> {
    match value {
        Value::Array(items) => items.into_iter().flat_map(messages_in).collect(),
        Value::Object(fields) if role_of(&fields).is_some() => vec![fields],
        Value::Object(fields) => fields
            .into_iter()
            .filter(|(_, value)| value.is_array())
            .flat_map(|(_, value)| messages_in(value))
            .collect(),
        _ => Vec::new(),
    }
}

fn role_of(message: &Map<String, Value>) -> Option<LayoutRole> {
    let names = ["role", "author", "speaker", "type", "source", "kind"];
    names
        .iter()
        .find_map(|name| role(message.get(*name)?.as_str()?))
}

fn add(message: &Map<String, Value>, blocks: &mut LayoutBlocks) {
    let role = role_of(message).unwrap_or(LayoutRole::Assistant);
    let keys = [
        "content",
        "parts",
        "text",
        "message",
        "contents",
        "tool_calls",
    ];
    for content in keys.iter().filter_map(|key| message.get(*key)) {
        match content {
            Value::Array(parts) => parts.iter().for_each(|part| add_part(part, role, blocks)),
            part => add_part(part, role, blocks),
        }
    }
}

fn add_part(part: &Value, role: LayoutRole, blocks: &mut LayoutBlocks) {
    let Value::Object(fields) = part else {
        return blocks.say(role, part.as_str().unwrap_or_default());
    };
    let call = ["function", "functionCall", "function_call", "toolUse"]
        .iter()
        .find_map(|key| fields.get(*key)?.as_object())
        .unwrap_or(fields);
    let arguments = ["arguments", "input", "args"]
        .iter()
        .find_map(|key| call.get(*key));
    if let (Some(Value::String(name)), Some(arguments)) = (call.get("name"), arguments) {
        let arguments = match arguments {
            Value::String(text) => Cow::Borrowed(text.as_str()),
            other => Cow::Owned(other.to_string()),
        };
        blocks.open(LayoutRole::Call);
        let _ = write!(blocks.text, "(calls {name}) {arguments}\n\n");
        return;
    }
    let is_result = [
        "tool_result",
        "functionResponse",
        "function_response",
        "toolResult",
        "output",
    ];
    let result = is_result.iter().find_map(|key| fields.get(*key));
    let is_named = fields
        .get("type")
        .and_then(Value::as_str)
        .is_some_and(|kind| kind.contains("result"));
    let said = result
        .or(fields.get("text"))
        .or(fields.get("content"))
        .unwrap_or(part);
    let role = if result.is_some() || is_named {
        LayoutRole::Tool
    } else {
        role
    };
    match said {
        Value::String(text) => blocks.say(role, text),
        Value::Array(parts) => parts.iter().for_each(|part| add_part(part, role, blocks)),
        other => blocks.say(role, &other.to_string()),
    }
}

/// Each tag that encloses no message costs a look at the whole text, so a text with more is none of
/// messages.
const OTHER_TAGS: usize = 200;

/// The text with its messages between tags as blocks. A tag that closes twice or more encloses
/// messages, and so does one with the name of a speaker.
fn of_tags(said: &str) -> Option<String> {
    let mut blocks = LayoutBlocks::default();
    let (mut rest, mut messages, mut others) = (said, 0, 0);
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        blocks.text.push_str(before);
        match message(tag, said) {
            Some((role, inner, after)) => {
                blocks.say_tagged(role, inner);
                messages += 1;
                rest = after.trim_start_matches('\n');
            }
            None if others == OTHER_TAGS => return None,
            None => {
                others += 1;
                blocks.text.push('<');
                rest = &tag[1..];
            }
        }
    }
    blocks.text.push_str(rest);
    (messages > 1).then_some(blocks.text)
}

fn is_name(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    !name.is_empty() && name.bytes().all(is_part)
}

/// The message that a tag at the start of a text encloses, and the text after it.
fn message<'t>(text: &'t str, whole: &str) -> Option<(LayoutRole, &'t str, &'t str)> {
    let head = text.get(1..text.find('>')?)?;
    let name = head
        .split([' ', '\n'])
        .next()
        .filter(|name| is_name(name))?;
    let attribute = ["role=", "source=", "author=", "speaker=", "type="]
        .iter()
        .find_map(|key| {
            let value = head.split_once(key)?.1.trim_start_matches(['"', '\'']);
            role(value.split(['"', '\'', ' ']).next()?)
        });
    let is_repeated =
        || head.len() > name.len() && whole.matches(&format!("</{name}>")).nth(1).is_some();
    let role = attribute
        .or_else(|| role(name))
        .or_else(|| is_repeated().then_some(LayoutRole::Assistant))?;
    let (inner, after) = text[head.len() + 2..].split_once(&format!("</{name}>"))?;
    Some((role, inner, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCKS: &str = "[1] user:\nSet it to 42.\n\n[2] assistant:\n(calls read) {\"path\":\"src/a.rs\"}\n\n[3] tool:\n(result) {\"ok\": 1}\n\n";

    #[track_caller]
    fn check(said: &str, expected: &str) {
        assert_eq!(rewritten(said.to_owned()), expected);
    }

    #[test]
    fn lines_of_speakers_become_blocks() {
        let call = "read(path=\"src/a.rs\")";
        check(
            &format!(
                "Sum up.\n\n[User]: Set it to 42.\n\n[Assistant tool calls]: {call}\n\n[Tool result]: {{\"ok\": 1}}\n"
            ),
            &format!("Sum up.\n\n{BLOCKS}"),
        );
        check(
            &format!("# USER\nSet it to 42.\n# Tool calls\n{call}\n# TOOL\n{{\"ok\": 1}}"),
            BLOCKS,
        );
        check(
            "user: Set it to 42.\ntool: {\"ok\": 1}\n\nSummarize the above.",
            "[1] user:\nSet it to 42.\n\n[2] tool:\n(result) {\"ok\": 1}\n\nSummarize the above.",
        );
    }

    #[test]
    fn calls_are_found_in_several_forms() {
        let call = "(calls edit) {\"path\":\"src/a.rs\"}";
        let blocks = format!("[1] user:\nGo.\n\n[2] assistant:\n{call}\n\n");
        check(
            "user: Go.\nagent called tool: edit({'path': 'src/a.rs'})",
            &blocks,
        );
        check(
            "1. [user] Go.\n2. [assistant] function_call edit({\"path\": \"src/a.rs\"}) [id=1]",
            &format!("[1] user:\nGo.\n\n[2] assistant:\n\n{call}\n[id=1]\n\n"),
        );
        check(
            "<message type=\"human\">Go.</message><message type=\"ai\">\n<content></content>\n<tool_call id=\"1\" name=\"edit\">{\"path\":\"src/a.rs\"}</tool_call></message>",
            &blocks,
        );
    }

    #[test]
    fn messages_in_json_and_between_tags_become_blocks() {
        let chat = r#"[{"role": "user", "content": "Set it to 42."}, {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "read", "arguments": "{\"path\":\"src/a.rs\"}"}}]}, {"role": "tool", "content": "{\"ok\": 1}"}]"#;
        check(&format!("Sum up:\n{chat}"), &format!("Sum up:\n\n{BLOCKS}"));
        let parts = r#"{"messages": [{"role": "user", "parts": [{"text": "Set it to 42."}]}, {"role": "model", "parts": [{"functionCall": {"name": "read", "args": {"path": "src/a.rs"}}}]}, {"role": "tool", "parts": [{"text": "{\"ok\": 1}"}]}]}"#;
        check(parts, &format!("\n\n{BLOCKS}"));
        check(
            "<message role=\"user\">\nSet it to 42.\n</message>\n<message role=\"tool\">{\"ok\": 1}</message>\nSum up.",
            "[1] user:\nSet it to 42.\n\n[2] tool:\n(result) {\"ok\": 1}\n\nSum up.",
        );
    }

    #[test]
    fn a_long_text_of_other_tags_is_left_at_once() {
        let said = "<a b> and <c>: ".repeat(70_000);
        assert_eq!(rewritten(said.clone()), said);
    }

    #[test]
    fn all_else_stays_as_it_is() {
        for said in [
            "Summarize: user: 7",
            "[1] user:\nassistant: hi\nuser: ho",
            "{\"goal\": \"x\"}",
            "<a>b</a> and <c>d</c>",
            "user:7\nassistant:8",
        ] {
            check(said, said);
        }
    }
}
