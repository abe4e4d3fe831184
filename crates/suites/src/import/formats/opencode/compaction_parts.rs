//! Compactions of opencode: a message of the user with a part `compaction`, then the assistant's
//! message with the summary, and often a message that asks to continue. The program wrote all
//! three, and they are not turns.

use serde_json::Value;

use compactometer_engine::message::Role;

use crate::import::formats::opencode::{OfProgram, usage};
use crate::import::place::Place;
use crate::import::session::{Compaction, Left};

/// What opencode 1.18 sends in place of the part `compaction`, which has no text in the file.
const QUESTION: &str = "What did we do so far?";

/// The compactions, and the messages that the program wrote for them.
pub(in crate::import) fn find(messages: &[Value]) -> (Vec<Compaction>, OfProgram) {
    let (mut compactions, mut of_program) = (Vec::new(), OfProgram::new());
    for (at, message) in messages.iter().enumerate() {
        let Some(part) = part_of(message) else {
            continue;
        };
        let follows = |next: &Value| is_summary(next, &message["info"]["id"]);
        let summary = messages[at..]
            .iter()
            .position(follows)
            .map(|after| at + after);
        let asks = summary
            .map(|summary| summary + 1)
            .filter(|next| messages.get(*next).is_some_and(is_continuation));
        of_program.extend(
            [Some(at), summary, asks]
                .into_iter()
                .flatten()
                .map(|index| index + 1),
        );
        let texts = |index: usize| texts(&messages[index]);
        let mut context = Vec::new();
        if let Some(summary) = summary {
            context.push(Left::Written(Role::User, QUESTION.to_owned()));
            context.push(Left::Written(Role::Assistant, texts(summary)));
            context.extend(tail(&messages[..at], &part["tail_start_id"]));
            context.extend(asks.map(|index| Left::Written(Role::User, texts(index))));
        }
        let is_auto = part["auto"].as_bool();
        compactions.push(Compaction {
            at_ms: message["info"]["time"]["created"].as_i64(),
            trigger: is_auto.map(|is_auto| if is_auto { "auto" } else { "manual" }.to_owned()),
            usage: summary.and_then(|summary| usage(&messages[summary]["info"]["tokens"])),
            context,
            ..Compaction::at(Place::Element(at + 1))
        });
    }
    (compactions, of_program)
}

fn part_of(message: &Value) -> Option<&Value> {
    let parts = message["parts"]
        .as_array()
        .filter(|_| message["info"]["role"] == "user")?;
    parts.iter().find(|part| part["type"] == "compaction")
}

/// Whether it is the summary that the compaction with this id asked for. A call that failed wrote
/// none.
fn is_summary(message: &Value, compaction: &Value) -> bool {
    let info = &message["info"];
    info["summary"] == true
        && compaction.is_string()
        && info["parentID"] == *compaction
        && info["error"].is_null()
}

fn is_continuation(message: &Value) -> bool {
    let mut parts = message["parts"].as_array().into_iter().flatten();
    parts.any(|part| part["metadata"]["compaction_continue"] == true)
}

fn texts(message: &Value) -> String {
    let parts = message["parts"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|part| part["type"] == "text");
    parts
        .filter_map(|part| part["text"].as_str())
        .collect::<Vec<_>>()
        .join("\n")
}

/// The messages from the one with this id, which stay.
fn tail(before: &[Value], first: &Value) -> Vec<Left> {
    let from = before
        .iter()
        .position(|message| first.is_string() && message["info"]["id"] == *first);
    (from.unwrap_or(before.len())..before.len())
        .map(|index| Left::Kept(Place::Element(index + 1)))
        .collect()
}
