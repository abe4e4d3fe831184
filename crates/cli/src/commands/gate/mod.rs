//! `gate`: compares a run with a baseline, or tests the gate itself.

mod self_test;

use std::collections::{BTreeSet, HashMap};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::{Args, ValueEnum};
use compactometer_disk::input::{InputKind, read_text};
use compactometer_formats::baseline::Baseline;
use compactometer_formats::manifest::Manifest;
use compactometer_formats::prices::PriceTable;
use compactometer_formats::suite::Suite;
use compactometer_report::RunFiles;
use compactometer_report::gate::{self, GateOptions, GateReport, GateVerdict, StatedFact};

use super::command_row::{CommandRow, parsed};
use super::program;
use crate::arguments::help::HelpGroup;
use crate::arguments::{RunArgs, number};
use crate::output::failure::{Failure, words};
use crate::output::report_file::write_report;
use crate::output::room;
use crate::output::run_folder::of_latest;
use crate::output::terminal::{note, say, say_json, terminal_width};
use crate::output::tries;
use crate::resolve;

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "gate",
    about: "Compare a run with a baseline: does it retain less? Or test the gate itself",
    group: HelpGroup::Everyday,
    arguments: GateArgs::augment_args,
    run: |matches| gate(&parsed(matches)?),
};

#[derive(clap::Args)]
#[command(
    after_help = "Exit codes: 0 pass, 1 failed (a hard check, `--exact`, a self-test), 2 usage or mismatch, 3 regression, 4 \
    inconclusive.\nUnder 5 independent conversations, or too few for the number of strategies, a gate is always inconclusive."
)]
pub(crate) struct GateArgs {
    /// The run's folder, or a folder of runs for its latest. With `--self-test`: no folder, for two
    /// runs of the suite `smoke`; one folder, whose command is run again under the next seed (mock
    /// only); or two folders of runs that differ in their seed.
    #[arg(value_name = "DIR")]
    pub(crate) dirs: Vec<PathBuf>,
    /// The baseline file: hashes, scores by conversation and fates of facts, never text.
    #[arg(long, value_name = "FILE", conflicts_with = "self_test")]
    pub(crate) baseline: Option<PathBuf>,
    /// Accept the run as the baseline. What it would have judged is printed first.
    #[arg(long, conflicts_with_all = ["self_test", "exact", "strategies", "junit", "markdown", "html"])]
    pub(crate) update: bool,
    /// The loss of recall that is tolerated, as a share.
    #[arg(long, value_name = "SHARE", default_value_t = 0.05, value_parser = margin)]
    pub(crate) margin: f64,
    /// What an inconclusive gate does.
    #[arg(
        hide_short_help = true,
        long,
        value_enum,
        value_name = "WHAT",
        default_value = "fail"
    )]
    pub(crate) on_inconclusive: Inconclusive,
    /// Fail unless the records equal the baseline's byte for byte; mock runs only.
    #[arg(hide_short_help = true, long)]
    pub(crate) exact: bool,
    /// Gate only these strategies, by name; separate with commas or repeat. Default: all under
    /// test.
    #[arg(
        short = 's',
        long = "strategy",
        value_name = "NAME",
        value_delimiter = ','
    )]
    pub(crate) strategies: Vec<String>,
    /// Without a baseline: pass if a summarizer read every fact before it left the context. It
    /// needs no judge, and is the first thing to ask of a new compaction.
    #[arg(long, conflicts_with_all = ["baseline", "update", "exact", "self_test", "junit", "notes", "margin"])]
    pub(crate) reached: bool,
    /// Print every number, note and changed fact.
    #[arg(long)]
    pub(crate) notes: bool,
    /// Print the report as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the report as JUnit XML.
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Write the report as Markdown, with every newly lost fact. If GITHUB_STEP_SUMMARY is set, the
    /// report is also appended to that file.
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Write the same as an HTML page that needs no other file.
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Measure how often the gate raises a false alarm, passes a loss of one margin, and finds a
    /// loss of two margins, on runs that differ in their seed. Without DIR it runs three strategies
    /// on the suite `smoke` twice.
    #[arg(hide_short_help = true, long, conflicts_with_all = ["exact", "strategies", "junit", "markdown", "html"])]
    pub(crate) self_test: bool,
    /// Number of gates that a self-test simulates for each rate.
    #[arg(hide_short_help = true, long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u16).range(100..))]
    pub(crate) gates: u16,
    /// Print only errors on stderr.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// What an inconclusive gate does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Inconclusive {
    /// Exit code 4.
    Fail,
    /// A warning, exit code 0.
    Warn,
    /// Exit code 0.
    Pass,
}

fn margin(text: &str) -> Result<f64, String> {
    number(text, "a share from 0.001 to 0.5", |share| {
        (0.001..=0.5).contains(&share)
    })
}

/// Gates a run, writes a baseline, or tests the gate.
fn gate(args: &GateArgs) -> Result<(), Failure> {
    let prices = PriceTable::shipped()
        .context("the shipped price table")
        .map_err(Failure::failed)?;
    if args.self_test {
        return self_test::self_test(args, &prices);
    }
    let [dir] = &args.dirs[..] else {
        return Err(Failure::usage(anyhow!(
            "name one run's folder to gate; there are {}",
            args.dirs.len()
        )));
    };
    if args.reached {
        return reached(args, dir, &prices);
    }
    let file = args.baseline.as_deref().ok_or_else(|| {
        Failure::usage(anyhow!(
            "name the baseline with `--baseline FILE`, or ask `--reached`, which needs none"
        ))
    })?;
    let run = read_run(dir)?;
    if args.update {
        return update(args, &run, file, &prices);
    }
    let baseline = read(file).map_err(Failure::usage)?;
    let options = GateOptions {
        margin: args.margin,
        strategies: args.strategies.clone(),
        exact: args.exact,
    };
    let named = || format!("`{}` against `{}`", dir.display(), file.display());
    let mut report = gate::gate(&run, &baseline, &prices, &options)
        .map_err(|error| Failure::usage(anyhow::Error::new(error).context(named())))?;
    if let Some(suite) = suite_of(&run) {
        report.name_facts(stated_in(&suite));
    }
    let folder = of_latest(dir).map_err(Failure::usage)?;
    let requests = tries::sentences_of(&[folder]).map_err(Failure::usage)?;
    report.notes.splice(0..0, requests);
    tell(args, &report)?;
    let verdicts = report.strategies.iter();
    let verdicts = verdicts.map(|one| (one.strategy.as_str(), one.verdict));
    outcome(
        verdicts,
        report.verdict,
        "regression of",
        args.on_inconclusive,
    )
}

/// Whether a summarizer read every fact before it left.
fn reached(args: &GateArgs, dir: &Path, prices: &PriceTable) -> Result<(), Failure> {
    let run = read_run(dir)?;
    let mut report = gate::reached(&run, prices, &args.strategies)
        .map_err(|error| Failure::usage(anyhow::Error::new(error)))?;
    if let Some(suite) = suite_of(&run) {
        report.name_facts(stated_in(&suite));
    }
    match args.json {
        true => say_json(&report)?,
        false => say(&report.text(terminal_width()))?,
    }
    if let Some(file) = &args.html {
        write_report(file, &report.html().map_err(Failure::failed)?, "--html")?;
    }
    write_markdown(args, &report.markdown())?;
    let verdicts = report.strategies.iter();
    let verdicts = verdicts.map(|one| (one.strategy.as_str(), one.verdict));
    outcome(
        verdicts,
        report.verdict,
        "facts left the context unread under",
        args.on_inconclusive,
    )
}

/// The suite of a run, if its command still finds the same one. A run and a baseline hold no text
/// of it.
fn suite_of(run: &RunFiles) -> Option<Suite> {
    let suite = resolve::suite(&run_args(&as_run(&run.manifest)).ok()?).ok()?;
    (suite.hash() == run.manifest.suite_hash).then_some(suite)
}

/// What a suite states, by scenario and fact.
fn stated_in(suite: &Suite) -> impl Fn(&str, &str) -> Option<StatedFact> {
    let scenarios = suite
        .scenarios
        .iter()
        .map(|scenario| (scenario.id.as_str(), scenario))
        .collect::<HashMap<_, _>>();
    move |scenario, fact| {
        let fact = scenarios
            .get(scenario)?
            .facts
            .iter()
            .find(|known| known.id == fact)?;
        Some(StatedFact {
            subject: fact.subject.clone(),
            value: fact.value.clone(),
            said_by: fact.stated_by,
            message: fact.evidence_message_ids.first().map(|message| message.0),
        })
    }
}

fn read(file: &Path) -> anyhow::Result<Baseline> {
    let text = read_text(file, InputKind::BASELINE).with_context(|| {
        format!(
            "cannot read the baseline `{}`; `--update` writes one from the run",
            file.display()
        )
    })?;
    Baseline::parse(&text).with_context(|| format!("`{}`", file.display()))
}

/// Writes the baseline, after the verdict on what it accepts.
fn update(
    args: &GateArgs,
    run: &RunFiles,
    file: &Path,
    prices: &PriceTable,
) -> Result<(), Failure> {
    let baseline = gate::baseline_of(run, prices).map_err(Failure::usage)?;
    let text = baseline.to_text().map_err(Failure::failed)?;
    let told = match accepted(args, run, file, prices) {
        Accepted::Judged { report, unjudged } => {
            tell(args, &report)?;
            let but = if unjudged.is_empty() {
                String::new()
            } else {
                format!("; not judged: {unjudged}")
            };
            format!("accepted with the verdict {}{but}", report.verdict.name())
        }
        Accepted::NotJudged(why) => format!("accepted without a verdict: {why}"),
    };
    write_report(file, &text, "--baseline")?;
    let told = format!("{told}\n{}", file.display());
    if args.json {
        note(&told);
        return Ok(());
    }
    say(&format!("{told}\n"))
}

/// What an update accepts.
enum Accepted {
    /// With the names of strategies that only one side has.
    Judged {
        report: Box<GateReport>,
        unjudged: String,
    },
    /// Nothing could be judged, and why.
    NotJudged(String),
}

/// Judges the strategies that the run and the earlier baseline have in common.
fn accepted(args: &GateArgs, run: &RunFiles, file: &Path, prices: &PriceTable) -> Accepted {
    if !file.exists() {
        return Accepted::NotJudged("there was no baseline".to_owned());
    }
    judged(args, run, file, prices).unwrap_or_else(|error| Accepted::NotJudged(words(&error)))
}

fn judged(
    args: &GateArgs,
    run: &RunFiles,
    file: &Path,
    prices: &PriceTable,
) -> anyhow::Result<Accepted> {
    let (old, new) = (read(file)?, gate::baseline_of(run, prices)?);
    let (old_names, new_names) = (names(&old), names(&new));
    let strategies = old_names
        .intersection(&new_names)
        .cloned()
        .collect::<Vec<_>>();
    if strategies.is_empty() {
        return Err(anyhow!("the earlier baseline has none of its strategies"));
    }
    let options = GateOptions {
        margin: args.margin,
        strategies,
        exact: false,
    };
    let report = Box::new(gate::gate(run, &old, prices, &options)?);
    let unjudged = old_names
        .symmetric_difference(&new_names)
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>();
    Ok(Accepted::Judged {
        report,
        unjudged: unjudged.join(", "),
    })
}

fn names(of: &Baseline) -> BTreeSet<String> {
    of.strategies
        .iter()
        .map(|one| one.head.strategy.clone())
        .collect()
}

/// Prints the report and writes the requested files and the summary of a GitHub step.
fn tell(args: &GateArgs, report: &GateReport) -> Result<(), Failure> {
    if args.json {
        say_json(report)?;
    } else {
        let text = if args.notes {
            gate::whole(report, terminal_width())
        } else {
            gate::terminal(report, terminal_width())
        };
        say(&text)?;
    }
    if let Some(file) = &args.junit {
        let xml = gate::junit(report, args.on_inconclusive == Inconclusive::Fail)
            .map_err(Failure::failed)?;
        write_report(file, &xml, "--junit")?;
    }
    if let Some(file) = &args.html {
        write_report(
            file,
            &gate::html(report).map_err(Failure::failed)?,
            "--html",
        )?;
    }
    write_markdown(args, &gate::markdown(report))
}

/// Writes the report as Markdown where it is asked for, and to the summary of a GitHub step.
fn write_markdown(args: &GateArgs, markdown: &str) -> Result<(), Failure> {
    if let Some(file) = &args.markdown {
        write_report(file, markdown, "--markdown")?;
    }
    match std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()) {
        Some(path) => append(Path::new(&path), markdown),
        None => Ok(()),
    }
}

fn append(file: &Path, text: &str) -> Result<(), Failure> {
    let opened = OpenOptions::new().create(true).append(true).open(file);
    opened
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .with_context(|| {
            format!(
                "cannot append to `{}`, which GITHUB_STEP_SUMMARY names",
                file.display()
            )
        })
        .map_err(Failure::failed)
}

/// What the program ends with; `regressed` says what a regression is.
fn outcome<'v>(
    verdicts: impl Iterator<Item = (&'v str, GateVerdict)> + Clone,
    verdict: GateVerdict,
    regressed: &str,
    on_inconclusive: Inconclusive,
) -> Result<(), Failure> {
    let of = |wanted: GateVerdict| {
        let names = verdicts.clone().filter(|(_, verdict)| *verdict == wanted);
        let names = names.map(|(name, _)| format!("`{name}`"));
        names.collect::<Vec<_>>().join(", ")
    };
    let inconclusive = || format!("inconclusive: {}", of(GateVerdict::Inconclusive));
    match verdict {
        GateVerdict::Pass | GateVerdict::PassWorse => Ok(()),
        GateVerdict::Failed => Err(Failure::failed(anyhow!(
            "hard checks failed; no number of this run can be trusted"
        ))),
        GateVerdict::Regression => Err(Failure::regression(anyhow!(
            "{regressed} {}",
            of(GateVerdict::Regression)
        ))),
        GateVerdict::Inconclusive => match on_inconclusive {
            Inconclusive::Fail => Err(Failure::inconclusive(anyhow!(inconclusive()))),
            Inconclusive::Warn => {
                note(&format!("warning: {}", inconclusive()));
                Ok(())
            }
            Inconclusive::Pass => Ok(()),
        },
    }
}

fn read_run(dir: &Path) -> Result<RunFiles, Failure> {
    let dir = of_latest(dir).map_err(Failure::usage)?;
    room::check(std::slice::from_ref(&dir)).map_err(Failure::failed)?;
    RunFiles::read(&dir).map_err(Failure::usage)
}

/// The words of a run's command after the program's name, as those of `run`.
fn as_run(manifest: &Manifest) -> Vec<String> {
    let mut command = manifest.command.iter().skip(1).cloned().collect::<Vec<_>>();
    let is_bare = !command
        .first()
        .is_some_and(|word| word == "run" || word == "compare");
    command.splice(..usize::from(!is_bare), ["run".to_owned()]);
    command
}

/// The arguments of a command line of `run`.
fn run_args(command: &[String]) -> Result<RunArgs, Failure> {
    let words = std::iter::once("compactometer").chain(command.iter().map(String::as_str));
    let matches = program().try_get_matches_from(words);
    let matches = matches
        .context("the run's command cannot be repeated")
        .map_err(Failure::usage)?;
    let Some(("run", matches)) = matches.subcommand() else {
        return Err(Failure::usage(anyhow!(
            "the run's command cannot be repeated; name two runs' folders"
        )));
    };
    parsed(matches)
}
