//! Messages of Vercel's AI SDK: those of a model, and those of a user interface.

use compactometer_engine::message::Role;
use serde_json::Value;

use crate::import::importer::Importer;
use crate::import::readers::tabled::{self, CallFields, FieldTable, ResultFields, TableBlock};

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "vercel",
    about: "messages of the AI SDK: a list with `role` and `content` or `parts`, calls as `tool-call` or `tool-NAME`",
    source: "vercel/ai 4 to 6, ModelMessage and UIMessage, dumped as JSON",
    compactions: "None is recorded.",
    particulars: "A part `tool-NAME` or `tool-invocation` is a call with its result.",
    sessions: None,
    reattaches: None,
    by_line: false,
    recognises: |text| {
        let rows = tabled::beginning(text, &["role"], TABLE.rows);
        rows.iter().any(is_own) && rows.iter().all(|row| row["role"].is_string())
    },
    read: |input, recorder| tabled::session(&IMPORTER, &TABLE, input, recorder),
};

/// Whether it has typed parts, or a call in the form of the package.
fn is_own(row: &Value) -> bool {
    let kinds = |key: &str| {
        let blocks = row[key].as_array().into_iter().flatten();
        blocks.filter_map(|block| block["type"].as_str())
    };
    kinds("parts").next().is_some() || kinds("content").any(|kind| kind.starts_with("tool-"))
}

const TABLE: FieldTable = FieldTable {
    rows: &["", "/messages"],
    role: "/role",
    roles: &[
        ("system", Role::System),
        ("user", Role::User),
        ("assistant", Role::Assistant),
        ("tool", Role::Tool),
    ],
    content: &["/parts", "/content"],
    kind: "/type",
    blocks: &[
        ("text", TableBlock::Text(&["/text"])),
        ("reasoning", TableBlock::Thinking(&["/text", "/reasoning"])),
        (
            "tool-call",
            TableBlock::Call(CallFields("/toolCallId", "/toolName", &["/input", "/args"])),
        ),
        (
            "tool-result",
            TableBlock::Result(ResultFields(
                "/toolCallId",
                &["/output/value", "/output", "/result"],
                |block| {
                    let kind = block["output"]["type"].as_str().unwrap_or_default();
                    kind.starts_with("error") || block["isError"] == true
                },
            )),
        ),
        (
            "tool-invocation",
            TableBlock::Done(
                CallFields(
                    "/toolInvocation/toolCallId",
                    "/toolInvocation/toolName",
                    &["/toolInvocation/args"],
                ),
                ResultFields(
                    "/toolInvocation/toolCallId",
                    &["/toolInvocation/result"],
                    |_| false,
                ),
            ),
        ),
        (
            "dynamic-tool",
            TableBlock::Done(CallFields("/toolCallId", "/toolName", &["/input"]), OF_PART),
        ),
        (
            "tool-*",
            TableBlock::Done(CallFields("/toolCallId", "*", &["/input"]), OF_PART),
        ),
        ("image", TableBlock::Media("/mediaType", &["/image"])),
        ("file", TableBlock::Media("/mediaType", &["/data", "/url"])),
        ("step-start", TableBlock::Aside),
        ("source-url", TableBlock::Aside),
        ("source-document", TableBlock::Aside),
        ("data-*", TableBlock::Aside),
    ],
    at: "/createdAt",
    usage: |_| None,
    joins: false,
};

/// The result that a part of a call holds.
const OF_PART: ResultFields = ResultFields("/toolCallId", &["/output", "/errorText"], |block| {
    block["state"] == "output-error"
});
