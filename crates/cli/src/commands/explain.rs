//! `explain`: one conversation step by step.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{anyhow, bail};
use clap::Args;
use compactometer_formats::protocol::Protocol;
use compactometer_harness::entrants::select_with;
use compactometer_harness::plan::{Entrant, Plan, PlanOptions, PlannedCase};
use compactometer_harness::run::FailFastModels;
use compactometer_harness::run::run_case;
use compactometer_report::explain::Story;
use compactometer_text::suggest::unknown;

use super::command_row::{CommandRow, parsed};
use crate::arguments::help::HelpGroup;
use crate::arguments::roles::Roles;
use crate::arguments::{
    PricesArg, SettingArgs, agents, encoding, positive, programs, protocols, suites,
};
use crate::cost::CostBudget;
use crate::output::failure::Failure;
use crate::output::report_file::write_report;
use crate::output::terminal::say;

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "explain",
    about: "Show one conversation step by step: what left, what was written, what happened to each fact",
    group: HelpGroup::Everyday,
    arguments: ExplainArgs::augment_args,
    run: |matches| explain(&parsed(matches)?),
};

#[derive(clap::Args)]
pub(crate) struct ExplainArgs {
    /// The suite. Default: the embedded suite `agentic`, or what `--model cassette:DIR` was
    /// recorded on.
    pub(crate) suite: Option<PathBuf>,
    /// The strategy or control to follow.
    #[arg(
        short = 's',
        long = "strategy",
        value_name = "NAME",
        required_unless_present = "agent",
        conflicts_with = "agent"
    )]
    pub(crate) strategy: Option<String>,
    /// The agent to play the conversation to and to follow (`list agents`).
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Keep what the agent sends, what became of it, and what it prints, in a folder.
    #[arg(hide_short_help = true, long, value_name = "DIR", requires = "agent")]
    pub(crate) agent_log: Option<PathBuf>,
    /// The conversation. Default: the longest.
    #[arg(long, value_name = "ID")]
    pub(crate) scenario: Option<String>,
    /// Follow only this fact or decoy.
    #[arg(long, value_name = "ID")]
    pub(crate) fact: Option<String>,
    /// How limits are set.
    #[arg(long, value_name = "PROTOCOL", env = "COMPACTOMETER_PROTOCOL", default_value = "matched", value_parser = protocols())]
    pub(crate) protocol: Protocol,
    /// Multiplies published limits.
    #[arg(hide_short_help = true, long, value_name = "FACTOR", default_value_t = 1.0, value_parser = positive)]
    pub(crate) scale: f64,
    /// Write an HTML page instead. It opens with the facts that were lost, and has each fact's fate
    /// over time and its values marked in the texts. The page needs no other file.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) setting: SettingArgs,
    #[command(flatten)]
    pub(crate) prices: PricesArg,
    /// Most US dollars that model calls may cost, including what the recording has already cost. A
    /// server that bills needs this limit, or a yes on a terminal.
    #[arg(long, value_name = "USD", env = "COMPACTOMETER_MAX_COST", value_parser = positive)]
    pub(crate) max_cost: Option<f64>,
}

/// The row to follow.
fn followed(args: &ExplainArgs) -> anyhow::Result<Vec<Entrant>> {
    if let Some(agent) = &args.agent {
        // Without a handler Ctrl-C ends the program, but not the agent.
        let _ = ctrlc::set_handler(|| agents::end_interrupted());
        return agents::rows(std::slice::from_ref(agent), args.agent_log.as_deref());
    }
    let rows = programs::rows(args.strategy.as_slice())?;
    let names = rows.iter().map(String::as_str);
    let entrants = select_with(names, [], &compactometer_external::open)?;
    match entrants.len() {
        1 => Ok(entrants),
        found => bail!(
            "`{}` names {found} strategies; explain follows one",
            args.strategy.as_deref().unwrap_or_default()
        ),
    }
}

fn explain(args: &ExplainArgs) -> Result<(), Failure> {
    let entrants = followed(args).map_err(Failure::usage)?;
    let counter = encoding(&args.setting.tokenizer)?;
    let (prices, _) = args.prices.table()?;
    let named = Roles::from_arguments(&args.setting, None);
    let budget =
        CostBudget::new(&named, &prices, args.max_cost, counter).map_err(Failure::usage)?;
    // This comes first, since opening a model creates the folder of its recording.
    let suite = suites::load(args.suite.as_slice(), &args.setting.model).map_err(Failure::usage)?;
    let opened = named
        .open(&args.setting, |role| budget.cap(role), budget.journal())
        .map_err(Failure::usage)?;
    let models = opened.models();
    let options = PlanOptions {
        entrants,
        window: args.setting.window,
        protocols: BTreeSet::from([args.protocol]),
        scale: args.scale,
        shares: args.setting.shares(&suite.header).0,
        summarizer: models.summarizer().name().to_owned(),
        checkpointer: models
            .checkpointer
            .map(|checkpointer| checkpointer.name().to_owned()),
        seed: args.setting.seed,
        ..PlanOptions::default()
    };
    let plan = Plan::new(suite, options, counter.counter()).map_err(Failure::usage)?;
    let case = choose(&plan, args.scenario.as_deref())?;
    let scenario = &case.prepared.scenario;
    let facts = || scenario.facts.iter().map(|fact| fact.id.as_str());
    if let Some(id) = args
        .fact
        .as_deref()
        .filter(|id| !facts().any(|fact| fact == *id))
    {
        return Err(Failure::usage(anyhow!(unknown(
            &format!("fact of `{}`", scenario.id),
            id,
            facts()
        ))));
    }
    budget.agree(&[case], false)?;
    budget.count_spent(&[], &[], &args.setting)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .map_err(Failure::failed)?;
    let watched = FailFastModels::new(models);
    let result = runtime.block_on(run_case(case, watched.models(), &counter));
    watched.check().map_err(|stopped| {
        if stopped.later {
            Failure::later(stopped)
        } else {
            Failure::failed(stopped)
        }
    })?;
    let (record, texts, messages) = (&result.record, &result.texts, &case.prepared.messages);
    let story = Story {
        scenario,
        messages,
        record,
        texts,
        only: args.fact.as_deref(),
    };
    match &args.html {
        None => say(&story.text()),
        Some(path) => {
            let page = story.page().map_err(Failure::failed)?;
            write_report(path, &page, "--html")?;
            say(&format!("{}\n", path.display()))
        }
    }
}

/// The case of this scenario, else that of the longest one.
fn choose<'p>(plan: &'p Plan, scenario: Option<&str>) -> Result<&'p PlannedCase, Failure> {
    let longest = || {
        plan.cases.iter().max_by_key(|case| {
            (
                case.prepared.tokens_before.last(),
                std::cmp::Reverse(&case.prepared.scenario.id),
            )
        })
    };
    let named = |id: &str| {
        plan.cases
            .iter()
            .find(|case| case.prepared.scenario.id == id)
    };
    scenario.map_or_else(longest, named).ok_or_else(|| {
        let ids = plan
            .suite
            .iter()
            .map(|prepared| prepared.scenario.id.as_str());
        Failure::usage(anyhow!(unknown(
            "scenario",
            scenario.unwrap_or_default(),
            ids
        )))
    })
}
