//! A suite and a replay for the tests of several files.

use std::path::Path;

use compactometer_engine::model::ChatModel;
use compactometer_engine::tokens::Encoding;
use compactometer_formats::scenario::Scenario;
use compactometer_formats::suite::Suite;
use compactometer_harness::entrants::select;
use compactometer_harness::plan::{Plan, PlanOptions};
use compactometer_harness::run::run_case;
use compactometer_harness::trace::CaseResult;
use compactometer_suites::generate::{Spec, generate};
use compactometer_testing::scenario::suite;

const SPEC: &str = r#"
name = "short"
seed = 7
window = 6000
domains = ["software"]
conversations = 1
lengths = [20000]
facts = [24, 24]
points = [3, 3]
"#;

/// One conversation, short and with several rounds for every strategy.
pub(crate) fn short_suite() -> Suite {
    generate(&Spec::parse(SPEC, Path::new("short.toml")).unwrap())
}

/// The first of the conversations under a strategy, in a window of 2,000 tokens.
pub(crate) fn run(scenarios: Vec<Scenario>, strategy: &str, model: &dyn ChatModel) -> CaseResult {
    let options = PlanOptions {
        entrants: select([strategy], []).unwrap(),
        window: Some(2_000),
        summarizer: "scripted".into(),
        seed: 1,
        ..PlanOptions::default()
    };
    let plan = Plan::new(suite(scenarios), options, &Encoding::O200k).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(run_case(&plan.cases[0], model, &Encoding::O200k))
}
