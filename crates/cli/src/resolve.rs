//! What the arguments of a run name: conversations, strategies, models, and the plan of all cases.
//! Every command that plans or continues a run begins here.

use anyhow::anyhow;
use compactometer_engine::model::ChatModel;
use compactometer_engine::tokens::{Encoding, TokenCounter};
use compactometer_formats::manifest::Manifest;
use compactometer_formats::prices::PriceTable;
use compactometer_formats::suite::Suite;
use compactometer_harness::entrants::{select, select_with};
use compactometer_harness::plan::{Entrant, Plan, PlanError, PlanOptions, Shares};
use compactometer_report::metrics::ALL as METRICS;
use compactometer_suites::sample::sample;
use compactometer_text::suggest::unknown;

use crate::arguments::roles::Roles;
use crate::arguments::{RunArgs, agents, encoding, recordings, suites};
use crate::cost::CostBudget;
use crate::output::failure::Failure;
use crate::output::run_folder::{self, SuiteIdentity};
use crate::output::terminal::note;

/// What arguments name, opened and planned.
pub(crate) struct ResolvedArguments {
    pub(crate) counter: Encoding,
    pub(crate) budget: CostBudget,
    pub(crate) opened: Roles<Box<dyn ChatModel>>,
    pub(crate) plan: Plan,
    pub(crate) manifest: Manifest,
}

/// Opens the models and plans the run.
pub(crate) fn resolved(
    args: &RunArgs,
    (suite, entrants): (Suite, Vec<Entrant>),
    sweep: bool,
    (prices, table): &(PriceTable, String),
) -> Result<ResolvedArguments, Failure> {
    let counter = encoding(&args.setting.tokenizer)?;
    let roles = Roles::from_arguments(&args.setting, args.judge.as_deref());
    let budget = CostBudget::new(&roles, prices, args.max_cost, counter).map_err(Failure::usage)?;
    let opened = roles
        .open(&args.setting, |role| budget.cap(role), budget.journal())
        .map_err(Failure::usage)?;
    let models = opened.models();
    let named = PlanOptions {
        entrants,
        sweep,
        summarizer: models.summarizer().name().to_owned(),
        target: models.target_name().map(str::to_owned),
        checkpointer: models
            .checkpointer
            .map(|checkpointer| checkpointer.name().to_owned()),
        judge: models.judge.map(|judge| judge.name().to_owned()),
        ..PlanOptions::default()
    };
    let (plan, identity) = plan(args, suite, named, counter)?;
    check_reference(args, &plan.options.entrants)?;
    let latency_is_result = recordings::about(&args.setting.model)
        .map_err(Failure::usage)?
        .latency_is_result;
    let manifest = run_folder::manifest(
        &plan,
        identity,
        counter.name(),
        table,
        args.reference.as_deref(),
    );
    let manifest = Manifest {
        latency_is_result,
        ..manifest
    };
    Ok(ResolvedArguments {
        counter,
        budget,
        opened,
        plan,
        manifest,
    })
}

/// The conversations and rows of a run. A mistyped name of a model is said before the conversations
/// are made, which takes longer.
pub(crate) fn chosen_to_run(args: &RunArgs) -> Result<(Suite, Vec<Entrant>), Failure> {
    let entrants = checked_entrants(args)?;
    Roles::from_arguments(&args.setting, args.judge.as_deref())
        .check()
        .map_err(Failure::usage)?;
    Ok((suite(args)?, entrants))
}

/// The conversations and rows asked for. What is wrong with the rows is said before the
/// conversations are made.
pub(crate) fn chosen(args: &RunArgs) -> Result<(Suite, Vec<Entrant>), Failure> {
    let entrants = checked_entrants(args)?;
    Ok((suite(args)?, entrants))
}

fn checked_entrants(args: &RunArgs) -> Result<Vec<Entrant>, Failure> {
    let largest = args.setting.retain.iter().copied().reduce(f64::max);
    if let Some(retained) = largest.filter(|share| *share >= args.setting.trigger) {
        let trigger = args.setting.trigger;
        return Err(Failure::usage(PlanError::Shares(Shares {
            trigger,
            retained,
        })));
    }
    let entrants = entrants(args)?;
    check_reference(args, &entrants)?;
    Ok(entrants)
}

/// The conversations asked for.
pub(crate) fn suite(args: &RunArgs) -> Result<Suite, Failure> {
    let suite = suites::load(&args.suites, &args.setting.model).map_err(Failure::usage)?;
    let suite = suites::of_split(suite, args.split).map_err(Failure::usage)?;
    check_headline(&suite)?;
    Ok(match args.sample {
        Some(count) => sample(suite, count as usize),
        None => suite,
    })
}

/// Fails if the suite names a metric that there is none of.
fn check_headline(suite: &Suite) -> Result<(), Failure> {
    let known = || METRICS.iter().map(|metric| metric.id);
    let mut named = suite.header.headline_metrics.iter();
    match named.find(|id| !known().any(|known| known == **id)) {
        Some(id) => Err(Failure::usage(anyhow!(unknown(
            &format!("metric in `headline_metrics` of `{}`", suite.header.name),
            id,
            known()
        )))),
        None => Ok(()),
    }
}

/// The requested strategies and controls.
fn entrants(args: &RunArgs) -> Result<Vec<Entrant>, Failure> {
    let rows = args.rows().map_err(Failure::usage)?;
    if !args.quiet {
        note_repeated(&rows);
    }
    let (names, sweeps) = (
        rows.iter().map(String::as_str),
        args.set.iter().map(String::as_str),
    );
    // A recording may come from elsewhere, so it runs no program.
    let chosen = match args.strategies.is_empty() {
        true => select(names, sweeps),
        false => select_with(names, sweeps, &compactometer_external::open),
    };
    let chosen = chosen.map_err(|error| {
        let error = anyhow::Error::new(error);
        Failure::usage(
            match recordings::about_file(&args.setting.model).filter(|_| args.strategies.is_empty())
            {
                Some(file) => error.context(format!("the rows of `{}`", file.display())),
                None => error,
            },
        )
    })?;
    let agents = agents::rows(&args.agents, args.agent_log.as_deref()).map_err(Failure::usage)?;
    Ok(chosen.into_iter().chain(agents).collect())
}

fn note_repeated(rows: &[String]) {
    for (at, row) in rows.iter().enumerate() {
        if rows[..at].contains(row) {
            note(&format!("`{row}` is named twice and runs once"));
        }
    }
}

/// The plan of a suite; `named` holds the entrants and the models' names, and the arguments give
/// everything else.
pub(crate) fn plan(
    args: &RunArgs,
    suite: Suite,
    named: PlanOptions,
    counter: Encoding,
) -> Result<(Plan, SuiteIdentity), Failure> {
    let identity = SuiteIdentity::new(&suite);
    let (shares, smaller_retained) = args.setting.shares(&suite.header);
    let options = PlanOptions {
        window: args.setting.window,
        shares,
        smaller_retained,
        like_production: args.setting.is_like_production(&suite.header),
        protocols: args.protocol.iter().copied().collect(),
        scale: args.scale,
        seed: args.setting.seed,
        ..named
    };
    let plan = Plan::new(suite, options, counter.counter()).map_err(Failure::usage)?;
    Ok((plan, identity))
}

/// Fails if the declared reference of comparisons is none of the rows.
fn check_reference(args: &RunArgs, entrants: &[Entrant]) -> Result<(), Failure> {
    let choices = || entrants.iter().map(|entrant| entrant.name.as_str());
    match args.reference.as_deref() {
        Some(name) if !choices().any(|row| row == name) => Err(Failure::usage(anyhow!(unknown(
            "reference",
            name,
            choices()
        )))),
        _ => Ok(()),
    }
}
