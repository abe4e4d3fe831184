//! From a suite and options to cases: what is run, under which limits, with which key.

use std::collections::BTreeSet;
use std::io::{BufWriter, Write};
use std::sync::Arc;

use compactometer_engine::budget::Budget;
use compactometer_engine::tokens::TokenCounter;
use compactometer_formats::record::{Protocol, VERSION};
use compactometer_formats::scenario::{Fact, Scenario};
use compactometer_formats::suite::Suite;
use serde::Serialize;

use crate::plan::entrant::{Contender, LimitsError, Sizes};
pub mod entrant;
pub mod window;

use crate::plan::window::{ChosenWindow, Shares, choose, smallest_feasible};
use crate::prepare::scenario::{FOREIGN_SCENARIOS, Loaded};
use crate::probes::{answers, judge};

/// What a user asked for.
pub struct Options {
    /// What is compared.
    pub contenders: Vec<Contender>,
    /// Context window; else the suite's, else one chosen by rule.
    pub window: Option<u32>,
    /// Where a compaction starts, and what it may leave.
    pub shares: Shares,
    /// How budgets are set, each protocol once.
    pub protocols: BTreeSet<Protocol>,
    /// What published limits are multiplied by.
    pub scale: f64,
    /// The summarizer's name.
    pub model: String,
    /// Seed of everything random.
    pub seed: u64,
}

/// Everything that a run needs, resolved.
pub struct Plan {
    /// The scenarios, in the suite's order.
    pub suite: Vec<Arc<Loaded>>,
    /// What is compared.
    pub contenders: Vec<Contender>,
    /// The window, and where it comes from.
    pub window: ChosenWindow,
    /// Trigger, in tokens.
    pub trigger: u32,
    /// Retained budget, in tokens.
    pub retained: u32,
    /// Further retained budgets of the matched protocol, in tokens, descending.
    pub sweep: Vec<u32>,
    /// How budgets are set, each protocol once.
    pub protocols: BTreeSet<Protocol>,
    /// What published limits are multiplied by.
    pub scale: f64,
    /// The summarizer's name.
    pub model: String,
    /// The target model's name; none where it is the summarizer.
    pub target: Option<String>,
    /// The judge's name; none where nobody judges answers.
    pub judge: Option<String>,
    /// Seed of everything random.
    pub seed: u64,
    /// The cases, by protocol, then by scenario, then by contender: a protocol's cases are those of a run of it alone, and
    /// an interrupted run has finished the first protocol before it begins the next.
    /// Those of further retained budgets come last.
    pub cases: Vec<PlannedCase>,
    /// The suite's content hash.
    pub suite_hash: String,
    /// Of each scenario's content.
    hashes: Vec<String>,
    /// Of each scenario's cases.
    seeds: Vec<u64>,
}

/// One case to run.
#[derive(Clone)]
pub struct PlannedCase {
    /// Hash of all that it is resolved to.
    pub key: String,
    /// Its scenario.
    pub loaded: Arc<Loaded>,
    /// What is run on it.
    pub contender: Contender,
    /// How its limits are set.
    pub protocol: Protocol,
    /// Its limits.
    pub budget: Budget,
    /// Its seed, drawn from the run's seed and what the scenario's messages say: other facts about them make no other draws, and
    /// leave recorded calls as they are.
    pub seed: u64,
}

impl Plan {
    /// Resolves a suite and options.
    ///
    /// # Errors
    /// [`PlanError`] where shares contradict each other, the window cannot hold a conversation's fixed part, or a scenario is too
    /// large to match.
    pub fn new(suite: Suite, options: Options, counter: &dyn TokenCounter) -> Result<Self, PlanError> {
        let shares = options.shares;
        if shares.retained >= shares.trigger {
            return Err(PlanError::Shares(shares));
        }
        let (suite_hash, hashes) = suite.hashes();
        let suite_window = suite.header.window;
        let seeds = suite.scenarios.iter().map(|scenario| seed_of(options.seed, &hash(&scenario.messages))).collect();
        let loaded = load(suite.scenarios, &suite_hash, counter);
        let window = options.window.map(|window| ChosenWindow { window, because: "as given".to_owned() });
        let from_suite = || suite_window.map(|window| ChosenWindow { window, because: "the suite's own".to_owned() });
        let window = window.or_else(from_suite).unwrap_or_else(|| choose(&loaded, shares.trigger));
        let smallest = smallest_feasible(&loaded, shares);
        if window.window < smallest {
            return Err(PlanError::Infeasible { window: window.window, smallest });
        }
        let (trigger, retained) = (shares.trigger_of(window.window), shares.retained_of(window.window));
        let mut plan = Plan {
            suite: loaded.into_iter().map(Arc::new).collect(),
            contenders: options.contenders,
            window,
            trigger,
            retained,
            sweep: Vec::new(),
            protocols: options.protocols,
            scale: options.scale,
            model: options.model,
            target: None,
            judge: None,
            seed: options.seed,
            cases: Vec::new(),
            suite_hash,
            hashes,
            seeds,
        };
        for protocol in plan.protocols.clone() {
            plan.add_cases(protocol, retained, counter)?;
        }
        Ok(plan)
    }

    /// Adds the matched protocol's cases under a smaller retained budget, on the scenarios that are loaded already, so that each
    /// strategy has a curve over sizes.
    ///
    /// # Errors
    /// [`PlanError::Share`] where the share is not under the one before, and as [`Plan::new`].
    pub fn also_retaining(&mut self, share: f64, counter: &dyn TokenCounter) -> Result<(), PlanError> {
        let retained = (f64::from(self.window.window) * share) as u32;
        let before = self.sweep.last().copied().unwrap_or(self.retained);
        if retained == 0 || retained >= before || !self.protocols.contains(&Protocol::Matched) {
            return Err(PlanError::Share { share });
        }
        self.sweep.push(retained);
        self.add_cases(Protocol::Matched, retained, counter)
    }

    /// Has a model of that name answer questions, beside the summarizer: a case that another model reads is another case. To be
    /// called after all cases are there, and before [`Plan::judged_by`].
    pub fn answered_by(&mut self, target: &str) {
        self.rekey(|key| serde_json::json!([key, { "target": target }]));
        self.target = Some(target.to_owned());
    }

    /// Has a model of that name judge the answers of every case: a case that is judged is another case. To be called last.
    pub fn judged_by(&mut self, judge: &str) {
        self.rekey(|key| serde_json::json!([key, judge, judge::IDENTITY]));
        self.judge = Some(judge.to_owned());
    }

    fn rekey(&mut self, identity: impl Fn(&str) -> serde_json::Value) {
        for case in &mut self.cases {
            let resolved = identity(&case.key).to_string();
            case.key = blake3::hash(resolved.as_bytes()).to_hex()[..32].to_owned();
        }
    }

    fn add_cases(&mut self, protocol: Protocol, retained: u32, counter: &dyn TokenCounter) -> Result<(), PlanError> {
        for scenario in 0..self.hashes.len() {
            for contender in self.contenders.clone() {
                let case = self.case(protocol, retained, scenario, contender, counter)?;
                self.cases.push(case);
            }
        }
        Ok(())
    }

    /// Groups of the suite: the number of units.
    pub fn groups(&self) -> usize {
        self.suite.iter().map(|loaded| loaded.scenario.group_id.as_str()).collect::<BTreeSet<_>>().len()
    }

    fn case(
        &self,
        protocol: Protocol,
        retained: u32,
        scenario: usize,
        contender: Contender,
        counter: &dyn TokenCounter,
    ) -> Result<PlannedCase, PlanError> {
        let named = |source| PlanError::Limits { strategy: contender.name.clone(), source };
        let sizes = Sizes { window: self.window.window, trigger: self.trigger, retained };
        let (scenario_hash, suite_hash) = (&self.hashes[scenario], &self.suite_hash);
        let (budget, contender) = contender.resolve(protocol, sizes, self.scale).map_err(named)?;
        let resolved = serde_json::json!({
            "engine": env!("CARGO_PKG_VERSION"),
            "record": VERSION,
            "scenario": scenario_hash,
            // The foreign scenarios are chosen by the suite's hash.
            "suite": suite_hash,
            "strategy": contender.name,
            "source": contender.source(),
            "settings": contender.settings(),
            "protocol": protocol,
            "budget": budget,
            "model": self.model,
            "tokenizer": counter.name(),
            "answers": answers::IDENTITY,
            "seed": self.seed,
        });
        let hash = blake3::hash(resolved.to_string().as_bytes());
        Ok(PlannedCase {
            key: hash.to_hex()[..32].to_owned(),
            loaded: Arc::clone(&self.suite[scenario]),
            contender,
            protocol,
            budget,
            // Equal for all strategies of a scenario, so that a paired comparison shares its draws.
            seed: self.seeds[scenario],
        })
    }
}

fn seed_of(seed: u64, content: &str) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes());
    hasher.update(content.as_bytes());
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    u64::from_le_bytes(bytes)
}

fn hash(content: &impl Serialize) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut out = BufWriter::with_capacity(64 << 10, &mut hasher);
    // A scenario came from JSON or a generator: it has a JSON form.
    let _ = serde_json::to_writer(&mut out, content).map_err(std::io::Error::from).and_then(|()| out.flush());
    drop(out);
    hasher.finalize().to_hex().to_string()
}

fn load(scenarios: Vec<Scenario>, suite_hash: &str, counter: &dyn TokenCounter) -> Vec<Loaded> {
    let facts = scenarios.iter().map(FactsOf::new).collect::<Vec<_>>();
    // A conversation is taken, not copied: a large suite would be in memory once more.
    let loaded = scenarios.into_iter().zip(&facts);
    loaded.map(|(scenario, own)| Loaded::new(scenario, &foreign_facts(own, &facts, suite_hash), counter)).collect()
}

/// What other scenarios may look for by chance.
struct FactsOf {
    id: String,
    group: String,
    facts: Vec<Fact>,
}

impl FactsOf {
    fn new(scenario: &Scenario) -> Self {
        let ranked = scenario.facts.iter().filter(|fact| fact.decoy_of.is_none() && !fact.generic);
        FactsOf { id: scenario.id.clone(), group: scenario.group_id.clone(), facts: ranked.cloned().collect() }
    }
}

/// The facts of the scenarios of other groups that a case looks for by chance, chosen by the suite's hash; none where there
/// are too few such scenarios for a rate.
fn foreign_facts<'s>(own: &FactsOf, all: &'s [FactsOf], suite_hash: &str) -> Vec<&'s Fact> {
    let mut others = all.iter().filter(|other| other.group != own.group).collect::<Vec<_>>();
    let order = |other: &&FactsOf| *blake3::hash(format!("{suite_hash}/{}/{}", own.id, other.id).as_bytes()).as_bytes();
    others.sort_by_cached_key(order);
    if others.len() < FOREIGN_SCENARIOS {
        return Vec::new();
    }
    others.truncate(FOREIGN_SCENARIOS);
    others.into_iter().flat_map(|other| &other.facts).collect()
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
    /// What a compaction may leave is no less than what starts it.
    #[error("`--retain {}` is not under `--trigger {}`: a compaction could never end below its trigger", .0.retained, .0.trigger)]
    Shares(Shares),
    /// A further retained budget that makes no curve.
    #[error(
        "`--retain {share}` adds no size: shares differ by a token at least, and the matched protocol alone has them"
    )]
    Share {
        /// Of the window.
        share: f64,
    },
    /// Parameters or limits contradict each other.
    #[error("limits of `{strategy}`")]
    Limits {
        /// Whose, by its name in reports.
        strategy: String,
        /// The contradiction.
        source: LimitsError,
    },
}
