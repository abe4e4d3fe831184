//! A suite, strategies and a model go in; records and a report's numbers come out.

use std::sync::LazyLock;

use compactometer_engine::budget::{Limits, Tail};
use compactometer_engine::estimate::Estimator;
use compactometer_engine::model::ChatModel;
use compactometer_engine::params::{ParamError, Settings};
use compactometer_engine::strategy::StrategySpec;
use compactometer_engine::tokens::Encoding;
use compactometer_formats::manifest::Manifest;
use compactometer_formats::prices::PriceTable;
use compactometer_formats::record::{Family, Record};
use compactometer_formats::suite::Suite;
use compactometer_formats::summary::{Group, MetricValue, StrategySummary};
use compactometer_harness::entrants::select;
use compactometer_harness::plan::{Entrant, EntrantKind, Plan, PlanError, PlanOptions};
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
    pub manifest: Manifest,
    pub records: Vec<Record>,
    pub group: Group,
}

/// The small suite under two strategies and all controls, for the tests that only look at a report.
pub static PLAIN: LazyLock<Staged> = LazyLock::new(|| {
    run(
        small_suite(),
        named(&["summarize", "chained", "@controls"]),
        &*mock("mock:strong"),
        WINDOW,
    )
});

pub fn named(names: &[&str]) -> Vec<Entrant> {
    select(names.iter().copied(), []).unwrap()
}

/// A strategy that is none of the engine's.
pub fn foreign(spec: &'static StrategySpec) -> Entrant {
    let entry = EntrantKind::Strategy(spec, Settings::defaults(spec));
    Entrant {
        name: spec.name.to_owned(),
        family: Family::Reference,
        entry,
        addition: None,
        absence: None,
        trigger: None,
        reference: None,
    }
}

/// Limits of such a strategy: it writes what it keeps.
pub fn limits(_: &Settings) -> Result<Limits, ParamError> {
    Ok(Limits {
        window: 12_500,
        assumed_window: false,
        trigger: 10_000,
        tail: Tail::Tokens(1),
        written: 3_700,
        estimator: Estimator::Exact,
    })
}

pub fn mock(name: &str) -> Box<dyn ChatModel> {
    compactometer_models::by_name(name).unwrap()
}

pub fn plan(
    suite: Suite,
    entrants: Vec<Entrant>,
    model: &str,
    window: Option<u32>,
) -> Result<Plan, PlanError> {
    let options = PlanOptions {
        entrants,
        window,
        summarizer: model.to_owned(),
        seed: 1,
        ..PlanOptions::default()
    };
    Plan::new(suite, options, &Encoding::O200k)
}

/// Without a window, the suite's own.
pub fn run(
    suite: Suite,
    entrants: Vec<Entrant>,
    model: &dyn ChatModel,
    window: impl Into<Option<u32>>,
) -> Staged {
    let name = suite.header.name.clone();
    let plan = plan(suite, entrants, model.name(), window.into()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let run = |case| {
        runtime
            .block_on(run_case(case, model, &Encoding::O200k))
            .record
    };
    let records: Vec<Record> = plan.cases.iter().map(run).collect();
    let manifest = Manifest {
        suite: name,
        tokenizer: "o200k_base".to_owned(),
        ..plan.manifest()
    };
    let summary = summarize(&manifest, &records, &PriceTable::shipped().unwrap());
    Staged {
        manifest,
        records,
        group: summary.groups.into_iter().next().unwrap(),
    }
}

impl Staged {
    pub fn strategy(&self, strategy: &str) -> &StrategySummary {
        self.group
            .strategies
            .iter()
            .find(|row| row.name == strategy)
            .unwrap()
    }

    pub fn metric(&self, strategy: &str, id: &str) -> &MetricValue {
        &self.strategy(strategy).metrics[id]
    }

    pub fn value(&self, strategy: &str, id: &str) -> f64 {
        let metric = self.metric(strategy, id);
        metric
            .value
            .unwrap_or_else(|| panic!("{id} of {strategy}: {:?}", metric.reason))
    }

    pub fn warns(&self, of: &str) -> bool {
        self.group
            .warnings
            .iter()
            .any(|warning| warning.contains(of))
    }
}
