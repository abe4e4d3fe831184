//! Running one shard.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use compactometer_engine::tokens::TokenCounter;
use compactometer_formats::shards::Shard;

use super::attempts::FinishedCases;
use super::folder::keys_hash;
use super::{PlanFolder, ShardClaim, ShardError, deal};
use crate::plan::Plan;
use crate::run::{Models, RunError, run_each};

/// One shard of a plan, ready to run.
pub struct Worker<'w> {
    folder: &'w PlanFolder,
    plan: &'w Plan,
    shard: Shard,
    /// The shard's cases, by their places in the plan.
    places: Vec<usize>,
    kept: FinishedCases,
}

/// How running a shard ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardOutcome {
    /// Its part is created.
    Done,
    /// Another worker created the part first, so this one's cases do not count.
    NotCounted,
    /// It was asked to stop before the last case.
    Stopped {
        /// Finished cases of the shard.
        kept: usize,
    },
}

impl<'w> Worker<'w> {
    /// Takes over what earlier attempts have finished. `plan` is made from the folder's arguments
    /// and conversations.
    ///
    /// # Errors
    /// [`ShardError::OtherCases`] if the plan has other cases than the folder; if an attempt cannot
    /// be read.
    pub fn new(folder: &'w PlanFolder, plan: &'w Plan, shard: Shard) -> Result<Self, ShardError> {
        let keys = plan.cases.iter().map(|case| case.key.as_str());
        if keys_hash(keys.clone()) != folder.plan.keys_hash {
            let what = "the keys of its replays differ".to_owned();
            return Err(ShardError::OtherCases {
                dir: folder.dir.clone(),
                what,
            });
        }
        let dealt = deal(&keys.collect::<Vec<_>>(), folder.shards());
        let places = (0..dealt.len())
            .filter(|place| dealt[*place] == shard.number)
            .collect();
        Ok(Worker {
            folder,
            plan,
            shard,
            places,
            kept: folder.finished_cases(shard)?,
        })
    }

    /// The number of its cases.
    pub fn cases(&self) -> usize {
        self.places.len()
    }

    /// The places of its unfinished cases in the plan.
    pub fn missing(&self) -> Vec<usize> {
        let is_missing =
            |place: &usize| !self.kept.cases.contains_key(&self.plan.cases[*place].key);
        self.places.iter().copied().filter(is_missing).collect()
    }

    /// Runs its unfinished cases and creates its part. `progress` gets the number of finished
    /// cases.
    ///
    /// # Errors
    /// [`ShardError`]; finished cases are kept.
    pub fn run<'m>(
        mut self,
        claim: &ShardClaim,
        models: impl Into<Models<'m>>,
        counter: &dyn TokenCounter,
        jobs: usize,
        stop: &AtomicBool,
        progress: &dyn Fn(usize),
    ) -> Result<ShardOutcome, ShardError> {
        let missing = self.missing();
        let mut finished = self.places.len() - missing.len();
        progress(finished);
        if !missing.is_empty() {
            let mut attempt = self.folder.begin(claim, jobs)?;
            let file = self.kept.files.len();
            self.kept.files.push(attempt.path().to_owned());
            let mut own = HashMap::new();
            let ran = run_each(
                self.plan,
                models,
                counter,
                (&missing, jobs),
                stop,
                |cases| {
                    for (case, at) in cases.iter().zip(attempt.keep(&cases)?) {
                        own.insert(case.result.record.key.clone(), (file, at));
                    }
                    finished += cases.len();
                    progress(finished);
                    Ok(())
                },
            );
            // A thread that failed leaves others with a finished case, and none with a call in
            // flight.
            let ended = attempt.end().map_err(RunError::Write);
            ran.and(ended)?;
            own.into_iter().for_each(|(key, place)| {
                self.kept.cases.entry(key).or_insert(place);
            });
        }
        if finished < self.places.len() {
            debug_assert!(stop.load(Ordering::Relaxed));
            return Ok(ShardOutcome::Stopped { kept: finished });
        }
        let keys = self
            .places
            .iter()
            .map(|place| self.plan.cases[*place].key.as_str())
            .collect::<Vec<_>>();
        let created = self.folder.commit(self.shard, &keys, &self.kept)?;
        Ok(if created {
            ShardOutcome::Done
        } else {
            ShardOutcome::NotCounted
        })
    }
}
