//! In one benchmark the winners read the answer key's own labels: stripped of them in 30 sessions,
//! survival fell from 1.000 to 0.100.

use compactometer_engine::message::{Part, Role};
use compactometer_formats::scenario::Fact;
use compactometer_formats::suite::Suite;

use crate::honesty::plugins::{LABEL_READER, LABELS};
use crate::honesty::stage::{Staged, WINDOW, foreign, mock, named, run, small_suite};

#[test]
fn what_reads_labels_gains_nothing_since_there_are_none() {
    let labelled = run(
        with_labels(small_suite()),
        vec![foreign(&LABEL_READER)],
        &*mock("mock:strong"),
        WINDOW,
    );
    let plain = run(
        small_suite(),
        vec![foreign(&LABEL_READER)],
        &*mock("mock:strong"),
        WINDOW,
    );
    let recall = |staged: &Staged| staged.value("label-reader", "context_recall");
    assert!(
        recall(&labelled) > 0.5,
        "with planted labels it wins: {}",
        recall(&labelled)
    );
    assert!(
        recall(&plain) <= 0.03,
        "without them it has nothing: {}",
        recall(&plain)
    );
}

#[test]
fn no_text_holds_a_label() {
    for scenario in &small_suite().scenarios {
        for text in scenario
            .messages
            .iter()
            .flat_map(|message| &message.parts)
            .filter_map(text_of)
        {
            assert!(LABELS.iter().all(|label| !text.contains(label)), "{text}");
        }
    }
}

#[test]
fn other_words_leave_the_order_as_it_is() {
    let order = |suite| {
        let entrants = named(&["summarize", "null", "oracle"])
            .into_iter()
            .chain([foreign(&LABEL_READER)])
            .collect();
        let staged = run(suite, entrants, &*mock("mock:strong"), WINDOW);
        let mut rows: Vec<_> = staged
            .group
            .strategies
            .iter()
            .map(|row| row.name.clone())
            .collect();
        rows.sort_by(|one, other| {
            let [one, other] = [one, other].map(|name| staged.value(name, "context_recall"));
            other.total_cmp(&one)
        });
        rows
    };
    let (plain, other) = (small_suite(), in_other_words(small_suite()));
    assert_ne!(plain.hash(), other.hash());
    assert_eq!(order(plain), order(other));
}

fn text_of(part: &Part) -> Option<&String> {
    match part {
        Part::Text { text } | Part::ToolResult { text, .. } => Some(text),
        _ => None,
    }
}

/// A label before every statement of a fact, as in the benchmark.
fn with_labels(mut suite: Suite) -> Suite {
    for scenario in &mut suite.scenarios {
        let facts: Vec<Fact> = scenario
            .facts
            .iter()
            .filter(|fact| fact.decoy_of.is_none())
            .cloned()
            .collect();
        for part in scenario
            .messages
            .iter_mut()
            .filter(|message| message.role != Role::System)
            .flat_map(|m| &mut m.parts)
        {
            let (Part::Text { text } | Part::ToolResult { text, .. }) = part else {
                continue;
            };
            for fact in &facts {
                let said = if fact.sought().said == compactometer_text::matcher::Said::Denied {
                    "not "
                } else {
                    ""
                };
                *text = text.replace(
                    &fact.value,
                    &format!("{} FACT:{said}{}", fact.value, fact.value),
                );
            }
        }
    }
    suite
}

/// Frame words of every sentence replaced by others; values, names and numbers stay.
fn in_other_words(mut suite: Suite) -> Suite {
    const OTHER: [(&str, &str); 10] = [
        (" please ", " kindly "),
        ("Please ", "Kindly "),
        (" keep ", " hold "),
        (" goes ", " moves "),
        (" has to ", " must "),
        (" settled on ", " agreed on "),
        (" still ", " yet "),
        (" we ", " the team "),
        (" now ", " at present "),
        (" the ", " that "),
    ];
    let messages = suite
        .scenarios
        .iter_mut()
        .flat_map(|scenario| &mut scenario.messages);
    for part in messages
        .filter(|message| message.role != Role::System)
        .flat_map(|message| &mut message.parts)
    {
        if let Part::Text { text } = part {
            *text = OTHER
                .iter()
                .fold(text.clone(), |text, (one, other)| text.replace(one, other));
        }
    }
    suite
}
