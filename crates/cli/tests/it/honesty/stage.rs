//! A suite, strategies and a model go in; records and a report's numbers come out.

use std::sync::LazyLock;

use async_trait::async_trait;
use compactometer_engine::budget::{Limits, Tail};
use compactometer_engine::estimate::Estimator;
use compactometer_engine::message::{Message, MessageId, Part, Role, Usage};
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest, Finish};
use compactometer_engine::params::{ParamError, Settings};
use compactometer_engine::strategy::StrategySpec;
use compactometer_engine::tokens::Encoding;
use compactometer_formats::manifest::{Manifest, VERSION};
use compactometer_formats::prices::PriceTable;
use compactometer_formats::record::{Family, Record};
use compactometer_formats::scenario::{Category, Fact, Probe, Scenario, Split, ValueKind};
use compactometer_formats::suite::{Header, Suite};
use compactometer_formats::summary::{Group, MetricValue, StrategySummary};
use compactometer_harness::entrants::select;
use compactometer_harness::plan::{Entrant, Entry, Plan, PlanError, PlanOptions};
use compactometer_harness::run::run_case;
use compactometer_report::summarize;
use compactometer_suites::generate::{Spec, generate};

/// Window of the small suite.
pub const WINDOW: u32 = 4_000;

/// Eight generated conversations of some 9,000 tokens.
pub fn small_suite() -> Suite {
    let text = "name = \"honesty\"\nseed = 7\nwindow = 4000\ndomains = [\"software\", \"operations\", \"service\", \"research\"]\n\
                conversations = 8\nlengths = [9000, 11000]\nfacts = [24, 30]\npoints = [3, 4]\n";
    generate(&Spec::parse(text, std::path::Path::new("honesty.toml")).unwrap())
}

/// A run's records and the report's numbers.
pub struct Staged {
    pub records: Vec<Record>,
    pub group: Group,
}

/// The small suite under two strategies and all controls, for the tests that only look at a report.
pub static PLAIN: LazyLock<Staged> =
    LazyLock::new(|| run(small_suite(), named(&["summarize", "chained", "@controls"]), &*mock("mock:strong"), WINDOW));

pub fn named(names: &[&str]) -> Vec<Entrant> {
    select(names.iter().copied(), []).unwrap()
}

/// A strategy that is none of the engine's.
pub fn foreign(spec: &'static StrategySpec) -> Entrant {
    let entry = Entry::Strategy(spec, Settings::defaults(spec));
    Entrant { name: spec.name.to_owned(), family: Family::Reference, entry }
}

/// Limits of such a strategy: it writes what it keeps.
pub fn limits(_: &Settings) -> Result<Limits, ParamError> {
    Ok(Limits { window: 12_500, trigger: 10_000, tail: Tail::Tokens(1), written: 3_700, estimator: Estimator::Exact })
}

pub fn mock(name: &str) -> Box<dyn ChatModel> {
    compactometer_models::by_name(name).unwrap()
}

pub fn plan(suite: Suite, entrants: Vec<Entrant>, model: &str, window: u32) -> Result<Plan, PlanError> {
    let options =
        PlanOptions { entrants, window: Some(window), summarizer: model.to_owned(), seed: 1, ..PlanOptions::default() };
    Plan::new(suite, options, &Encoding::O200k)
}

pub fn run(suite: Suite, entrants: Vec<Entrant>, model: &dyn ChatModel, window: u32) -> Staged {
    let name = suite.header.name.clone();
    let plan = plan(suite, entrants, model.name(), window).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let run = |case| runtime.block_on(run_case(case, model, &Encoding::O200k)).record;
    let records: Vec<Record> = plan.cases.iter().map(run).collect();
    let summary = summarize(&manifest(&plan, name), &records, &PriceTable::shipped().unwrap());
    Staged { records, group: summary.groups.into_iter().next().unwrap() }
}

fn manifest(plan: &Plan, suite: String) -> Manifest {
    Manifest {
        version: VERSION,
        program: String::new(),
        commit: String::new(),
        command: Vec::new(),
        suite,
        suite_hash: String::new(),
        notes: Vec::new(),
        window: plan.sizes.window,
        trigger: plan.sizes.trigger,
        retained: plan.sizes.retained,
        protocols: plan.options.protocols.iter().copied().collect(),
        strategies: plan.options.entrants.iter().map(|entrant| entrant.name.clone()).collect(),
        sweep: Vec::new(),
        reference: None,
        prompts: Default::default(),
        scale: 1.0,
        settings_hash: String::new(),
        prices_hash: String::new(),
        tokenizer: "o200k_base".to_owned(),
        summarizer: plan.options.summarizer.clone(),
        target: None,
        judge: None,
        seed: 1,
        properties: Vec::new(),
        cases: plan.cases.len(),
        conversations: plan.suite.len(),
        groups: plan.groups(),
    }
}

impl Staged {
    pub fn of(&self, strategy: &str) -> &StrategySummary {
        self.group.strategies.iter().find(|row| row.name == strategy).unwrap()
    }

    pub fn metric(&self, strategy: &str, id: &str) -> &MetricValue {
        &self.of(strategy).metrics[id]
    }

    pub fn value(&self, strategy: &str, id: &str) -> f64 {
        let metric = self.metric(strategy, id);
        metric.value.unwrap_or_else(|| panic!("{id} of {strategy}: {:?}", metric.reason))
    }

    pub fn warns(&self, of: &str) -> bool {
        self.group.warnings.iter().any(|warning| warning.contains(of))
    }
}

/// A conversation by hand.
pub struct Builder(pub Scenario);

impl Builder {
    pub fn new(number: usize) -> Self {
        Builder(Scenario {
            id: format!("s{number}"),
            group_id: format!("g{number}"),
            version: 1,
            seed: None,
            source: "test".into(),
            licence: None,
            split: Split::Dev,
            tools: Vec::new(),
            messages: Vec::new(),
            facts: Vec::new(),
            probes: Vec::new(),
        })
    }

    pub fn say(&mut self, role: Role, text: &str) -> MessageId {
        let id = MessageId(self.0.messages.len() as u32);
        self.0.messages.push(Message {
            id,
            role,
            at_ms: None,
            parts: vec![Part::Text { text: text.into() }],
            usage: None,
        });
        id
    }

    /// Turns without facts, some `tokens` tokens in all.
    pub fn chatter(&mut self, tokens: usize) {
        for number in 0..tokens / 60 {
            self.say(Role::User, &format!("Please go on with step {number} and tell me what you see there now."));
            self.say(
                Role::Assistant,
                "I looked at it again, and there is nothing unusual about it so far. Shall I look once more?",
            );
        }
    }

    /// A fact that the user states in this sentence.
    pub fn state(&mut self, value: &str, kind: ValueKind, sentence: &str) -> &mut Fact {
        let evidence = self.say(Role::User, sentence);
        self.say(Role::Assistant, "Noted.");
        let id = format!("f{}", self.0.facts.len());
        self.0
            .facts
            .push(Fact { category: Category::Decision, ..Fact::stated(id, "a thing", value, kind, vec![evidence]) });
        self.0.facts.last_mut().unwrap()
    }

    /// A question for these facts, before the agent's last turn.
    pub fn ask(&mut self, facts: &[&str], question: &str) {
        let last = self.0.messages.iter().rev().find(|message| message.role == Role::User).unwrap();
        self.0.probes.push(Probe {
            id: format!("p{}", self.0.probes.len()),
            fact_ids: facts.iter().map(|id| (*id).to_owned()).collect(),
            question: question.into(),
            asked_after: last.id,
            gold: None,
            forbidden: Vec::new(),
            abstain_expected: facts.is_empty(),
            order: Vec::new(),
        });
    }
}

pub fn suite(scenarios: Vec<Scenario>) -> Suite {
    Suite { header: Header::new("test", None, Vec::new()), scenarios }
}

/// Always the same answer.
pub struct Says(pub &'static str);

#[async_trait]
impl ChatModel for Says {
    fn name(&self) -> &str {
        "says"
    }

    async fn complete(&self, _: &ChatRequest) -> Result<ChatReply, ChatError> {
        let usage = Usage { input: 100, output: 10, ..Usage::default() };
        Ok(ChatReply { text: self.0.to_owned(), finish: Finish::Stop, usage, latency_ms: 1_000, served: None })
    }
}
