//! The formats. A new one needs its file and one line in [`ALL`].

mod anthropic;
mod atif;
mod claude_code;
mod codex;
mod copilot;
#[cfg(test)]
mod dummy;
mod gemini;
mod inspect;
mod langchain;
mod locomo;
mod openai;
mod opencode;
mod openhands;
mod otel;
mod pi;
mod qwen;
mod strands;
mod swe_agent;
mod tau_bench;

use super::importer::Importer;

/// Every format that can be imported.
pub const ALL: &[&Importer] = &[
    &claude_code::IMPORTER,
    &codex::IMPORTER,
    &pi::IMPORTER,
    &copilot::IMPORTER,
    &gemini::IMPORTER,
    &qwen::IMPORTER,
    &opencode::IMPORTER,
    &openhands::IMPORTER,
    &atif::IMPORTER,
    &langchain::IMPORTER,
    &strands::IMPORTER,
    &tau_bench::IMPORTER,
    &openai::IMPORTER,
    &anthropic::IMPORTER,
    &swe_agent::IMPORTER,
    &locomo::IMPORTER,
    &inspect::IMPORTER,
    &otel::IMPORTER,
    #[cfg(test)]
    &dummy::IMPORTER,
];
