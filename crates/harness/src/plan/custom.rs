//! A strategy that is in no list of this workspace: whoever makes the plan brings it.

use std::sync::Arc;

use compactometer_engine::message::{Message, Part};
use compactometer_engine::model::ToolDefinition;
use compactometer_engine::strategy::Strategy;
use serde_json::{Map, Value, json};

use super::limits_error::LimitsError;

/// A strategy of the user's own, with its parameters.
pub trait CustomStrategy: Send + Sync {
    /// The name that it gives itself. A row without an alias has it.
    fn name(&self) -> &str;

    /// Its own version.
    fn version(&self) -> &str;

    /// One line for lists.
    fn about(&self) -> &str;

    /// Its parameters as a user would type them.
    fn parameters(&self) -> Vec<(String, String)>;

    /// The same strategy with another value of a parameter.
    ///
    /// # Errors
    /// Why the value or the name cannot be used.
    fn with(&self, parameter: &str, value: &str) -> Result<Arc<dyn CustomStrategy>, String>;

    /// A text that differs wherever its answers could differ: cases with another one are run again.
    fn identity(&self) -> String;

    /// The share of the retained budget that it keeps verbatim, from 0 to 1.
    fn tail_share(&self) -> f64;

    /// Whether it asks a model past the meter: its calls are then in no cost, and it is compared
    /// with nothing.
    fn is_unmetered(&self) -> bool {
        false
    }

    /// Whether it breaks rules of the engine as its source does, and is measured as it is.
    fn deviates(&self) -> bool {
        false
    }

    /// Its own context window in tokens, where it cannot be told the run's.
    fn window(&self) -> Option<u32> {
        None
    }

    /// The same strategy with the parameters that scale with the window, if it has any.
    ///
    /// # Errors
    /// Parameters that contradict each other.
    fn in_window(&self, _window: u32) -> Result<Option<Arc<dyn CustomStrategy>>, LimitsError> {
        Ok(None)
    }

    /// Builds it for one case, with the tools of its conversation and its seed.
    fn build(&self, tools: &[ToolDefinition], seed: u64) -> Arc<dyn Strategy>;
}

/// The tools of a conversation: those that it defines, and those that it calls without defining
/// them, with the arguments that they are given.
pub fn tools_of<'m>(
    defined: &[ToolDefinition],
    messages: impl IntoIterator<Item = &'m Message>,
) -> Vec<ToolDefinition> {
    let mut tools = defined.to_vec();
    let parts = messages.into_iter().flat_map(|message| &message.parts);
    for part in parts {
        let Part::ToolCall {
            name, arguments, ..
        } = part
        else {
            continue;
        };
        if defined.iter().any(|tool| tool.name == *name) {
            continue;
        }
        let place = tools.iter().position(|tool| tool.name == *name);
        let place = place.unwrap_or_else(|| {
            tools.push(ToolDefinition {
                name: name.clone(),
                description: format!("Runs `{name}`."),
                parameters: json!({"type": "object", "properties": {}}),
            });
            tools.len() - 1
        });
        let given = serde_json::from_str::<Map<String, Value>>(arguments).unwrap_or_default();
        for (name, value) in given {
            let kind = match value {
                Value::Bool(_) => "boolean",
                Value::Number(_) => "number",
                Value::Array(_) => "array",
                Value::Object(_) => "object",
                Value::String(_) | Value::Null => "string",
            };
            let properties = &mut tools[place].parameters["properties"];
            if properties[&name].is_null() {
                properties[&name] = json!({"type": kind});
            }
        }
    }
    tools
}
