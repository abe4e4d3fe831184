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

use crate::Target;

/// All targets.
pub const ALL: &[Target] = &[
    Target {
        name: "baseline",
        run: baseline::run,
    },
    Target {
        name: "cassette",
        run: cassette::run,
    },
    Target {
        name: "events",
        run: events::run,
    },
    Target {
        name: "exact",
        run: exact::run,
    },
    Target {
        name: "import-adk",
        run: import::adk,
    },
    Target {
        name: "import-aider",
        run: import::aider,
    },
    Target {
        name: "import-anthropic",
        run: import::anthropic,
    },
    Target {
        name: "import-anthropic-chat",
        run: import::anthropic_chat,
    },
    Target {
        name: "import-atif",
        run: import::atif,
    },
    Target {
        name: "import-beam",
        run: import::beam,
    },
    Target {
        name: "import-chatgpt",
        run: import::chatgpt,
    },
    Target {
        name: "import-claude-code",
        run: import::claude_code,
    },
    Target {
        name: "import-cline",
        run: import::cline,
    },
    Target {
        name: "import-codex",
        run: import::codex,
    },
    Target {
        name: "import-codex-exec",
        run: import::codex_exec,
    },
    Target {
        name: "import-copilot",
        run: import::copilot,
    },
    Target {
        name: "import-gemini",
        run: import::gemini,
    },
    Target {
        name: "import-gemini-stream",
        run: import::gemini_stream,
    },
    Target {
        name: "import-google",
        run: import::google,
    },
    Target {
        name: "import-goose",
        run: import::goose,
    },
    Target {
        name: "import-inspect",
        run: import::inspect,
    },
    Target {
        name: "import-langchain",
        run: import::langchain,
    },
    Target {
        name: "import-locomo",
        run: import::locomo,
    },
    Target {
        name: "import-longmemeval",
        run: import::longmemeval,
    },
    Target {
        name: "import-mini-swe-agent",
        run: import::mini_swe_agent,
    },
    Target {
        name: "import-openai",
        run: import::openai,
    },
    Target {
        name: "import-openai-responses",
        run: import::openai_responses,
    },
    Target {
        name: "import-opencode",
        run: import::opencode,
    },
    Target {
        name: "import-openhands",
        run: import::openhands,
    },
    Target {
        name: "import-otel",
        run: import::otel,
    },
    Target {
        name: "import-pi",
        run: import::pi,
    },
    Target {
        name: "import-pydantic-ai",
        run: import::pydantic_ai,
    },
    Target {
        name: "import-qwen",
        run: import::qwen,
    },
    Target {
        name: "import-specstory",
        run: import::specstory,
    },
    Target {
        name: "import-strands",
        run: import::strands,
    },
    Target {
        name: "import-swe-agent",
        run: import::swe_agent,
    },
    Target {
        name: "import-tau-bench",
        run: import::tau_bench,
    },
    Target {
        name: "import-vercel",
        run: import::vercel,
    },
    Target {
        name: "import-vscode-chat",
        run: import::vscode_chat,
    },
    Target {
        name: "ladder",
        run: ladder::run,
    },
    Target {
        name: "manifest",
        run: manifest::run,
    },
    Target {
        name: "mask",
        run: mask::run,
    },
    Target {
        name: "matcher",
        run: matcher::run,
    },
    Target {
        name: "mock",
        run: mock::run,
    },
    Target {
        name: "model",
        run: model::run,
    },
    Target {
        name: "prices",
        run: prices::run,
    },
    Target {
        name: "record",
        run: record::run,
    },
    Target {
        name: "report",
        run: report::run,
    },
    Target {
        name: "server",
        run: server::run,
    },
    Target {
        name: "skeletons",
        run: skeletons::run,
    },
    Target {
        name: "spec",
        run: spec::run,
    },
    Target {
        name: "store-directory",
        run: store_directory::run,
    },
    Target {
        name: "store-sqlite",
        run: store_sqlite::run,
    },
    Target {
        name: "suite",
        run: suite::run,
    },
    Target {
        name: "tokens",
        run: tokens::run,
    },
];
