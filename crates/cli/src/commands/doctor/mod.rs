//! `doctor`: finds what would stop a run, and says what to do. It takes a run's own arguments and
//! checks what they name.
//!
//! Nothing is run, kept or billed, unless `--call` asks for one call of one token. A server is
//! contacted only if a model names one. Absent on purpose: terminal, locale and fonts, since no
//! result and no picture depends on them.

mod environment;
mod measured;
mod missing_calls;
mod models;
mod prices;
mod run_files;

use anyhow::anyhow;
use clap::Args;
use compactometer_formats::manifest::StrategySettings;
use compactometer_harness::plan::{Plan, PlanOptions};
use serde::Serialize;

use super::command_row::{CommandRow, parsed};
use crate::arguments::help::HelpGroup;
use crate::arguments::{RunArgs, encoding};
use crate::output::failure::Failure;
use crate::output::terminal::{say, say_json};
use crate::resolve;

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "doctor",
    about: "Find what would stop a run, and say what to do; takes the run's own arguments",
    group: HelpGroup::Rest,
    arguments: DoctorArgs::augment_args,
    run: |matches| doctor(&parsed(matches)?),
};

#[derive(clap::Args)]
#[command(
    after_help = "Exit codes: 0 nothing would stop the run (there may be warnings), 1 something would stop it, 2 usage.\nNothing is \
    run or kept. A server is asked only for its models."
)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Make one call of one token to each model behind HTTP, since some servers do not list their
    /// models.
    #[arg(long)]
    pub(crate) call: bool,
    /// Print the checks as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Checks everything that the arguments name, and fails if something would stop the run.
fn doctor(args: &DoctorArgs) -> Result<(), Failure> {
    let mut checks = environment::checks();
    checks.extend(prices::checks(&args.run));
    checks.extend(models::checks(args)?);
    checks.extend(run_files::checks(&args.run));
    checks.extend(plan(&args.run)?);
    if args.json {
        say_json(&Report {
            version: 1,
            checks: &checks,
        })?;
    } else {
        say(&checks.iter().map(DoctorCheck::line).collect::<String>())?;
    }
    let of = |state| checks.iter().filter(|check| check.state == state).count();
    match of(CheckState::Problem) {
        0 => Ok(()),
        problems => Err(Failure::failed(anyhow!(
            "problems: {problems}; warnings: {}",
            of(CheckState::Warning)
        ))),
    }
}

/// Whether suite, strategies and limits make a valid run, and whether a recording holds its calls.
fn plan(args: &RunArgs) -> Result<Vec<DoctorCheck>, Failure> {
    let counter = match encoding(&args.setting.tokenizer) {
        Ok(counter) => counter,
        Err(failure) => return Ok(vec![DoctorCheck::problem("run", failure.words())]),
    };
    let named = models::models_of_run(args);
    let planned = |(suite, entrants)| {
        let summarizer = named.summarizer().to_owned();
        let named = PlanOptions {
            entrants,
            sweep: args.sweep.unwrap_or(false),
            summarizer,
            ..PlanOptions::default()
        };
        resolve::plan(args, suite, named, counter)
    };
    let plan = match resolve::chosen(args).and_then(planned) {
        Ok((plan, _)) => plan,
        Err(failure) => return Ok(vec![DoctorCheck::problem("run", failure.words())]),
    };
    let (cases, groups) = (plan.cases.len(), plan.groups());
    let mut checks = vec![DoctorCheck::ok(
        "run",
        format!(
            "{cases} replays, {groups} independent conversations, {} tokens",
            plan.sizes.window
        ),
    )];
    checks.extend(without_effect(&plan));
    checks.extend(measured::checks(&plan));
    checks.extend(missing_calls::check(args, &plan, counter)?);
    Ok(checks)
}

/// Parameters that the run's own limits replace.
fn without_effect(plan: &Plan) -> Option<DoctorCheck> {
    let rows = plan.manifest().settings;
    let rows = rows
        .iter()
        .filter(|(_, settings)| !settings.without_effect.is_empty());
    let row = |(name, settings): (&String, &StrategySettings)| {
        format!("{} of `{name}`", settings.without_effect.join(", "))
    };
    let rows = rows.map(row).collect::<Vec<_>>();
    (!rows.is_empty()).then(|| {
        let rows = rows.join(", ");
        DoctorCheck::warning(
            "parameters",
            format!("without effect, since the run sets its limits: {rows}; `--protocol published` takes a strategy's own"),
        )
    })
}

/// What was checked and what was found.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct DoctorCheck {
    check: &'static str,
    state: CheckState,
    found: String,
    /// What to do, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum CheckState {
    Ok,
    /// A run would finish, but its numbers or its cost may surprise the user.
    Warning,
    /// A run would fail.
    Problem,
}

impl DoctorCheck {
    fn ok(check: &'static str, found: impl Into<String>) -> Self {
        DoctorCheck {
            check,
            state: CheckState::Ok,
            found: found.into(),
            fix: None,
        }
    }

    fn warning(check: &'static str, told: impl AsRef<str>) -> Self {
        DoctorCheck::told(check, CheckState::Warning, told.as_ref())
    }

    fn problem(check: &'static str, told: impl AsRef<str>) -> Self {
        DoctorCheck::told(check, CheckState::Problem, told.as_ref())
    }

    /// The program's errors say what happened and, after a semicolon, what to do.
    fn told(check: &'static str, state: CheckState, told: &str) -> Self {
        let (found, fix) = told
            .split_once("; ")
            .map_or((told, None), |(found, fix)| (found, Some(fix.to_owned())));
        DoctorCheck {
            check,
            state,
            found: found.to_owned(),
            fix,
        }
    }

    fn line(&self) -> String {
        let state = match self.state {
            CheckState::Ok => "ok",
            CheckState::Warning => "warning",
            CheckState::Problem => "problem",
        };
        let fix = self
            .fix
            .as_ref()
            .map_or(String::new(), |fix| format!("; {fix}"));
        let told = format!("{}{fix}", self.found);
        // A list of errors has a line for each. Text from outside may contain line ends too, and
        // must not look like a check.
        let plain = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let told = told.lines().map(plain).collect::<Vec<_>>().join("\n    ");
        format!("{state:<8} {:<10} {told}\n", self.check)
    }
}

#[derive(Serialize)]
struct Report<'c> {
    version: u32,
    checks: &'c [DoctorCheck],
}
