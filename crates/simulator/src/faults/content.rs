//! Faults of content: the reply is not a summary, or contains something that nobody said.

use super::{Effect, FaultScene, ModelFault, json};
use crate::draw::uniform;
use crate::reading;
use crate::writing;
use crate::writing::chat;

pub(super) const CONTINUES_CHAT: ModelFault = ModelFault {
    name: "continues-chat",
    about: "goes on with the conversation instead of condensing it",
    effect: Effect::Text(|_, scene| {
        let material = reading::material(scene.request);
        Some(chat::continued(
            material.last().map(String::as_str),
            &mut scene.rng,
        ))
    }),
};

pub(super) const INVENTED_ITEM: ModelFault = ModelFault {
    name: "invented-item",
    about: "contains an item with a number that the request does not contain",
    effect: Effect::Text(|text, scene| {
        let number = unstated_number(text, scene)?;
        let items = [
            "Ticket {} has to be closed first",
            "The limit was raised to {}",
            "The report goes to user {}",
        ];
        let item = scene.pick(&items)?.replace("{}", &number);
        with_item(text, &item, "; ", scene)
    }),
};

pub(super) const EXAMPLE_LEAK: ModelFault = ModelFault {
    name: "example-leak",
    about: "contains words copied from an example in the instruction, in JSON as a separate value",
    effect: Effect::Text(|text, scene| {
        let instruction = untagged(&reading::instruction(scene.request));
        let words = scene.pick(&examples(&instruction))?;
        with_item(text, words, IN_ITS_PLACE, scene)
    }),
};

/// A copied placeholder replaces a value instead of following one.
const IN_ITS_PLACE: &str = "";

/// Six digits that neither the request nor the reply contains.
fn unstated_number(text: &str, scene: &mut FaultScene<'_>) -> Option<String> {
    let first = (uniform(&mut scene.rng) * 900_000.0) as u32;
    let numbers = (0..900_000).map(|step| (100_000 + (first + step) % 900_000).to_string());
    let is_heard = |number: &String| {
        text.contains(number) || scene.request.texts().any(|said| said.contains(number))
    };
    numbers.into_iter().find(|number| !is_heard(number))
}

/// An instruction without the blocks between tags on separate lines, because an earlier checkpoint
/// is not an example.
fn untagged(lines: &[String]) -> String {
    let tag = |line: &str| Some(line.strip_prefix('<')?.strip_suffix('>')?.to_owned());
    let mut left = Vec::new();
    let mut open: Option<String> = None;
    for line in lines.iter().map(|line| line.trim()) {
        match (&open, tag(line)) {
            (Some(name), Some(closing)) if closing.strip_prefix('/') == Some(name) => open = None,
            (None, Some(name)) if lines.iter().any(|line| line.trim() == format!("</{name}>")) => {
                open = Some(name)
            }
            (None, _) => left.push(line),
            _ => {}
        }
    }
    left.join("\n")
}

/// Placeholder words that an instruction shows in place of the answer's own: texts in its JSON,
/// otherwise placeholders in brackets, otherwise the items of its list.
fn examples(instruction: &str) -> Vec<&str> {
    let json = instruction
        .find('{')
        .zip(instruction.rfind('}'))
        .filter(|(open, close)| open < close);
    let quoted = json.map_or(Vec::new(), |(open, close)| {
        json::texts(instruction, open..close + 1)
    });
    let quoted = quoted
        .iter()
        .map(|quoted| instruction[quoted.start..quoted.end].trim());
    let quoted = quoted
        .filter(|words| !words.is_empty() && !words.contains(['\\', '\n']))
        .collect::<Vec<_>>();
    if !quoted.is_empty() {
        return quoted;
    }
    let bracketed = instruction
        .lines()
        .filter_map(bracketed)
        .collect::<Vec<_>>();
    if bracketed.is_empty() {
        instruction.lines().filter_map(list_item).collect()
    } else {
        bracketed
    }
}

/// A placeholder of several words, such as `[what is under way]`.
fn bracketed(line: &str) -> Option<&str> {
    let (_, after) = line
        .split_once('[')
        .filter(|(_, after)| !after.starts_with(' '))?;
    let (words, _) = after.split_once(']')?;
    words
        .contains(' ')
        .then_some(words)
        .filter(|words| words.contains(char::is_lowercase))
}

fn list_item(line: &str) -> Option<&str> {
    let (mark, words) = line.trim().split_once(' ')?;
    let is_mark = ["-", "*"].contains(&mark)
        || mark
            .trim_end_matches(['.', ')'])
            .bytes()
            .all(|b| b.is_ascii_digit());
    is_mark
        .then(|| words.trim())
        .filter(|words| !words.is_empty())
}

/// The text with one more item, next to a text of its JSON or at its end. `link` joins the item to
/// a text that is not in a list. If `link` is empty, or if the item exceeds the request's limit,
/// the item replaces that text. `None` if the JSON contains no text.
fn with_item(text: &str, item: &str, link: &str, scene: &mut FaultScene<'_>) -> Option<String> {
    let (added, instead) = match json::object(text) {
        Some(object) => json_item(text, &json::escaped(item), link, object, scene)?,
        None => prose_item(text, item),
    };
    let fits = scene
        .request
        .max_output_tokens
        .is_none_or(|most| writing::tokens(&added) <= most);
    Some(if fits { added } else { instead })
}

fn json_item(
    text: &str,
    item: &str,
    link: &str,
    object: std::ops::Range<usize>,
    scene: &mut FaultScene<'_>,
) -> Option<(String, String)> {
    let beside = scene.pick(&json::texts(text, object))?;
    let (before, after) = (&text[..beside.start], &text[beside.end..]);
    let own = &text[beside.start..beside.end];
    let instead = format!("{before}{item}{after}");
    let link = if beside.in_list { "\",\"" } else { link };
    let added = if own.is_empty() || link.is_empty() {
        instead.clone()
    } else {
        format!("{before}{own}{link}{item}{after}")
    };
    Some((added, instead))
}

fn prose_item(text: &str, item: &str) -> (String, String) {
    let text = text.trim_end();
    let last = text.lines().last().unwrap_or_default();
    let is_prose = last.starts_with(char::is_alphabetic);
    let link = match (last.is_empty(), is_prose) {
        (true, _) => "",
        (false, true) => " ",
        (false, false) => "\n- ",
    };
    let sentence = if is_prose || last.is_empty() {
        format!("{item}.")
    } else {
        item.to_owned()
    };
    let line = text.len() - last.len();
    let end = if is_prose {
        last.rfind(". ").map_or(line, |at| line + at + 1)
    } else {
        line
    };
    let kept = text[..end].trim_end();
    let gap = if kept.is_empty() { "" } else { link };
    (
        format!("{text}{link}{sentence}"),
        format!("{kept}{gap}{sentence}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_found_in_json_brackets_and_lists() {
        let json = "Write so:\n{\n \"goals\": [\"goal\"], \"topic\": \"the choice\", \"n\": 1\n}\nNo \"more\".";
        assert_eq!(examples(json), ["goal", "the choice"]);
        assert_eq!(
            examples("### Now\n- On: [what is it]\n- [ ] [each item]\n[SUMMARY]"),
            ["what is it"]
        );
        assert_eq!(
            examples("Cover:\n1. What matters\n- how it is\n\nBe brief."),
            ["What matters", "how it is"]
        );
    }

    #[test]
    fn text_between_tags_is_not_an_example() {
        let lines = [
            "As <b> says:",
            "<previous>",
            "{\"goals\": [\"ship\"]}",
            "<x>",
            "</previous>",
            "<only>",
            "{\"goals\": [\"goal\"]}",
        ];
        let instruction = untagged(&lines.map(str::to_owned));
        assert_eq!(instruction, "As <b> says:\n<only>\n{\"goals\": [\"goal\"]}");
        assert_eq!(examples(&instruction), ["goal"]);
    }

    #[test]
    fn an_item_follows_the_form_of_the_last_line() {
        assert_eq!(
            prose_item("One. Two.", "X"),
            ("One. Two. X.".to_owned(), "One. X.".to_owned())
        );
        assert_eq!(
            prose_item("- a\n- b", "X"),
            ("- a\n- b\n- X".to_owned(), "- a\n- X".to_owned())
        );
        assert_eq!(prose_item("", "X"), ("X.".to_owned(), "X.".to_owned()));
    }
}
