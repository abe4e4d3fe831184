//! Reads a request like a model: what is given, what is asked, in which shape and within which
//! limits.

pub(crate) mod cache;
mod choose;
pub(crate) mod cues;
mod envelope;
pub(crate) mod json_shape;
mod layouts;
mod length_limits;
pub(crate) mod message;
pub(crate) mod pieces;
pub(crate) mod read_calls;
pub(crate) mod regions;
pub(crate) mod split_sentences;
pub(crate) mod statements;
pub(crate) mod structure_lines;
pub(crate) mod template;
pub(crate) mod terms;
mod unfold;

use compactometer_engine::message::{Part as WirePart, Role};
use compactometer_engine::model::{ChatRequest, WireMessage};

use crate::reading::cues::is_stop_word;
use crate::reading::json_shape::ShapeNode;
use crate::reading::length_limits::{LimitUnit, limits};
use crate::reading::pieces::{MaterialTurn, Voice};
use crate::reading::regions::Parted;
use crate::reading::statements::turns;
use crate::reading::structure_lines::is_marker;
use crate::reading::template::Section;
use crate::reading::terms::number;
use crate::reading::terms::{stem, terms};

/// A request that has been read.
#[derive(Debug)]
pub(crate) struct RequestReading<'t> {
    /// The material, in order.
    pub(crate) turns: Vec<MaterialTurn<'t>>,
    /// What the request asks for.
    pub(crate) ask: RequestAsk,
}

/// What a request asks for.
#[derive(Debug)]
pub(crate) enum RequestAsk {
    /// To condense the material.
    Condense(AnswerShape),
    /// To answer this question.
    Answer(String),
    /// To choose a word; this is the choice.
    Choose(String),
}

/// The shape of a condensed text.
#[derive(Debug)]
pub(crate) struct AnswerShape {
    /// Its parts, in order. There are several only if each has a tag.
    pub(crate) parts: Vec<AnswerPart>,
    /// Whether the prompt asks to leave tool output out.
    pub(crate) without_tools: bool,
    /// Whether the prompt asks to omit empty fields and headings.
    pub(crate) omit_empty: bool,
    /// Whether the prompt asks for exact values.
    pub(crate) with_values: bool,
    /// Whether the prompt asks for files.
    pub(crate) with_files: bool,
    /// The tag that the answer is written in.
    pub(crate) envelope: Option<String>,
}

/// A part of the answer.
#[derive(Debug)]
pub(crate) struct AnswerPart {
    /// The line that opens it, for example `[SUMMARY]`.
    pub(crate) tag: Option<String>,
    /// The form of the part.
    pub(crate) form: PartForm,
    /// The largest number of words.
    pub(crate) words: Option<u32>,
    /// The largest number of tokens that the prompt allows.
    pub(crate) tokens: Option<u32>,
}

/// The form of a part.
#[derive(Debug, PartialEq)]
pub(crate) enum PartForm {
    Prose,
    /// List items; those with exact values come last, under this heading, if the prompt asks for
    /// one.
    Bullets(Option<String>),
    Sections(Vec<Section>),
    Json(ShapeNode),
}

/// Reads a request with its texts.
pub(crate) fn read<'t>(
    request: &'t ChatRequest,
    texts_of: &'t RewrittenTexts,
) -> RequestReading<'t> {
    let RequestPrompt {
        system,
        given,
        lines,
    } = RequestPrompt::new(request, texts_of);
    let shape = request.schema.as_ref().and_then(json_shape::of_schema);
    // The chosen word depends only on the instruction, so a conversation never triggers a choice.
    let chosen = || choose::chosen(&lines).filter(|_| given.is_empty() && shape.is_none());
    if let Some(word) = choose::dictated(&lines).or_else(chosen) {
        return RequestReading {
            turns: given,
            ask: RequestAsk::Choose(word),
        };
    }
    let question = question(&lines).filter(|_| shape.is_none());
    let asked = lines.join("\n");
    let condenses = || shape.is_some() || asks_to_condense(&asked) || shown(&asked).is_some();
    if question.is_none() && condenses() {
        return RequestReading {
            turns: given,
            ask: RequestAsk::Condense(read_shape(&lines, &asked, shape)),
        };
    }
    RequestReading {
        turns: system.into_iter().chain(given).collect(),
        ask: RequestAsk::Answer(question.unwrap_or(asked)),
    }
}

/// A request, with its material apart from its instruction.
struct RequestPrompt<'t> {
    /// The system prompts.
    system: Vec<MaterialTurn<'t>>,
    /// The material, in order.
    given: Vec<MaterialTurn<'t>>,
    /// The instruction, line by line.
    lines: Vec<&'t str>,
}

impl<'t> RequestPrompt<'t> {
    fn new(request: &'t ChatRequest, texts_of: &'t RewrittenTexts) -> Self {
        let is_of = |role| move |message: &WireMessage| message.role == role;
        let last = request.messages.iter().rposition(is_of(Role::User));
        let earlier = &request.messages[..last.unwrap_or(request.messages.len())];
        let (system, spoken): (Vec<_>, Vec<_>) = earlier
            .iter()
            .zip(&texts_of.calls)
            .enumerate()
            .map(|(number, (message, calls))| (message, wire_turns(number, message, calls)))
            .partition(|(message, _)| message.role == Role::System);
        let turns_of = |messages: Vec<(&WireMessage, Vec<MaterialTurn<'t>>)>| {
            messages
                .into_iter()
                .flat_map(|(_, turns)| turns)
                .collect::<Vec<_>>()
        };
        let (system, mut given) = (turns_of(system), turns_of(spoken));
        let is_instructed = system.iter().any(|turn| opens_with_condensing(turn.text));
        let parted = regions::part(&texts_of.last_said);
        let (parted, bare) = match given.is_empty() {
            true => bare_material(&texts_of.last_said, parted, is_instructed),
            false => (parted, None),
        };
        let mut lines = parted.instruction;
        let is_short = lines.iter().map(|line| line.len()).sum::<usize>() < SHORT;
        let refers = is_instructed && is_short && asks_to_condense(&lines.join("\n"));
        if given.is_empty() || refers {
            // If a conversation follows, the system prompt mostly instructs the agent and not the
            // summarizer.
            lines.splice(0..0, system.iter().flat_map(|turn| turn.text.lines()));
        }
        let first = given.last().map_or(0, |turn| turn.message + 1);
        let prompted = parted.given.iter().flat_map(turns).chain(bare).enumerate();
        given.extend(prompted.map(|(number, turn)| MaterialTurn {
            message: first + number,
            ..turn
        }));
        RequestPrompt {
            system,
            given,
            lines,
        }
    }
}

/// Texts of a request that are not in it letter for letter.
#[derive(Debug)]
pub(crate) struct RewrittenTexts {
    /// The text of the last user message, with its conversation as blocks and earlier JSON
    /// checkpoints unfolded into text.
    last_said: String,
    /// The calls of each message, as a rendered transcript labels them.
    calls: Vec<Vec<String>>,
}

impl RewrittenTexts {
    /// The texts of a request.
    pub(crate) fn new(request: &ChatRequest) -> Self {
        let last = request
            .messages
            .iter()
            .rfind(|message| message.role == Role::User);
        let said = last.map(|message| texts(message).collect::<Vec<_>>().join("\n"));
        let last_said = unfold::unfolded(layouts::rewritten(said.unwrap_or_default()));
        let calls = |message: &WireMessage| {
            let call = |part: &WirePart| match part {
                WirePart::ToolCall {
                    name, arguments, ..
                } => Some(format!("(calls {name}) {arguments}")),
                _ => None,
            };
            message.parts.iter().filter_map(call).collect()
        };
        RewrittenTexts {
            last_said,
            calls: request.messages.iter().map(calls).collect(),
        }
    }
}

fn texts(message: &WireMessage) -> impl Iterator<Item = &str> {
    message.parts.iter().filter_map(|part| match part {
        WirePart::Text { text } => Some(text.as_str()),
        _ => None,
    })
}

/// The turns of a message with its calls.
fn wire_turns<'t>(
    number: usize,
    message: &'t WireMessage,
    calls: &'t [String],
) -> Vec<MaterialTurn<'t>> {
    let speaker = match message.role {
        Role::User => Voice::User,
        Role::Tool => Voice::Tool,
        Role::Assistant | Role::System => Voice::Assistant,
    };
    let turn = |speaker, text| MaterialTurn {
        speaker,
        text,
        message: number,
    };
    let mut calls = calls.iter();
    let spoken = message.parts.iter().filter_map(|part| match part {
        WirePart::Text { text } => Some(turn(speaker, text)),
        WirePart::ToolCall { .. } => calls.next().map(|text| turn(Voice::Call, text)),
        WirePart::ToolResult { text, .. } => Some(turn(Voice::Tool, text)),
        WirePart::Thinking { .. } | WirePart::Media { .. } | WirePart::Sealed { .. } => None,
    });
    spoken.collect()
}

/// A message under this many bytes says too little to be an instruction by itself.
const SHORT: usize = 400;

/// Whether a system prompt is that of a summarizer: it says so at its start.
fn opens_with_condensing(text: &str) -> bool {
    let start = text
        .char_indices()
        .nth(SHORT)
        .map_or(text.len(), |(at, _)| at);
    asks_to_condense(&text[..start])
}

/// The JSON object that an instruction asks for. JSON is material unless the instruction speaks of a
/// form.
fn shown(asked: &str) -> Option<ShapeNode> {
    let lower = asked.to_lowercase();
    let forms = [
        "json",
        "schema",
        "format",
        "structure",
        "shape",
        "form:",
        "this form",
        "object",
    ];
    forms
        .iter()
        .any(|form| lower.contains(form))
        .then(|| json_shape::shown(asked))
        .flatten()
}

/// A prompt without any marks around its material. The instruction is the first paragraph, or what is
/// before a colon in the only line, or the last paragraph, if that asks to condense, and the rest is
/// the material. If the system prompt asks to condense, all of it is material.
fn bare_material<'t>(
    said: &'t str,
    parted: Parted<'t>,
    is_instructed: bool,
) -> (Parted<'t>, Option<MaterialTurn<'t>>) {
    let said = said.trim();
    if parted.found || said.is_empty() {
        return (parted, None);
    }
    let split = |pair: Option<(&'t str, &'t str)>| {
        pair.filter(|(first, rest)| asks_to_condense(first) && rest.len() > first.len())
    };
    let in_line = said.split_once(": ").filter(|_| !said.contains('\n'));
    let last = said.rsplit_once("\n\n").map(|(rest, last)| (last, rest));
    let found = split(said.split_once("\n\n"))
        // An object after the instruction is more often a form than the material.
        .filter(|(_, rest)| rest.len() > LONGEST_FORM || json_shape::shown(rest).is_none())
        .or_else(|| split(in_line))
        .or_else(|| split(last));
    let (instruction, material) = match found {
        Some((instruction, material)) => (instruction.lines().collect(), material),
        None if is_instructed && !asks_to_condense(said) => (Vec::new(), said),
        None => return (parted, None),
    };
    let instruction = Parted {
        instruction,
        given: Vec::new(),
        found: true,
    };
    let turn = MaterialTurn {
        speaker: Voice::User,
        text: material,
        message: 0,
    };
    (instruction, Some(turn))
}

/// Forms that prompts show are shorter than this, in bytes.
const LONGEST_FORM: usize = 2_000;

/// Whether a text asks for a summary or something like it. Roots of words in English, and words in
/// Chinese.
pub(crate) fn asks_to_condense(text: &str) -> bool {
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
        "continuing our conversation",
        "continuation",
        "总结",
        "摘要",
        "概括",
        "压缩",
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

fn read_shape(lines: &[&str], asked: &str, schema: Option<ShapeNode>) -> AnswerShape {
    // A schema of an arbitrary object leaves the keys to the prompt.
    let json = match schema {
        Some(ShapeNode::Map) => shown(asked).or(Some(ShapeNode::Map)),
        schema => schema.or_else(|| shown(asked)),
    };
    let tags = tags(lines);
    let mut parts: Vec<AnswerPart> = if tags.is_empty() {
        vec![AnswerPart {
            tag: None,
            form: untagged_form(lines, asked, json),
            words: None,
            tokens: None,
        }]
    } else {
        let form = |shows_json: bool| match &json {
            Some(node) if shows_json => PartForm::Json(node.clone()),
            _ => prose_form(asked),
        };
        tags.into_iter()
            .map(|(tag, json)| AnswerPart {
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
        if let PartForm::Sections(sections) = &mut part.form {
            sections
                .iter_mut()
                .for_each(|section| section.optional |= omit_empty);
        }
    }
    AnswerShape {
        parts,
        without_tools,
        omit_empty,
        with_values: asks_for_values(asked),
        with_files: asks_for_files(lines),
        envelope: envelope::name(asked),
    }
}

fn untagged_form(lines: &[&str], asked: &str, json: Option<ShapeNode>) -> PartForm {
    if let Some(node) = json {
        return PartForm::Json(node);
    }
    let mut sections = envelope::sections(lines);
    if sections.is_empty() {
        sections = template::sections(lines);
    }
    if sections.is_empty() {
        prose_form(asked)
    } else {
        PartForm::Sections(sections)
    }
}

fn prose_form(asked: &str) -> PartForm {
    if asked.to_lowercase().contains("bullet") {
        PartForm::Bullets(quoted_heading(asked))
    } else {
        PartForm::Prose
    }
}

/// Whether an instruction asks for exact values, identifiers or code.
fn asks_for_values(asked: &str) -> bool {
    let asked = asked.to_lowercase();
    let words = [
        "exact",
        "verbatim",
        "identifier",
        "names, numbers",
        "numbers, paths",
        "every value",
        "all values",
        "code snippet",
        "letter for letter",
    ];
    words.iter().any(|word| asked.contains(word))
}

/// Whether a line asks for files or paths.
fn asks_for_files(lines: &[&str]) -> bool {
    let names = |line: &str| line.contains("file") || line.contains("paths");
    lines.iter().any(|line| names(&line.to_lowercase()))
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
fn assign_limits(parts: &mut [AnswerPart], asked: &str) {
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
            let slot = if limit.unit == LimitUnit::Words {
                &mut part.words
            } else {
                &mut part.tokens
            };
            *slot = Some(slot.map_or(most, |old| old.min(most)));
        }
    }
}

/// Where a text, in lower case, last names a part.
fn last_named(part: &AnswerPart, text: &str) -> Option<usize> {
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
    read(request, &RewrittenTexts::new(request))
        .turns
        .iter()
        .map(|turn| turn.text.to_owned())
        .collect()
}

/// The instruction of a request without the material, line by line.
pub(crate) fn instruction(request: &ChatRequest) -> Vec<String> {
    regions::part(&RewrittenTexts::new(request).last_said)
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
