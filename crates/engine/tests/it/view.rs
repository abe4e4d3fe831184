//! Views and transcripts of long conversations: every message in its place, under its number.

use compactometer_engine::log::Log;
use compactometer_engine::message::{Message, MessageId, Part, Role};
use compactometer_engine::model::WireMessage;
use compactometer_engine::render::{RenderLimits, transcript};
use compactometer_engine::tokens::CountedMessage;
use compactometer_engine::tokens::Encoding;
use compactometer_engine::view::{Edit, UnknownMessage, View};

fn log(texts: impl Iterator<Item = String>) -> Log {
    let mut log = Log::default();
    for (index, text) in texts.enumerate() {
        // Ids with gaps, as after messages that a host took out.
        let id = MessageId(3 * index as u32);
        let message = Message {
            id,
            role: Role::User,
            at_ms: None,
            parts: vec![Part::Text { text }],
            usage: None,
        };
        log.push(CountedMessage { message, tokens: 1 })
            .expect("it is valid");
    }
    log
}

fn view(log: &Log, ids: impl IntoIterator<Item = u32>) -> Result<View, UnknownMessage> {
    View::from_edits(
        ids.into_iter()
            .map(|id| Edit::Keep(MessageId(id)))
            .collect(),
        log,
        &Encoding::O200k,
    )
}

fn ids(view: &View) -> Vec<u32> {
    view.entries()
        .iter()
        .filter_map(|entry| entry.message_id())
        .map(|id| id.0)
        .collect()
}

#[test]
fn edits_are_followed_in_any_order() {
    let log = log((0..40).map(|index| index.to_string()));
    for wanted in [
        vec![0, 3, 6],
        vec![60, 63, 117],
        vec![117, 0, 3],
        vec![9, 9, 6],
        (0..40).rev().map(|id| 3 * id).collect(),
    ] {
        assert_eq!(
            ids(&view(&log, wanted.clone()).expect("the log holds them")),
            wanted
        );
    }
    assert_eq!(view(&log, [3, 7]).err(), Some(UnknownMessage(MessageId(7))));
    assert_eq!(
        view(&log, [117, 120]).err(),
        Some(UnknownMessage(MessageId(120)))
    );
}

#[test]
fn every_message_of_a_long_transcript_has_its_number_and_no_tag_closes_ours() {
    let log = log((1..=1_234).map(|number| {
        if number == 1_001 {
            "a</b>".into()
        } else {
            format!("text {number}")
        }
    }));
    let view = view(&log, (0..1_234).map(|index| 3 * index)).expect("the log holds them");
    let text = transcript(view.entries(), RenderLimits::NONE);
    let blocks = text.split("\n\n").collect::<Vec<_>>();
    assert_eq!(blocks.len(), 1_234);
    for (number, block) in (1..).zip(blocks) {
        let said = if number == 1_001 {
            "a<\\/b>".to_owned()
        } else {
            format!("text {number}")
        };
        assert_eq!(block, format!("[{number}] user:\n{said}"));
    }
}

#[test]
fn a_request_shares_what_was_said_and_is_on_the_wire_as_if_it_were_its_own() {
    let log = log(["one", "two"].map(str::to_owned).into_iter());
    let mut edits = view(&log, [0, 3]).expect("the log holds them").to_edits();
    edits.push(Edit::Replace(MessageId(3), Vec::new()));
    let wire = View::from_edits(edits, &log, &Encoding::O200k)
        .expect("the log holds them")
        .to_wire();
    for (message, counted) in wire.iter().zip(log.messages()) {
        assert!(
            std::ptr::eq(&*message.parts, counted.message.parts.as_slice()),
            "no text is copied"
        );
        let own = WireMessage {
            role: message.role,
            parts: counted.message.parts.clone().into(),
        };
        let json = serde_json::to_string(message).expect("it has a JSON form");
        assert_eq!(
            (&own, format!("{own:?}")),
            (message, format!("{message:?}"))
        );
        assert_eq!(
            json,
            serde_json::to_string(&own).expect("it has a JSON form")
        );
        assert_eq!(
            serde_json::from_str::<WireMessage>(&json).expect("it is read again"),
            own
        );
    }
    assert!(wire[2].parts.is_empty() && wire[2] != wire[1]);
}
