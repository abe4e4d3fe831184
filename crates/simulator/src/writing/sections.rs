//! Writes sections with headings: each statement under the heading that fits best.

use compactometer_engine::tokens::TokenCounter;

use crate::reading::cues::{Cue, Cues};
use crate::reading::pieces::Voice;
use crate::reading::statements::Statement;
use crate::reading::template::{Layout, Section};
use crate::reading::terms::{ReadTerm, stem};
use crate::writing::touched_files::why;
use crate::writing::{ChosenStatement, Room, WritingSource, choose, sentence};

/// The sections with the statements chosen for them.
pub(crate) fn write(
    source: &WritingSource<'_, '_>,
    sections: &[Section],
    room: &mut Room,
) -> String {
    room.tokens = room
        .tokens
        .saturating_sub(source.counts.count_text(&frame(sections)));
    let verbatim = verbatim(source, sections, room);
    let mut free = free_labels(sections);
    let mut chosen = choose(source, room, |statement, text| {
        if verbatim
            .as_deref()
            .is_some_and(|copied| copied.contains(statement.text))
        {
            return None;
        }
        let at = best_section(statement, sections)?;
        let text = without_labels(text, sections);
        let fitting = free[at]
            .iter()
            .position(|label| statement.cues.fit(&Cues::new(label)) >= Cues::LEAST_FIT);
        let line = match fitting {
            Some(label) => format!("- {}: {text}", free[at].remove(label)),
            None => line(&sections[at].form, statement, text),
        };
        Some((at, line))
    });
    chosen.sort_by_key(|chosen| chosen.index);
    let bodies = sections.iter().enumerate().map(|(at, section)| {
        render(
            section,
            &chosen,
            at,
            verbatim
                .as_deref()
                .filter(|_| section.form == Layout::Verbatim),
        )
    });
    bodies.flatten().collect::<Vec<_>>().join("\n\n")
}

fn free_labels(sections: &[Section]) -> Vec<Vec<String>> {
    let labels = |section: &Section| match &section.form {
        Layout::Labels(labels) => labels.clone(),
        _ => Vec::new(),
    };
    sections.iter().map(labels).collect()
}

/// The part of the answer that does not depend on the statements.
fn frame(sections: &[Section]) -> String {
    let lines = sections
        .iter()
        .filter(|section| !section.optional)
        .map(|section| match &section.form {
            Layout::Table(head, _) => format!("{}\n{}", section.heading, head.join("\n")),
            _ => format!(
                "{}{}",
                section.heading,
                section.close.as_deref().unwrap_or_default()
            ),
        });
    lines.collect::<Vec<_>>().join("\n\n")
}

fn best_section(statement: &Statement<'_>, sections: &[Section]) -> Option<usize> {
    let takes = |at: &usize| !matches!(sections[*at].form, Layout::Title | Layout::Verbatim);
    let best = |cues: &Cues| {
        // On a tie, the first section counts.
        let places = (0..sections.len()).rev().filter(takes);
        let fits = places.map(|at| (cues.fit(&sections[at].cues), at));
        fits.max_by(|one, other| one.0.total_cmp(&other.0))
    };
    let for_files = || sections.iter().position(|section| section.for_files);
    if let Some(at) = statement.touch.and_then(|_| for_files()).filter(takes) {
        return Some(at);
    }
    let (fit, at) = best(&statement.cues)?;
    if fit >= Cues::LEAST_FIT {
        return Some(at);
    }
    // Statements that fit nowhere go into a section of sentences, if there is one.
    let sentences = sections
        .iter()
        .position(|section| section.form == Layout::Text);
    sentences.or_else(|| best(&Cues::general()).map(|(_, at)| at))
}

/// The request copied word for word may take up to one part in this many of the room. Assumed.
const VERBATIM_SHARE: u32 = 4;

/// The user's first request, or its first sentences if it is long.
fn verbatim(
    source: &WritingSource<'_, '_>,
    sections: &[Section],
    room: &mut Room,
) -> Option<String> {
    sections
        .iter()
        .find(|section| section.form == Layout::Verbatim)?;
    let first = source
        .turns
        .iter()
        .position(|turn| turn.speaker == Voice::User)?;
    let mut own = Room {
        tokens: room.tokens / VERBATIM_SHARE,
        ..*room
    };
    let mut copied: Vec<&str> = Vec::new();
    for statement in source
        .statements
        .iter()
        .filter(|statement| statement.turn == first)
    {
        if !own.take(statement.text, source.counts) {
            break;
        }
        copied.push(statement.text);
    }
    let text = copied.join(" ");
    room.tokens = room.tokens.saturating_sub(source.counts.count_text(&text));
    room.words = room
        .words
        .saturating_sub(text.split_whitespace().count() as u32);
    Some(text).filter(|text| !text.is_empty())
}

fn line(form: &Layout, statement: &Statement<'_>, text: &str) -> String {
    match form {
        Layout::List(mark) => format!("{mark}{text}"),
        Layout::Table(_, columns) => row(*columns, statement, text),
        Layout::Text => sentence(text),
        Layout::Labels(_) | Layout::Title | Layout::Verbatim => format!("- {text}"),
    }
}

/// A row: the thing, what was done to it, and the statement; a dash for what the statement does not
/// say.
fn row(columns: usize, statement: &Statement<'_>, text: &str) -> String {
    let file = statement.touch.filter(|_| columns > 1);
    let named = file.and_then(|touch| {
        Some((
            text.strip_suffix(&format!(" ({})", why(touch)))?,
            why(touch),
        ))
    });
    if let Some((path, why)) = named {
        let rest = " - |".repeat(columns - 2);
        return format!("| {path} | {why} |{rest}");
    }
    let is_name = |term: &ReadTerm<'_>| term.is_value() && term.text.contains(char::is_alphabetic);
    let thing = statement
        .terms()
        .find(ReadTerm::is_path)
        .or(statement.terms().find(is_name));
    let action = statement
        .terms()
        .find(|term| Cues::of_stems([stem(term.text)]).get(Cue::Done) > 0.0);
    let cell = |term: Option<ReadTerm<'_>>| term.map_or("-", |term| term.text).to_owned();
    let mut cells = match columns {
        1 => Vec::new(),
        2 => vec![cell(thing)],
        _ => vec![cell(thing), cell(action)],
    };
    cells.resize(columns - 1, "-".to_owned());
    cells.push(text.replace('|', "/"));
    format!("| {} |", cells.join(" | "))
}

/// A statement of an earlier summary may already have one of the labels.
fn without_labels<'t>(text: &'t str, sections: &[Section]) -> &'t str {
    let labels = sections.iter().filter_map(|section| match &section.form {
        Layout::Labels(labels) => Some(labels),
        _ => None,
    });
    labels
        .flatten()
        .find_map(|label| text.strip_prefix(label.as_str())?.strip_prefix(": "))
        .unwrap_or(text)
}

fn render(
    section: &Section,
    chosen: &[ChosenStatement<usize>],
    at: usize,
    verbatim: Option<&str>,
) -> Option<String> {
    let lines = lines_at(chosen, at);
    let mut text = section.heading.clone();
    match &section.form {
        Layout::Title => return Some(text),
        Layout::Verbatim => text = format!("{text}\n{}", verbatim.unwrap_or("None")),
        _ if lines.is_empty() && section.optional => return None,
        Layout::Text if lines.is_empty() => text.push_str(" None"),
        Layout::Text => text = format!("{text} {}", lines.join(" ")),
        _ if lines.is_empty() => text.push_str("\nNone"),
        Layout::Table(head, _) => {
            text = format!("{text}\n{}\n{}", head.join("\n"), lines.join("\n"))
        }
        Layout::List(_) | Layout::Labels(_) => text = format!("{text}\n{}", lines.join("\n")),
    }
    if let Some(close) = &section.close {
        text = format!("{text}\n{close}");
    }
    Some(text)
}

fn lines_at(chosen: &[ChosenStatement<usize>], at: usize) -> Vec<&str> {
    let there = chosen.iter().filter(|chosen| chosen.place == at);
    there.map(|chosen| chosen.line.as_str()).collect()
}
