//! Turns a suite and options into cases: what is run, under which limits, with which key.

mod absence;
mod entrant;
mod key;
mod manifest;
mod points;
mod prospects;
mod recorded;
mod sweep;
mod window;

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use compactometer_engine::budget::Budget;
use compactometer_engine::tokens::TokenCounter;
use compactometer_formats::protocol::Protocol;
use compactometer_formats::record::Family;
use compactometer_formats::suite::Suite;

pub use absence::Absence;
pub use entrant::{Control, Entrant, Entry, LimitsError, Sizes};
use key::{Keys, seed_of};
pub(crate) use points::point;
pub use points::{Distance, Point, points};
pub use prospects::Prospects;
pub use recorded::Moment;
pub(crate) use recorded::unlimited as recorded_moments;
use sweep::Condition;
pub use sweep::Sweep;
pub use window::{Shares, choose, smallest_feasible};

use crate::prepare::{PreparedScenario, prepare_all};

/// What a user asked for.
#[derive(Clone)]
pub struct PlanOptions {
    /// What is compared.
    pub entrants: Vec<Entrant>,
    /// The context window in tokens; else the suite's, else one chosen by rule.
    pub window: Option<u32>,
    /// Where a compaction starts, and what it may leave.
    pub shares: Shares,
    /// Further shares of the window that a compaction may leave under the matched protocol, each smaller than the one before.
    /// They give each strategy a curve over sizes.
    pub smaller_retained: Vec<f64>,
    /// Whether some conversations are also replayed at other sizes, and at other splits between tail and summary.
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
            smaller_retained: Vec::new(),
            sweep: false,
            protocols: BTreeSet::from([Protocol::Matched]),
            scale: 1.0,
            summarizer: "mock".to_owned(),
            target: None,
            checkpointer: None,
            judge: None,
            seed: 0,
        }
    }
}

impl PlanOptions {
    /// Whether the recorded program's compactions set all limits: they do wherever `recorded` takes part.
    fn is_recorded(&self) -> bool {
        self.protocols.contains(&Protocol::Recorded)
            || self.entrants.iter().any(|entrant| entrant.family == Family::Recorded)
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
    pub sweep: Sweep,
    /// The cases, by protocol, then by scenario, then by entrant, so that an interrupted run has finished the first protocol
    /// before it begins the next. Those of the sweep come last.
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
    pub entrant: Entrant,
    /// How its limits are set.
    pub protocol: Protocol,
    /// Its limits.
    pub budget: Budget,
    /// The recorded compactions at which it compacts, under the protocol `recorded`; else empty.
    pub moments: Vec<Moment>,
    /// The share of the retained budget that a sweep gives to its tail.
    pub split: Option<f64>,
    /// Its seed. All entrants of a scenario have the same, so that a paired comparison shares its draws.
    pub seed: u64,
}

impl PlannedCase {
    /// How far back a fact must have been said for the last time to count.
    pub(crate) fn distance(&self) -> Distance<'_> {
        match &self.moments[..] {
            [] => Distance::Tokens(self.budget.trigger),
            moments => Distance::Compactions(moments),
        }
    }
}

impl Plan {
    /// Resolves a suite and options.
    ///
    /// # Errors
    /// [`PlanError`] where shares contradict each other, the window cannot hold a conversation's fixed part, or limits cannot be
    /// used.
    pub fn new(suite: Suite, options: PlanOptions, counter: &dyn TokenCounter) -> Result<Self, PlanError> {
        let shares = options.shares;
        if shares.retained >= shares.trigger {
            return Err(PlanError::Shares(shares));
        }
        let (suite_hash, hashes) = suite.hashes();
        let suite_window = suite.header.window;
        let seeds =
            suite.scenarios.iter().map(|scenario| seed_of(options.seed, &scenario.messages)).collect::<Vec<_>>();
        let prepared = prepare_all(suite.scenarios, &suite_hash, counter);
        if options.is_recorded() {
            return Plan::recorded(prepared, options, (suite_hash, &hashes, &seeds), counter);
        }
        let given = options.window.map(|window| (window, "as given".to_owned()));
        let from_suite = || suite_window.map(|window| (window, "the suite's own".to_owned()));
        let (window, window_reason) = given.or_else(from_suite).unwrap_or_else(|| choose(&prepared, shares.trigger));
        let smallest = smallest_feasible(&prepared, shares);
        if window < smallest {
            return Err(PlanError::Infeasible { window, smallest });
        }
        let sizes = shares.of(window);
        let mut plan = Plan {
            sweep: Sweep::of(&options, sizes, &prepared)?,
            suite: prepared.into_iter().map(Arc::new).collect(),
            suite_hash,
            sizes,
            window_reason,
            cases: Vec::new(),
            options,
        };
        plan.cases = plan.make_cases(&hashes, &seeds, counter)?;
        Ok(plan)
    }

    /// The plan of the protocol `recorded`: of the conversations that their own program compacted.
    fn recorded(
        prepared: Vec<PreparedScenario>,
        mut options: PlanOptions,
        (suite_hash, hashes, seeds): (String, &[String], &[u64]),
        counter: &dyn TokenCounter,
    ) -> Result<Self, PlanError> {
        let is_alone = !options.protocols.contains(&Protocol::Published) && options.window.is_none();
        if !is_alone || options.sweep || !options.smaller_retained.is_empty() {
            return Err(PlanError::RecordedOnly);
        }
        options.protocols = BTreeSet::from([Protocol::Recorded]);
        let compacted = |place: &usize| !prepared[*place].scenario.compactions.is_empty();
        let places = (0..prepared.len()).filter(compacted).collect::<Vec<_>>();
        let sizes = prepared.iter().map(|prepared| recorded::sizes(prepared, counter)).collect::<Vec<_>>();
        let window = recorded::window(&sizes.concat(), options.shares);
        if places.is_empty() {
            return Err(PlanError::NothingRecorded);
        }
        let (made, all) = (sizes.concat().len(), prepared.len());
        let mut plan = Plan {
            window_reason: format!(
                "moments and sizes of {made} recorded compaction{}, in {} of {all} conversations",
                if made == 1 { "" } else { "s" },
                places.len()
            ),
            sizes: recorded::largest(&sizes.concat(), window),
            sweep: Sweep::default(),
            suite: prepared.into_iter().map(Arc::new).collect(),
            suite_hash,
            cases: Vec::new(),
            options,
        };
        let keys = Keys { options: &plan.options, suite_hash: &plan.suite_hash, tokenizer: counter.name() };
        let mut cases = Vec::new();
        for place in &places {
            for entrant in &plan.options.entrants {
                let named = |source| PlanError::Limits { strategy: entrant.name.clone(), source };
                let (moments, entrant) = recorded::moments(entrant, &sizes[*place], window).map_err(named)?;
                let Some(first) = moments.first() else { continue };
                let (budget, protocol) = (first.budget, Protocol::Recorded);
                let key = keys.of(&hashes[*place], &entrant, protocol, &budget);
                let (prepared, seed) = (Arc::clone(&plan.suite[*place]), seeds[*place]);
                cases.push(PlannedCase { key, prepared, entrant, protocol, budget, moments, split: None, seed });
            }
        }
        plan.cases = cases;
        plan.suite = places.iter().map(|place| Arc::clone(&plan.suite[*place])).collect();
        Ok(plan)
    }

    fn make_cases(
        &self,
        hashes: &[String],
        seeds: &[u64],
        counter: &dyn TokenCounter,
    ) -> Result<Vec<PlannedCase>, PlanError> {
        let keys = Keys { options: &self.options, suite_hash: &self.suite_hash, tokenizer: counter.name() };
        let protocols = self.options.protocols.iter().map(|protocol| (*protocol, Condition::whole(self.sizes)));
        let swept = self.sweep.conditions(self.sizes).map(|condition| (Protocol::Matched, condition));
        let mut cases: Vec<PlannedCase> = Vec::new();
        let mut seen = HashSet::new();
        for (protocol, condition) in protocols.chain(swept) {
            for (place, prepared) in self.suite.iter().enumerate().filter(|(place, _)| condition.takes(*place)) {
                for entrant in self.options.entrants.iter().filter(|entrant| condition.runs(entrant)) {
                    let named = |source| PlanError::Limits { strategy: entrant.name.clone(), source };
                    let (budget, entrant) =
                        entrant.resolve(protocol, condition.sizes, self.options.scale).map_err(named)?;
                    let key = keys.of(&hashes[place], &entrant, protocol, &budget);
                    // A strategy's own split may be one of the sweep's: then its case is there already.
                    if seen.insert(key.clone()) {
                        let (prepared, seed, split) = (Arc::clone(prepared), seeds[place], condition.sizes.split);
                        let moments = Vec::new();
                        cases.push(PlannedCase { key, prepared, entrant, protocol, budget, moments, split, seed });
                    }
                }
            }
        }
        Ok(cases)
    }

    /// Whether the case belongs to a sweep and not to the replay whose numbers are reported first.
    pub fn is_swept(&self, case: &PlannedCase) -> bool {
        let is_of_size = case.protocol != Protocol::Matched || case.budget.retained == Some(self.sizes.retained);
        case.split.is_some() || !is_of_size
    }

    /// The number of groups of the suite: the units of statistics.
    pub fn groups(&self) -> usize {
        self.suite.iter().map(|prepared| prepared.scenario.group_id.as_str()).collect::<BTreeSet<_>>().len()
    }
}

/// A run that cannot be resolved.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// The system prompt and tools leave no room.
    #[error(
        "window `{window}` is too small for this suite: its system prompts and tools need at least `--window {smallest}`"
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
    #[error("`--sweep` is of the matched protocol: add `matched` to `--protocol`")]
    SweepOfPublished,
    /// A conversation's own compactions set all limits, and the user set others.
    #[error(
        "`recorded` and all strategies beside it compact at the moments and to the sizes of the recorded program: use \
         `--protocol recorded` without `--window` and `--sweep`, and give at most one size in `--retain`"
    )]
    RecordedOnly,
    /// No program compacted a conversation of the suite.
    #[error("no conversation of this suite has a recorded compaction: import sessions that their program compacted")]
    NothingRecorded,
    /// Parameters or limits contradict each other.
    #[error("limits of `{strategy}`")]
    Limits {
        /// The strategy's name in reports.
        strategy: String,
        /// The contradiction.
        source: LimitsError,
    },
}
