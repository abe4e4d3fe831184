//! What the hook answers to an event.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use compactometer_engine::estimate::Estimator;
use compactometer_engine::tokens::TokenCounter;
use compactometer_formats::scenario::Scenario;
use compactometer_harness::ledgers::ledger_at;
use compactometer_suites::import::{self, Importer, Options};
use serde::Deserialize;
use serde_json::json;

use super::super::ledger::longest;

/// The most bytes of an event that are read.
pub(super) const LONGEST_EVENT: u64 = 1_000_000;
/// A program shows only the beginning of a longer context: Claude Code since 2.1 by users' reports
/// (codegraph issue 1694).
const LONGEST_CONTEXT: usize = 10_000;

/// Most bytes at the end of a transcript that are read: about a million tokens. A ledger lists what
/// was used lately, and the program waits for its hook.
pub(super) const LAST: u64 = 8 << 20;
/// The same if that takes too long.
pub(super) const LAST_IF_SLOW: u64 = 256 << 10;

/// An event, as programs pass it.
#[derive(Deserialize)]
struct HookEvent {
    hook_event_name: Option<String>,
    source: Option<String>,
    transcript_path: Option<PathBuf>,
}

/// The answer as JSON, from so many bytes at the end of the transcript; nothing if the event is not a
/// compaction or there is nothing to add.
pub(super) fn answer(
    event: &str,
    importer: &Importer,
    budget: u32,
    last: u64,
) -> Result<Option<String>> {
    let event: HookEvent = serde_json::from_str(event)
        .context("the event on stdin is not the JSON object that the program passes to a hook")?;
    if let Some(name) = event
        .hook_event_name
        .as_deref()
        .filter(|name| *name != "SessionStart")
    {
        bail!(
            "the event is `{name}`; register this hook for `SessionStart` with the matcher `compact`"
        );
    }
    // A session that starts or goes on has lost nothing to a compaction.
    if event
        .source
        .as_deref()
        .is_some_and(|source| source != "compact")
    {
        return Ok(None);
    }
    let path = event
        .transcript_path
        .context("the event has no `transcript_path`")?;
    let imported = import::import(
        importer,
        &[path],
        "session",
        &Options {
            last: Some(last),
            ..Options::default()
        },
    )?;
    let Some(scenario) = longest(&imported.suite.scenarios) else {
        return Ok(None);
    };
    let text = context(scenario, budget);
    let answer =
        json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}});
    Ok((!text.is_empty()).then(|| format!("{answer}\n")))
}

/// Counts by estimate: the vocabulary of an exact count takes most of the time and memory of a hook.
/// It counts ledgers too long rather than too short.
struct EstimatedCounter;

impl TokenCounter for EstimatedCounter {
    fn name(&self) -> &'static str {
        "estimate"
    }

    fn count_text(&self, text: &str) -> u32 {
        Estimator::Classes.of_text(text)
    }
}

/// The ledger at the end of a conversation, short enough for the program.
fn context(scenario: &Scenario, budget: u32) -> String {
    let mut budget = budget;
    loop {
        let text = ledger_at(scenario, None, budget, &EstimatedCounter)
            .page
            .text;
        let letters = text.chars().count();
        if letters <= LONGEST_CONTEXT {
            return text;
        }
        budget = (f64::from(budget) * 0.9 * LONGEST_CONTEXT as f64 / letters as f64) as u32;
    }
}
