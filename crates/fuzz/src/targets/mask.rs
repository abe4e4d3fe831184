//! Masking of secrets in arbitrary text: masking is idempotent for a message, a tool's result and a
//! call's arguments.

use compactometer_engine::message::Part;
use compactometer_suites::import::{self, Imported, Options};
use serde_json::{Value, json};

use crate::scratch_files;

pub(super) fn run(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data).into_owned();
    if text.trim().is_empty() {
        return false;
    }
    let once = masked(&[text.clone(), text.clone(), text]);
    let texts = texts_of(&once);
    let twice = masked(&texts);
    assert_eq!(texts_of(&twice), texts, "a masked text is masked again");
    assert!(
        twice.report.secrets.is_empty(),
        "counted but not changed: {:?}",
        twice.report.secrets
    );
    !once.report.secrets.is_empty()
}

/// Imports a conversation with a text, a call's arguments and a result.
fn masked(texts: &[String; 3]) -> Imported {
    let [said, arguments, result] = texts;
    let call =
        json!({"id": "c", "type": "function", "function": {"name": "run", "arguments": arguments}});
    let turns: Value = json!([
        {"role": "user", "content": said},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": result},
    ]);
    let file = json!([{"task_id": 1, "trial": 0, "traj": turns}]).to_string();
    let importer = import::by_name("tau-bench").expect("a known importer");
    scratch_files::in_folder(|folder| {
        let path = scratch_files::write(folder, "said.json", file.as_bytes());
        import::import(importer, &[path], "fuzz", &Options::default())
            .expect("a conversation is imported")
    })
}

fn texts_of(imported: &Imported) -> [String; 3] {
    let parts = imported.suite.scenarios[0]
        .messages
        .iter()
        .flat_map(|message| &message.parts);
    let texts = parts.filter_map(|part| match part {
        Part::Text { text } | Part::ToolResult { text, .. } => Some(text.clone()),
        Part::ToolCall { arguments, .. } => Some(arguments.clone()),
        Part::Thinking { .. } | Part::Media { .. } | Part::Sealed { .. } => None,
    });
    texts.collect::<Vec<_>>().try_into().expect("three texts")
}
