//! The importers, with facts, masking and joining. The result passes the suite reader, the report's
//! counts match the suite, and every text of the file is in the suite or reported as left out.
//!
//! One input holds several files of one import, separated by the byte 1E.

use std::path::{Path, PathBuf};

use compactometer_engine::message::Part;
use compactometer_formats::scenario::Retained;
use compactometer_formats::suite::Suite;
use compactometer_suites::import::{
    self, ImportError, ImportReport, Imported, Importer, Options, Repair,
};

use super::suite::reads_back;
use crate::scratch_files;

mod exports;
mod raw_texts;
mod said_by_agents;
mod said_in_chats;
mod said_in_tables;

use raw_texts::TranscriptText;

pub(super) fn anthropic(data: &[u8]) -> bool {
    check("anthropic", data, raw_texts::in_messages)
}

pub(super) fn claude_code(data: &[u8]) -> bool {
    check("claude-code", data, raw_texts::in_claude_code)
}

pub(super) fn codex(data: &[u8]) -> bool {
    check("codex", data, raw_texts::in_codex)
}

pub(super) fn inspect(data: &[u8]) -> bool {
    check("inspect", data, exports::in_inspect)
}

pub(super) fn locomo(data: &[u8]) -> bool {
    check("locomo", data, exports::in_locomo)
}

pub(super) fn openai(data: &[u8]) -> bool {
    check("openai", data, raw_texts::in_messages)
}

pub(super) fn otel(data: &[u8]) -> bool {
    check("otel", data, exports::in_otel)
}

pub(super) fn pi(data: &[u8]) -> bool {
    check("pi", data, raw_texts::in_pi)
}

pub(super) fn swe_agent(data: &[u8]) -> bool {
    check("swe-agent", data, exports::in_swe_agent)
}

pub(super) fn tau_bench(data: &[u8]) -> bool {
    check("tau-bench", data, raw_texts::in_tau_bench)
}

pub(super) fn atif(data: &[u8]) -> bool {
    check("atif", data, said_by_agents::in_atif)
}

pub(super) fn copilot(data: &[u8]) -> bool {
    check("copilot", data, said_by_agents::in_copilot)
}

pub(super) fn langchain(data: &[u8]) -> bool {
    check("langchain", data, said_by_agents::in_langchain)
}

pub(super) fn strands(data: &[u8]) -> bool {
    check("strands", data, said_by_agents::in_strands)
}

pub(super) fn gemini(data: &[u8]) -> bool {
    check("gemini", data, said_by_agents::in_gemini)
}

pub(super) fn opencode(data: &[u8]) -> bool {
    check("opencode", data, said_by_agents::in_opencode)
}

pub(super) fn openhands(data: &[u8]) -> bool {
    check("openhands", data, said_by_agents::in_openhands)
}

pub(super) fn qwen(data: &[u8]) -> bool {
    check("qwen", data, said_by_agents::in_qwen)
}

pub(super) fn adk(data: &[u8]) -> bool {
    check("adk", data, said_in_tables::anywhere)
}

pub(super) fn cline(data: &[u8]) -> bool {
    check("cline", data, said_in_tables::anywhere)
}

pub(super) fn codex_exec(data: &[u8]) -> bool {
    check("codex-exec", data, said_in_tables::anywhere)
}

pub(super) fn gemini_stream(data: &[u8]) -> bool {
    check("gemini-stream", data, said_in_tables::anywhere)
}

pub(super) fn google(data: &[u8]) -> bool {
    check("google", data, said_in_tables::anywhere)
}

pub(super) fn goose(data: &[u8]) -> bool {
    check("goose", data, said_in_tables::anywhere)
}

pub(super) fn mini_swe_agent(data: &[u8]) -> bool {
    check("mini-swe-agent", data, said_in_tables::anywhere)
}

pub(super) fn openai_responses(data: &[u8]) -> bool {
    check("openai-responses", data, said_in_tables::anywhere)
}

pub(super) fn pydantic_ai(data: &[u8]) -> bool {
    check("pydantic-ai", data, said_in_tables::anywhere)
}

pub(super) fn vercel(data: &[u8]) -> bool {
    check("vercel", data, said_in_tables::anywhere)
}

pub(super) fn vscode_chat(data: &[u8]) -> bool {
    check("vscode-chat", data, said_in_tables::anywhere)
}

pub(super) fn aider(data: &[u8]) -> bool {
    check("aider", data, said_in_chats::in_aider)
}

pub(super) fn chatgpt(data: &[u8]) -> bool {
    check("chatgpt", data, said_in_chats::in_chatgpt)
}

pub(super) fn anthropic_chat(data: &[u8]) -> bool {
    check("anthropic-chat", data, said_in_chats::in_anthropic_chat)
}

pub(super) fn beam(data: &[u8]) -> bool {
    check("beam", data, said_in_chats::in_beam)
}

pub(super) fn longmemeval(data: &[u8]) -> bool {
    check("longmemeval", data, said_in_chats::in_longmemeval)
}

pub(super) fn specstory(data: &[u8]) -> bool {
    check("specstory", data, said_in_chats::in_specstory)
}

/// Separates two files.
const SEPARATOR: u8 = 0x1e;
/// The largest number of files in one input.
const MOST_FILES: usize = 3;

const FACTS: Options = Options {
    auto_facts: true,
    concat: None,
    keep_secrets: false,
    strict: false,
    lenient: true,
    skip_refused: false,
    last: None,
};

fn check(importer: &str, data: &[u8], said: fn(&str) -> Vec<TranscriptText>) -> bool {
    let importer = import::by_name(importer).expect("a known importer");
    let pieces = data
        .splitn(MOST_FILES, |byte| *byte == SEPARATOR)
        .collect::<Vec<_>>();
    scratch_files::in_folder(|folder| {
        let name = |number: usize| format!("session-{number}");
        let paths = (1..)
            .zip(&pieces)
            .map(|(number, piece)| scratch_files::write(folder, &name(number), piece));
        let paths = paths.collect::<Vec<_>>();
        let imported = import::import(importer, &paths, "fuzz", &FACTS);
        match &imported {
            Ok(imported) => accepted(importer, &paths, imported, said),
            Err(error) => refused(importer, &paths, error),
        }
        imported.is_ok()
    })
}

fn accepted(
    importer: &Importer,
    paths: &[PathBuf],
    imported: &Imported,
    said: fn(&str) -> Vec<TranscriptText>,
) {
    let import = |options| import::import(importer, paths, "fuzz", &options);
    adds_up(&imported.report, &imported.suite, paths);
    reads_back(&imported.suite);
    match import(Options {
        strict: true,
        ..FACTS
    }) {
        Ok(strict) => assert!(
            imported.report.repairs.is_empty() && strict == *imported,
            "strict reading repaired"
        ),
        Err(ImportError::Strict(repair)) => {
            assert_eq!(Some(&repair), imported.report.repairs.first())
        }
        Err(error) => panic!("only strict reading fails: {error}"),
    }
    let plain = import(Options {
        keep_secrets: true,
        ..FACTS
    })
    .expect("the files can be read without masking");
    assert!(plain.report.secrets.is_empty());
    if imported.report.secrets.is_empty() {
        assert_eq!(
            plain.suite, imported.suite,
            "nothing was masked, but the suites differ"
        );
    }
    nothing_is_lost(&plain, paths, said);
    if imported.report.groups > 1 {
        let joined = import(Options {
            concat: Some(2),
            ..FACTS
        })
        .expect("two groups can be joined");
        adds_up(&joined.report, &joined.suite, paths);
        reads_back(&joined.suite);
    }
}

fn adds_up(report: &ImportReport, suite: &Suite, paths: &[PathBuf]) {
    let scenarios = &suite.scenarios;
    let facts = || scenarios.iter().flat_map(|scenario| &scenario.facts);
    assert_eq!(report.files, paths.len());
    assert_eq!(report.scenarios, scenarios.len());
    assert_eq!(
        report.messages,
        scenarios
            .iter()
            .map(|scenario| scenario.messages.len())
            .sum::<usize>()
    );
    let counts = report.facts.expect("facts were asked for");
    assert_eq!(counts.facts, facts().count());
    assert_eq!(
        counts.used,
        facts().filter(|fact| !fact.used_at.is_empty()).count()
    );
    assert_eq!(
        counts.uses,
        facts().map(|fact| fact.used_at.len()).sum::<usize>()
    );
    report
        .repairs
        .iter()
        .for_each(|repair| names_its_place(repair, paths));
}

fn names_its_place(repair: &Repair, paths: &[PathBuf]) {
    let is_known = paths
        .iter()
        .any(|path| path.display().to_string() == repair.file);
    let is_told = !repair.place.is_empty() && !repair.what.is_empty();
    assert!(is_known && is_told, "{repair:?}");
}

/// An error names a file, or the number of files.
fn refused(importer: &Importer, paths: &[PathBuf], error: &ImportError) {
    let text = error.to_string();
    let names = |path: &PathBuf| text.contains(&format!("`{}`", path.display()));
    assert!(
        paths.iter().any(names) || text.contains("file(s)"),
        "no place: {text}"
    );
    let strict = import::import(
        importer,
        paths,
        "fuzz",
        &Options {
            strict: true,
            ..FACTS
        },
    );
    assert!(
        strict.is_err(),
        "strict reading accepts what is refused otherwise: {text}"
    );
}

/// Every text in the files is in the suite, as a message or as what a compaction wrote, or its
/// place is in a repair, or its row was counted as ignored.
fn nothing_is_lost(imported: &Imported, paths: &[PathBuf], said: fn(&str) -> Vec<TranscriptText>) {
    let ImportReport {
        repairs,
        ignored,
        unmeasured,
        ..
    } = &imported.report;
    // If a whole conversation or file is left out, the repair names the place of its beginning.
    let whole = |what: &str| {
        what.contains("no user turn") || what.contains("same content as an earlier file")
    };
    if repairs.iter().any(|repair| whole(&repair.what)) {
        return;
    }
    let parts = imported
        .suite
        .scenarios
        .iter()
        .flat_map(|one| &one.messages)
        .flat_map(|message| &message.parts);
    let compactions = imported
        .suite
        .scenarios
        .iter()
        .flat_map(|one| &one.compactions)
        .flat_map(|one| &one.context);
    let written = compactions.filter_map(|retained| match retained {
        Retained::Written { text, .. } => Some(text.as_str()),
        Retained::Kept(_) => None,
    });
    let held = parts.filter_map(text_of).chain(written).collect::<Vec<_>>();
    let is_named = |path: &Path, places: &[String]| {
        let file = path.display().to_string();
        repairs
            .iter()
            .any(|repair| repair.file == file && places.contains(&repair.place))
    };
    let mut lost = Vec::new();
    for path in paths {
        let text =
            String::from_utf8_lossy(&std::fs::read(path).expect("it was written")).into_owned();
        let missing = said(&text)
            .into_iter()
            .filter(|said| !held.iter().any(|held| held.contains(&said.text)));
        lost.extend(missing.filter(|said| !is_named(path, &said.places)));
    }
    lost.dedup_by(|one, other| one.places == other.places);
    assert!(
        lost.len() <= ignored.values().chain(unmeasured.values()).sum(),
        "texts neither kept nor reported: {lost:?}; ignored {ignored:?}"
    );
}

fn text_of(part: &Part) -> Option<&str> {
    match part {
        Part::Text { text } | Part::Thinking { text, .. } | Part::ToolResult { text, .. } => {
            Some(text)
        }
        Part::ToolCall { .. } | Part::Media { .. } | Part::Sealed { .. } => None,
    }
}
