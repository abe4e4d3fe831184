//! Invariant 2: what leaves was read by the summarizer whose answer takes its place, or is reported
//! as unread.

use std::collections::BTreeSet;

use compactometer_engine::event::Outcome;
use compactometer_engine::message::{Message, Part, Role};
use compactometer_engine::meter::Purpose;
use compactometer_engine::render::neutralize;
use compactometer_engine::view::{Entry, View};
use proptest::prelude::*;

use crate::invariants::play::Moment;

/// 2: each text of a message that left is in the answered requests of this decision, in one piece
/// or running on from one request to the next; else its message is reported.
pub(crate) fn invariant_02_evidence(moment: &Moment<'_>) -> Result<(), TestCaseError> {
    let Some(event) = moment.event else {
        return Ok(());
    };
    if event.outcome != Outcome::Applied {
        prop_assert!(
            event.unread.is_empty(),
            "nothing left and {:?} is unread",
            event.unread
        );
        return Ok(());
    }
    prop_assert!(event.unread.is_sorted());
    let answered = moment
        .calls
        .iter()
        .filter(|call| call.purpose == Purpose::Compaction && call.outcome.is_ok());
    let requests = answered
        .map(|call| call.request.texts().collect::<Vec<_>>().join("\n"))
        .collect::<Vec<_>>();
    let (before, after) = (whole(moment.before), whole(moment.session.view()));
    let left = before.difference(&after).copied().collect::<BTreeSet<_>>();
    for id in &event.unread {
        prop_assert!(
            left.contains(&id.0),
            "message {} is reported and did not leave",
            id.0
        );
    }
    for counted in moment.session.log().messages() {
        let id = counted.message.id;
        if left.contains(&id.0) && !event.unread.contains(&id) {
            for text in texts(&counted.message) {
                prop_assert!(
                    was_read(text, &requests),
                    "message {} left unread and unreported: {:?}",
                    id.0,
                    text
                );
            }
        }
    }
    Ok(())
}

fn whole(view: &View) -> BTreeSet<u32> {
    let said = view
        .entries()
        .iter()
        .filter(|entry| entry.role() != Role::System);
    said.filter_map(Entry::log_message)
        .map(|message| message.id.0)
        .collect()
}

/// What somebody said in words; thinking and media never enter a summarizer's text.
fn texts(message: &Message) -> impl Iterator<Item = &str> {
    message.parts.iter().filter_map(|part| match part {
        Part::Text { text } | Part::ToolResult { text, .. } => Some(text.as_str()),
        Part::ToolCall { arguments, .. } => Some(arguments.as_str()),
        Part::Thinking { .. } | Part::Media { .. } | Part::Sealed { .. } => None,
    })
}

fn was_read(text: &str, requests: &[String]) -> bool {
    // Closing tags are broken, and blanks at the end of all material are left out.
    let safe = neutralize(text);
    let forms = [text.trim_end(), safe.trim_end()];
    forms.iter().any(|form| {
        requests
            .iter()
            .any(|request| longest_start(form, request) == form.len())
    }) || forms.iter().any(|form| runs_through(form, requests))
        || forms
            .iter()
            .any(|form| requests.iter().any(|request| request.contains(form)))
}

/// Whether a text is in requests in order, at most one stretch in each.
fn runs_through(text: &str, requests: &[String]) -> bool {
    requests
        .iter()
        .fold(text, |rest, request| &rest[longest_start(rest, request)..])
        .is_empty()
}

/// Bytes of the longest start of a text that is in another. Looks for the first letters and goes on
/// from there, since a search for all of a long text costs much more.
fn longest_start(text: &str, inside: &str) -> usize {
    let ends = text
        .char_indices()
        .map(|(at, letter)| at + letter.len_utf8())
        .take(24)
        .collect::<Vec<_>>();
    let letters = ends.partition_point(|end| inside.contains(&text[..*end]));
    let Some(start) = letters.checked_sub(1).map(|last| ends[last]) else {
        return 0;
    };
    if letters < ends.len() {
        return start;
    }
    let goes_on = |(at, _): (usize, &str)| {
        let same = text
            .chars()
            .zip(inside[at..].chars())
            .take_while(|(left, right)| left == right);
        same.map(|(letter, _)| letter.len_utf8()).sum()
    };
    inside
        .match_indices(&text[..start])
        .map(goes_on)
        .max()
        .unwrap_or(0)
}
