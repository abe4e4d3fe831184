//! Faults in how a reply ends: too early, too late, slowly, or before any text.

use compactometer_engine::model::{ChatReply, Finish};

use super::{Effect, FaultScene, ModelFault, json};
use crate::writing;

pub(super) const CUT_JSON: ModelFault = ModelFault {
    name: "cut-json",
    about: "the reply ends inside its JSON object, as if at the output limit",
    effect: Effect::Reply(|reply, scene| {
        let inside = json::object(&reply.text).map(|object| object.start + 1..object.end);
        cut(reply, scene, |_, at| {
            inside.as_ref().is_some_and(|inside| inside.contains(&at))
        });
    }),
};

pub(super) const DROPPED: ModelFault = ModelFault {
    name: "dropped",
    about: "the reply breaks off in the middle of a word of its second half; reported as cut, not as an error",
    effect: Effect::Reply(|reply, scene| {
        cut(reply, scene, |text, at| {
            let (before, after) = text.split_at(at);
            at >= text.len() / 2
                && before.ends_with(char::is_alphanumeric)
                && after.starts_with(char::is_alphanumeric)
        });
    }),
};

pub(super) const EMPTY: ModelFault = ModelFault {
    name: "empty",
    about: "no text at all",
    effect: Effect::Reply(|reply, _| end(reply, String::new(), Finish::Stop)),
};

pub(super) const BLANK: ModelFault = ModelFault {
    name: "blank",
    about: "whitespace only",
    effect: Effect::Reply(|reply, _| end(reply, " \n\t\n\u{a0}\n".to_owned(), Finish::Stop)),
};

pub(super) const FILTERED: ModelFault = ModelFault {
    name: "filtered",
    about: "a content filter withholds the text",
    effect: Effect::Reply(|reply, _| end(reply, String::new(), Finish::ContentFilter)),
};

pub(super) const REASONING_ONLY: ModelFault = ModelFault {
    name: "reasoning-only",
    about: "reasoning uses up the output limit: no text, but the output is paid for",
    effect: Effect::Reply(|reply, scene| {
        let spent = scene
            .request
            .max_output_tokens
            .map_or(reply.usage.output, u64::from);
        end(reply, String::new(), Finish::Length);
        reply.usage.output = spent.max(1);
    }),
};

pub(super) const OVER_LENGTH: ModelFault = ModelFault {
    name: "over-length",
    about: "repeats itself beyond the output limit, by at least half of it (limits up to 100,000 tokens)",
    effect: Effect::Reply(|reply, scene| {
        let own = writing::tokens(&reply.text);
        let most = scene.request.max_output_tokens.unwrap_or(own);
        if !reply.text.trim().is_empty() && most <= LARGEST_LIMIT {
            end(
                reply,
                repeated(&reply.text, own, most.saturating_add(most / 2)),
                Finish::Stop,
            );
        }
    }),
};

pub(super) const SLOW: ModelFault = ModelFault {
    name: "slow",
    about: "takes ten times as long",
    effect: Effect::Reply(|reply, _| reply.latency_ms = reply.latency_ms.saturating_mul(10)),
};

/// The largest limit that a reply exceeds. No model writes more, and the text would only fill the
/// memory.
const LARGEST_LIMIT: u32 = 100_000;

/// Copies of a text until they have more than `most` tokens.
fn repeated(text: &str, own: u32, most: u32) -> String {
    let mut copies = most / own.max(1) + 1;
    loop {
        let whole = vec![text; copies as usize].join("\n\n");
        if writing::tokens(&whole) > most {
            return whole;
        }
        copies += 1 + copies / 4;
    }
}

/// Cuts the reply at a random character boundary among those that `may_be` accepts. If it accepts
/// none, the reply is unchanged.
fn cut(reply: &mut ChatReply, scene: &mut FaultScene<'_>, may_be: impl Fn(&str, usize) -> bool) {
    let boundaries = reply
        .text
        .char_indices()
        .map(|(at, _)| at)
        .filter(|&at| may_be(&reply.text, at));
    if let Some(at) = scene.pick(&boundaries.collect::<Vec<_>>()) {
        end(reply, reply.text[..at].to_owned(), Finish::Length);
    }
}

/// Replaces the reply's text and ending. Tokens are counted with o200k, whatever the model.
fn end(reply: &mut ChatReply, text: String, finish: Finish) {
    reply.usage.output = u64::from(writing::tokens(&text));
    reply.text = text;
    reply.finish = finish;
}
