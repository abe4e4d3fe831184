//! Sections with headings that an instruction asks for: Markdown headings, names with a colon, or a
//! numbered list that the answer should follow.

use crate::reading::cues::Cues;
use crate::reading::structure_lines::{header, heading_level, numbered};
use crate::reading::terms::{stem, terms};

/// A section of the answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Section {
    /// Its heading, as the answer should write it.
    pub(crate) heading: String,
    /// The form of its lines.
    pub(crate) form: Layout,
    /// The topics that belong in it.
    pub(crate) cues: Cues,
    /// Whether it is omitted if it is empty.
    pub(crate) optional: bool,
    /// The line that closes it.
    pub(crate) close: Option<String>,
    /// Whether its heading names files.
    pub(crate) for_files: bool,
}

/// Whether a heading or key names files.
pub(crate) fn names_files(name: &str) -> bool {
    let name = name.to_lowercase();
    ["file", "path", "artifact", "artefact", "code"]
        .iter()
        .any(|word| name.contains(word))
}

/// The form of a section's lines.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Layout {
    /// A heading that only has sections below it.
    Title,
    /// List items after a marker such as `- `.
    List(&'static str),
    /// Table rows below these lines, and the number of columns.
    Table(Vec<String>, usize),
    /// One line for each label.
    Labels(Vec<String>),
    /// Sentences on the heading's own line.
    Text,
    /// The user's request, word for word.
    Verbatim,
}

/// Whether a line introduces the shape of the answer.
pub(crate) fn introduces(line: &str) -> bool {
    let announces = [
        "section", "structur", "heading", "form", "format", "templat", "outlin", "organiz",
        "organis",
    ];
    line.trim_end().ends_with(':')
        && terms(line)
            .iter()
            .any(|term| announces.contains(&&*stem(term.text)))
}

/// The sections that the lines of an instruction ask for. Empty if it asks for none.
pub(crate) fn sections(lines: &[&str]) -> Vec<Section> {
    let tags = ["<template>", "<format>", "<structure>"];
    let tagged = lines.iter().position(|line| tags.contains(&line.trim()));
    let introduced = lines.iter().position(|line| introduces(line));
    let Some(start) = tagged.or(introduced) else {
        return Vec::new();
    };
    let template = &lines[start + 1..];
    let first = template.iter().find(|line| !line.trim().is_empty());
    let style = match first {
        Some(line) if heading_level(line) > 0 => TemplateStyle::Headings,
        Some(line) if is_numbered(line) => TemplateStyle::Numbers,
        Some(line) if labelled_line(line).is_some() => TemplateStyle::Names,
        _ => return Vec::new(),
    };
    let drafts = drafts(template, style);
    let deeper = drafts
        .iter()
        .skip(1)
        .map(|draft| heading_level(draft.0))
        .chain([0])
        .collect::<Vec<_>>();
    drafts
        .iter()
        .zip(deeper)
        .map(|((heading, body), next)| section(heading, body, next > heading_level(heading)))
        .collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TemplateStyle {
    Headings,
    Numbers,
    Names,
}

/// Each heading with the lines below it.
fn drafts<'l>(template: &[&'l str], style: TemplateStyle) -> Vec<(&'l str, Vec<&'l str>)> {
    let mut drafts: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut after_blank = false;
    for line in template {
        if let Some((heading, rest)) = opens(style, line) {
            if heads_rules(line) {
                break;
            }
            drafts.push((
                heading,
                Some(rest)
                    .filter(|rest| !rest.is_empty())
                    .into_iter()
                    .collect(),
            ));
        } else if ends(style, line, after_blank) || line.trim().starts_with("</") {
            break;
        } else if let Some((_, body)) = drafts.last_mut() {
            body.push(line.trim());
        }
        after_blank = line.trim().is_empty();
    }
    drafts
}

/// The heading on a line, and the description after it.
fn opens(style: TemplateStyle, line: &str) -> Option<(&str, &str)> {
    match style {
        TemplateStyle::Headings => (heading_level(line) > 0).then_some((line.trim(), "")),
        TemplateStyle::Numbers => is_numbered(line).then(|| {
            let line = line.trim();
            // A description may follow the name.
            line.split_once(": ").map_or((line, ""), |(name, rest)| {
                (&line[..name.len() + 1], rest.trim())
            })
        }),
        TemplateStyle::Names => labelled_line(line),
    }
}

/// A line such as `Open Questions:` or `Status: how things stand`: its name with the colon, and the
/// text after it.
fn labelled_line(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.split_at(line.find(':')? + 1);
    let letters = |letter: char| letter.is_alphabetic() || " /&'-".contains(letter);
    let is_name = name.starts_with(char::is_uppercase)
        && name.split_whitespace().count() <= 4
        && name.trim_end_matches(':').chars().all(letters);
    (is_name && (rest.is_empty() || rest.starts_with(' ')) && header(line).is_none())
        .then_some((name, rest.trim()))
}

fn is_numbered(line: &str) -> bool {
    numbered(line, &['.', ')']).is_some()
}

/// Whether a line ends the template. A description is indented or has a list marker, or directly
/// follows its name.
fn ends(style: TemplateStyle, line: &str, after_blank: bool) -> bool {
    let is_free = !line.trim().is_empty() && !line.starts_with([' ', '\t', '-', '*', '•']);
    match style {
        TemplateStyle::Headings => false,
        TemplateStyle::Numbers => is_free,
        TemplateStyle::Names => is_free && after_blank,
    }
}

/// Whether a heading introduces rules, which end a template: they instruct the writer and are not
/// part of the answer.
fn heads_rules(heading: &str) -> bool {
    let name = heading.trim_start_matches('#').trim().to_lowercase();
    let rules = [
        "constraint",
        "rule",
        "note",
        "guideline",
        "requirement",
        "limit",
        "important",
        "reminder",
        "instruction",
    ];
    heading.starts_with('#') && rules.iter().any(|rule| name.starts_with(rule))
}

fn section(heading: &str, body: &[&str], has_parts: bool) -> Section {
    let cues = Cues::of_place(heading, &body.join(" "), &Cues::default());
    let described = format!("{heading} {}", body.join(" ")).to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| described.contains(word));
    let is_bare = body.iter().all(|line| line.is_empty());
    let form = if has_parts && is_bare {
        Layout::Title
    } else if says(&["verbatim", "word for word"]) && says(&["request", "task"]) {
        Layout::Verbatim
    } else if labelled_line(heading).is_some() && body.first().is_some_and(|line| !is_marked(line))
    {
        Layout::Text
    } else {
        listed_form(body)
    };
    Section {
        heading: heading.to_owned(),
        form,
        cues,
        optional: says(&["only where", "only if", "only include if"]),
        close: None,
        for_files: names_files(heading),
    }
}

fn is_marked(line: &str) -> bool {
    line.is_empty() || line.starts_with(['-', '*', '•', '|'])
}

fn listed_form(body: &[&str]) -> Layout {
    let table = body
        .iter()
        .filter(|line| line.starts_with('|'))
        .take(2)
        .map(|line| (*line).to_owned())
        .collect::<Vec<_>>();
    if let Some(head) = table.first() {
        let columns = head.matches('|').count().saturating_sub(1).max(1);
        return Layout::Table(table, columns);
    }
    if body.iter().any(|line| line.contains("[ ]")) {
        return Layout::List("- [ ] ");
    }
    let labels = body
        .iter()
        .filter_map(|line| label(line))
        .collect::<Vec<_>>();
    if labels.is_empty() {
        Layout::List("- ")
    } else {
        Layout::Labels(labels)
    }
}

/// The label of a line such as `- Working on: [what]`.
fn label(line: &str) -> Option<String> {
    let (label, value) = line.strip_prefix("- ")?.split_once(": ")?;
    (value.trim_start().starts_with(['[', '{', '<', '.']) && label.len() <= 40)
        .then(|| label.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Section> {
        sections(&text.lines().collect::<Vec<_>>())
    }

    #[test]
    fn reads_headings_with_their_forms() {
        let text = "Use this structure:\n\n# Handover\n\n## Request\n[verbatim request]\n\n## Log\n| What | How |\n|--|--|\n[rows]\n\n\
                    ## Now\n- Doing: [it]\n\n## Later\n- [ ] [item]\n\n## Trouble\n[only if any]\n\n## Rules\n- short";
        let sections = read(text);
        let forms = sections
            .iter()
            .map(|section| (section.heading.as_str(), &section.form))
            .collect::<Vec<_>>();
        let table = Layout::Table(vec!["| What | How |".to_owned(), "|--|--|".to_owned()], 2);
        assert_eq!(
            forms,
            [
                ("# Handover", &Layout::Title),
                ("## Request", &Layout::Verbatim),
                ("## Log", &table),
                ("## Now", &Layout::Labels(vec!["Doing".to_owned()])),
                ("## Later", &Layout::List("- [ ] ")),
                ("## Trouble", &Layout::List("- ")),
            ]
        );
        assert_eq!(
            sections.iter().filter(|section| section.optional).count(),
            1
        );
    }

    #[test]
    fn reads_names_with_a_colon_up_to_the_next_free_paragraph() {
        let text = "Report in this form:\n\nOutcome: what came of it\n\nOpen Questions:\n- each one\nOwners:\nin a few words\n\nBe \
                    exact, and guess nothing.\n\nLater: nothing";
        let sections = read(text);
        let forms = sections
            .iter()
            .map(|section| (section.heading.as_str(), &section.form))
            .collect::<Vec<_>>();
        assert_eq!(
            forms,
            [
                ("Outcome:", &Layout::Text),
                ("Open Questions:", &Layout::List("- ")),
                ("Owners:", &Layout::Text)
            ]
        );
        assert_eq!(read("Report in this form:\n\nuser: hi"), []);
        assert_eq!(read("Report this:\n\nOutcome: what came of it"), []);
    }

    #[test]
    fn a_numbered_list_is_a_structure_only_where_it_is_called_one() {
        let list = "\n\n1. Goals\n   - all of them\n2. Files\n\nBe precise.";
        assert_eq!(read(&format!("Structure it as follows:{list}")).len(), 2);
        assert_eq!(read(&format!("Cover:{list}")), []);
    }
}
