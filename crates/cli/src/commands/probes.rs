//! `probes`: lists and edits the facts and questions of a suite.

use clap::Args;
use std::fmt::Write;
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use compactometer_disk::{Identity, write_whole};
use compactometer_engine::message::MessageId;
use compactometer_formats::scenario::Scenario;
use compactometer_formats::suite::Suite;
use compactometer_suites::curate::{self, Wanted};
use compactometer_suites::import;
use compactometer_text::suggest::unknown;

use super::command_row::{CommandRow, parsed};
use crate::arguments::help::HelpGroup;
use crate::arguments::suites;
use crate::output::failure::Failure;
use crate::output::run_folder::cannot;
use crate::output::terminal::{note, say};

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "probes",
    about: "List the facts and questions of a suite, add a forgotten value, or remove one",
    group: HelpGroup::Data,
    arguments: ProbesArgs::augment_args,
    run: |matches| probes(&parsed(matches)?),
};

#[derive(clap::Args)]
#[command(
    group = clap::ArgGroup::new("change").args(["add", "accept", "reject", "auto_facts"]),
    after_help = "Without `--add`, `--accept`, `--reject` or `--auto-facts`, the command lists facts and questions. Editing a suite invalidates gate baselines: write a new one."
)]
pub(crate) struct ProbesArgs {
    /// The suite, as `import` or `generate` writes it.
    #[arg(value_name = "FILE")]
    pub(crate) suite: PathBuf,
    /// Add this value as a fact, with a question; a message of the conversation must state it.
    #[arg(long, value_name = "VALUE", requires = "question")]
    pub(crate) add: Option<String>,
    /// Add a question about this fact.
    #[arg(long, value_name = "FACT", requires = "question")]
    pub(crate) accept: Option<String>,
    /// Remove these facts and every question about them; separate with commas or repeat.
    #[arg(long, value_name = "FACT", value_delimiter = ',')]
    pub(crate) reject: Vec<String>,
    /// Find exact values (ids, numbers, paths) and the calls that use them, and add them as facts.
    #[arg(long)]
    pub(crate) auto_facts: bool,
    /// The question; it must not contain the answer.
    #[arg(long, value_name = "QUESTION")]
    pub(crate) question: Option<String>,
    /// Ask before the call that follows this message. Default: the last one.
    #[arg(long, value_name = "MESSAGE", requires = "question")]
    pub(crate) after: Option<u32>,
    /// The conversation. Default: the one that has the fact or states the value.
    #[arg(long, value_name = "ID")]
    pub(crate) scenario: Option<String>,
    /// Where to write the changed suite. Default: in place of the suite.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print only errors on stderr.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

fn probes(args: &ProbesArgs) -> Result<(), Failure> {
    let changes =
        args.add.is_some() || args.accept.is_some() || args.auto_facts || !args.reject.is_empty();
    if !changes {
        let suite = suites::join(std::slice::from_ref(&args.suite)).map_err(Failure::usage)?;
        return listing(&suite, args.scenario.as_deref())
            .map_err(Failure::usage)
            .and_then(|text| say(&text));
    }
    // Held until the suite is written: another process then reads what this one wrote.
    let _lock = lock(&args.suite);
    let mut suite = Suite::read(&args.suite).map_err(Failure::usage)?;
    let told = change(&mut suite, args).map_err(Failure::usage)?;
    let out = args.out.as_deref().unwrap_or(&args.suite);
    checked(&suite, out).map_err(Failure::usage)?;
    write(&suite, out)?;
    if !args.quiet {
        note(&format!("{told}; wrote {}", out.display()));
    }
    Ok(())
}

/// The suite's file, locked. Who waited for the lock finds another file of the name, and locks that.
/// Where nothing can be locked, nothing is: reading says what is wrong with the file.
fn lock(path: &Path) -> Option<File> {
    // On Windows a lock would keep the file from being read.
    if cfg!(not(unix)) {
        return None;
    }
    loop {
        let file = File::open(path).ok()?;
        file.lock().ok()?;
        if Identity::new(&file.metadata().ok()?).is_at(path) {
            return Some(file);
        }
    }
}

fn write(suite: &Suite, out: &Path) -> Result<(), Failure> {
    write_whole(out, |file| suite.write(file)).map_err(|error| {
        let what = format!("write `{}`", out.display());
        Failure::failed(cannot(&what, error, "--out"))
    })
}

/// Makes the change and describes it.
fn change(suite: &mut Suite, args: &ProbesArgs) -> Result<String> {
    let question = args.question.as_deref().unwrap_or_default();
    let asked_after = args.after.map(MessageId);
    if let Some(value) = &args.add {
        let scenario = chosen(
            suite,
            args,
            |scenario| curate::is_stated(scenario, value),
            &format!("states `{value}`"),
        )?;
        let known = suite.scenarios[scenario].facts.len();
        let id = curate::add(
            suite,
            scenario,
            Wanted {
                value,
                question,
                asked_after,
            },
        )?;
        let scenario = &suite.scenarios[scenario];
        return Ok(if scenario.facts.len() > known {
            format!("added fact `{id}` to `{}`, with a question", scenario.id)
        } else {
            format!(
                "`{}` has this value as fact `{id}` already; added the question",
                scenario.id
            )
        });
    }
    if args.auto_facts {
        return Ok(import::auto_facts(suite)?.join("; "));
    }
    let of = |suite: &Suite, fact: &str| {
        let has = |scenario: &Scenario| scenario.facts.iter().any(|known| known.id == *fact);
        chosen(suite, args, has, &format!("has a fact `{fact}`"))
    };
    if let Some(fact) = &args.accept {
        let scenario = of(suite, fact)?;
        curate::ask(&mut suite.scenarios[scenario], fact, question, asked_after)?;
        return Ok(format!(
            "`{}` asks for fact `{fact}`",
            suite.scenarios[scenario].id
        ));
    }
    let mut questions = 0;
    for fact in &args.reject {
        let scenario = of(suite, fact)?;
        questions += curate::reject(&mut suite.scenarios[scenario], fact)?;
    }
    Ok(format!(
        "took out facts: {}, questions: {questions}",
        args.reject.len()
    ))
}

/// Index of the requested conversation, else of the only one that fits.
fn chosen(
    suite: &Suite,
    args: &ProbesArgs,
    fits: impl Fn(&Scenario) -> bool,
    what: &str,
) -> Result<usize> {
    let ids = || suite.scenarios.iter().map(|scenario| scenario.id.as_str());
    if let Some(id) = &args.scenario {
        return ids()
            .position(|known| known == id)
            .ok_or_else(|| anyhow!(unknown("conversation", id, ids())));
    }
    let fitting = (0..suite.scenarios.len())
        .filter(|index| fits(&suite.scenarios[*index]))
        .collect::<Vec<_>>();
    match fitting.as_slice() {
        [one] => Ok(*one),
        [] => bail!(
            "no conversation of `{}` {what}; `compactometer probes FILE` lists its facts",
            suite.header.name
        ),
        [first, ..] => bail!(
            "{} conversations of `{}` fit, the first is `{}`; say which with `--scenario`",
            fitting.len(),
            suite.header.name,
            suite.scenarios[*first].id
        ),
    }
}

/// Checks that the changed suite can be read again before it is written.
fn checked(suite: &Suite, out: &Path) -> Result<()> {
    let mut bytes = Vec::new();
    suite.write(&mut bytes)?;
    Suite::from_reader(bytes.as_slice(), out)?;
    Ok(())
}

/// A line for each conversation, each fact that is not a decoy, and each question.
fn listing(suite: &Suite, scenario: Option<&str>) -> Result<String> {
    let ids = || suite.scenarios.iter().map(|scenario| scenario.id.as_str());
    if let Some(id) = scenario.filter(|id| ids().all(|known| known != *id)) {
        bail!(unknown("conversation", id, ids()));
    }
    let mut text = String::new();
    for scenario in suite
        .scenarios
        .iter()
        .filter(|known| scenario.is_none_or(|id| known.id == id))
    {
        let facts = || scenario.facts.iter().filter(|fact| fact.decoy_of.is_none());
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{}: {} messages, {} facts, {} questions",
            scenario.id,
            scenario.messages.len(),
            facts().count(),
            scenario.probes.len()
        );
        for fact in facts() {
            let stated = fact
                .evidence_message_ids
                .iter()
                .map(|id| id.0.to_string())
                .collect::<Vec<_>>()
                .join(", ");
            let generic = if fact.generic { "; generic" } else { "" };
            let _ = writeln!(
                text,
                "  {}  {:?}  stated in {stated}{generic}",
                fact.id, fact.value
            );
            for probe in scenario
                .probes
                .iter()
                .filter(|probe| probe.fact_ids.contains(&fact.id))
            {
                let _ = writeln!(
                    text,
                    "    {}  after {}: {}",
                    probe.id,
                    probe.asked_after.0,
                    in_one_line(&probe.question)
                );
            }
        }
        for probe in scenario
            .probes
            .iter()
            .filter(|probe| probe.fact_ids.is_empty())
        {
            let _ = writeln!(
                text,
                "  {}: {}  after {}: {}",
                if probe.abstain_expected {
                    "no answer"
                } else {
                    "no fact"
                },
                probe.id,
                probe.asked_after.0,
                in_one_line(&probe.question)
            );
        }
    }
    Ok(text)
}

fn in_one_line(text: &str) -> String {
    text.replace(['\n', '\r', '\t'], " ")
}
