//! Items of OpenAI's Responses API, as a request, a response or a conversation has them.

use compactometer_engine::message::Role;

use crate::import::importer::Importer;
use crate::import::readers::tabled::{self, CallFields, FieldTable, ResultFields, TableBlock};

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "openai-responses",
    about: "items of the Responses API: a list, or an object with `input`, `output` or `data`, with `type` message and function_call",
    source: "OpenAI Responses API, items of a request, a response or a conversation",
    compactions: "An item `compaction` is one. It is encrypted, so it is listed as not measured.",
    particulars: "Items of one response are one message.",
    sessions: None,
    reattaches: None,
    by_line: false,
    recognises: |text| {
        let rows = tabled::beginning(text, &["type"], TABLE.rows);
        let is_item = |row: &serde_json::Value| {
            let kind = row["type"].as_str().unwrap_or_default();
            row["payload"].is_null() && TABLE.blocks.iter().any(|(known, _)| *known == kind)
        };
        let is_own = |row: &serde_json::Value| {
            let blocks = row["content"].as_array().into_iter().flatten();
            row["type"] == "function_call"
                || row["type"] == "message" && row["role"].is_string()
                || blocks
                    .into_iter()
                    .any(|block| block["type"] == "input_text")
        };
        rows.iter().any(is_item) && rows.iter().any(is_own) && rows.iter().all(is_known)
    },
    read: |input, recorder| tabled::session(&IMPORTER, &TABLE, input, recorder),
};

/// Whether it is an item or a message without a type.
fn is_known(row: &serde_json::Value) -> bool {
    row["type"].is_string() && row["message"].is_null() || row["role"].is_string()
}

const ANSWER: ResultFields = ResultFields("/call_id", &["/output"], |item| {
    item["output"]["success"] == false || item["status"] == "incomplete"
});

const TABLE: FieldTable = FieldTable {
    rows: &["", "/input", "/output", "/items", "/data"],
    role: "",
    roles: &[
        ("system", Role::System),
        ("developer", Role::System),
        ("user", Role::User),
        ("assistant", Role::Assistant),
    ],
    content: &[""],
    kind: "/type",
    blocks: &[
        ("message", TableBlock::Message("/role", "/content")),
        ("untyped", TableBlock::Message("/role", "/content")),
        ("input_text", TableBlock::Text(&["/text"])),
        ("output_text", TableBlock::Text(&["/text"])),
        ("text", TableBlock::Text(&["/text"])),
        ("refusal", TableBlock::Text(&["/refusal"])),
        (
            "input_image",
            TableBlock::Media("/type", &["/image_url", "/file_id"]),
        ),
        (
            "input_file",
            TableBlock::Media("/type", &["/file_data", "/file_url", "/file_id"]),
        ),
        ("reasoning", TableBlock::Thinking(&["/summary", "/content"])),
        (
            "function_call",
            TableBlock::Call(CallFields("/call_id", "/name", &["/arguments"])),
        ),
        (
            "custom_tool_call",
            TableBlock::Call(CallFields("/call_id", "/name", &["/input"])),
        ),
        (
            "local_shell_call",
            TableBlock::Call(CallFields("/call_id", "local_shell", &["/action"])),
        ),
        (
            "shell_call",
            TableBlock::Call(CallFields("/call_id", "shell", &["/action"])),
        ),
        (
            "apply_patch_call",
            TableBlock::Call(CallFields("/call_id", "apply_patch", &["/operation"])),
        ),
        (
            "computer_call",
            TableBlock::Call(CallFields("/call_id", "computer", &["/action"])),
        ),
        ("function_call_output", TableBlock::Result(ANSWER)),
        ("custom_tool_call_output", TableBlock::Result(ANSWER)),
        ("local_shell_call_output", TableBlock::Result(ANSWER)),
        ("shell_call_output", TableBlock::Result(ANSWER)),
        ("apply_patch_call_output", TableBlock::Result(ANSWER)),
        ("computer_call_output", TableBlock::Result(ANSWER)),
        (
            "mcp_call",
            TableBlock::Done(CallFields("/id", "/name", &["/arguments"]), OF_SERVER),
        ),
        (
            "code_interpreter_call",
            TableBlock::Done(CallFields("/id", "code_interpreter", &["/code"]), OF_SERVER),
        ),
        (
            "web_search_call",
            TableBlock::Done(CallFields("/id", "web_search", &["/action"]), OF_SERVER),
        ),
        (
            "file_search_call",
            TableBlock::Done(CallFields("/id", "file_search", &["/queries"]), OF_SERVER),
        ),
        (
            "compaction",
            TableBlock::Compaction(&["/summary", "/content"]),
        ),
        ("item_reference", TableBlock::Aside),
        ("mcp_list_tools", TableBlock::Aside),
    ],
    at: "/created_at",
    usage: |_| None,
    joins: true,
};

/// What a tool of the provider gave back.
const OF_SERVER: ResultFields = ResultFields(
    "/id",
    &["/error", "/output", "/outputs", "/results"],
    |item| !item["error"].is_null() || item["status"] == "failed",
);
