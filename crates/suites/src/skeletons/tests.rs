//! Skeletons of a session that this project wrote.

use std::collections::BTreeSet;
use std::path::Path;

use compactometer_engine::message::{Message, Part, Role};
use compactometer_engine::tokens::{Encoding, TokenCounter};
use compactometer_formats::scenario::Scenario;
use compactometer_formats::suite::Suite;
use compactometer_text::exact::within;
use compactometer_text::generic::is_generic;

use super::file::{check, read, write};
use super::format::{SkeletonPart, ValuePiece};
use super::{SkeletonSpec, Skeletons, extract, render};
use crate::generate::SpecError;
use crate::import::{Options, by_name, import};

fn session() -> Scenario {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/sample-session.jsonl");
    let importer = by_name("claude-code").expect("is known");
    let imported = import(importer, &[file], "sample", &Options::default());
    imported.expect("can be read").suite.scenarios.remove(0)
}

fn texts(scenario: &Scenario) -> impl Iterator<Item = &str> {
    let parts = scenario.messages.iter().flat_map(|message| &message.parts);
    parts.filter_map(|part| match part {
        Part::Text { text } | Part::Thinking { text, .. } | Part::ToolResult { text, .. } => {
            Some(text.as_str())
        }
        Part::ToolCall { arguments, .. } => Some(arguments.as_str()),
        Part::Media { .. } | Part::Sealed { .. } => None,
    })
}

/// The exact values of a conversation, one for each mention.
fn values(scenario: &Scenario) -> Vec<String> {
    texts(scenario)
        .flat_map(|text| within(text).map(|exact| exact.value).collect::<Vec<_>>())
        .collect()
}

fn tokens(scenario: &Scenario) -> f64 {
    let tokens = scenario
        .messages
        .iter()
        .map(|message| Encoding::O200k.count_message(message));
    f64::from(tokens.sum::<u32>())
}

fn parts(message: &Message) -> (Role, Vec<u8>) {
    let kind = |part: &Part| match part {
        Part::Text { .. } => 0,
        Part::Thinking { .. } => 1,
        Part::ToolCall { .. } => 2,
        Part::ToolResult { .. } => 3,
        Part::Media { .. } | Part::Sealed { .. } => 4,
    };
    (message.role, message.parts.iter().map(kind).collect())
}

fn close(one: f64, other: f64, share: f64) {
    assert!((one / other - 1.0).abs() <= share, "{one} and {other}");
}

#[test]
fn a_rendered_session_has_the_structure_of_the_original() {
    let original = session();
    let skeletons = extract(std::slice::from_ref(&original));
    let rendered = render(&skeletons, "r", 1).remove(0);
    let said = |scenario: &Scenario| scenario.messages.iter().map(parts).collect::<Vec<_>>();
    assert_eq!(said(&rendered), said(&original));
    let [own, other] = [&original, &rendered].map(values);
    assert!(own.len() > 500, "{}", own.len());
    close(other.len() as f64, own.len() as f64, 0.03);
    let distinct = |values: &[String]| values.iter().collect::<BTreeSet<_>>().len() as f64;
    close(distinct(&other), distinct(&own), 0.03);
    close(tokens(&rendered), tokens(&original), 0.1);
}

/// The skeleton of what a skeleton rendered is the same skeleton, but for chance values of filler.
#[test]
fn the_skeleton_of_a_rendered_session_is_its_skeleton() {
    let first = extract(&[session()]);
    let second = extract(&render(&first, "r", 5));
    let [one, other] = [&first, &second].map(|skeletons| &skeletons.sessions[0]);
    assert_eq!(one.messages.len(), other.messages.len());
    close(other.values.len() as f64, one.values.len() as f64, 0.03);
    close(other.atoms.len() as f64, one.atoms.len() as f64, 0.05);
    assert_eq!(one.directories.len(), other.directories.len());
}

#[test]
fn no_value_of_a_session_is_in_its_rendering() {
    let original = session();
    let rendered = render(&extract(std::slice::from_ref(&original)), "r", 2).remove(0);
    let own: BTreeSet<String> = values(&original).into_iter().collect();
    let named = |value: &&String| {
        let kind = within(value).next().map(|exact| exact.kind);
        let longest = value
            .split(|letter: char| !letter.is_alphabetic())
            .map(str::len)
            .max();
        longest > Some(3) && kind.is_some_and(|kind| !is_generic(value, kind))
    };
    let found = values(&rendered);
    let leaked: Vec<_> = found
        .iter()
        .filter(named)
        .filter(|value| own.contains(*value))
        .collect();
    assert_eq!(leaked, Vec::<&String>::new());
}

#[test]
fn the_same_seed_gives_the_same_text_and_another_one_other_names() {
    let skeletons = extract(&[session()]);
    let [one, again, other] = [1, 1, 2].map(|seed| render(&skeletons, "r", seed));
    assert_eq!(one, again);
    let [one, other]: [BTreeSet<String>; 2] =
        [&one, &other].map(|scenarios| values(&scenarios[0]).into_iter().collect());
    assert!(one.intersection(&other).count() * 10 < one.len());
}

fn skeletons_text(skeletons: &Skeletons) -> String {
    let mut out = Vec::new();
    write(&mut out, skeletons).expect("holds no text");
    String::from_utf8(out).expect("is text")
}

#[test]
fn a_file_reads_back_and_holds_no_text() {
    let skeletons = extract(&[session()]);
    let text = skeletons_text(&skeletons);
    assert_eq!(read(&mut text.as_bytes()).expect("reads back"), skeletons);
    let session = text.lines().nth(1).expect("has a session");
    let longest = session
        .split(|letter: char| !letter.is_ascii_alphabetic())
        .filter(|word| word.len() > 1)
        .collect::<BTreeSet<_>>();
    let fields = [
        "atoms",
        "compactions",
        "directories",
        "false",
        "messages",
        "null",
        "project",
        "true",
        "values",
    ];
    assert!(longest.is_subset(&fields.into()), "{longest:?}");
}

#[test]
fn text_is_refused_wherever_it_is() {
    let mut skeletons = extract(&[session()]);
    skeletons
        .punctuation
        .push("ab".chars().map(u32::from).collect());
    let refused = check(&skeletons).expect_err("holds letters").to_string();
    assert!(refused.contains("`ab` as punctuation"), "{refused}");
    let text = skeletons_text(&extract(&[session()]));
    for (from, to) in [
        ("\"project\":0", "\"project\":\"acme\""),
        ("\"t\":[", "\"t\":[\"x\","),
        ("[0,47]", "[0,97]"),
    ] {
        let spoiled = text.replacen(from, to, 1);
        assert_ne!(spoiled, text, "{from}");
        let refused = read(&mut spoiled.as_bytes())
            .expect_err("is refused")
            .to_string();
        assert!(refused.starts_with("line 2: "), "{refused}");
    }
    let pointing = text.replacen("\"directories\":[", "\"directories\":[99999,", 1);
    let refused = read(&mut pointing.as_bytes()).expect_err("is refused");
    assert_eq!(
        refused.to_string(),
        "line 2: a number of a value points to nothing"
    );
    for (text, why) in [
        ("", "line 1: the file is empty"),
        ("{}", "line 1: missing field"),
    ] {
        let refused = read(&mut text.as_bytes())
            .expect_err("is refused")
            .to_string();
        assert!(refused.starts_with(why), "{refused}");
    }
}

/// What would render more text than a file has room for is refused before anything is rendered.
#[test]
fn a_file_that_would_render_endless_text_is_refused() {
    let refused = |spoil: &dyn Fn(&mut Skeletons)| {
        let mut skeletons = extract(&[session()]);
        spoil(&mut skeletons);
        let text = skeletons_text(&skeletons);
        read(&mut text.as_bytes())
            .expect_err("is refused")
            .to_string()
    };
    let long_value = refused(&|of| of.sessions[0].values[0] = vec![ValuePiece::Mark('/'); 201]);
    assert!(
        long_value.starts_with("line 2: a value is too long"),
        "{long_value}"
    );
    let long_marks = refused(&|of| of.punctuation[1] = vec![45; 5]);
    assert_eq!(long_marks, "line 1: punctuation is too long");
    let long_gap = refused(&|of| {
        let mut said = of.sessions[0]
            .messages
            .iter_mut()
            .flat_map(|spoken| &mut spoken.2);
        let text = said.find_map(|said| match said {
            SkeletonPart::Text(text) => Some(text),
            _ => None,
        });
        text.expect("has text").4[0].1 = u32::MAX;
    });
    assert_eq!(long_gap, "line 2: the session is too long");
}

/// A spec with the keys that every one has, after some change.
fn spec(change: (&str, &str)) -> Result<Suite, SpecError> {
    let text = "name = \"a\"\nseed = 1\nwindow = 128000\nskeletons = \"skeletons.jsonl.zst\"\nsessions = [0]\n";
    assert!(text.contains(change.0));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets");
    let text = text.replacen(change.0, change.1, 1);
    SkeletonSpec::parse(&text, &folder.join("a.toml"))?.suite()
}

#[test]
fn wrong_keys_of_a_spec_are_refused_with_what_was_expected() {
    for (change, expected) in [
        (("\"a\"", "\"A b\""), "expected lowercase letters"),
        (
            ("128000", "10"),
            "value `10` of `window` is out of range; expected",
        ),
        (
            ("128000", "128000\nretained = 128000"),
            "`retained` is `128000`; expected",
        ),
        (
            ("[0]", "[24]"),
            "`sessions` holds `24`; expected numbers from 0 to 23 once each",
        ),
        (("[0]", "[0, 0]"), "`sessions` holds `0`; expected"),
        (("[0]", "[]"), "`sessions` is empty"),
        (("seed = 1", ""), "missing field `seed`"),
        (("skeletons.jsonl.zst", "none.jsonl"), "none.jsonl"),
        (
            (
                "[0]",
                "[0]\n[statements]\ndomains = [\"cooking\"]\nfacts = [12, 12]\npoints = [2, 2]\nbeside = 1",
            ),
            "`domains` contains `cooking`; expected some of",
        ),
    ] {
        let refused = spec(change).expect_err(expected).to_string();
        assert!(refused.contains(expected), "{refused}");
    }
}

#[test]
fn a_spec_may_choose_sessions() {
    let suite = spec(("[0]", "[2, 0]")).expect("both are there");
    assert_eq!(suite.scenarios.len(), 2);
    let one = spec(("[0]", "[0]")).expect("it is there");
    let messages = |suite: &Suite, at: usize| suite.scenarios[at].messages.len();
    assert_eq!(messages(&suite, 1), messages(&one, 0));
}
