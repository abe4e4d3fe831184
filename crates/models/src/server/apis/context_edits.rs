//! Anthropic's management of a context: results of tools and thinking that a server leaves out before
//! the model reads a request, and a compaction.
//!
//! Absent on purpose: the least trigger of a compaction that the provider demands (50,000 tokens), so
//! that short conversations can be compacted here.

use std::collections::HashSet;

use compactometer_engine::message::{Part, Role};
use compactometer_engine::model::{ChatRequest, WireMessage};
use compactometer_engine::tokens::{Encoding, TokenCounter};
use serde_json::{Value, json};

use super::compaction::AskedCompaction;
use super::{RequestField, ServerTrouble};

const CLEAR_TOOLS: &str = "clear_tool_uses_20250919";
const CLEAR_THINKING: &str = "clear_thinking_20251015";
const COMPACT: &str = "compact_20260112";
/// What the provider takes where a request says nothing.
const CLEARED_FROM: u32 = 100_000;
const COMPACTED_FROM: u32 = 150_000;
const KEPT_USES: u32 = 3;
const KEPT_THINKING: u32 = 1;
/// What is left of a result.
const CLEARED: &str = "[cleared to save context]";

/// What the edits of a request came to.
#[derive(Debug, Default, PartialEq)]
pub(in crate::server) struct EditedContext {
    /// A compaction that is asked for.
    pub(in crate::server) compaction: Option<AskedCompaction>,
    /// What was left out, as the reply reports it.
    pub(in crate::server) applied: Vec<Value>,
}

/// Carries out what a request's `context_management` asks for, in its order.
pub(super) fn edit(
    body: &RequestField<'_>,
    request: &mut ChatRequest,
) -> Result<EditedContext, ServerTrouble> {
    let edits = body.get("context_management").get("edits");
    let mut edited = EditedContext::default();
    if !edits.is_given() {
        return Ok(edited);
    }
    for edit in edits.items()? {
        let kind = edit.get("type");
        match kind.text()? {
            CLEAR_TOOLS => edited.applied.extend(clear_tools(&edit, request)?),
            CLEAR_THINKING => edited.applied.extend(clear_thinking(&edit, request)?),
            COMPACT => edited.compaction = Some(compaction(&edit)?),
            other => {
                let choices = format!("choose `{CLEAR_TOOLS}`, `{CLEAR_THINKING}` or `{COMPACT}`");
                return Err(kind.trouble(format!("`{other}` is not an edit; {choices}")));
            }
        }
    }
    Ok(edited)
}

fn compaction(edit: &RequestField<'_>) -> Result<AskedCompaction, ServerTrouble> {
    let instructions = edit.get("instructions");
    let instructions = instructions.is_given().then(|| instructions.text());
    Ok(AskedCompaction {
        from_tokens: amount(&edit.get("trigger"), &["input_tokens"])?
            .map_or(COMPACTED_FROM, |(_, tokens)| tokens),
        instructions: instructions.transpose()?.map(str::to_owned),
        is_paused: edit.get("pause_after_compaction").flag()?,
    })
}

/// Takes the results of the oldest calls out; nothing before the trigger is reached, or where less
/// than the least would come out.
fn clear_tools(
    edit: &RequestField<'_>,
    request: &mut ChatRequest,
) -> Result<Option<Value>, ServerTrouble> {
    let keep = amount(&edit.get("keep"), &["tool_uses"])?.map_or(KEPT_USES, |(_, uses)| uses);
    let least =
        amount(&edit.get("clear_at_least"), &["input_tokens"])?.map_or(0, |(_, tokens)| tokens);
    let trigger = amount(&edit.get("trigger"), &["input_tokens", "tool_uses"])?;
    let excluded = tool_names(&edit.get("exclude_tools"))?;
    let inputs = ClearedInputs::of(&edit.get("clear_tool_inputs"))?;

    let calls = calls_of(&request.messages);
    let size = match trigger {
        Some(("tool_uses", _)) => calls.len() as u64,
        _ => u64::from(request.tokens(&Encoding::O200k)),
    };
    if size < u64::from(trigger.map_or(CLEARED_FROM, |(_, value)| value)) {
        return Ok(None);
    }
    let old = calls.len().saturating_sub(keep as usize);
    let cleared = calls.into_iter().take(old);
    let cleared = cleared.filter(|(_, name)| !excluded.contains(name));
    let ids = cleared.map(|(id, _)| id).collect::<HashSet<_>>();
    let messages = without(&request.messages, &ids, &inputs);
    let tokens = tokens_of(&request.messages).saturating_sub(tokens_of(&messages));
    if tokens == 0 || tokens < u64::from(least) {
        return Ok(None);
    }
    request.messages = messages;
    Ok(Some(
        json!({"type": CLEAR_TOOLS, "cleared_tool_uses": ids.len(), "cleared_input_tokens": tokens}),
    ))
}

/// Takes the thinking of all but the newest answers out.
fn clear_thinking(
    edit: &RequestField<'_>,
    request: &mut ChatRequest,
) -> Result<Option<Value>, ServerTrouble> {
    let keep = edit.get("keep");
    if keep.value == "all" {
        return Ok(None);
    }
    let keep = amount(&keep, &["thinking_turns"])?.map_or(KEPT_THINKING, |(_, turns)| turns);
    let thinks = |message: &WireMessage| {
        let mut parts = message.parts.iter();
        message.role == Role::Assistant && parts.any(|part| matches!(part, Part::Thinking { .. }))
    };
    let before = tokens_of(&request.messages);
    let turns = request
        .messages
        .iter_mut()
        .filter(|message| thinks(message));
    let turns = turns.rev().skip(keep as usize).map(|message| {
        let mut parts = message.parts.to_vec();
        parts.retain(|part| !matches!(part, Part::Thinking { .. }));
        message.parts = parts.into();
    });
    let turns = turns.count();
    let tokens = before.saturating_sub(tokens_of(&request.messages));
    let applied = json!({"type": CLEAR_THINKING, "cleared_thinking_turns": turns, "cleared_input_tokens": tokens});
    Ok((turns > 0).then_some(applied))
}

/// A kind of amount, and the amount.
fn amount<'k>(
    field: &RequestField<'_>,
    kinds: &[&'k str],
) -> Result<Option<(&'k str, u32)>, ServerTrouble> {
    if !field.is_given() {
        return Ok(None);
    }
    let kind = field.get("type");
    let given = kind.text()?;
    let Some(known) = kinds.iter().find(|known| **known == given) else {
        let choices = kinds.join("` or `");
        return Err(kind.trouble(format!(
            "`{given}` is not an amount here; choose `{choices}`"
        )));
    };
    let value = field.get("value");
    let read = |value: &Value| value.as_u64().and_then(|value| u32::try_from(value).ok());
    let number = value.required()?.number(read, "a whole number")?;
    Ok(number.map(|number| (*known, number)))
}

/// The tools whose arguments are taken out with the results.
enum ClearedInputs {
    OfAll(bool),
    Of(Vec<String>),
}

impl ClearedInputs {
    fn of(field: &RequestField<'_>) -> Result<Self, ServerTrouble> {
        match field.value {
            Value::Array(_) => Ok(ClearedInputs::Of(tool_names(field)?)),
            _ => Ok(ClearedInputs::OfAll(field.flag()?)),
        }
    }

    fn are_of(&self, tool: &str) -> bool {
        match self {
            ClearedInputs::OfAll(are) => *are,
            ClearedInputs::Of(tools) => tools.iter().any(|name| name == tool),
        }
    }
}

fn tool_names(field: &RequestField<'_>) -> Result<Vec<String>, ServerTrouble> {
    if !field.is_given() {
        return Ok(Vec::new());
    }
    let names = field.items()?;
    names.map(|name| name.text().map(str::to_owned)).collect()
}

/// The ids and tools of the calls that have results, in order.
fn calls_of(messages: &[WireMessage]) -> Vec<(String, String)> {
    let parts = || messages.iter().flat_map(|message| message.parts.iter());
    let answered = parts().filter_map(|part| match part {
        Part::ToolResult { call_id, .. } => Some(call_id),
        _ => None,
    });
    let answered = answered.collect::<HashSet<_>>();
    let calls = parts().filter_map(|part| match part {
        Part::ToolCall { id, name, .. } if answered.contains(id) => {
            Some((id.clone(), name.clone()))
        }
        _ => None,
    });
    calls.collect()
}

/// The messages with a note in place of those calls' results, and without their arguments if that
/// is asked.
fn without(
    messages: &[WireMessage],
    ids: &HashSet<String>,
    inputs: &ClearedInputs,
) -> Vec<WireMessage> {
    let part = |part: &Part| match part {
        Part::ToolResult {
            call_id, is_error, ..
        } if ids.contains(call_id) => Part::ToolResult {
            call_id: call_id.clone(),
            text: CLEARED.to_owned(),
            is_error: *is_error,
        },
        Part::ToolCall { id, name, .. } if inputs.are_of(name) && ids.contains(id) => {
            Part::ToolCall {
                id: id.clone(),
                name: name.clone(),
                arguments: "{}".to_owned(),
            }
        }
        other => other.clone(),
    };
    let messages = messages.iter().map(|message| WireMessage {
        role: message.role,
        parts: message.parts.iter().map(part).collect::<Vec<_>>().into(),
    });
    messages.collect()
}

fn tokens_of(messages: &[WireMessage]) -> u64 {
    let parts = messages.iter().flat_map(|message| message.parts.iter());
    parts
        .map(|part| u64::from(Encoding::O200k.count_part(part)))
        .sum()
}
