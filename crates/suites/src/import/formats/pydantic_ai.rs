//! Messages of Pydantic AI, dumped with its type adapter.

use compactometer_engine::message::{Role, Usage};

use crate::import::importer::Importer;
use crate::import::readers::tabled::{self, CallFields, FieldTable, ResultFields, TableBlock};
use crate::import::session::reported;

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "pydantic-ai",
    about: "messages of Pydantic AI: a list of `kind` request or response with `parts`, each with a `part_kind`",
    source: "pydantic-ai 1, ModelMessagesTypeAdapter.dump_json",
    compactions: "None is recorded: a history processor changes requests and not the history.",
    particulars: "`retry-prompt` is a failed result, or words of the user if it names no call.",
    sessions: None,
    reattaches: None,
    by_line: false,
    recognises: |text| {
        let rows = tabled::beginning(text, &["part_kind"], TABLE.rows);
        let is_own = |row: &serde_json::Value| {
            ["request", "response"]
                .iter()
                .any(|kind| row["kind"] == *kind)
                && row["parts"].is_array()
        };
        !rows.is_empty() && rows.iter().all(is_own)
    },
    read: |input, recorder| tabled::session(&IMPORTER, &TABLE, input, recorder),
};

const RETURN: ResultFields = ResultFields("/tool_call_id", &["/content"], |_| false);

const TABLE: FieldTable = FieldTable {
    rows: &["", "/messages"],
    role: "/kind",
    roles: &[("request", Role::User), ("response", Role::Assistant)],
    content: &["/parts"],
    kind: "/part_kind",
    blocks: &[
        (
            "system-prompt",
            TableBlock::TextOf(Role::System, &["/content"]),
        ),
        ("user-prompt", TableBlock::Text(&["/content"])),
        ("text", TableBlock::Text(&["/content"])),
        ("thinking", TableBlock::Thinking(&["/content"])),
        ("tool-call", TableBlock::Call(CALL)),
        ("builtin-tool-call", TableBlock::Call(CALL)),
        ("tool-return", TableBlock::Result(RETURN)),
        ("builtin-tool-return", TableBlock::Result(RETURN)),
        (
            "retry-prompt",
            TableBlock::Result(ResultFields("/tool_call_id", &["/content"], |_| true)),
        ),
        (
            "file",
            TableBlock::Media("/content/media_type", &["/content/data"]),
        ),
    ],
    at: "/timestamp",
    usage: |row| {
        let count = |key: &str| row["usage"][key].as_u64().unwrap_or(0);
        let (cache_read, cache_write) = (count("cache_read_tokens"), count("cache_write_tokens"));
        let input = count("input_tokens").max(count("request_tokens"));
        reported(Usage {
            input: input.saturating_sub(cache_read).saturating_sub(cache_write),
            cache_read,
            cache_write,
            output: count("output_tokens").max(count("response_tokens")),
        })
    },
    joins: false,
};

const CALL: CallFields = CallFields("/tool_call_id", "/tool_name", &["/args"]);
