//! Reads a request like a model: what is given, what is asked, in which shape and within which
//! limits.

pub(crate) mod cache;
mod choose;
pub(crate) mod cues;
pub(crate) mod json_shape;
mod limits;
pub(crate) mod lines;
pub(crate) mod message;
pub(crate) mod pieces;
pub(crate) mod regions;
pub(crate) mod sentences;
pub(crate) mod statements;
pub(crate) mod template;
pub(crate) mod terms;
mod unfold;

use compactometer_engine::message::{Part as WirePart, Role};
use compactometer_engine::model::{ChatRequest, WireMessage};

use crate::reading::cues::is_stop_word;
use crate::reading::json_shape::Node;
use crate::reading::limits::{Unit, limits};
use crate::reading::lines::is_marker;
use crate::reading::pieces::Speaker;
use crate::reading::regions::Parted;
use crate::reading::statements::{Turn, turns};
use crate::reading::template::{Section, sections};
use crate::reading::terms::number;
use crate::reading::terms::{stem, terms};

/// A request that has been read.
#[derive(Debug)]
pub(crate) struct Reading<'t> {
    /// The material, in order.
    pub(crate) turns: Vec<Turn<'t>>,
    /// What the request asks for.
    pub(crate) ask: Ask,
    /// Whether the request ends with the conversation, with no instruction after it.
    pub(crate) is_open: bool,
}

/// What a request asks for.
#[derive(Debug)]
pub(crate) enum Ask {
    /// To condense the material.
    Condense(Shape),
    /// To answer this question.
    Answer(String),
    /// To choose a word; this is the choice.
    Choose(String),
}

/// The shape of a condensed text.
#[derive(Debug)]
pub(crate) struct Shape {
    /// Its parts, in order. There are several only if each has a tag.
    pub(crate) parts: Vec<Part>,
    /// Whether the prompt asks to leave tool output out.
    pub(crate) without_tools: bool,
    /// Whether the prompt asks to omit empty fields and headings.
    pub(crate) omit_empty: bool,
}

/// A part of the answer.
#[derive(Debug)]
pub(crate) struct Part {
    /// The line that opens it, for example `[SUMMARY]`.
    pub(crate) tag: Option<String>,
    /// The form of the part.
    pub(crate) form: Form,
    /// The largest number of words.
    pub(crate) words: Option<u32>,
    /// The largest number of tokens that the prompt allows.
    pub(crate) tokens: Option<u32>,
}

/// The form of a part.
#[derive(Debug, PartialEq)]
pub(crate) enum Form {
    Prose,
    /// List items; those with exact values come last, under this heading, if the prompt asks for
    /// one.
    Bullets(Option<String>),
    Sections(Vec<Section>),
    Json(Node),
}

/// Reads a request whose last user message is `said`.
pub(crate) fn read<'t>(request: &'t ChatRequest, said: &'t str) -> Reading<'t> {
    let last = request
        .messages
        .iter()
        .rposition(|message| message.role == Role::User);
    let earlier = &request.messages[..last.unwrap_or(request.messages.len())];
    let (system, spoken): (Vec<_>, Vec<_>) = earlier
        .iter()
        .partition(|message| message.role == Role::System);
    let parted = regions::part(said);
    let mut given: Vec<Turn<'t>> = spoken
        .iter()
        .flat_map(|message| wire_turns(message))
        .collect();
    let (instruction, bare) = if given.is_empty() {
        bare_material(said, parted)
    } else {
        (parted, None)
    };
    given.extend(instruction.given.iter().flat_map(turns));
    given.extend(bare);
    let is_open = instruction.is_open;
    let mut lines = instruction.instruction;
    let shape = request.schema.as_ref().and_then(json_shape::of_schema);
    let question = question(&lines).filter(|_| shape.is_none());
    if spoken.is_empty() {
        // If a conversation follows, the system prompt instructs the agent and not the summarizer.
        lines.splice(
            0..0,
            system
                .iter()
                .flat_map(|message| texts(message))
                .flat_map(str::lines),
        );
    }
    // The chosen word depends only on the instruction, so a conversation never triggers a choice.
    if let Some(word) = choose::chosen(&lines).filter(|_| given.is_empty() && shape.is_none()) {
        return Reading {
            turns: given,
            ask: Ask::Choose(word),
            is_open,
        };
    }
    let asked = lines.join("\n");
    let condenses =
        || shape.is_some() || asks_to_condense(&asked) || json_shape::shown(&asked).is_some();
    if question.is_none() && condenses() {
        return Reading {
            turns: given,
            ask: Ask::Condense(read_shape(&lines, &asked, shape)),
            is_open,
        };
    }
    let context = system
        .iter()
        .flat_map(|message| wire_turns(message))
        .chain(given)
        .collect();
    Reading {
        turns: context,
        ask: Ask::Answer(question.unwrap_or(asked)),
        is_open,
    }
}

/// The text of the last user message, with earlier JSON checkpoints unfolded into text.
pub(crate) fn last_said(request: &ChatRequest) -> String {
    let last = request
        .messages
        .iter()
        .rfind(|message| message.role == Role::User);
    unfold::unfolded(
        last.map(|message| texts(message).collect::<Vec<_>>().join("\n"))
            .unwrap_or_default(),
    )
}

fn texts(message: &WireMessage) -> impl Iterator<Item = &str> {
    message.parts.iter().filter_map(|part| match part {
        WirePart::Text { text } => Some(text.as_str()),
        _ => None,
    })
}

fn wire_turns(message: &WireMessage) -> Vec<Turn<'_>> {
    let speaker = match message.role {
        Role::User => Speaker::User,
        Role::Tool => Speaker::Tool,
        Role::Assistant | Role::System => Speaker::Assistant,
    };
    let spoken = message.parts.iter().filter_map(|part| match part {
        WirePart::Text { text } => Some(Turn { speaker, text }),
        WirePart::ToolCall {
            arguments: text, ..
        }
        | WirePart::ToolResult { text, .. } => Some(Turn {
            speaker: Speaker::Tool,
            text,
        }),
        WirePart::Thinking { .. } | WirePart::Media { .. } => None,
    });
    spoken.collect()
}

/// A prompt without any marks around its material: the first paragraph, or what is before a colon
/// in its only line, is the instruction, and the rest is the material.
fn bare_material<'t>(said: &'t str, parted: Parted<'t>) -> (Parted<'t>, Option<Turn<'t>>) {
    let said = said.trim();
    let in_line = || said.split_once(": ").filter(|_| !said.contains('\n'));
    let split = said
        .split_once("\n\n")
        .or_else(in_line)
        .filter(|(first, _)| asks_to_condense(first));
    match split {
        Some((first, rest))
            if !parted.found && json_shape::shown(rest).is_none() && rest.len() > first.len() =>
        {
            let instruction = Parted {
                instruction: first.lines().collect(),
                given: Vec::new(),
                found: true,
                is_open: true,
            };
            (
                instruction,
                Some(Turn {
                    speaker: Speaker::User,
                    text: rest,
                }),
            )
        }
        _ => (parted, None),
    }
}

fn asks_to_condense(text: &str) -> bool {
    let text = text.to_lowercase();
    let roots = [
        "summar",
        "condens",
        "compress",
        "compact",
        "checkpoint",
        "extract",
        "distil",
        "recap",
        "handoff",
        "hand-off",
        "handover",
        "digest",
        "snapshot",
    ];
    roots.iter().any(|root| text.contains(root))
}

/// The question at the end of an instruction, unless it is a polite request for a summary.
fn question(lines: &[&str]) -> Option<String> {
    let last = lines
        .iter()
        .rev()
        .find(|line| !line.trim().is_empty())?
        .trim();
    let lower = last.to_lowercase();
    let is_request = ["can you", "could you", "would you", "please"]
        .iter()
        .any(|polite| lower.contains(polite));
    (last.ends_with(['?', '？']) && !(is_request && asks_to_condense(last)))
        .then(|| last.to_owned())
}

fn read_shape(lines: &[&str], asked: &str, schema: Option<Node>) -> Shape {
    // A schema of an arbitrary object leaves the keys to the prompt.
    let json = match schema {
        Some(Node::Map) => json_shape::shown(asked).or(Some(Node::Map)),
        schema => schema.or_else(|| json_shape::shown(asked)),
    };
    let tags = tags(lines);
    let mut parts: Vec<Part> = if tags.is_empty() {
        vec![Part {
            tag: None,
            form: untagged_form(lines, asked, json),
            words: None,
            tokens: None,
        }]
    } else {
        let form = |shows_json: bool| match &json {
            Some(node) if shows_json => Form::Json(node.clone()),
            _ => prose_form(asked),
        };
        tags.into_iter()
            .map(|(tag, json)| Part {
                tag: Some(tag),
                form: form(json),
                words: None,
                tokens: None,
            })
            .collect()
    };
    assign_limits(&mut parts, asked);
    let without_tools = excludes_tools(lines);
    let omit_empty = lines.iter().any(|line| {
        let line = line.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
        has(&["empty"]) && has(&["omit", "leave", "no ", "skip", "without", "drop"])
            || has(&["only"]) && has(&["fields", "keys"])
    });
    for part in &mut parts {
        if let Form::Sections(sections) = &mut part.form {
            sections
                .iter_mut()
                .for_each(|section| section.optional |= omit_empty);
        }
    }
    Shape {
        parts,
        without_tools,
        omit_empty,
    }
}

fn untagged_form(lines: &[&str], asked: &str, json: Option<Node>) -> Form {
    if let Some(node) = json {
        return Form::Json(node);
    }
    let sections = sections(lines);
    if sections.is_empty() {
        prose_form(asked)
    } else {
        Form::Sections(sections)
    }
}

fn prose_form(asked: &str) -> Form {
    if asked.to_lowercase().contains("bullet") {
        Form::Bullets(quoted_heading(asked))
    } else {
        Form::Prose
    }
}

/// A heading that the instruction quotes, as in `under the heading "Names:"`.
fn quoted_heading(asked: &str) -> Option<String> {
    let (_, rest) = asked.split_once("heading ")?;
    let close = match rest.chars().next()? {
        '“' => '”',
        quote @ ('"' | '\'' | '`') => quote,
        _ => return None,
    };
    let (heading, _) = rest
        .split_at(rest.chars().next()?.len_utf8())
        .1
        .split_once(close)?;
    (!heading.trim().is_empty() && heading.len() <= 40 && !heading.contains('\n'))
        .then(|| heading.to_owned())
}

/// Tags such as `[SUMMARY]` on separate lines, each once, and whether JSON follows.
fn tags(lines: &[&str]) -> Vec<(String, bool)> {
    let mut tags: Vec<(String, bool)> = Vec::new();
    for line in lines.iter().map(|line| line.trim()) {
        if is_marker(line) && !tags.iter().any(|(tag, _)| tag == line) {
            tags.push((line.to_owned(), false));
        } else if let Some((_, json)) = tags.last_mut() {
            *json |= line.starts_with('{') || line.to_lowercase().contains("json");
        }
    }
    tags
}

/// Assigns each limit to the part that the text before it names last in its paragraph, otherwise to
/// all parts together.
fn assign_limits(parts: &mut [Part], asked: &str) {
    let lower = asked.to_ascii_lowercase();
    let shared = u32::try_from(parts.len()).unwrap_or(1).max(1);
    for limit in limits(asked) {
        let paragraph = lower[..limit.at].rfind("\n\n").map_or(0, |at| at + 2);
        let before = &lower[paragraph..limit.at];
        let owner = (0..parts.len())
            .filter_map(|at| Some((last_named(&parts[at], before)?, at)))
            .max();
        let (owners, most) = match owner {
            Some((_, at)) => (at..at + 1, limit.most),
            None => (0..parts.len(), limit.most / shared),
        };
        for part in &mut parts[owners] {
            let slot = if limit.unit == Unit::Words {
                &mut part.words
            } else {
                &mut part.tokens
            };
            *slot = Some(slot.map_or(most, |old| old.min(most)));
        }
    }
}

/// Where a text, in lower case, last names a part.
fn last_named(part: &Part, text: &str) -> Option<usize> {
    let tag = part.tag.as_deref()?;
    let name = tag.trim_matches(['[', ']']).to_ascii_lowercase();
    text.rfind(&name[..name.len().min(6)])
}

/// Whether a line, or a list under a line that excludes something, names tool output or logs.
fn excludes_tools(lines: &[&str]) -> bool {
    let excludes = [
        "leave out",
        "leaves out",
        "exclude",
        "omit",
        "do not include",
        "don't include",
        "ignore",
        "without",
    ];
    let mut listing = false;
    lines.iter().any(|line| {
        let line = line.trim().to_lowercase();
        let here = excludes.iter().any(|word| line.contains(word));
        let is_item = line.starts_with(['-', '*', '•'])
            || line.starts_with(|letter: char| letter.is_ascii_digit());
        listing = (here && line.ends_with(':')) || (listing && (is_item || line.is_empty()));
        (here || listing) && (line.contains("tool") || line.contains("logs"))
    })
}

/// The material of a request, message by message.
pub(crate) fn material(request: &ChatRequest) -> Vec<String> {
    read(request, &last_said(request))
        .turns
        .iter()
        .map(|turn| turn.text.to_owned())
        .collect()
}

/// The instruction of a request without the material, line by line.
pub(crate) fn instruction(request: &ChatRequest) -> Vec<String> {
    regions::part(&last_said(request))
        .instruction
        .iter()
        .map(|line| (*line).to_owned())
        .collect()
}

/// The numbers of the distinct stems in a question.
pub(crate) fn wanted(question: &str) -> Vec<u64> {
    let mut wanted: Vec<String> = terms(question)
        .iter()
        .map(|term| stem(term.text).into_owned())
        .collect();
    wanted.retain(|stem| !is_stop_word(stem));
    wanted.sort_unstable();
    wanted.dedup();
    wanted.iter().map(|stem| number(stem)).collect()
}
