//! The work after a decision: stores, and the report.

use std::error::Error;

use compactometer_engine::message::{MessageId, Usage};
use compactometer_engine::record::{RecordKind, SessionRecord};
use compactometer_engine::store::{Commit, Store};
use compactometer_engine::view::Edit;
use compactometer_formats::prices::PriceTable;
use compactometer_report::bootstrap_interval;
use compactometer_store::{Checkpoints, KEEP};

use super::{Path, Work, replays};
use crate::conversations::{scenario, suite};
use crate::texts::Kind;

pub(super) fn paths() -> Vec<Path> {
    vec![
        // Many times the number of commits that have separate files. The archive of all others
        // grows from the first of them on, so a small size would measure its creation and not its
        // growth.
        Path::new(
            "store-folder",
            150,
            "SIZE commits to a folder, then all read",
            folder,
        ),
        Path::new(
            "store-sqlite",
            30,
            "SIZE commits to a database, then all read",
            sqlite,
        ),
        Path::new(
            "bootstrap",
            100,
            "the interval of a mean over SIZE units",
            bootstrap,
        ),
        Path::new("summary", 12, "the summary of SIZE records", summary),
    ]
}

fn folder(commits: usize) -> Result<Work, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let store = Checkpoints::in_directory(&folder.path().join("threads"), KEEP)?;
    Ok(commit_and_load(folder, store, commits))
}

fn sqlite(commits: usize) -> Result<Work, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let store = Checkpoints::in_sqlite(&folder.path().join("store.db"), KEEP)?;
    Ok(commit_and_load(folder, store, commits))
}

fn commit_and_load(folder: tempfile::TempDir, store: Checkpoints, commits: usize) -> Work {
    let saved = saved(commits);
    let view = (0..40)
        .map(|id| Edit::Keep(MessageId(id)))
        .collect::<Vec<_>>();
    let mut runs = 0;
    Box::new(move || {
        // The folder is removed when the work is dropped.
        let _ = &folder;
        // A new thread for each run, so that no run finds another's commits.
        runs += 1;
        let name = format!("measured-{runs}");
        let all = store.thread(&name).and_then(|mut thread| {
            for one in &saved {
                let commit = Commit {
                    saved: std::slice::from_ref(one),
                    view: &view,
                    after: MessageId(one.number),
                };
                if thread.commit(&commit).is_err() {
                    return Ok(0);
                }
            }
            Ok(store.thread(&name)?.load()?.history.len() as u64)
        });
        all.unwrap_or_default()
    })
}

fn saved(commits: usize) -> Vec<SessionRecord> {
    let body = |number| Kind::Prose.text(number, 1_500);
    (0..commits as u32)
        .map(|number| SessionRecord {
            number,
            kind: RecordKind::Summary,
            covers: None,
            tokens_before: 9_600,
            tokens_after: 3_000,
            usage: Usage::default(),
            created_at_ms: Some(1_769_870_000_000 + i64::from(number)),
            body: body(number.into()),
            stage: 0,
        })
        .collect()
}

fn bootstrap(units: usize) -> Result<Work, Box<dyn Error>> {
    let values = (0..units)
        .map(|unit| (unit * unit % 101) as f64 / 100.0)
        .collect::<Vec<_>>();
    Ok(Box::new(move || {
        let mean = |times: &[u32]| {
            let sum = times
                .iter()
                .zip(&values)
                .map(|(times, value)| f64::from(*times) * value)
                .sum::<f64>();
            Some(sum / times.len() as f64)
        };
        // Both ends in one number, as an integer.
        bootstrap_interval(values.len(), mean)
            .map_or(0, |(low, high)| ((low + 2.0 * high) * 1e9) as u64)
    }))
}

fn summary(records: usize) -> Result<Work, Box<dyn Error>> {
    let (plan, records) = replays::records(
        "summarize",
        suite(0..records as u64, |seed| scenario(seed, 80)),
    )?;
    let (manifest, prices) = (plan.manifest(), PriceTable::shipped()?);
    Ok(Box::new(move || {
        let summary = compactometer_report::summarize(&manifest, &records, &prices);
        summary
            .groups
            .iter()
            .map(|group| group.strategies.len() as u64)
            .sum()
    }))
}
