//! A call of the conversation as a command of the agent's shell.

use compactometer_engine::model::ToolDefinition;
use serde_json::{Map, Value, json};

/// The arguments of a call that runs this program in the agent's shell. The recorded arguments are
/// its standard input, so that they are in the agent's context as they were.
pub(crate) fn in_shell(
    tool: &ToolDefinition,
    number: usize,
    name: &str,
    arguments: &str,
) -> String {
    let command = format!("play {number} {name} <<'ARGUMENTS'\n{arguments}\nARGUMENTS");
    let properties = &tool.parameters["properties"];
    let key = ["command", "cmd", "script"]
        .into_iter()
        .find(|key| !properties[key].is_null())
        .unwrap_or("command");
    let is_list = properties[key]["type"] == "array";
    let mut filled = Map::new();
    filled.insert(
        key.to_owned(),
        match is_list {
            true => json!(["bash", "-lc", command]),
            false => json!(command),
        },
    );
    for name in tool.parameters["required"].as_array().into_iter().flatten() {
        let Some(name) = name.as_str().filter(|name| !filled.contains_key(*name)) else {
            continue;
        };
        let schema = &properties[name];
        let value = match (&schema["enum"][0], schema["type"].as_str()) {
            (Value::Null, Some("boolean")) => json!(false),
            (Value::Null, Some("integer" | "number")) => json!(10),
            (Value::Null, Some("array")) => json!([]),
            (Value::Null, Some("object")) => json!({}),
            (Value::Null, _) => json!("run"),
            (first, _) => first.clone(),
        };
        filled.insert(name.to_owned(), value);
    }
    Value::from(filled).to_string()
}
