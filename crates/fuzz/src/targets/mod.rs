//! The registry of targets, with one file and one line for each.

mod baseline;
mod cassette;
mod events;
mod exact;
mod import;
mod ladder;
mod manifest;
mod mask;
mod matcher;
mod mock;
mod model;
mod prices;
mod record;
mod report;
mod server;
mod skeletons;
mod spec;
mod store;
mod store_directory;
mod store_sqlite;
mod suite;
mod tokens;

use crate::FuzzTarget;

/// All targets.
pub const ALL: &[FuzzTarget] = &[
    FuzzTarget {
        name: "baseline",
        run: baseline::run,
    },
    FuzzTarget {
        name: "cassette",
        run: cassette::run,
    },
    FuzzTarget {
        name: "events",
        run: events::run,
    },
    FuzzTarget {
        name: "exact",
        run: exact::run,
    },
    FuzzTarget {
        name: "import-adk",
        run: import::adk,
    },
    FuzzTarget {
        name: "import-aider",
        run: import::aider,
    },
    FuzzTarget {
        name: "import-anthropic",
        run: import::anthropic,
    },
    FuzzTarget {
        name: "import-anthropic-chat",
        run: import::anthropic_chat,
    },
    FuzzTarget {
        name: "import-atif",
        run: import::atif,
    },
    FuzzTarget {
        name: "import-beam",
        run: import::beam,
    },
    FuzzTarget {
        name: "import-chatgpt",
        run: import::chatgpt,
    },
    FuzzTarget {
        name: "import-claude-code",
        run: import::claude_code,
    },
    FuzzTarget {
        name: "import-cline",
        run: import::cline,
    },
    FuzzTarget {
        name: "import-codex",
        run: import::codex,
    },
    FuzzTarget {
        name: "import-codex-exec",
        run: import::codex_exec,
    },
    FuzzTarget {
        name: "import-copilot",
        run: import::copilot,
    },
    FuzzTarget {
        name: "import-gemini",
        run: import::gemini,
    },
    FuzzTarget {
        name: "import-gemini-stream",
        run: import::gemini_stream,
    },
    FuzzTarget {
        name: "import-google",
        run: import::google,
    },
    FuzzTarget {
        name: "import-goose",
        run: import::goose,
    },
    FuzzTarget {
        name: "import-inspect",
        run: import::inspect,
    },
    FuzzTarget {
        name: "import-langchain",
        run: import::langchain,
    },
    FuzzTarget {
        name: "import-locomo",
        run: import::locomo,
    },
    FuzzTarget {
        name: "import-longmemeval",
        run: import::longmemeval,
    },
    FuzzTarget {
        name: "import-mini-swe-agent",
        run: import::mini_swe_agent,
    },
    FuzzTarget {
        name: "import-openai",
        run: import::openai,
    },
    FuzzTarget {
        name: "import-openai-responses",
        run: import::openai_responses,
    },
    FuzzTarget {
        name: "import-opencode",
        run: import::opencode,
    },
    FuzzTarget {
        name: "import-openhands",
        run: import::openhands,
    },
    FuzzTarget {
        name: "import-otel",
        run: import::otel,
    },
    FuzzTarget {
        name: "import-pi",
        run: import::pi,
    },
    FuzzTarget {
        name: "import-pydantic-ai",
        run: import::pydantic_ai,
    },
    FuzzTarget {
        name: "import-qwen",
        run: import::qwen,
    },
    FuzzTarget {
        name: "import-specstory",
        run: import::specstory,
    },
    FuzzTarget {
        name: "import-strands",
        run: import::strands,
    },
    FuzzTarget {
        name: "import-swe-agent",
        run: import::swe_agent,
    },
    FuzzTarget {
        name: "import-tau-bench",
        run: import::tau_bench,
    },
    FuzzTarget {
        name: "import-vercel",
        run: import::vercel,
    },
    FuzzTarget {
        name: "import-vscode-chat",
        run: import::vscode_chat,
    },
    FuzzTarget {
        name: "ladder",
        run: ladder::run,
    },
    FuzzTarget {
        name: "manifest",
        run: manifest::run,
    },
    FuzzTarget {
        name: "mask",
        run: mask::run,
    },
    FuzzTarget {
        name: "matcher",
        run: matcher::run,
    },
    FuzzTarget {
        name: "mock",
        run: mock::run,
    },
    FuzzTarget {
        name: "model",
        run: model::run,
    },
    FuzzTarget {
        name: "prices",
        run: prices::run,
    },
    FuzzTarget {
        name: "record",
        run: record::run,
    },
    FuzzTarget {
        name: "report",
        run: report::run,
    },
    FuzzTarget {
        name: "server",
        run: server::run,
    },
    FuzzTarget {
        name: "skeletons",
        run: skeletons::run,
    },
    FuzzTarget {
        name: "spec",
        run: spec::run,
    },
    FuzzTarget {
        name: "store-directory",
        run: store_directory::run,
    },
    FuzzTarget {
        name: "store-sqlite",
        run: store_sqlite::run,
    },
    FuzzTarget {
        name: "suite",
        run: suite::run,
    },
    FuzzTarget {
        name: "tokens",
        run: tokens::run,
    },
];
