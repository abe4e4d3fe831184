//! What a run's journal of tries says about its requests, in sentences: failures that were mended by
//! asking again are results too.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Result;
use compactometer_formats::manifest::Manifest;
use compactometer_models::tries::{self, Ended, Try, TryOutcome};
use compactometer_text::code::code;

use crate::output::terminal::note;

/// Reasons that are named.
const NAMED: usize = 3;
/// Letters of a reason.
const LONGEST: usize = 80;

/// Adds the sentences about the journals of runs to the notes of their manifest.
///
/// # Errors
/// If a journal cannot be read.
pub(crate) fn add_to(manifest: &mut Manifest, folders: &[PathBuf]) -> Result<()> {
    manifest.notes.extend(sentences_of(folders)?);
    Ok(())
}

/// The sentences about the journals in these folders together.
///
/// # Errors
/// If a journal cannot be read.
pub(crate) fn sentences_of(folders: &[PathBuf]) -> Result<Vec<String>> {
    let tries = folders.iter().map(|folder| tries::read(folder));
    Ok(sentences(&tries.collect::<Result<Vec<_>, _>>()?.concat()))
}

/// Says them on stderr.
///
/// # Errors
/// If the journal cannot be read.
pub(crate) fn tell(folder: &Path) -> Result<()> {
    sentences(&tries::read(folder)?)
        .iter()
        .for_each(|sentence| note(sentence));
    Ok(())
}

fn sentences(tries: &[Try]) -> Vec<String> {
    let all = tries.len();
    let ended = |wanted: TryOutcome| {
        let ended = tries.iter().filter_map(|one| one.ended.as_ref());
        ended.filter(move |ended| ended.outcome == wanted)
    };
    let mut said = Vec::new();
    let failed = ended(TryOutcome::Failed).chain(ended(TryOutcome::NotSent));
    let failed = failed.collect::<Vec<_>>();
    if !failed.is_empty() {
        said.push(format!(
            "requests that failed, and were made again where that may help: {} of {all} ({})",
            failed.len(),
            reasons(&failed)
        ));
    }
    let refused = ended(TryOutcome::Refused).collect::<Vec<_>>();
    if !refused.is_empty() {
        said.push(format!(
            "requests that the server did not take: {} of {all} ({})",
            refused.len(),
            reasons(&refused)
        ));
    }
    let doubtful = ended(TryOutcome::Answered).filter(|ended| ended.is_doubtful);
    match doubtful.count() {
        0 => {}
        count => said.push(format!(
            "answers whose reported usage is under half of the program's own count, or far above it: {count} of {all}; costs \
             rest on what is reported, and `--max-cost` on the larger of both"
        )),
    }
    let unknown = tries.iter().filter(|one| one.ended.is_none()).count();
    if unknown > 0 {
        said.push(format!(
            "requests of whose end nothing is known, since the program was ended: {unknown} of {all}; `--max-cost` counts all that \
             they may have cost"
        ));
    }
    said
}

/// The most frequent reasons with their numbers.
fn reasons(ended: &[&Ended]) -> String {
    let mut counts = BTreeMap::<String, usize>::new();
    for ended in ended {
        let why = ended.why.as_deref().unwrap_or_default();
        // What follows a colon differs from one failure to the next.
        let why = why.split(": ").next().unwrap_or_default();
        let why = why.chars().take(LONGEST).collect::<String>();
        *counts.entry(why).or_default() += 1;
    }
    let mut counts = counts.into_iter().collect::<Vec<_>>();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let others = counts.iter().skip(NAMED).map(|(_, count)| count);
    let others = others.sum::<usize>();
    let named = counts.iter().take(NAMED);
    let mut named = named
        .map(|(why, count)| format!("{count} x {}", code(why)))
        .collect::<Vec<_>>();
    if others > 0 {
        named.push(format!("{others} x other"));
    }
    named.join(", ")
}
