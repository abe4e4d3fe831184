//! Replies in OpenAI's shape: whole, and as server-sent events.

use compactometer_engine::message::Usage;
use compactometer_engine::model::{ChatReply, Finish};
use serde_json::{Value, json};

use compactometer_engine::tokens::{Encoding, TokenCounter};

/// Ends a reply before the first of the texts that the caller stops at; its tokens are counted again.
pub(super) fn stop_at(reply: &mut ChatReply, stops: &[String]) {
    if let Some(end) = stops.iter().filter_map(|stop| reply.text.find(stop.as_str())).min() {
        reply.text.truncate(end);
        reply.finish = Finish::Stop;
        reply.usage.output = u64::from(Encoding::O200k.count_text(&reply.text));
    }
}

/// The reply as one object.
pub(super) fn whole(model: &str, reply: &ChatReply) -> Value {
    let message = json!({"role": "assistant", "content": reply.text, "refusal": null});
    let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": finish(reply)});
    json!({
        "id": id(model, reply),
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [choice],
        "usage": usage(reply),
    })
}

/// The reply as events: a few words each, then the end, then the usage where it is asked for.
pub(super) fn events(model: &str, reply: &ChatReply, with_usage: bool) -> String {
    let id = id(model, reply);
    let event = |choices: Value, usage: Option<Value>| {
        let mut chunk =
            json!({"id": id, "object": "chat.completion.chunk", "created": 0, "model": model, "choices": choices});
        if with_usage {
            chunk["usage"] = usage.unwrap_or(Value::Null);
        }
        format!("data: {chunk}\n\n")
    };
    let choice =
        |delta: Value, finish: Value| json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]);
    let mut events = event(choice(json!({"role": "assistant", "content": ""}), Value::Null), None);
    for piece in pieces(&reply.text) {
        events.push_str(&event(choice(json!({"content": piece}), Value::Null), None));
    }
    events.push_str(&event(choice(json!({}), json!(finish(reply))), None));
    if with_usage {
        events.push_str(&event(json!([]), Some(usage(reply))));
    }
    events + "data: [DONE]\n\n"
}

/// Words with the blanks after them, some at a time; together they are the text.
fn pieces(text: &str) -> Vec<String> {
    /// Words of an event: assumed.
    const WORDS: usize = 8;
    let words: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
    words.chunks(WORDS).map(<[&str]>::concat).collect()
}

/// From the reply's content, so that the same request gives the same bytes.
fn id(model: &str, reply: &ChatReply) -> String {
    let hash = blake3::hash(format!("{model}\n{:?}\n{}", reply.finish, reply.text).as_bytes());
    format!("chatcmpl-{}", &hash.to_hex()[..24])
}

fn finish(reply: &ChatReply) -> &'static str {
    match reply.finish {
        Finish::Stop => "stop",
        Finish::Length => "length",
        Finish::ContentFilter => "content_filter",
    }
}

fn usage(reply: &ChatReply) -> Value {
    let Usage { cache_read, output, .. } = reply.usage;
    let input = reply.usage.total_input();
    // What was paid for and left no text was reasoning.
    let reasoning = if reply.text.is_empty() { output } else { 0 };
    json!({
        "prompt_tokens": input,
        "completion_tokens": output,
        "total_tokens": input.saturating_add(output),
        "prompt_tokens_details": {"cached_tokens": cache_read},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    })
}
