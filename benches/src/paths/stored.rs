//! What comes after a decision: stores, and the report.

use std::error::Error;

use compactometer_benches::conversations::{scenario, suite};
use compactometer_benches::texts::Kind;
use compactometer_engine::message::{MessageId, Usage};
use compactometer_engine::saved::{Saved, SavedKind};
use compactometer_engine::store::{Commit, Store};
use compactometer_engine::view::Edit;
use compactometer_harness::plan::Plan;
use compactometer_schema::manifest::{Manifest, VERSION};
use compactometer_schema::prices::PriceTable;
use compactometer_schema::record::Record;
use compactometer_store::{Checkpoints, KEEP};

use crate::paths::Work;
use crate::sessions;

pub(crate) fn folder(commits: usize) -> Result<Work, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let store = Checkpoints::in_directory(&folder.path().join("threads"), KEEP)?;
    Ok(commit_and_load(folder, store, commits))
}

pub(crate) fn sqlite(commits: usize) -> Result<Work, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let store = Checkpoints::in_sqlite(&folder.path().join("store.db"), KEEP)?;
    Ok(commit_and_load(folder, store, commits))
}

fn commit_and_load(folder: tempfile::TempDir, store: Checkpoints, commits: usize) -> Work {
    let saved = saved(commits);
    let view = (0..40).map(|id| Edit::Keep(MessageId(id))).collect::<Vec<_>>();
    Box::new(move || {
        // Removed when the work is dropped.
        let _ = &folder;
        let all = store.thread("measured").and_then(|mut thread| {
            for one in &saved {
                let commit = Commit { saved: std::slice::from_ref(one), view: &view, after: MessageId(one.number) };
                if thread.commit(&commit).is_err() {
                    return Ok(0);
                }
            }
            Ok(store.thread("measured")?.load()?.history.len() as u64)
        });
        all.unwrap_or_default()
    })
}

fn saved(commits: usize) -> Vec<Saved> {
    let body = |number| Kind::Prose.text(number, 1_500);
    (0..commits as u32)
        .map(|number| Saved {
            number,
            kind: SavedKind::Summary,
            covers: None,
            tokens_before: 9_600,
            tokens_after: 3_000,
            usage: Usage::default(),
            created_at_ms: Some(1_769_870_000_000 + i64::from(number)),
            body: body(number.into()),
        })
        .collect()
}

pub(crate) fn report(records: usize) -> Result<Work, Box<dyn Error>> {
    let (plan, records) = sessions::records("summarize", suite(0..records as u64, |seed| scenario(seed, 80)))?;
    let (manifest, prices) = (manifest(&plan, &records), PriceTable::shipped()?);
    Ok(Box::new(move || {
        let summary = compactometer_report::summarize(&manifest, &records, &prices);
        summary.groups.iter().map(|group| group.strategies.len() as u64).sum()
    }))
}

fn manifest(plan: &Plan, records: &[Record]) -> Manifest {
    Manifest {
        version: VERSION,
        program: "measured".to_owned(),
        commit: "unknown".to_owned(),
        command: Vec::new(),
        suite: "measured".to_owned(),
        suite_hash: String::new(),
        notes: Vec::new(),
        window: plan.window.window,
        trigger: plan.trigger,
        retained: plan.retained,
        sweep: Vec::new(),
        protocols: plan.protocols.iter().copied().collect(),
        strategies: plan.contenders.iter().map(|contender| contender.name.clone()).collect(),
        reference: None,
        prompts: Default::default(),
        scale: plan.scale,
        settings_hash: String::new(),
        prices_hash: String::new(),
        tokenizer: "quarter".to_owned(),
        model: plan.model.clone(),
        seed: plan.seed,
        properties: Vec::new(),
        cases: records.len(),
        conversations: records.len(),
        groups: plan.groups(),
    }
}
