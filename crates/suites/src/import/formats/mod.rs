//! The formats. A new one needs its file and one line in [`ALL`]; the first that recognises a file
//! reads it.

mod anthropic;
mod anthropic_chat;
mod atif;
mod beam;
mod chatgpt;
mod claude_code;
mod cline;
mod codex;
mod codex_exec;
mod copilot;
#[cfg(test)]
mod dummy;
mod gemini;
mod google;
mod goose;
mod inspect;
mod langchain;
mod locomo;
mod longmemeval;
mod markdown;
mod mini_swe_agent;
mod openai;
mod opencode;
mod openhands;
mod otel;
mod pi;
mod pydantic_ai;
mod qwen;
mod responses;
mod strands;
mod swe_agent;
mod tau_bench;
mod vercel;
mod vscode;

use super::importer::Importer;

/// Every format that can be imported.
pub const ALL: &[&Importer] = &[
    &claude_code::IMPORTER,
    &codex::IMPORTER,
    &pi::IMPORTER,
    &copilot::IMPORTER,
    &gemini::IMPORTER,
    &gemini::stream::IMPORTER,
    &qwen::IMPORTER,
    &opencode::IMPORTER,
    &openhands::IMPORTER,
    &atif::IMPORTER,
    &langchain::IMPORTER,
    &strands::IMPORTER,
    &tau_bench::IMPORTER,
    &swe_agent::IMPORTER,
    &locomo::IMPORTER,
    &longmemeval::IMPORTER,
    &beam::IMPORTER,
    &chatgpt::IMPORTER,
    &anthropic_chat::IMPORTER,
    &markdown::AIDER,
    &markdown::SPECSTORY,
    &inspect::IMPORTER,
    &otel::IMPORTER,
    &cline::IMPORTER,
    &codex_exec::IMPORTER,
    &responses::IMPORTER,
    &google::CONTENTS,
    &google::EVENTS,
    &vercel::IMPORTER,
    &pydantic_ai::IMPORTER,
    &goose::IMPORTER,
    &vscode::IMPORTER,
    &mini_swe_agent::IMPORTER,
    // Messages of these two are in many other formats, so they come last.
    &openai::IMPORTER,
    &anthropic::IMPORTER,
    #[cfg(test)]
    &dummy::IMPORTER,
];
