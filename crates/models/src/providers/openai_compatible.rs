//! Other servers that speak chat completions.

use super::openai::{body, read, usage};
use super::{ModelLookup, Provider};

/// Any server that speaks chat completions.
pub static OPENAI_COMPATIBLE: Provider = Provider {
    name: "openai-compatible",
    about: "a server that speaks chat completions (llama.cpp, vLLM, Ollama, OpenRouter); key, where it wants one, in COMPACTOMETER_API_KEY",
    form: "MODEL@URL",
    service: None,
    takes_address: true,
    path: "chat/completions",
    headers: &[],
    key_header: ("authorization", "Bearer "),
    // Most of these servers take only the older name.
    write_body: |request, model| body(request, model, "max_tokens"),
    read,
    usage,
    lookup: ModelLookup::List,
    compaction: None,
};
