//! How far a plan is.

use serde::Serialize;

use super::error::ranges;
use super::{PlanFolder, ShardError};

/// How far a plan is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Status {
    /// The plan's id.
    pub plan: String,
    /// The number of shards.
    pub shards: u32,
    /// Shards that have a part.
    pub done: u32,
    /// Shards without a part, as `sbatch --array` takes them: `3,9,17-20`. Empty if all are done.
    pub array: String,
    /// Cases of the plan.
    pub cases: usize,
    /// Cases that are finished, in parts and attempts.
    pub finished: usize,
    /// The shards without a part.
    pub missing: Vec<ShardStatus>,
}

/// How far a shard without a part is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShardStatus {
    /// Its number, from 1.
    pub shard: u32,
    /// Its cases.
    pub cases: u32,
    /// Cases that its attempts have finished.
    pub finished: usize,
    /// Processes that have worked on it.
    pub attempts: usize,
}

/// How far a plan is.
///
/// # Errors
/// [`ShardError`] if a part or an attempt cannot be read.
pub fn status(folder: &PlanFolder) -> Result<Status, ShardError> {
    let (mut missing, mut finished) = (Vec::new(), 0);
    for (shard, cases) in folder.all().zip(&folder.plan.cases) {
        if folder.is_done(shard)? {
            finished += *cases as usize;
            continue;
        }
        let kept = folder.finished_cases(shard)?;
        finished += kept.cases.len();
        let attempts = kept.files.len();
        missing.push(ShardStatus {
            shard: shard.number,
            cases: *cases,
            finished: kept.cases.len(),
            attempts,
        });
    }
    let shards = folder.plan.shards;
    Ok(Status {
        plan: folder.plan.id.clone(),
        shards,
        done: shards - missing.len() as u32,
        array: ranges(&missing.iter().map(|one| one.shard).collect::<Vec<_>>()),
        cases: folder.plan.cases.iter().map(|cases| *cases as usize).sum(),
        finished,
        missing,
    })
}
