//! Real sessions with compactions, which are not part of the repository: every compaction is
//! measured, or listed with the reason.

use std::path::PathBuf;

use compactometer_formats::scenario::Unmeasured;
use compactometer_suites::import::{Imported, Options};

use super::import_shared::{FACTS, imported, shared};

/// Without facts, which take long to find.
const PLAIN: Options = Options {
    auto_facts: false,
    ..FACTS
};

/// The sessions of one program.
fn sessions(program: &str) -> Option<Vec<PathBuf>> {
    let folder = shared(&format!("data/compacted/{program}"))?;
    let files = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path());
    let mut files = files.collect::<Vec<_>>();
    files.sort();
    Some(files)
}

/// The measured compactions, and why the others are not.
fn counts(imported: &Imported) -> (usize, Vec<Unmeasured>) {
    let scenarios = &imported.suite.scenarios;
    let measured = scenarios
        .iter()
        .map(|scenario| scenario.compactions.len())
        .sum();
    let reasons = scenarios
        .iter()
        .flat_map(|scenario| &scenario.unmeasured)
        .map(|one| one.reason);
    (measured, reasons.collect())
}

#[test]
fn every_compaction_is_measured_or_named() {
    for (program, measured, reasons) in [
        ("claude-code", 35, vec![Unmeasured::NothingBefore]),
        ("codex", 0, vec![Unmeasured::UnreadableSummary; 12]),
        ("copilot", 1, Vec::new()),
        ("opencode", 1, Vec::new()),
        ("pi", 3, Vec::new()),
    ] {
        let Some(files) = sessions(program) else {
            return;
        };
        assert_eq!(
            counts(&imported(program, &files, &PLAIN)),
            (measured, reasons),
            "{program}"
        );
    }
}

/// Which compaction of a file has this many messages before it, and the tokens that its program
/// reported.
fn only(program: &str, part: &str) -> Option<Imported> {
    let files = sessions(program)?
        .into_iter()
        .filter(|file| file.to_string_lossy().contains(part))
        .collect::<Vec<_>>();
    Some(imported(program, &files, &PLAIN))
}

#[test]
fn a_session_that_unknown_parents_cut_is_whole() {
    let Some(found) = only("claude-code", "1e0816ef") else {
        return;
    };
    let main = &found.suite.scenarios[0];
    let last = main.compactions.last().expect("a compaction");
    assert_eq!(last.reported_tokens, Some(149_025));
    assert!(last.after.0 > 300, "{} messages before it", last.after.0);
    assert_eq!(
        found
            .report
            .repairs
            .iter()
            .filter(|repair| repair.what.contains("joined to"))
            .count(),
        7
    );
}

#[test]
fn a_row_that_follows_what_stayed_continues_after_the_summary() {
    let Some(found) = only("claude-code", "6c0a282a") else {
        return;
    };
    let compaction = &found.suite.scenarios[0].compactions[0];
    assert_eq!(
        (compaction.reported_tokens, compaction.context.len() > 1),
        (Some(297_190), true)
    );
}

#[test]
fn the_first_version_of_pi_keeps_its_tail() {
    let Some(found) = only("pi", "5fd1e58c") else {
        return;
    };
    assert!(
        found.suite.scenarios[0].compactions[0].context.len() > 80,
        "the tail from entry 355 to 462 stays"
    );
}
