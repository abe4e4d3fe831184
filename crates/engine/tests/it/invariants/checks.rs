//! The invariants that one moment shows, each a function with its number (listed in the crate's
//! README).

use std::collections::BTreeSet;

use compactometer_engine::event::{Event, FailReason, Outcome};
use compactometer_engine::message::{Part, Role};
use compactometer_engine::meter::Call;
use compactometer_engine::model::WireMessage;
use compactometer_engine::session::{Session, SessionConfig};
use compactometer_engine::tokens::MESSAGE_OVERHEAD;
use compactometer_engine::view::{Entry, Origin, View, Violation};
use proptest::prelude::*;

use crate::invariants::conversation::{DIGEST, Said, THOUGHT};
use crate::invariants::play::{Counts, Moment};

type Checked = Result<(), TestCaseError>;

/// 1: calls and results pair, a batch stays whole, and a filler stands only where nobody answered.
pub(crate) fn invariant_01_pairing(moment: &Moment<'_>) -> Checked {
    let (view, log) = (moment.session.view(), moment.session.log());
    let chat = view.to_wire();
    let open = unpaired(&chat)?;
    prop_assert!(
        open.iter().all(|id| log.is_open(id)),
        "{:?} stand without the results that the log holds",
        open
    );
    let answers = log
        .messages()
        .iter()
        .flat_map(|counted| counted.message.answered_ids())
        .collect::<BTreeSet<_>>();
    for (part, origin) in view.entries().iter().flat_map(Entry::parts) {
        if let (Part::ToolResult { call_id, .. }, Origin::Filler) = (part, origin) {
            prop_assert!(
                !answers.contains(call_id.as_str()),
                "a filler covers the result of `{call_id}`"
            );
        }
    }
    Ok(())
}

/// Checks the pairs of a chat by their own rule; gives the calls at its end without results.
fn unpaired(chat: &[WireMessage]) -> Result<Vec<&str>, TestCaseError> {
    let (mut seen, mut open) = (BTreeSet::new(), Vec::new());
    for message in chat {
        prop_assert!(
            message.role == Role::Tool || open.is_empty(),
            "{:?} have no result",
            open
        );
        for part in &message.parts {
            match part {
                Part::ToolCall { id, .. } => {
                    prop_assert_eq!(message.role, Role::Assistant);
                    prop_assert!(seen.insert(id), "`{}` repeats", id);
                    open.push(id.as_str());
                }
                Part::ToolResult { call_id, .. } => {
                    prop_assert_eq!(message.role, Role::Tool);
                    let at = open.iter().position(|id| id == call_id);
                    prop_assert!(at.is_some(), "`{}` is answered without a call", call_id);
                    open.remove(at.unwrap());
                }
                _ => {}
            }
        }
    }
    Ok(open)
}

/// 3: fewer tokens than before on the same scale, else no change.
pub(crate) fn invariant_03_progress(moment: &Moment<'_>) -> Checked {
    let (before, after) = (moment.before, moment.session.view());
    let recount = |entry: &Entry| {
        MESSAGE_OVERHEAD
            + entry
                .parts()
                .map(|(part, _)| moment.counter.count_part(part))
                .sum::<u32>()
    };
    prop_assert_eq!(
        after.tokens(),
        after.entries().iter().map(recount).sum::<u32>()
    );
    if let Some(event) = moment.event {
        prop_assert_eq!(
            (event.tokens_before, event.tokens_after),
            (before.tokens(), after.tokens())
        );
        prop_assert_eq!(
            event.outcome == Outcome::Applied,
            after.tokens() < before.tokens()
        );
    }
    Ok(())
}

/// 4: where a request stays at its trigger, the next decision waits for a quarter of the room above
/// it.
pub(crate) fn invariant_04_termination(events: &[Event], config: SessionConfig) -> Checked {
    let quarter = (config.budget.window - config.budget.trigger) / 4;
    let stays = |event: &Event| event.tokens_after + config.overhead >= config.budget.trigger;
    let mut tries = 0;
    for pair in events.windows(2) {
        let grown = pair[1].tokens_before - pair[0].tokens_after;
        // A compaction that was asked for outright waits for nothing; after giving up less out of
        // reach is reason enough.
        let waits = pair[1].after != pair[0].after && stays(&pair[0]) && !gave_up(&pair[0]);
        prop_assert!(!waits || grown > quarter, "{:?}", pair);
        tries = if stays(&pair[0]) && !gave_up(&pair[0]) {
            tries + usize::from(waits)
        } else {
            0
        };
        prop_assert!(
            tries < 3 || gave_up(&pair[1]),
            "{tries} tries in a row before {:?}",
            pair[1]
        );
    }
    Ok(())
}

/// 5: a summarizer's request and the answer asked for fit its window.
pub(crate) fn invariant_05_the_summarizers_window(moment: &Moment<'_>) -> Checked {
    let Some(window) = moment.config.summarizer_window else {
        return Ok(());
    };
    for call in moment.calls {
        let parts = call
            .request
            .messages
            .iter()
            .flat_map(|message| &message.parts);
        let read = parts
            .map(|part| moment.counter.count_part(part))
            .sum::<u32>();
        let messages = call.request.messages.len() as u32 * MESSAGE_OVERHEAD;
        let written = call.request.max_output_tokens.unwrap_or_default();
        prop_assert!(
            read + messages + written <= window,
            "{read} + {messages} + {written} tokens in {window}"
        );
    }
    Ok(())
}

/// 6: failure leaves the history byte-identical.
pub(crate) fn invariant_06_failure_changes_nothing(moment: &Moment<'_>) -> Checked {
    prop_assert_eq!(moment.session.log().messages().len(), moment.counts.log);
    match moment.event {
        Some(event) if event.outcome == Outcome::Applied => Ok(()),
        _ => same_view(moment.before, moment.session.view()),
    }
}

/// 6: a decision that is dropped half way leaves no trace but a checkpoint that was complete.
pub(crate) fn invariant_06_cancelled_changes_nothing(
    session: &Session<'_>,
    before: &View,
    counts: Counts,
    calls: &[Call],
) -> Checked {
    prop_assert_eq!(session.log().messages().len(), counts.log);
    prop_assert_eq!(session.events().len(), counts.events);
    let checkpoints = session.checkpoint_events().len() - counts.checkpoint_events;
    prop_assert_eq!(session.history().len(), counts.history + checkpoints);
    prop_assert!(checkpoints <= 1 && calls.len() >= checkpoints);
    same_view(before, session.view())
}

/// 7: the system prompt is first, once, and unchanged but for the injected section.
pub(crate) fn invariant_07_system_prompt(moment: &Moment<'_>) -> Checked {
    let chat = moment.session.view().to_wire();
    prop_assert!(
        chat.iter()
            .skip(1)
            .all(|message| message.role != Role::System)
    );
    let Some(system) = moment.session.log().system() else {
        return Ok(());
    };
    let said = &system.message.parts;
    prop_assert_eq!(chat[0].role, Role::System);
    prop_assert_eq!(&chat[0].parts[..said.len()], &said[..]);
    let section = moment.session.view().entries()[0].parts().skip(said.len());
    prop_assert!(
        section
            .map(|(_, origin)| origin)
            .all(|origin| matches!(origin, Origin::Checkpoint(_)))
    );
    Ok(())
}

/// 8: the last real user message stays verbatim; what was written is under another origin.
pub(crate) fn invariant_08_last_user_message(moment: &Moment<'_>) -> Checked {
    let messages = moment.session.log().messages();
    let last = messages
        .iter()
        .rfind(|counted| counted.message.role == Role::User);
    let kept = kept(moment.session.view());
    prop_assert!(
        last.is_none_or(|last| kept.contains(&last.message.id.0)),
        "the last user message left"
    );
    prop_assert!(kept.is_sorted(), "kept messages change places");
    Ok(())
}

/// 10: a summary stands once, and no summary is in another.
pub(crate) fn invariant_10_no_nesting(moment: &Moment<'_>) -> Checked {
    let entries = moment.session.view().entries();
    let numbers = entries
        .iter()
        .flat_map(Entry::parts)
        .filter_map(|(_, origin)| match origin {
            Origin::Summary(number) => Some(number),
            _ => None,
        });
    let numbers = numbers.collect::<Vec<_>>();
    prop_assert!(
        numbers.iter().collect::<BTreeSet<_>>().len() == numbers.len(),
        "a summary stands twice: {:?}",
        numbers
    );
    prop_assert!(numbers.is_sorted());
    Ok(())
}

/// 11: a thinking block is in its whole, unchanged message, and never in a text for a summarizer.
pub(crate) fn invariant_11_thinking(moment: &Moment<'_>) -> Checked {
    for entry in moment
        .session
        .view()
        .entries()
        .iter()
        .filter(|entry| entry.written_parts().is_some())
    {
        prop_assert!(
            entry
                .parts()
                .all(|(part, _)| !matches!(part, Part::Thinking { .. })),
            "a written entry thinks"
        );
    }
    for call in moment
        .calls
        .iter()
        .filter(|call| call.request.messages.len() == 1)
    {
        prop_assert!(
            call.request.texts().all(|text| !text.contains(THOUGHT)),
            "a thought stands in a prompt"
        );
    }
    Ok(())
}

/// 12: what a compaction leaves follows the provider's grammar. A chat that opens with the agent
/// stays listed until then.
pub(crate) fn invariant_12_grammar(moment: &Moment<'_>) -> Checked {
    let violations = moment.session.view().check_against(moment.session.log());
    let compacted = moment
        .session
        .events()
        .iter()
        .any(|event| event.outcome == Outcome::Applied);
    let allowed =
        |violation: &Violation| !compacted && matches!(violation, Violation::LeadingTurn { .. });
    prop_assert!(violations.iter().all(allowed), "{:?}", violations);
    let chat = moment.session.view().to_wire();
    prop_assert!(chat.iter().all(|message| !message.parts.is_empty()));
    let opens = chat.iter().find(|message| message.role != Role::System);
    prop_assert!(!compacted || opens.is_some_and(|opens| opens.role == Role::User));
    Ok(())
}

/// 13: nothing of a medium but its kind enters a text, of a request or of the view.
pub(crate) fn invariant_13_media(moment: &Moment<'_>) -> Checked {
    for call in moment.calls {
        prop_assert!(
            call.request.texts().all(|text| !text.contains(DIGEST)),
            "a digest in a request"
        );
        let prompt = call.request.messages.last();
        prop_assert!(
            prompt.is_some_and(|prompt| !prompt.parts.iter().any(is_media)),
            "a medium in a prompt"
        );
    }
    let written = moment
        .session
        .view()
        .entries()
        .iter()
        .filter_map(Entry::written_parts)
        .flatten();
    prop_assert!(written.into_iter().all(|written| !is_media(&written.part)));
    Ok(())
}

fn is_media(part: &Part) -> bool {
    matches!(part, Part::Media { .. })
}

/// 16: whoever spoke last, a tool included, what is due is decided, and what has outgrown its
/// trigger is due.
pub(crate) fn invariant_16_asked_is_answered(moment: &Moment<'_>) -> Checked {
    prop_assert_eq!(moment.was_due, moment.event.is_some());
    let request = moment.config.overhead + moment.before.tokens();
    let events = moment.session.events();
    let earlier = &events[..moment.counts.events];
    let waits = earlier.last().is_some_and(|last| {
        last.outcome != Outcome::Applied
            || last.tokens_after + moment.config.overhead >= moment.config.budget.trigger
    });
    prop_assert!(
        moment.was_due || waits || request < moment.config.budget.trigger,
        "{request} tokens and not due"
    );
    Ok(())
}

/// 17: what is said is at the end, and nothing before it moves.
pub(crate) fn invariant_17_what_is_said_survives(
    before: &View,
    after: &View,
    said: &Said,
) -> Checked {
    let (old, new) = (before.entries(), after.entries());
    prop_assert!(new.len() >= old.len());
    for (old, new) in old.iter().zip(new) {
        same_entry(old, new)?;
    }
    let added = &new[old.len()..];
    if said.refused {
        prop_assert!(added.is_empty(), "a refused message changes the view");
        return Ok(());
    }
    let (last, fillers) = added.split_last().unwrap();
    prop_assert_eq!(last.message_id(), Some(said.counted.message.id));
    prop_assert!(
        fillers.len() <= 1
            && fillers
                .iter()
                .flat_map(Entry::parts)
                .all(|(_, origin)| origin == Origin::Filler)
    );
    Ok(())
}

/// 18: a pass breaks the cached prefix at one place: what it writes stands together, and what is
/// kept follows in order.
pub(crate) fn invariant_18_one_break(moment: &Moment<'_>) -> Checked {
    if moment
        .event
        .is_none_or(|event| event.outcome != Outcome::Applied)
    {
        return Ok(());
    }
    let entries = moment.session.view().entries();
    let is_kept = |entry: &&Entry| entry.log_message().is_some();
    let is_filler = |entry: &&Entry| {
        entry.role() == Role::Tool && entry.parts().all(|(_, origin)| origin == Origin::Filler)
    };
    let chat = entries.iter().filter(|entry| entry.role() != Role::System);
    let mut rest = chat.skip_while(|entry| !is_kept(entry));
    prop_assert!(
        rest.all(|entry| is_kept(&entry) || is_filler(&entry)),
        "something written among what is kept"
    );
    let old = kept(moment.before);
    prop_assert!(
        kept(moment.session.view())
            .iter()
            .all(|id| old.contains(id)),
        "what had left comes back"
    );
    Ok(())
}

/// 21: no text of a transcript or an answer closes a block of ours; what was written claims
/// nobody's voice.
pub(crate) fn invariant_21_text_stays_data(moment: &Moment<'_>) -> Checked {
    for call in moment.calls {
        let Some(prompt) = call.request.messages.last() else {
            continue;
        };
        for text in prompt.parts.iter().filter_map(|part| {
            if let Part::Text { text } = part {
                Some(text)
            } else {
                None
            }
        }) {
            for tag in ["</messages>", "</previous>", "</task>"] {
                prop_assert!(
                    text.matches(tag).count() <= 1,
                    "{} closes twice:\n{}",
                    tag,
                    text
                );
            }
        }
    }
    let written = moment
        .session
        .view()
        .entries()
        .iter()
        .filter(|entry| entry.role() != Role::System);
    let mut origins = written
        .filter_map(Entry::written_parts)
        .flatten()
        .map(|written| written.origin);
    prop_assert!(origins.all(|origin| !matches!(origin, Origin::Spoken(_))));
    Ok(())
}

/// 22: nothing is called, saved or changed without an event that says so.
pub(crate) fn invariant_22_every_decision_is_an_event(moment: &Moment<'_>) -> Checked {
    let session = moment.session;
    let decided = session.events().len() - moment.counts.events;
    let checkpoints = session.checkpoint_events().len() - moment.counts.checkpoint_events;
    prop_assert_eq!(decided, usize::from(moment.event.is_some()));
    prop_assert_eq!(
        session.events().last().filter(|_| decided == 1),
        moment.event
    );
    if decided + checkpoints == 0 {
        prop_assert_eq!(
            (moment.calls.len(), session.history().len()),
            (0, moment.counts.history)
        );
    }
    if let Some(event) = moment.event {
        prop_assert_eq!(
            Some(event.after),
            session.log().messages().last().map(|last| last.message.id)
        );
        prop_assert_eq!(
            event.attempts == 0,
            gave_up(event),
            "whoever decides asks, or has given up"
        );
    }
    Ok(())
}

fn gave_up(event: &Event) -> bool {
    matches!(
        event.outcome,
        Outcome::Failed(FailReason::StaysAtTrigger { .. })
    )
}

/// The log messages that a view holds unchanged.
fn kept(view: &View) -> Vec<u32> {
    let kept = view.entries().iter().filter_map(Entry::log_message);
    kept.map(|message| message.id.0).collect()
}

/// Two views that a model reads alike, byte for byte.
pub(crate) fn same_view(before: &View, after: &View) -> Checked {
    same_entries(before.entries(), after.entries())
}

pub(crate) fn same_entries(before: &[Entry], after: &[Entry]) -> Checked {
    prop_assert_eq!(before.len(), after.len(), "the view changed");
    before
        .iter()
        .zip(after)
        .try_for_each(|(old, new)| same_entry(old, new))
}

fn same_entry(old: &Entry, new: &Entry) -> Checked {
    prop_assert_eq!((old.role(), old.tokens()), (new.role(), new.tokens()));
    prop_assert!(old.parts().eq(new.parts()), "an entry changed");
    Ok(())
}
