//! Turns a suite and options into cases: what is run, under which limits, with which key.

mod absence;
mod common;
mod composed;
mod custom;
mod entrant;
mod key;
mod limits_error;
mod manifest;
mod points;
mod prospects;
mod protocols;
mod schedule;
mod sweep_cases;
mod trigger;
mod window;

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use compactometer_engine::budget::Budget;
use compactometer_engine::tokens::TokenCounter;
use compactometer_formats::protocol::Protocol;
use compactometer_formats::suite::Suite;

pub use absence::Absence;
pub use composed::Composition;
pub use custom::{CustomStrategy, tools_of};
pub use entrant::{Control, Entrant, EntrantKind, RecordedProgram, Sizes};
use key::{Keys, RowKeys, number, seed_of};
pub use limits_error::LimitsError;
pub(crate) use points::point;
pub use points::{Distances, Point, points};
pub use prospects::Prospects;
pub(crate) use protocols::recorded::unlimited as recorded_moments;
pub use schedule::{Distance, Moment, Schedule};
use sweep_cases::Condition;
pub use sweep_cases::PlannedSweep;
pub(crate) use trigger::Now;
pub use trigger::Trigger;
pub use window::{Shares, choose, smallest_feasible};

use crate::prepare::PreparedScenario;
use protocols::{Ground, LimitFrame, ScheduleOf, Scheduled};

/// What a user asked for.
#[derive(Clone)]
pub struct PlanOptions {
    /// What is compared.
    pub entrants: Vec<Entrant>,
    /// The context window in tokens; else the suite's, else one chosen by rule.
    pub window: Option<u32>,
    /// Where a compaction starts, and what it may leave.
    pub shares: Shares,
    /// Whether a compaction leaves no more than one of a program in production does, whatever its
    /// share of the window is.
    pub like_production: bool,
    /// Further shares of the window that a compaction may leave under the matched protocol, each
    /// smaller than the one before. They give each strategy a curve over sizes.
    pub smaller_retained: Vec<f64>,
    /// Whether some conversations are also replayed at other sizes, and at other splits between
    /// tail and summary.
    pub sweep: bool,
    /// How budgets are set.
    pub protocols: BTreeSet<Protocol>,
    /// What published limits are multiplied by.
    pub scale: f64,
    /// The summarizer's name.
    pub summarizer: String,
    /// The target model's name, if it is not the summarizer.
    pub target: Option<String>,
    /// The checkpointer's name, if it is not the summarizer.
    pub checkpointer: Option<String>,
    /// The judge's name, if answers are judged.
    pub judge: Option<String>,
    /// Seed of everything random.
    pub seed: u64,
}

impl Default for PlanOptions {
    fn default() -> Self {
        PlanOptions {
            entrants: Vec::new(),
            window: None,
            shares: Shares::default(),
            like_production: false,
            smaller_retained: Vec::new(),
            sweep: false,
            protocols: BTreeSet::from([Protocol::default()]),
            scale: 1.0,
            summarizer: "mock".to_owned(),
            target: None,
            checkpointer: None,
            judge: None,
            seed: 0,
        }
    }
}

/// Everything that a run needs, resolved.
pub struct Plan {
    /// What was asked for.
    pub options: PlanOptions,
    /// The scenarios, in the suite's order.
    pub suite: Vec<Arc<PreparedScenario>>,
    /// The suite's content hash.
    pub suite_hash: String,
    /// The matched protocol's limits.
    pub sizes: Sizes,
    /// Where the window comes from, for the user.
    pub window_reason: String,
    /// Further retained budgets and splits of the matched protocol.
    pub sweep: PlannedSweep,
    /// The cases, by protocol, then by scenario, then by entrant, so that an interrupted run has
    /// finished the first protocol before it begins the next. Those of the sweep come last.
    pub cases: Vec<PlannedCase>,
}

/// One case to run.
#[derive(Clone)]
pub struct PlannedCase {
    /// A hash of everything that its record depends on.
    pub key: String,
    /// Its scenario.
    pub prepared: Arc<PreparedScenario>,
    /// What is run on it.
    pub entrant: Arc<Entrant>,
    /// How its limits are set.
    pub protocol: Protocol,
    /// When it compacts, and under which limits.
    pub schedule: Schedule,
    /// Lengths of the log at which a row that keeps nothing compacts at the run's trigger.
    pub common: Arc<[usize]>,
    /// The share of the retained budget that a sweep gives to its tail.
    pub split: Option<f64>,
    /// Its seed. All entrants of a scenario have the same, so that a paired comparison shares its
    /// draws.
    pub seed: u64,
}

impl PlannedCase {
    /// Its limits; those of the first moment if there are several.
    pub fn budget(&self) -> Budget {
        self.schedule.budget()
    }

    /// How far back a fact and a use must be to count.
    pub(crate) fn distances(&self) -> Distances<'_> {
        Distances {
            facts: self.schedule.distance(),
            uses: self.schedule.distance_of_uses(&self.common),
        }
    }
}

impl Plan {
    /// Resolves a suite and options.
    ///
    /// # Errors
    /// [`PlanError`] where shares contradict each other, the window cannot hold a conversation's
    /// fixed part, or limits cannot be used.
    pub fn new(
        suite: Suite,
        mut options: PlanOptions,
        counter: &'static dyn TokenCounter,
    ) -> Result<Self, PlanError> {
        let shares = options.shares;
        if shares.retained >= shares.trigger {
            return Err(PlanError::Shares(shares));
        }
        options.protocols = protocols::of_run(&options)?;
        let (suite_hash, hashes) = suite.hashes();
        let seeds = suite
            .scenarios
            .iter()
            .map(|scenario| seed_of(options.seed, &scenario.messages))
            .collect::<Vec<_>>();
        let prepared = PreparedScenario::all(suite.scenarios, &suite_hash, counter);
        let window = window::of_run(&options, suite.header.window, &prepared);
        if let (true, Some((window, _))) = (options.like_production, &window) {
            options.shares = options.shares.like_production(*window);
        }
        let ground = Ground {
            suite: &prepared,
            window,
            options: &options,
            counter,
        };
        let frames = protocols::frames(&ground)?;
        let Some((_, first)) = frames.first() else {
            return Err(PlanError::NoProtocol);
        };
        let (sizes, window_reason, places) =
            (first.sizes, first.reason.clone(), first.places.clone());
        let sweep = PlannedSweep::new(&options, sizes, &prepared)?;
        let keys = Keys {
            options: &options,
            suite_hash: &suite_hash,
            tokenizer: counter.name(),
            trigger: sizes.trigger,
        };
        let common = prepared
            .iter()
            .map(|prepared| common::common_moments(prepared, sizes.trigger))
            .collect::<Vec<_>>();
        let case = |key: &RowKeys, place: usize, (schedule, entrant), (protocol, split)| {
            let (key, prepared) = (key.key(&hashes[place]), Arc::clone(&prepared[place]));
            PlannedCase {
                key,
                prepared,
                entrant,
                protocol,
                schedule,
                common: Arc::clone(&common[place]),
                split,
                seed: seeds[place],
            }
        };
        let cases = cases(&frames, &sweep, (&options.entrants, &keys), case)?;
        drop(frames);
        Ok(Plan {
            cases,
            suite: places
                .iter()
                .map(|place| Arc::clone(&prepared[*place]))
                .collect(),
            suite_hash,
            sizes,
            window_reason,
            sweep,
            options,
        })
    }

    /// Whether the case belongs to a sweep and not to the replay whose numbers are reported first.
    pub fn is_swept(&self, case: &PlannedCase) -> bool {
        let is_of_size = !case.protocol.has_limits_of_run()
            || case.budget().retained == Some(self.sizes.retained);
        case.split.is_some() || !is_of_size
    }

    /// The number of groups of the suite: the units of statistics.
    pub fn groups(&self) -> usize {
        self.suite
            .iter()
            .map(|prepared| prepared.scenario.group_id.as_str())
            .collect::<BTreeSet<_>>()
            .len()
    }
}

/// The cases of all protocols at the run's sizes, then those of the sweep.
fn cases(
    frames: &[(Protocol, LimitFrame<'_>)],
    sweep: &PlannedSweep,
    (entrants, keys): (&[Entrant], &Keys<'_>),
    case: impl Fn(&RowKeys, usize, Scheduled, (Protocol, Option<f64>)) -> PlannedCase,
) -> Result<Vec<PlannedCase>, PlanError> {
    let whole = frames
        .iter()
        .map(|(protocol, frame)| (*protocol, frame, Condition::whole(frame.sizes)));
    let swept = frames
        .iter()
        .find(|(protocol, _)| protocol.has_limits_of_run())
        .into_iter();
    let swept = swept.flat_map(|(protocol, frame)| {
        sweep
            .conditions(frame.sizes)
            .map(move |condition| (*protocol, frame, condition))
    });
    let (mut cases, mut seen) = (Vec::new(), HashSet::new());
    for (protocol, frame, condition) in whole.chain(swept) {
        let places = frame
            .places
            .iter()
            .copied()
            .filter(|place| condition.takes(*place))
            .collect::<Vec<_>>();
        let mut rows = Vec::new();
        for entrant in entrants
            .iter()
            .filter(|entrant| condition.runs(entrant) && !places.is_empty())
        {
            rows.push(PlannedRow::new(
                entrant,
                (protocol, frame),
                condition.sizes,
            )?);
        }
        cases.reserve_exact(places.len() * rows.len());
        for place in places {
            for row in &mut rows {
                let Some((key, scheduled)) = row.at(place, keys)? else {
                    continue;
                };
                let case = case(key, place, scheduled, (protocol, condition.sizes.split));
                // A strategy's own split may be one of the sweep's: then its case is there already.
                if seen.insert(number(&case.key)) {
                    cases.push(case);
                }
            }
        }
    }
    Ok(cases)
}

/// An entrant under one set of limits.
struct PlannedRow<'r> {
    name: &'r str,
    protocol: Protocol,
    schedule: Box<ScheduleOf<'r>>,
    /// How the keys of its last cases were made.
    keys: Option<(Budget, Arc<Entrant>, RowKeys)>,
}

impl<'r> PlannedRow<'r> {
    fn new(
        entrant: &'r Entrant,
        (protocol, frame): (Protocol, &'r LimitFrame<'r>),
        sizes: Sizes,
    ) -> Result<Self, PlanError> {
        let schedule =
            (frame.entrant)(entrant, sizes).map_err(|source| limits(&entrant.name, source))?;
        Ok(PlannedRow {
            name: &entrant.name,
            protocol,
            schedule,
            keys: None,
        })
    }

    /// What it does with the conversation at that place, and how its case's key is made.
    fn at(
        &mut self,
        place: usize,
        keys: &Keys<'_>,
    ) -> Result<Option<(&RowKeys, Scheduled)>, PlanError> {
        let scheduled = (self.schedule)(place).map_err(|source| limits(self.name, source))?;
        let Some((schedule, entrant)) = scheduled else {
            return Ok(None);
        };
        let budget = schedule.budget();
        let is_same = |(known, of, _): &(Budget, Arc<Entrant>, _)| {
            *known == budget && Arc::ptr_eq(of, &entrant)
        };
        let known = self.keys.take().filter(is_same);
        let new = || {
            (
                budget,
                Arc::clone(&entrant),
                keys.of_row(&entrant, self.protocol, &budget),
            )
        };
        let (_, _, keys) = self.keys.insert(known.unwrap_or_else(new));
        Ok(Some((keys, (schedule, entrant))))
    }
}

fn limits(strategy: &str, source: LimitsError) -> PlanError {
    PlanError::Limits {
        strategy: strategy.to_owned(),
        source,
    }
}

/// A run that cannot be resolved.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// The system prompt and tools leave no room.
    #[error(
        "context window `{window}` is too small for this suite: its system prompts and tools need at least `--window {smallest}`"
    )]
    Infeasible {
        /// What was asked for, in tokens.
        window: u32,
        /// The smallest that is feasible, in tokens.
        smallest: u32,
    },
    /// A compaction may leave as much as starts one.
    #[error("`--retain {}` is not under `--trigger {}`: a compaction could never end below its trigger", .0.retained, .0.trigger)]
    Shares(Shares),
    /// A further retained budget that adds no size.
    #[error(
        "`--retain {share}` adds no size: each share must be a token or more smaller than the one before, and only the matched \
         protocol has such shares"
    )]
    Share {
        /// The share of the window.
        share: f64,
    },
    /// A sweep without the protocol that it is of.
    #[error("`--sweep` needs the matched protocol: add `matched` to `--protocol`")]
    SweepOfPublished,
    /// A conversation's own compactions set all limits, and the user set others.
    #[error(
        "`recorded` and all strategies beside it compact at the moments and to the sizes of the recorded program: use \
         `--protocol recorded` without `--window` and `--sweep`, and give at most one size in `--retain`"
    )]
    RecordedOnly,
    /// No program compacted a conversation of the suite.
    #[error(
        "no conversation of this suite has a recorded compaction: import sessions that their program compacted"
    )]
    NothingRecorded,
    /// No protocol says how limits are set.
    #[error("no protocol is chosen: name one in `--protocol`")]
    NoProtocol,
    /// Parameters or limits contradict each other.
    #[error("limits of `{strategy}`")]
    Limits {
        /// The strategy's name in reports.
        strategy: String,
        /// The contradiction.
        source: LimitsError,
    },
}
