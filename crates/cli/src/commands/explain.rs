//! `explain`: one conversation step by step.

use anyhow::anyhow;
use compactometer_engine::tokens::Encoding;
use compactometer_harness::contender::select;
use compactometer_harness::explain::tell;
use compactometer_harness::plan::{Options, Plan, PlannedCase};
use compactometer_harness::replay::run_case;

use crate::args::ExplainArgs;
use crate::failure::Failure;
use crate::{print, source};

pub(crate) fn explain(args: &ExplainArgs) -> Result<(), Failure> {
    let contenders = select([args.strategy.as_str()]).map_err(Failure::usage)?;
    if contenders.len() != 1 {
        return Err(Failure::usage(anyhow!(
            "`{}` names {} strategies; explain follows one",
            args.strategy,
            contenders.len()
        )));
    }
    let model = compactometer_llm::by_name(&args.model).map_err(Failure::usage)?;
    let suite = source::load(args.suite.as_slice()).map_err(Failure::usage)?;
    let options = Options { contenders, window: args.window, model: model.name().to_owned(), seed: args.seed };
    let counter = Encoding::O200k;
    let plan = Plan::new(suite, options, &counter).map_err(Failure::usage)?;
    let case = choose(&plan, args.scenario.as_deref())?;
    let scenario = &case.loaded.scenario;
    if let Some(id) = &args.fact
        && !scenario.facts.iter().any(|fact| fact.id == *id)
    {
        return Err(Failure::usage(anyhow!(
            "`{id}` names no fact of `{}`{}",
            scenario.id,
            examples(scenario.facts.iter().map(|fact| fact.id.as_str()))
        )));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(Failure::failed)?;
    let result = runtime.block_on(run_case(case, &*model, plan.protocol, &counter));
    print(&tell(scenario, &result, args.fact.as_deref()))
}

/// The case of that scenario, else of the longest.
fn choose<'p>(plan: &'p Plan, scenario: Option<&str>) -> Result<&'p PlannedCase, Failure> {
    let longest = || {
        plan.cases
            .iter()
            .max_by_key(|case| (case.loaded.tokens_before.last(), std::cmp::Reverse(&case.loaded.scenario.id)))
    };
    let named = |id: &str| plan.cases.iter().find(|case| case.loaded.scenario.id == id);
    scenario.map_or_else(longest, named).ok_or_else(|| {
        let ids = plan.suite.iter().map(|loaded| loaded.scenario.id.as_str());
        Failure::usage(anyhow!("`{}` names no scenario{}", scenario.unwrap_or_default(), examples(ids)))
    })
}

/// A few of the names to choose from.
fn examples<'n>(names: impl Iterator<Item = &'n str>) -> String {
    /// Enough to see how they are formed.
    const SHOWN: usize = 8;
    let mut names = names.peekable();
    let shown = names.by_ref().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let more = names.count();
    if more > 0 { format!("; choose from {shown} and {more} more") } else { format!("; choose from {shown}") }
}
