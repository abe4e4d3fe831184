//! Every rung and every reason; and that no rung loses what is whole or says what the answer does
//! not.

use proptest::prelude::*;
use serde_json::json;

use super::*;

const JSON: &str = r#"{"active_goals": ["ship {it}"], "key_decisions": {"db": "use \"pg\""}}"#;

fn read_as(answer: &str, finish: Finish) -> (Option<Checkpoint>, LadderReading) {
    let (checkpoint, extraction) = extract(answer, finish, &Examples::default());
    assert_eq!(
        checkpoint.is_some(),
        matches!(extraction.reading, LadderReading::Rung(_)),
        "{answer}"
    );
    (checkpoint, extraction.reading)
}

#[test]
fn each_form_is_read_on_its_rung() {
    let expected = serde_json::from_str::<Checkpoint>(JSON).expect("strict JSON parses");
    for (answer, rung) in [
        (format!("\n{JSON}\n"), Rung::Strict),
        (format!("Here:\n```json\n{JSON}\n```\nDone."), Rung::Fenced),
        (
            format!("```\nno\n```\nHere:\n```json\n{JSON}\n```"),
            Rung::Fenced,
        ),
        (format!("```json\n{JSON}"), Rung::Fenced),
        (
            format!("As {{asked}}, here it is {JSON} and more }}"),
            Rung::Balanced,
        ),
        (format!("{{\"checkpoint\": {JSON}}}"), Rung::Balanced),
        (JSON.replace("}}", "},}"), Rung::Lenient),
        (
            format!("```json\n{}\n```", JSON.replace("}}", "}, ...}")),
            Rung::Lenient,
        ),
        (
            "{active_goals: 'ship {it}', key_decisions: [{db: 'use \"pg\"'}]} // so".to_owned(),
            Rung::Lenient,
        ),
    ] {
        assert_eq!(
            read_as(&answer, Finish::Stop),
            (Some(expected.clone()), LadderReading::Rung(rung)),
            "{answer}"
        );
    }
    let (cut, _) = JSON.split_once("}}").expect("two braces");
    assert_eq!(
        read_as(cut, Finish::Length),
        (Some(expected), LadderReading::Rung(Rung::Partial))
    );
}

#[test]
fn each_unreadable_answer_has_its_reason() {
    let broken = JSON.replace("\\\"", "\"");
    for (answer, finish, reason) in [
        (" \n", Finish::Stop, Unreadable::Empty),
        ("no json", Finish::Stop, Unreadable::NoObject),
        ("[\"active_goals\"]", Finish::Length, Unreadable::NoObject),
        (broken.as_str(), Finish::Stop, Unreadable::Malformed),
        (&JSON[..40], Finish::Stop, Unreadable::Unclosed),
        (&JSON[..40], Finish::ContentFilter, Unreadable::Unclosed),
        (
            "{\"active_goals\": [\"cut",
            Finish::Length,
            Unreadable::Unclosed,
        ),
        ("{}", Finish::Stop, Unreadable::NoField),
        (
            "{\"active_goals\": [], \"key_decisions\": {\"db\": \"\"}}",
            Finish::Stop,
            Unreadable::NoField,
        ),
        ("{\"other\": 1}", Finish::Length, Unreadable::NoField),
    ] {
        assert_eq!(
            read_as(answer, finish),
            (None, LadderReading::Unreadable(reason)),
            "{answer}"
        );
    }
}

#[test]
fn example_values_are_taken_out_on_every_rung() {
    let example = r#"{"active_goals": ["goal"], "key_decisions": {"topic": "decision"}}"#;
    let examples = Examples::new(example, String::new);
    let only = Extraction {
        leaked: 2,
        ..Extraction::new(LadderReading::Unreadable(Unreadable::OnlyExample))
    };
    assert_eq!(extract(example, Finish::Stop, &examples), (None, only));
    assert_eq!(
        extract(&example.replace('"', "'"), Finish::Stop, &examples),
        (None, only)
    );
    assert_eq!(
        extract(&example[..example.len() - 1], Finish::Length, &examples),
        (None, only)
    );
    let (checkpoint, extraction) =
        extract(&format!("Like {example}:\n{JSON}"), Finish::Stop, &examples);
    assert_eq!(
        checkpoint,
        serde_json::from_str(JSON).ok(),
        "what follows the example is read"
    );
    assert_eq!(
        extraction,
        Extraction::new(LadderReading::Rung(Rung::Balanced))
    );
    let (checkpoint, extraction) = extract(
        &JSON.replace("\"ship {it}\"", "\"goal\", 3"),
        Finish::Stop,
        &examples,
    );
    assert_eq!(
        checkpoint.map(|checkpoint| checkpoint.active_goals),
        Some(vec!["3".to_owned()])
    );
    assert_eq!(
        extraction,
        Extraction {
            leaked: 1,
            ..Extraction::new(LadderReading::Rung(Rung::Lenient))
        }
    );
}

#[test]
fn extractions_are_read_back_as_they_were_written() {
    for (extraction, written) in [
        (
            Extraction::new(LadderReading::Rung(Rung::Strict)),
            json!({"rung": "strict"}),
        ),
        (
            Extraction {
                leaked: 2,
                left_out: 1,
                ..Extraction::new(LadderReading::Unreadable(Unreadable::OnlyExample))
            },
            json!({"unreadable": "only_example", "leaked": 2, "left_out": 1}),
        ),
    ] {
        assert_eq!(serde_json::to_value(extraction).expect("JSON"), written);
        assert_eq!(
            serde_json::from_value::<Extraction>(written).expect("reads"),
            extraction
        );
    }
}

#[test]
fn hostile_answers_end_soon() {
    for answer in [
        "{".repeat(1_000_000),
        "```\n{".repeat(200_000),
        format!("{{\"a\":{}", "[".repeat(1_000_000)),
    ] {
        assert!(read_as(&answer, Finish::Length).0.is_none());
    }
}

/// How a sloppy model writes JSON.
#[derive(Clone, Copy, Debug)]
struct SloppyStyle {
    quote: char,
    bare_keys: bool,
    bare_numbers: bool,
    single_items: bool,
    raw_breaks: bool,
    end: &'static str,
}

impl SloppyStyle {
    fn write(self, value: &Value) -> String {
        let joined = |parts: Vec<String>| {
            if parts.is_empty() {
                String::new()
            } else {
                parts.join(", ") + self.end
            }
        };
        match value {
            Value::Object(fields) => {
                let key = |key: &str| {
                    if self.bare_keys {
                        key.to_owned()
                    } else {
                        self.quoted(key)
                    }
                };
                let fields = fields
                    .iter()
                    .map(|(name, value)| format!("{}: {}", key(name), self.write(value)));
                format!("{{{}}}", joined(fields.collect()))
            }
            Value::Array(items)
                if self.single_items && items.len() == 1 && items[0].is_string() =>
            {
                self.write(&items[0])
            }
            Value::Array(items) => format!(
                "[{}]",
                joined(items.iter().map(|item| self.write(item)).collect())
            ),
            Value::String(text)
                if self.bare_numbers && text.bytes().all(|digit| digit.is_ascii_digit()) =>
            {
                text.clone()
            }
            Value::String(text) => self.quoted(text),
            other => other.to_string(),
        }
    }

    fn quoted(self, text: &str) -> String {
        let mut quoted = String::from(self.quote);
        for letter in text.chars() {
            match letter {
                '\n' if !self.raw_breaks => quoted.push_str("\\n"),
                '\\' => quoted.push_str("\\\\"),
                letter if letter == self.quote => quoted.extend(['\\', letter]),
                letter => quoted.push(letter),
            }
        }
        quoted + &self.quote.to_string()
    }
}

fn style() -> impl Strategy<Value = SloppyStyle> {
    let end = prop_oneof![
        Just(""),
        Just(","),
        Just(", ..."),
        Just(" // so\n"),
        Just(", /* , */")
    ];
    (prop_oneof![Just('"'), Just('\'')], any::<[bool; 4]>(), end).prop_map(
        |(quote, [bare_keys, bare_numbers, single_items, raw_breaks], end)| SloppyStyle {
            quote,
            bare_keys,
            bare_numbers,
            single_items,
            raw_breaks,
            end,
        },
    )
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z] ?[a-zé漢\"'\\\\{}\\[\\],:/\n😀]{0,9}[a-z]",
        "[0-9]{1,24}"
    ]
}

fn checkpoint() -> impl Strategy<Value = Value> {
    let texts = || prop::collection::vec(text(), 0..4);
    let map = prop::collection::btree_map("[a-z]{1,5}", text(), 0..4);
    (text(), texts(), prop::collection::vec((text(), text()), 0..3), map, texts(), text()).prop_map(
        |(goal, goals, tasks, decisions, files, step)| {
            let goals = [vec![goal], goals].concat();
            let tasks = tasks.iter().map(|(task, context)| json!({"task": task, "context": context}));
            json!({
                "active_goals": goals, "pending_tasks": tasks.collect::<Vec<_>>(), "key_decisions": decisions,
                "context_references": {"files": files}, "workflow_state": {"current_step": step}
            })
        },
    )
}

/// The texts and numbers of a value, with the topics of its maps.
fn leaves(value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => fields.values().flat_map(leaves).collect(),
        Value::Array(items) => items.iter().flat_map(leaves).collect(),
        Value::String(text) => vec![text.clone()],
        other => vec![other.to_string()],
    }
}

fn leaves_of(checkpoint: &Checkpoint) -> Vec<String> {
    let topics = checkpoint
        .key_decisions
        .keys()
        .chain(checkpoint.user_preferences.keys())
        .cloned();
    topics
        .chain(leaves(&serde_json::to_value(checkpoint).expect("JSON")))
        .filter(|text| !text.is_empty())
        .collect()
}

/// Whether a text stands somewhere in an answer, each letter as itself or as an escape of it.
fn stands_in(answer: &str, text: &str) -> bool {
    answer
        .char_indices()
        .any(|(at, _)| starts_with(&answer[at..], text))
}

fn starts_with(answer: &str, text: &str) -> bool {
    let Some(letter) = text.chars().next() else {
        return true;
    };
    let json = Value::from(letter.to_string()).to_string();
    let forms = [
        letter.to_string(),
        json.trim_matches('"').to_owned(),
        format!("\\{letter}"),
        unicode(letter),
    ];
    forms
        .iter()
        .filter_map(|form| answer.strip_prefix(form.as_str()))
        .any(|rest| starts_with(rest, &text[letter.len_utf8()..]))
}

fn unicode(letter: char) -> String {
    letter
        .encode_utf16(&mut [0; 2])
        .iter()
        .map(|unit| format!("\\u{unit:04x}"))
        .collect()
}

fn pieces() -> impl Strategy<Value = String> {
    prop_oneof![
        "[{}\\[\\]\"',:\\\\/ \n.a-z0-9]{0,4}",
        Just("\\u00e9\\ud83d\\ude00".to_owned()),
        Just("```\n".to_owned())
    ]
}

proptest! {
    #[test]
    fn sloppy_forms_keep_every_value(written in checkpoint(), style in style(), around in "[a-z .\n]{0,10}") {
        let answer = format!("{around}{}{around}", style.write(&written));
        let (read, extraction) = extract(&answer, Finish::Stop, &Examples::default());
        prop_assert!(matches!(extraction.reading, LadderReading::Rung(_)) && extraction.left_out == 0, "{answer}: {extraction:?}");
        let read = serde_json::to_value(read.expect("read")).expect("JSON");
        prop_assert_eq!(leaves(&read), leaves(&written), "{}", answer);
    }

    #[test]
    fn strict_json_is_read_as_its_library_reads_it(written in checkpoint()) {
        let (read, extraction) = extract(&written.to_string(), Finish::Stop, &Examples::default());
        prop_assert_eq!(extraction.reading, LadderReading::Rung(Rung::Strict));
        prop_assert_eq!(read, serde_json::from_value(written).ok());
    }

    #[test]
    fn a_cut_answer_gives_whole_values_only_where_the_limit_cut_it(written in checkpoint(), style in style(), at in 0.0..1.0) {
        let whole = style.write(&written);
        let ends = whole.char_indices().map(|(end, _)| end).collect::<Vec<_>>();
        let answer = &whole[..ends[(at * ends.len() as f64) as usize]];
        let said = leaves(&written);
        let (read, extraction) = extract(answer, Finish::Length, &Examples::default());
        prop_assert!(matches!(extraction.reading, LadderReading::Rung(Rung::Partial) | LadderReading::Unreadable(_)), "{answer}");
        for value in read.iter().flat_map(|read| leaves(&serde_json::to_value(read).expect("JSON"))) {
            prop_assert!(value.is_empty() || said.contains(&value), "{value} of {answer}");
        }
        for finish in [Finish::Stop, Finish::ContentFilter] {
            prop_assert_eq!(extract(answer, finish, &Examples::default()).0, None, "{}", answer);
        }
    }

    #[test]
    fn no_rung_says_what_the_answer_does_not(
        written in checkpoint(), style in style(), at in 0.0..1.0, over in 0_usize..8, put in pieces(), is_cut: bool
    ) {
        let whole = style.write(&written).chars().collect::<Vec<_>>();
        let at = (at * whole.len() as f64) as usize;
        let after = whole.iter().skip(at + over);
        let answer = whole[..at].iter().copied().chain(put.chars()).chain(after.copied()).collect::<String>();
        let finish = if is_cut { Finish::Length } else { Finish::Stop };
        let (read, _) = extract(&answer, finish, &Examples::default());
        for value in read.iter().flat_map(leaves_of) {
            prop_assert!(stands_in(&answer, &value), "{value} of {answer}");
        }
    }
}
