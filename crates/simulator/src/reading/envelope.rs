//! The tag that an answer is written in, such as `<summary>`, and the tags of its sections.

use crate::reading::cues::Cues;
use crate::reading::template::{Layout, Section, names_files};

/// The name of the tag that an instruction asks to write in: the last one that names a summary, and
/// not an earlier one.
pub(crate) fn name(asked: &str) -> Option<String> {
    tags(asked)
        .filter(|name| names_answer(name))
        .last()
        .map(str::to_owned)
}

fn names_answer(name: &str) -> bool {
    let name = name.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    has(&["summary", "snapshot", "handoff", "recap", "compact"])
        && !has(&[
            "previous", "prior", "earlier", "existing", "last", "instruct",
        ])
}

/// The names of the opening tags in a text.
fn tags(text: &str) -> impl Iterator<Item = &str> {
    text.split('<').skip(1).filter_map(|rest| {
        let name = rest.split_once('>')?.0;
        let is_name = name
            .bytes()
            .all(|byte| byte.is_ascii_alphabetic() || b"_-".contains(&byte));
        (!name.is_empty() && is_name).then_some(name)
    })
}

/// Forms that prompts show have fewer lines.
const MOST_LINES: usize = 400;

/// The sections that an instruction shows as tags within the tag of the answer.
pub(crate) fn sections(lines: &[&str]) -> Vec<Section> {
    let opens = |line: &str, name: &str| line.trim() == format!("<{name}>");
    let closes = |line: &str, name: &str| line.trim() == format!("</{name}>");
    let Some((start, outer)) = lines.iter().enumerate().rev().find_map(|(at, line)| {
        let name = tags(line)
            .next()
            .filter(|name| names_answer(name) && opens(line, name))?;
        Some((at, name))
    }) else {
        return Vec::new();
    };
    let inner = lines[start + 1..]
        .iter()
        .take(MOST_LINES)
        .take_while(|line| !closes(line, outer));
    let inner: Vec<&str> = inner.copied().collect();
    let mut sections = Vec::new();
    let mut at = 0;
    while at < inner.len() {
        let name = tags(inner[at]).next().filter(|name| opens(inner[at], name));
        let end = name.and_then(|name| (at..inner.len()).find(|end| closes(inner[*end], name)));
        if let (Some(name), Some(end)) = (name, end) {
            let words = name.replace(['_', '-'], " ");
            let body = inner[at + 1..end].join(" ");
            sections.push(Section {
                heading: format!("<{name}>"),
                form: Layout::List("- "),
                cues: Cues::of_place(&words, &body, &Cues::default()),
                optional: false,
                close: Some(format!("</{name}>")),
                for_files: names_files(name),
            });
            at = end;
        }
        at += 1;
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tag_of_the_answer_and_its_sections_are_found() {
        let asked = "Read <messages> and <previous_summary>. Write a <state_snapshot>:\n<state_snapshot>\n  <goal>\n  <!-- what is wanted -->\n  </goal>\n  \
                     <files>\n  </files>\n</state_snapshot>\nGo.";
        assert_eq!(name(asked).as_deref(), Some("state_snapshot"));
        let sections = sections(&asked.lines().collect::<Vec<_>>());
        let headings = sections.iter().map(|section| section.heading.as_str());
        assert_eq!(headings.collect::<Vec<_>>(), ["<goal>", "<files>"]);
        assert_eq!(name("Put it between <messages> and </messages>."), None);
    }

    #[test]
    fn a_long_text_of_tags_is_left_after_some_lines() {
        let lines = ["<summary>"]
            .into_iter()
            .chain(["<a>"; 2 * MOST_LINES])
            .chain(["<files>", "</files>", "</summary>"]);
        assert_eq!(sections(&lines.collect::<Vec<_>>()).len(), 0);
    }
}
