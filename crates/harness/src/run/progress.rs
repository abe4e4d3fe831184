//! A case that survives its process: a store keeps its session, and a progress file beside the
//! journal keeps what the replay has measured so far. The next process continues from both.
//!
//! The file is written after the store has committed, so a process that ends between the two leaves
//! a store that is ahead. Such a case starts over: it costs its calls once more, and its record is
//! the same. A case also starts over if a power failure tore its file, or if it stopped after
//! failed tries to get below its trigger, since no store holds a session's count of these.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use compactometer_disk::{input, write_whole_unsynced};
use compactometer_engine::event::Outcome;
use compactometer_engine::message::{MessageId, Usage};
use compactometer_engine::store::State;
use compactometer_engine::strategy::Strategy;
use compactometer_engine::tokens::TokenCounter;
use compactometer_formats::prices::PriceRow;
use compactometer_formats::record::{Record, text_hash};
use compactometer_store::{Checkpoints, Error, Thread};
use serde::{Deserialize, Serialize};

use super::RunError;
use super::case::judged;
use super::fail_fast::FailFastModels;
use super::journal_error::JournalError;
use super::refusals::{ObservedThread, SettingsRefusal};
use crate::plan::PlannedCase;
use crate::replay::{Meters, Replay, ReplayCounts, session};
use crate::trace::{CaseResult, DrawnContexts, RandomContexts, Traced, Tracer};

/// The prices of the models whose calls a store's records come from; absent where they are unknown.
/// The calls of one record are priced as one.
#[derive(Clone, Debug, Default)]
pub struct StorePrices {
    /// Of the model that writes summaries.
    pub summarizer: Option<PriceRow>,
    /// Of the model that writes checkpoints before turns.
    pub checkpointer: Option<PriceRow>,
}

/// Where cases are kept while they run.
pub(crate) struct Keeper<'k> {
    store: &'k Checkpoints,
    prices: StorePrices,
    /// The run's folder.
    dir: PathBuf,
    /// Its folder `progress`, with a file for each case.
    folder: PathBuf,
}

/// A case that could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The store refused.
    #[error(transparent)]
    Store(#[from] compactometer_store::Error),
    /// The store does not hold a session of this conversation.
    #[error("{0}")]
    Restore(String),
    /// Another process continues the same conversation.
    #[error(
        "another run of the same replays uses this store (thread `{thread}`); wait for it to end, or choose another `--store`"
    )]
    Shared {
        /// The conversation's thread in the store.
        thread: String,
    },
    /// The progress file cannot be written.
    #[error("cannot write `{}`: {source}; free space there, or make it writable for this user", path.display())]
    Progress {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// The version of progress files. A file of another version is not read.
const VERSION: u32 = 5;

/// What must outlive a process beside the session's state.
#[derive(Serialize, Deserialize)]
struct CaseProgress {
    version: u32,
    /// Messages pushed.
    said: usize,
    /// The number of records in the store. With `after` it shows whether store and file belong
    /// together.
    records: usize,
    /// The last message of the store's last commit.
    after: Option<MessageId>,
    /// The record as far as it goes.
    record: Record,
    texts: BTreeMap<String, String>,
    counts: ReplayCounts,
    facts: Traced,
    drawn: DrawnContexts,
}

impl<'k> Keeper<'k> {
    pub(crate) fn new(store: &'k Checkpoints, prices: StorePrices, dir: &Path) -> Self {
        Keeper {
            store,
            prices,
            dir: dir.to_owned(),
            folder: dir.join("progress"),
        }
    }

    /// Runs a case, from where an earlier process left it if one did. Also returns whether one did.
    pub(crate) async fn run_case(
        &self,
        case: &PlannedCase,
        fail_fast: &FailFastModels<'_>,
        counter: &dyn TokenCounter,
    ) -> Result<(CaseResult, bool), RunError> {
        let strategy = case.entrant.build(&case.prepared, case.seed);
        let models = fail_fast.models();
        let limited = models.window_limited(case.budget().binding_window(), counter);
        let meters = models.meters(&limited, case.seed);
        let (mut replay, refusal, from) = self
            .begin(case, &*strategy, &meters, counter)
            .map_err(RunError::Keep)?;
        for index in from..=case.prepared.messages.len() {
            let before = commits(&replay);
            replay.step(index).await;
            fail_fast.check().map_err(RunError::Model)?;
            refusal
                .take()
                .map_or(Ok(()), |error| Err(RunError::Keep(refused(case, error))))?;
            // A checkpoint that is being written is in no file: an interrupted case starts over.
            if commits(&replay) > before && !replay.is_writing_beside() {
                let after = index
                    .checked_sub(1)
                    .map(|last| case.prepared.messages[last].message.id);
                self.save(case, &CaseProgress::new(&replay, index + 1, after))?;
            }
        }
        Ok((judged(case, models, replay.into_result()).await, from > 0))
    }

    /// Forgets a case whose record is written. Its thread stays in the store for inspection.
    pub(crate) fn finished(&self, case: &PlannedCase) {
        // No later run reads a file that is left over.
        let _ = std::fs::remove_file(self.path(case));
    }

    /// Removes the folder and everything left in it, once no running case can need it.
    pub(crate) fn all_finished(&self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }

    fn begin<'r>(
        &self,
        case: &'r PlannedCase,
        strategy: &'r dyn Strategy,
        meters: &'r Meters<'r>,
        counter: &'r dyn TokenCounter,
    ) -> Result<(Replay<'r>, SettingsRefusal, usize), KeepError> {
        let session = session(case, strategy, meters, counter);
        let mut thread = self.thread(case)?;
        let state = thread.load()?;
        // What decides when it compacts has followed the conversation from its start.
        let can_resume = strategy.is_due().is_none();
        let progress = self.read(case).filter(|_| can_resume);
        let Some(progress) = progress.filter(|progress| progress.fits(&state)) else {
            if state != State::default() {
                self.store.clear(&thread_id(case))?;
                thread = self.thread(case)?;
            }
            let (store, refusal) = ObservedThread::new(thread);
            return Ok((
                Replay::new(case, session.stored_in(store), meters, counter),
                refusal,
                0,
            ));
        };
        let said = progress.said;
        let log = case.prepared.log_of(said);
        let session = session
            .restored(log, state)
            .map_err(|error| KeepError::Restore(error.to_string()))?;
        let (store, refusal) = ObservedThread::new(thread);
        let replay = Replay::new(case, session.stored_in(store), meters, counter);
        Ok((progress.into_replay(replay), refusal, said))
    }

    /// The case's thread, which keeps what its calls cost where their model has a price.
    fn thread(&self, case: &PlannedCase) -> Result<Thread, KeepError> {
        let thread = self.store.thread(&thread_id(case))?;
        let StorePrices {
            summarizer,
            checkpointer,
        } = self.prices.clone();
        Ok(thread.priced(move |saved| {
            let row = if saved.is_before_turn() {
                &checkpointer
            } else {
                &summarizer
            };
            Some(row.as_ref()?.dollars(&saved.usage))
        }))
    }

    fn path(&self, case: &PlannedCase) -> PathBuf {
        self.folder.join(format!("{}.json", case.key))
    }

    /// What an earlier process left. A file that is torn, edited or of another version counts as
    /// absent.
    fn read(&self, case: &PlannedCase) -> Option<CaseProgress> {
        let text = input::open(&self.path(case))
            .and_then(std::io::read_to_string)
            .ok()?;
        let (checksum, json) = text.split_once('\n')?;
        let progress: CaseProgress = serde_json::from_str(json)
            .ok()
            .filter(|_| text_hash(json) == checksum)?;
        (progress.version == VERSION && progress.record.key == case.key).then_some(progress)
    }

    fn save(&self, case: &PlannedCase, progress: &CaseProgress) -> Result<(), RunError> {
        if progress.counts.tried_in_vain() {
            return Ok(());
        }
        let path = self.path(case);
        let write = || {
            self.create_folder()?;
            let json = serde_json::to_string(progress)?;
            // Waiting for the disk at each commit would take longer than the case. If the file is
            // lost, the case starts over.
            write_whole_unsynced(&path, |out| write!(out, "{}\n{json}", text_hash(&json)))
        };
        write().map_err(|source| match source.kind() {
            ErrorKind::NotFound => RunError::Write(JournalError::Gone {
                dir: self.dir.clone(),
            }),
            _ => RunError::Keep(KeepError::Progress {
                path: path.clone(),
                source,
            }),
        })
    }

    /// Makes the folder but not the run's folder: if that is gone, the run must end.
    fn create_folder(&self) -> std::io::Result<()> {
        match std::fs::create_dir(&self.folder) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            made => made,
        }
    }
}

impl CaseProgress {
    fn new(replay: &Replay<'_>, said: usize, after: Option<MessageId>) -> Self {
        CaseProgress {
            version: VERSION,
            said,
            records: replay.session.history().len(),
            after,
            record: replay.record(),
            texts: BTreeMap::clone(&replay.texts),
            counts: replay.counts,
            facts: replay.tracer.traced().clone(),
            drawn: replay.random.drawn(),
        }
    }

    /// Whether the store holds exactly what it held when this was written.
    fn fits(&self, state: &State) -> bool {
        self.after.is_some() && self.after == state.after && self.records == state.history.len()
    }

    /// Lets a new replay of the same case go on from here.
    fn into_replay(self, mut replay: Replay<'_>) -> Replay<'_> {
        let Record {
            case,
            observations,
            compactions,
            checkpoints,
            recoveries,
            contexts,
            turns,
            answers,
            ..
        } = self.record;
        // A session knows what its last call used, but this process has made no call yet.
        if let Some(turn) = turns.last() {
            let (input, output) = (turn.input.into(), turn.output.into());
            replay.session.report_usage(Usage {
                input,
                output,
                ..Usage::default()
            });
        }
        replay.tracer = Tracer::resumed(
            replay.prepared,
            replay.case.entrant.has_requests(),
            self.facts,
            self.said,
        );
        replay.random = RandomContexts::resumed(replay.prepared, case.seed, self.drawn, self.said);
        replay.counts = self.counts;
        replay.pending_over_budget = case.pending_over_budget;
        (replay.observations, replay.compactions) = (observations, compactions);
        (replay.checkpoints, replay.recoveries) = (checkpoints, recoveries);
        (replay.contexts, replay.turns) = (contexts, turns);
        (replay.answers, replay.texts) = (answers, self.texts.into());
        replay
    }
}

/// A thread's id in the store: the strategy, the conversation, and what tells replays of it apart.
fn thread_id(case: &PlannedCase) -> String {
    let plain = |letter: char| {
        let is_plain = letter.is_alphanumeric() || "-_.".contains(letter);
        if is_plain { letter } else { '-' }
    };
    let conversation = case.prepared.scenario.id.chars().map(plain).take(60);
    let key = case.key.get(..12).unwrap_or(&case.key);
    format!(
        "{}:{}:{key}",
        case.entrant.name,
        conversation.collect::<String>()
    )
}

/// At least the number of the session's commits so far: each record and each changed view comes
/// with a commit.
fn commits(replay: &Replay<'_>) -> usize {
    let applied = replay
        .compactions
        .iter()
        .filter(|row| row.event.outcome == Outcome::Applied)
        .count();
    replay.session.history().len() + applied
}

fn refused(case: &PlannedCase, error: Error) -> KeepError {
    match error {
        Error::Conflict { .. } => KeepError::Shared {
            thread: thread_id(case),
        },
        error => KeepError::Store(error),
    }
}
