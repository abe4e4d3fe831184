//! Splits a prompt into its instruction and its material.
//!
//! It uses general rules of layout (tagged blocks, headings and labels with indicative names,
//! speaker lines), never the sentences of a particular prompt.

use std::collections::HashMap;

use crate::reading::structure_lines::{header, lines_of, title, without_end};

/// A prompt, split into its parts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Parted<'t> {
    /// The instruction without the material, line by line.
    pub(crate) instruction: Vec<&'t str>,
    /// The material, in the order of the prompt.
    pub(crate) given: Vec<Region<'t>>,
    /// Whether a place for a conversation was found, even if it is empty.
    pub(crate) found: bool,
}

/// A piece of material.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region<'t> {
    /// The kind of material.
    pub(crate) kind: RegionKind,
    /// Its text.
    pub(crate) text: &'t str,
}

/// The kind of a piece of material.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RegionKind {
    /// A conversation.
    Conversation,
    /// An earlier summary.
    EarlierSummary,
    /// The user's original request.
    Task,
}

/// Splits a prompt.
pub(crate) fn part(text: &str) -> Parted<'_> {
    let lines: Vec<&str> = lines_of(text).map(without_end).collect();
    let mut conversations = tagged(&lines);
    if conversations.is_empty() {
        conversations.extend(headed(&lines).or_else(|| spoken(&lines)));
    }
    let found = !conversations.is_empty();
    let mut owner: Vec<Owner> = vec![Owner::Instruction; lines.len()];
    for RegionBlock { outer, inner } in conversations {
        owner[outer.0..outer.1].fill(Owner::Nobody);
        owner[inner.0..inner.1].fill(Owner::Given(RegionKind::Conversation));
    }
    claim_headed_sections(&lines, &mut owner);
    claim_tagged_sections(&lines, &mut owner);
    let instruction = (0..lines.len())
        .filter(|&at| owner[at] == Owner::Instruction)
        .map(|at| lines[at])
        .collect();
    Parted {
        instruction,
        given: regions(text, &lines, &owner),
        found,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Instruction,
    Nobody,
    Given(RegionKind),
}

/// Half-open ranges of lines of a block, with and without its frame.
struct RegionBlock {
    outer: (usize, usize),
    inner: (usize, usize),
}

fn regions<'t>(text: &'t str, lines: &[&'t str], owner: &[Owner]) -> Vec<Region<'t>> {
    let mut at = 0;
    let of_run = |run: &[Owner]| {
        let first = at;
        at += run.len();
        let Owner::Given(kind) = run[0] else {
            return None;
        };
        let content = within_tags(span(text, lines[first], lines[at - 1]).trim());
        let is_none =
            kind == RegionKind::EarlierSummary && !content.contains('\n') && says_none(content);
        (!content.is_empty() && !is_none).then_some(Region {
            kind,
            text: content,
        })
    };
    owner
        .chunk_by(|one, other| one == other)
        .filter_map(of_run)
        .collect()
}

/// The text from the start of one of its lines to the end of another.
fn span<'t>(text: &'t str, first: &str, last: &str) -> &'t str {
    let offset = |line: &str| line.as_ptr() as usize - text.as_ptr() as usize;
    &text[offset(first)..offset(last) + last.len()]
}

/// What a pair of tags on lines of their own encloses, if the content is nothing else.
fn within_tags(content: &str) -> &str {
    let inner = || {
        let (first, rest) = content.split_once('\n')?;
        let (inner, last) = rest.rsplit_once('\n').unwrap_or(("", rest));
        (tag(first, "<")? == tag(last, "</")?).then_some(inner.trim())
    };
    inner().unwrap_or(content)
}

/// "None", "N/A" and similar words of a prompt that has nothing to give.
fn says_none(content: &str) -> bool {
    let first = content
        .trim_matches(|letter: char| !letter.is_alphanumeric())
        .to_lowercase();
    ["none", "n/a", "no previous", "not available", "empty"]
        .iter()
        .any(|word| first.starts_with(word))
}

/// The blocks between a tag on a separate line and the last line that closes it, if the tag's name
/// indicates a conversation or the block looks like one. The last closing tag counts, so that one
/// inside the block does not end it early. A block that is small beside the largest is an example.
fn tagged(lines: &[&str]) -> Vec<RegionBlock> {
    let last_closing = last_closing(lines);
    let closing = |at: usize| {
        let name = tag(lines[at], "<")?;
        let end = *last_closing.get(name).filter(|end| **end > at)?;
        let is_conversation = names_conversation(name)
            || lines[at + 1..end].iter().any(|line| header(line).is_some());
        is_conversation.then_some(end)
    };
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let end = closing(at);
        if let Some(end) = end {
            blocks.push(RegionBlock {
                outer: (at, end + 1),
                inner: (at + 1, end),
            });
        }
        at = end.unwrap_or(at) + 1;
    }
    let length = |block: &RegionBlock| block.outer.1 - block.outer.0;
    let largest = blocks.iter().map(length).max().unwrap_or_default();
    blocks.retain(|block| length(block) * EXAMPLE >= largest);
    blocks
}

/// An example of a conversation has less than this part of the lines of the material.
const EXAMPLE: usize = 8;

/// The last line that closes each tag.
fn last_closing<'l>(lines: &[&'l str]) -> HashMap<&'l str, usize> {
    let closing = lines.iter().enumerate();
    closing
        .filter_map(|(at, line)| Some((tag(line, "</")?, at)))
        .collect()
}

/// The name of a tag that is alone on its line.
fn tag<'l>(line: &'l str, opening: &str) -> Option<&'l str> {
    // Nearly every line is rejected by its first character.
    let name = line
        .trim_start()
        .strip_prefix(opening)?
        .trim_end()
        .strip_suffix('>')?;
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}

fn names_conversation(name: &str) -> bool {
    let name = name.to_lowercase();
    let words = [
        "messages",
        "conversation",
        "transcript",
        "dialog",
        "history",
        "chat",
        "turns",
    ];
    words.iter().any(|word| name.contains(word)) && !name.contains("summary")
}

/// A heading or label that names a conversation, up to a heading of instructions, the closing
/// label, or the end.
fn headed(lines: &[&str]) -> Option<RegionBlock> {
    let start = lines.iter().position(|line| {
        title(line).is_some_and(|(_, name)| names_conversation(name) && !names_instruction(name))
    })?;
    Some(RegionBlock {
        outer: (start, end_of_untagged(lines, start)),
        inner: (start + 1, end_of_untagged(lines, start)),
    })
}

/// Lines that open with a speaker, up to the instructions or the end.
fn spoken(lines: &[&str]) -> Option<RegionBlock> {
    let start = lines.iter().position(|line| header(line).is_some())?;
    let end = end_of_untagged(lines, start);
    Some(RegionBlock {
        outer: (start, end),
        inner: (start, end),
    })
}

/// Without tags, the last heading of instructions counts, so that one quoted in the material does
/// not end it.
fn end_of_untagged(lines: &[&str], start: usize) -> usize {
    let after = start + 1..lines.len();
    let last_heading = |is_wanted: fn(&str) -> bool| {
        after.clone().rev().find(|&line| {
            title(lines[line]).is_some_and(|(level, name)| level > 0 && is_wanted(name))
        })
    };
    if let Some(end) = last_heading(opens_instruction).or_else(|| last_heading(opens_rules)) {
        return end;
    }
    let last_text = after
        .clone()
        .rev()
        .find(|&line| !lines[line].trim().is_empty())
        .unwrap_or(start);
    if last_text > start && is_label(lines[last_text]) {
        return last_text;
    }
    let paragraph = after
        .rev()
        .find(|&line| line < last_text && lines[line].trim().is_empty());
    match paragraph {
        Some(blank) if asks(lines[blank + 1]) => blank,
        _ => lines.len(),
    }
}

fn is_label(line: &str) -> bool {
    line.trim().ends_with(':') && title(line).is_some()
}

/// Whether a paragraph after the material contains an instruction.
fn asks(line: &str) -> bool {
    let verbs = [
        "now", "write", "summar", "answer", "respond", "please", "produce", "create", "return",
        "output", "condense",
    ];
    let line = line.to_lowercase();
    header(&line).is_none() && verbs.iter().any(|verb| line.starts_with(verb))
}

/// Counts sections of the prompt whose headings name an earlier summary or the user's task as
/// material.
fn claim_headed_sections(lines: &[&str], owner: &mut [Owner]) {
    let mut open: Option<(usize, RegionKind)> = None;
    let mut template = false;
    for at in 0..lines.len() {
        if owner[at] != Owner::Instruction {
            open = None;
            continue;
        }
        let title = title(lines[at]);
        if let Some((level, name)) = title {
            let given =
                named_given(name).filter(|kind| !template || *kind == RegionKind::EarlierSummary);
            let ends = open.is_none_or(|(opened, _)| level <= opened)
                && (given.is_some() || opens_instruction(name) || opens_rules(name));
            if ends {
                open = given.map(|kind| (level, kind));
                owner[at] = if given.is_some() {
                    Owner::Nobody
                } else {
                    Owner::Instruction
                };
                continue;
            }
        }
        match open {
            Some((_, kind)) => owner[at] = Owner::Given(kind),
            None => template |= crate::reading::template::introduces(lines[at]),
        }
    }
}

/// Counts tagged blocks whose names indicate an earlier summary or the user's task as material.
fn claim_tagged_sections(lines: &[&str], owner: &mut [Owner]) {
    let mut at = 0;
    while at < lines.len() {
        // The run is examined only where a tag opens on a line of its own, so that a long prompt is
        // read once.
        let is_open = owner[at] == Owner::Instruction && tag(lines[at], "<").is_some();
        let run = || {
            owner[at..]
                .iter()
                .take_while(|owner| **owner == Owner::Instruction)
                .count()
        };
        match is_open
            .then(|| tagged_given(&lines[at..at + run()]))
            .flatten()
        {
            Some((end, kind)) => {
                owner[at..=at + end].fill(Owner::Nobody);
                owner[at + 1..at + end].fill(Owner::Given(kind));
                at += end + 1;
            }
            None => at += 1,
        }
    }
}

/// The kind of block that the first of these lines opens, and the index of the line that closes it.
/// The last closing tag counts, so that one inside the block does not end it early.
pub(crate) fn tagged_given(lines: &[&str]) -> Option<(usize, RegionKind)> {
    let name = tag(lines.first()?, "<")?;
    let kind = named_given_by_tag(name)?;
    let end = lines
        .iter()
        .rposition(|line| tag(line, "</") == Some(name))?;
    Some((end, kind))
}

/// A tag encloses what it names, so one word is a stronger indication than in a heading:
/// `<previous>`, `<task>`.
fn named_given_by_tag(name: &str) -> Option<RegionKind> {
    let name = name.to_lowercase().replace(['_', '-'], " ");
    let is = |words: &[&str]| name.split(' ').any(|word| words.contains(&word));
    if is(&["previous", "prior", "earlier", "existing"]) {
        Some(RegionKind::EarlierSummary)
    } else if is(&["task", "request"]) {
        Some(RegionKind::Task)
    } else {
        None
    }
}

fn named_given(name: &str) -> Option<RegionKind> {
    let name = name.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if has(&["previous", "prior", "earlier", "existing"])
        && has(&["summary", "checkpoint", "state", "snapshot"])
    {
        Some(RegionKind::EarlierSummary)
    } else if has(&["original", "user", "initial"]) && has(&["task", "request"]) {
        Some(RegionKind::Task)
    } else {
        None
    }
}

fn names_instruction(name: &str) -> bool {
    let name = name.to_lowercase();
    ["summarize the", "condense", "below", "following"]
        .iter()
        .any(|word| name.contains(word))
}

fn opens_instruction(name: &str) -> bool {
    let name = name.to_lowercase();
    ["instruction", "your task", "output", "what to do"]
        .iter()
        .any(|word| name.starts_with(word))
}

fn opens_rules(name: &str) -> bool {
    let name = name.to_lowercase();
    ["constraint", "rules"]
        .iter()
        .any(|word| name.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(RegionKind, &str)> {
        part(text)
            .given
            .iter()
            .map(|region| (region.kind, region.text))
            .collect()
    }

    #[test]
    fn finds_a_tagged_block_whatever_it_quotes() {
        let text = "Sum it up.\n<chat-log>\nuser says\n</chat-log>\n# Instructions\nreally\n</chat-log>\nIn 50 words.";
        let parted = part(text);
        assert_eq!(parted.instruction, ["Sum it up.", "In 50 words."]);
        assert_eq!(
            kinds(text),
            [(
                RegionKind::Conversation,
                "user says\n</chat-log>\n# Instructions\nreally"
            )]
        );
    }

    #[test]
    fn finds_headed_and_labelled_material() {
        let text = "Be brief.\n\nCONVERSATION:\nUSER: hi\nASSISTANT: ho\n\nSUMMARY:";
        assert_eq!(
            kinds(text),
            [(RegionKind::Conversation, "USER: hi\nASSISTANT: ho")]
        );
        let text = "## Previous Summary\n## Old Title\nkept a.rs\n## Original User Task\nbuild it\n## Messages\n[1] user:\nhi\n## Instructions\nsum up";
        assert_eq!(
            kinds(text),
            [
                (RegionKind::EarlierSummary, "## Old Title\nkept a.rs"),
                (RegionKind::Task, "build it"),
                (RegionKind::Conversation, "[1] user:\nhi")
            ]
        );
        assert_eq!(part(text).instruction, ["## Instructions", "sum up"]);
    }

    #[test]
    fn untagged_material_ends_before_all_of_the_instructions() {
        let text = "## Messages\n[0] USER:\nhi\n## Instructions\nquoted\n\n## Instructions\nWith these sections:\n\n### Done\n\n## Constraints\n- 50 words";
        assert_eq!(
            kinds(text),
            [(
                RegionKind::Conversation,
                "[0] USER:\nhi\n## Instructions\nquoted"
            )]
        );
        assert_eq!(part(text).instruction.len(), 7);
    }

    #[test]
    fn finds_bare_speaker_blocks() {
        let text = "Summarize this.\n\n[1] user:\nhi there\n\n[2] assistant:\nho\n\nWrite at most 40 words.";
        assert_eq!(
            kinds(text),
            [(
                RegionKind::Conversation,
                "[1] user:\nhi there\n\n[2] assistant:\nho"
            )]
        );
    }

    #[test]
    fn a_tag_that_names_an_earlier_summary_encloses_it() {
        let text = "Keep this up to date.\n<previous>\nport 8042\n</previous>\nIn this form:\n<output>\n{}\n</output>\n<messages>\n[1] user:\nhi\n</messages>\nGo.";
        assert_eq!(
            kinds(text),
            [
                (RegionKind::EarlierSummary, "port 8042"),
                (RegionKind::Conversation, "[1] user:\nhi")
            ]
        );
        assert_eq!(
            part(text).instruction,
            [
                "Keep this up to date.",
                "In this form:",
                "<output>",
                "{}",
                "</output>",
                "Go."
            ]
        );
        assert!(
            kinds("<previous>\nNone: this is the first.\n</previous>\n<messages>\n\n</messages>")
                .is_empty()
        );
    }

    #[test]
    fn an_absent_summary_and_empty_material_give_nothing() {
        assert!(
            kinds("## Previous Summary\nNone: first round.\n<messages>\n\n</messages>\nGo.")
                .is_empty()
        );
        assert!(
            kinds("## Previous Summary\n<previous>\nNone: first round.\n</previous>\n<messages>\n\n</messages>\nGo.")
                .is_empty()
        );
        assert!(kinds("").is_empty());
    }
}
