//! A summary in fewer tokens: its first sentences and its decisions, each of them whole.
//!
//! A list item counts as one sentence, and prose is split by the rules of Unicode, so that it does
//! not matter where a model breaks its lines. Absent on purpose: rewriting, and any choice by what
//! a sentence says.

use std::collections::BTreeSet;

use unicode_segmentation::UnicodeSegmentation;

use crate::tokens::TokenCounter;

/// Headings of the items that go first.
const LEFT_OUT: [&str; 2] = ["files modified", "next steps"];

/// The first sentence, or the first heading if there is none, in at most that many tokens.
pub(super) fn first_sentence(body: &str, most: u32, counter: &dyn TokenCounter) -> String {
    let first = sentences(body, 1).next().map(|sentence| sentence.text);
    let any = || body.lines().map(str::trim).find(|line| !line.is_empty());
    cut(first.or_else(any).unwrap_or_default(), most, counter)
}

/// As much of a summary as fits into that many tokens, in the order of its body: the first
/// sentence, the decisions, then the first `lines` sentences of what is left, then the rest where
/// `lines` is `None`. What does not fit is left out, and shorter sentences after it may take its
/// room. With `lines`, files and next steps are left out.
pub(super) fn shortened(
    body: &str,
    lines: Option<usize>,
    most: u32,
    counter: &dyn TokenCounter,
) -> String {
    if lines.is_none() && counter.count_text(body) <= most {
        return body.to_owned();
    }
    let all = sentences(body, lines.unwrap_or(usize::MAX)).collect::<Vec<_>>();
    let is_left_out = |at: &usize| LEFT_OUT.iter().any(|word| all[*at].is_under(word));
    let is_decision = |at: &usize| *at == 0 || all[*at].is_under("decisions");
    let decisions = (0..all.len()).filter(is_decision);
    let others = (0..all.len())
        .filter(|at| !is_left_out(at))
        .take(lines.unwrap_or(usize::MAX));
    let rest = (0..all.len()).filter(|at| lines.is_none() && is_left_out(at));
    let mut chosen = BTreeSet::new();
    let text = |chosen: &BTreeSet<usize>| joined(chosen.iter().map(|at| &all[*at]));
    // At least as many as the text has: a blank or a line break between two sentences counts as a
    // token of its own.
    let mut used = 0;
    for at in decisions.chain(others).chain(rest) {
        if !chosen.insert(at) {
            continue;
        }
        let before = used;
        used += counter.count_text(all[at].text) + 1;
        if used > most {
            let is_near = used <= most + chosen.len() as u32;
            let exact = is_near.then(|| counter.count_text(&text(&chosen)));
            used = exact.filter(|tokens| *tokens <= most).unwrap_or_else(|| {
                chosen.remove(&at);
                before
            });
        }
    }
    match chosen.is_empty() {
        true => first_sentence(body, most, counter),
        false => text(&chosen),
    }
}

/// The list items, marks included, under each heading that holds that word.
pub(super) fn items<'b>(body: &'b str, word: &'static str) -> impl Iterator<Item = &'b str> {
    sentences(body, 1)
        .filter(move |sentence| sentence.is_under(word))
        .map(|sentence| sentence.text)
}

/// A sentence of prose, or a list item.
struct ProseSentence<'b> {
    text: &'b str,
    /// The number of its line.
    line: usize,
    is_item: bool,
    /// The line before the list that it belongs to.
    heading: &'b str,
}

impl ProseSentence<'_> {
    fn is_under(&self, word: &str) -> bool {
        self.is_item && self.heading.to_lowercase().contains(word)
    }
}

/// The sentences of a text without its headings, and of each line only that many.
fn sentences(body: &str, most_of_a_line: usize) -> impl Iterator<Item = ProseSentence<'_>> {
    let mut heading = "";
    body.lines().enumerate().flat_map(move |(line, content)| {
        let text = without_label(content.trim());
        let is_item = is_item(text);
        let continues = content.starts_with(char::is_whitespace);
        if !is_item && !text.is_empty() && !continues {
            heading = text;
        }
        let heading = heading;
        let item = is_item.then_some(text);
        let prose = (!is_item && !is_heading(text)).then_some(text);
        let prose = prose
            .into_iter()
            .flat_map(str::split_sentence_bounds)
            .map(str::trim);
        let texts = item
            .into_iter()
            .chain(prose.filter(|text| !text.is_empty()));
        texts.take(most_of_a_line).map(move |text| ProseSentence {
            text,
            line,
            is_item,
            heading,
        })
    })
}

/// A line without the name of what it belongs to anyway.
fn without_label(text: &str) -> &str {
    const LABEL: &str = "summary:";
    let bare = text.trim_start_matches(['#', '*', '_', ' ']);
    match bare.get(..LABEL.len()) {
        Some(label) if label.eq_ignore_ascii_case(LABEL) => {
            bare[LABEL.len()..].trim_start_matches(['*', '_', ' '])
        }
        _ => text,
    }
}

fn is_item(text: &str) -> bool {
    let digits = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let rest = match digits.len() < text.len() {
        true => digits.strip_prefix(['.', ')']),
        false => text.strip_prefix(['-', '*', '•']),
    };
    rest.is_some_and(|rest| rest.starts_with(' '))
}

fn is_heading(text: &str) -> bool {
    let bare = text.trim_matches(['*', '_']);
    !is_item(text)
        && (text.starts_with('#')
            || bare.ends_with(':')
            || text.starts_with("**") && text.ends_with("**"))
}

/// Sentences as they stood: a blank between those of one line, a line break between lines.
fn joined<'s, 'b: 's>(sentences: impl Iterator<Item = &'s ProseSentence<'b>>) -> String {
    let mut text = String::new();
    let mut line = None;
    for sentence in sentences {
        match line {
            None => {}
            Some(before) if before == sentence.line => text.push(' '),
            Some(_) => text.push('\n'),
        }
        text.push_str(sentence.text);
        line = Some(sentence.line);
    }
    text
}

/// A text of at most that many tokens: all of it, or as many whole words as fit, or letters of a
/// script without spaces where not even one word does. A part of a path or of a number is another
/// value, so none is left.
fn cut(text: &str, most: u32, counter: &dyn TokenCounter) -> String {
    if counter.count_text(text) <= most {
        return text.to_owned();
    }
    let with_mark = |end: usize| format!("{}…", &text[..end]);
    let longest = |ends: Vec<usize>| {
        let fits = |end: &usize| counter.count_text(&with_mark(*end)) <= most;
        // A longer text may have a token fewer, so that the place found is looked at once more.
        let near = ends.partition_point(fits);
        ends[..near].iter().rev().copied().find(|end| fits(end))
    };
    let words = || {
        text.char_indices()
            .filter(|(_, letter)| letter.is_whitespace())
            .map(|(at, _)| at)
            .collect()
    };
    let letters = || {
        text.char_indices()
            .filter(|(_, letter)| !letter.is_ascii())
            .map(|(at, letter)| at + letter.len_utf8())
            .collect()
    };
    longest(words())
        .or_else(|| longest(letters()))
        .map(with_mark)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tokens::Encoding;

    const BODY: &str = "## Summary\nBuilt the store. It has two tables, e.g. `users`. It is fast.\nIt is new.\n\nKey Decisions:\n- use \
                        pg\n- no cache, since v1.2 has one\n\n**Next Steps**\n1. ship it\n2. Tell Ann.";

    fn outline(body: &str, lines: usize, most: u32) -> String {
        shortened(body, Some(lines), most, &Encoding::O200k)
    }

    #[test]
    fn decisions_go_before_further_sentences_and_all_keep_their_order() {
        let decisions = "- use pg\n- no cache, since v1.2 has one";
        assert_eq!(
            outline(BODY, 1, 100),
            format!("Built the store.\n{decisions}")
        );
        let three =
            format!("Built the store. It has two tables, e.g. `users`. It is fast.\n{decisions}");
        assert_eq!(outline(BODY, 3, 100), three);
        assert_eq!(
            outline(BODY, 100, 100),
            three.replace("fast.", "fast.\nIt is new."),
            "no next steps"
        );
        assert_eq!(
            outline(BODY, 3, 20),
            format!("Built the store.\n{decisions}"),
            "no room for the other sentences"
        );
        assert_eq!(outline(BODY, 1, 12), "Built the store.\n- use pg");
        let whole = |most| shortened(BODY, None, most, &Encoding::O200k);
        assert_eq!(whole(100), BODY, "all of it where it fits");
        let without_headings = three.replace("fast.", "fast.\nIt is new.");
        assert_eq!(
            whole(45),
            format!("{without_headings}\n1. ship it"),
            "steps go first"
        );
    }

    #[test]
    fn what_models_write_has_a_first_sentence() {
        let first = |body: &str| first_sentence(body, 8, &Encoding::O200k);
        assert_eq!(first(BODY), "Built the store.");
        assert_eq!(first("Summary: built it.\nMore."), "built it.");
        assert_eq!(first("**Summary:** built it. More."), "built it.");
        assert_eq!(first("**Summary:**\n\n- built it"), "- built it");
        assert_eq!(first("存储已建成。它很快。"), "存储已建成。");
        assert_eq!(first("भंडार बन गया। तेज़ है।"), "भंडार बन गया।");
        assert_eq!(
            first("Earlier parts:\nSummary:\n"),
            "Earlier parts:",
            "nothing but headings"
        );
        assert_eq!(first(""), "");
        assert_eq!(
            first("a sentence that is longer than what there is room for"),
            "a sentence that is longer than what…"
        );
        assert_eq!(first(&"存".repeat(50_000)).chars().last(), Some('…'));
        assert_eq!(
            first("'mimusa-dodug-5-3-14912651-5-3-28560592' is the stream"),
            "",
            "a part of a value is another value"
        );
    }

    #[test]
    fn items_belong_to_the_heading_before_their_list() {
        let listed = |body, word| items(body, word).collect::<Vec<_>>();
        assert_eq!(
            listed(BODY, "decisions"),
            ["- use pg", "- no cache, since v1.2 has one"]
        );
        let wrapped = "Files Modified:\n- a.rs\n  since it was old\n- b.rs\n\nNext:\n- c.rs";
        assert_eq!(listed(wrapped, "files modified"), ["- a.rs", "- b.rs"]);
    }

    proptest! {
        #[test]
        fn a_shortened_text_keeps_to_its_size_and_is_never_empty(
            body in "(Summary:|## A|Key Decisions:|- [a-z 1-9.]{1,30}|[A-Z][a-z]{1,9}\\. [一-龥]{0,20}。?|\\PC{0,20}|\n){0,12}",
            lines in 1..8_usize,
            most in 8..60_u32,
        ) {
            for text in [outline(&body, lines, most), shortened(&body, None, most, &Encoding::O200k), first_sentence(&body, most, &Encoding::O200k)] {
                prop_assert!(Encoding::O200k.count_text(&text) <= most);
                prop_assert_eq!(text.trim().is_empty(), body.trim().is_empty());
            }
        }
    }
}
