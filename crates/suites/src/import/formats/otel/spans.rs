//! The spans of a trace, whichever program exported it.

use compactometer_engine::message::Usage;
use serde_json::{Value, json};

use crate::import::place::Place;
use crate::import::readers::wire;
use crate::import::report::Recorder;

/// A call of a model, or another span.
pub(super) struct TraceSpan {
    /// The line of the file that it is in.
    pub(super) place: Place,
    pub(super) trace: Option<String>,
    pub(super) conversation: Option<String>,
    pub(super) start_ms: Option<i64>,
    pub(super) end_ms: Option<i64>,
    pub(super) input: Vec<Value>,
    pub(super) output: Vec<Value>,
    pub(super) usage: Option<Usage>,
    pub(super) is_of_agent: bool,
    /// What it is, for counting.
    pub(super) kind: String,
}

impl TraceSpan {
    pub(super) fn has_messages(&self) -> bool {
        !self.input.is_empty() || !self.output.is_empty()
    }
}

/// Whether a value is of a format that [`collect`] reads.
pub(super) fn is_trace(value: &Value) -> bool {
    match value {
        Value::Array(values) => values.iter().take(50).any(is_trace),
        _ => {
            is_otlp(value)
                || is_langfuse(value)
                || is_langsmith(value)
                || inner(value).any(is_trace_row)
        }
    }
}

fn is_trace_row(value: &Value) -> bool {
    is_langfuse(value) || is_langsmith(value)
}

fn is_otlp(value: &Value) -> bool {
    let has_spans = value["resourceSpans"].is_array() || value["resourceLogs"].is_array();
    has_spans && value.to_string().contains("gen_ai.")
}

fn is_langfuse(value: &Value) -> bool {
    let kind = value["type"].as_str().unwrap_or_default();
    let is_kind = !kind.is_empty()
        && kind
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    is_kind && (value["traceId"].is_string() || value["trace_id"].is_string())
}

fn is_langsmith(value: &Value) -> bool {
    value["run_type"].is_string() && value.get("inputs").is_some()
}

/// The rows in a page of an API or in a whole trace.
fn inner(value: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["observations", "data", "runs", "child_runs"]
        .iter()
        .filter_map(|key| value[*key].as_array());
    lists.flatten()
}

/// Adds the spans of a value. What is in it in another form is counted.
pub(super) fn collect(
    value: Value,
    place: Place,
    found: &mut Vec<TraceSpan>,
    recorder: &mut Recorder,
) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        if let Value::Array(values) = value {
            open.extend(values.into_iter().rev());
            continue;
        }
        found.extend(otlp(&value, place));
        if is_langfuse(&value) {
            found.push(langfuse(&value, place));
        } else if is_langsmith(&value) {
            found.push(langsmith(&value, place));
        } else if inner(&value).next().is_none() && !is_otlp(&value) {
            recorder.ignore("row without a span");
        }
        let nested = inner(&value)
            .cloned()
            .map(|row| of_session(row, &value["sessionId"]));
        let nested = nested.collect::<Vec<_>>();
        open.extend(nested.into_iter().rev());
    }
}

/// A row with the session of the one that holds it, where it names none.
fn of_session(mut row: Value, session: &Value) -> Value {
    if row["sessionId"].is_null() && session.is_string() && row.is_object() {
        row["sessionId"] = session.clone();
    }
    row
}

fn otlp(value: &Value, place: Place) -> Vec<TraceSpan> {
    let list = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    let resources = [
        ("resourceSpans", "scopeSpans", "spans"),
        ("resourceLogs", "scopeLogs", "logRecords"),
    ];
    let mut found = Vec::new();
    for (resources, scopes, spans) in resources {
        for scope in list(value, resources)
            .iter()
            .flat_map(|resource| list(resource, scopes))
        {
            found.extend(list(&scope, spans).iter().map(|span| of_span(span, place)));
        }
    }
    found
}

fn of_span(span: &Value, place: Place) -> TraceSpan {
    let mut attributes = attributes(&span["attributes"]);
    for event in span["events"].as_array().into_iter().flatten() {
        for (key, value) in self::attributes(&event["attributes"]) {
            attributes.entry(key).or_insert(value);
        }
    }
    let attribute = |key: &str| attributes.get(key).unwrap_or(&Value::Null);
    let operation = attribute("gen_ai.operation.name")
        .as_str()
        .unwrap_or_default();
    let count = |key: &str| number(attribute(&format!("gen_ai.usage.{key}")));
    let mut input = system(&unwrapped(attribute("gen_ai.system_instructions")));
    input.extend(messages(attribute("gen_ai.input.messages")));
    let start = if span["startTimeUnixNano"].is_null() {
        &span["timeUnixNano"]
    } else {
        &span["startTimeUnixNano"]
    };
    TraceSpan {
        place,
        trace: text(&span["traceId"]),
        conversation: text(attribute("gen_ai.conversation.id")),
        start_ms: nanoseconds(start),
        end_ms: nanoseconds(&span["endTimeUnixNano"]),
        input,
        output: messages(attribute("gen_ai.output.messages")),
        usage: wire::usage(
            count("input_tokens"),
            count("cache_read.input_tokens"),
            count("cache_creation.input_tokens"),
            count("output_tokens"),
            None,
        ),
        is_of_agent: matches!(
            operation,
            "invoke_agent" | "create_agent" | "invoke_workflow"
        ),
        kind: format!(
            "span {}",
            if operation.is_empty() {
                "without a message"
            } else {
                operation
            }
        ),
    }
}

fn langfuse(row: &Value, place: Place) -> TraceSpan {
    let field = |camel: &str, snake: &str| {
        if row[camel].is_null() {
            row[snake].clone()
        } else {
            row[camel].clone()
        }
    };
    let usage = field("usageDetails", "usage_details");
    let usage = if usage.is_object() {
        usage
    } else {
        row["usage"].clone()
    };
    let count = |keys: &[&str]| {
        keys.iter()
            .map(|key| number(&usage[*key]))
            .find(|count| *count > 0)
            .unwrap_or(0)
    };
    let kind = row["type"].as_str().unwrap_or_default();
    TraceSpan {
        place,
        trace: text(&field("traceId", "trace_id")),
        conversation: text(&field("sessionId", "session_id")),
        start_ms: time(&field("startTime", "start_time")),
        end_ms: time(&field("endTime", "end_time")),
        input: if kind == "GENERATION" {
            wire_messages(&row["input"], "user")
        } else {
            Vec::new()
        },
        output: if kind == "GENERATION" {
            wire_messages(&row["output"], "assistant")
        } else {
            Vec::new()
        },
        usage: wire::usage(
            count(&["input", "input_tokens"]),
            count(&[
                "input_cached_tokens",
                "cache_read_input_tokens",
                "input_cache_read",
            ]),
            count(&["cache_creation_input_tokens", "input_cache_creation"]),
            count(&["output", "output_tokens"]),
            usage["total"].as_u64(),
        ),
        is_of_agent: false,
        kind: format!("observation {kind}"),
    }
}

fn langsmith(row: &Value, place: Place) -> TraceSpan {
    let kind = row["run_type"].as_str().unwrap_or_default();
    let is_call = kind == "llm";
    let output = if is_call {
        messages(&row["outputs"])
    } else {
        Vec::new()
    };
    let about = &row["extra"]["metadata"];
    let named = ["thread_id", "session_id", "conversation_id"]
        .iter()
        .find_map(|key| text(&about[*key]));
    let fields = |message: &Value| {
        if message["kwargs"].is_object() {
            message["kwargs"].clone()
        } else {
            message.clone()
        }
    };
    let own = output
        .first()
        .map(|message| fields(message)["usage_metadata"].clone())
        .unwrap_or_default();
    let details = &own["input_token_details"];
    let input = number(&own["input_tokens"]).max(number(&row["prompt_tokens"]));
    let written = number(&own["output_tokens"]).max(number(&row["completion_tokens"]));
    TraceSpan {
        place,
        trace: text(&row["trace_id"]),
        conversation: named,
        start_ms: time(&row["start_time"]),
        end_ms: time(&row["end_time"]),
        input: if is_call {
            messages(&row["inputs"])
        } else {
            Vec::new()
        },
        output,
        usage: wire::usage(
            input,
            number(&details["cache_read"]),
            number(&details["cache_creation"]),
            written,
            None,
        ),
        is_of_agent: false,
        kind: format!("run of type {kind}"),
    }
}

/// The attributes of OTLP by name, each with its plain value.
fn attributes(list: &Value) -> serde_json::Map<String, Value> {
    let pairs = list.as_array().into_iter().flatten();
    pairs
        .filter_map(|pair| Some((pair["key"].as_str()?.to_owned(), plain(&pair["value"]))))
        .collect()
}

fn plain(value: &Value) -> Value {
    if let Some(values) = value["arrayValue"]["values"].as_array() {
        return values.iter().map(plain).collect();
    }
    if value["kvlistValue"].is_object() {
        return Value::Object(attributes(&value["kvlistValue"]["values"]));
    }
    let kinds = [
        "stringValue",
        "intValue",
        "doubleValue",
        "boolValue",
        "bytesValue",
    ];
    kinds
        .iter()
        .map(|kind| &value[*kind])
        .find(|value| !value.is_null())
        .cloned()
        .unwrap_or_default()
}

/// A value that an exporter wrote as a text of JSON.
fn unwrapped(value: &Value) -> Value {
    let text = value
        .as_str()
        .filter(|text| text.trim_start().starts_with(['[', '{']));
    text.and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_else(|| value.clone())
}

/// The messages of a value, or the one that a bare text is.
fn wire_messages(value: &Value, role: &str) -> Vec<Value> {
    let found = messages(value);
    match value {
        Value::String(text) if found.is_empty() && !text.is_empty() => {
            vec![json!({"role": role, "content": text})]
        }
        _ => found,
    }
}

/// The messages of an input or output: a list, an object that has one, or one message.
fn messages(value: &Value) -> Vec<Value> {
    match unwrapped(value) {
        Value::Array(values) if values.iter().any(is_message) => values,
        // LangSmith has a list for each prompt of a batch.
        Value::Array(mut values) if values.first().is_some_and(Value::is_array) => {
            messages(&values.swap_remove(0))
        }
        Value::Object(fields) => in_object(&Value::Object(fields)),
        _ => Vec::new(),
    }
}

fn is_message(value: &Value) -> bool {
    value["role"].is_string()
        || value["kwargs"].is_object()
        || (value["type"].is_string() && value.get("content").is_some())
}

fn in_object(value: &Value) -> Vec<Value> {
    if is_message(value) {
        return vec![value.clone()];
    }
    let listed = ["choices", "generations"]
        .iter()
        .find_map(|key| value[*key].as_array());
    if let Some(mut choices) = listed {
        while let Some(inner) = choices.first().and_then(Value::as_array) {
            choices = inner;
        }
        return choices
            .iter()
            .map(|choice| choice["message"].clone())
            .filter(|message| message.is_object())
            .collect();
    }
    let mut found = system(&value["system"]);
    for key in ["messages", "message", "input", "output"]
        .iter()
        .filter(|key| value.get(**key).is_some())
    {
        found.extend(messages(&value[*key]));
    }
    found
}

/// Instructions beside the messages, as the system prompt.
fn system(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(parts) if !parts.is_empty() => {
            vec![json!({"role": "system", "content": parts})]
        }
        Value::String(text) if !text.is_empty() => vec![json!({"role": "system", "content": text})],
        _ => Vec::new(),
    }
}

fn text(value: &Value) -> Option<String> {
    value
        .as_str()
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}

/// A count, which OTLP writes as a text.
fn number(value: &Value) -> u64 {
    value
        .as_u64()
        .or_else(|| value.as_str()?.parse().ok())
        .unwrap_or(0)
}

fn nanoseconds(value: &Value) -> Option<i64> {
    i64::try_from(number(value) / 1_000_000)
        .ok()
        .filter(|at| *at > 0)
}

/// A time that may lack its zone, which is UTC then.
fn time(value: &Value) -> Option<i64> {
    let text = value.as_str()?;
    let at = text
        .parse::<jiff::Timestamp>()
        .or_else(|_| format!("{text}Z").parse());
    at.ok().map(jiff::Timestamp::as_millisecond)
}
