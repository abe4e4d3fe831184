//! `losses`: what the compactions that a program recorded in its own transcripts lost.

mod hooks;
mod injection;
mod watch;

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use compactometer_formats::prices::PriceTable;
use compactometer_formats::scenario::{Scenario, Unmeasured};
use compactometer_formats::suite::Suite;
use compactometer_report::losses::{Losses, PartBy};
use compactometer_suites::import::{self, ImportReport, Options};
use compactometer_text::shell::shell_word;

use super::command_row::{CommandRow, parsed};
use crate::arguments::help::HelpGroup;
use crate::arguments::one_of;
use crate::arguments::transcripts::{LeftOutFiles, by_format};
use crate::arguments::{encoding, suites};
use crate::output::failure::Failure;
use crate::output::progress;
use crate::output::report_file::write_report;
use crate::output::terminal::{note, say, say_json, terminal_width};

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "losses",
    about: "Show what the compactions in your agent's own sessions lost",
    group: HelpGroup::Everyday,
    arguments: LossesArgs::augment_args,
    run: |matches| losses(&parsed(matches)?),
};

#[derive(clap::Args)]
pub(crate) struct LossesArgs {
    /// The sessions as your agent keeps them, or a suite that was imported from them. The content
    /// of sessions shows their format; name a format first to override detection. Without a file,
    /// the sessions that programs keep are listed, the newest first, and you are asked which to
    /// read. A format lists those of its program, and a folder those in it.
    #[arg(value_names = ["FORMAT|FILE|FOLDER", "FILE"], num_args = 0..)]
    pub(crate) inputs: Vec<PathBuf>,
    /// Write an HTML page that needs no other file. It has every value that was not held as it
    /// was said, with the message that said it and the call that used it, and every summary.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write the same as Markdown.
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Print the numbers as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Tokens of the texts that are added for comparison: random exact values, and the newest text
    /// before the compaction.
    #[arg(long, value_name = "TOKENS", default_value_t = 900)]
    pub(crate) budget: u32,
    /// Show the losses of each part too: `program`, `version` (of the program) or `project`.
    /// Repeatable.
    #[arg(long, value_name = "PART", value_parser = one_of::<PartBy, _>(PartBy::ALL.map(|(name, _)| name)))]
    pub(crate) by: Vec<PartBy>,
    /// Run this command after each compaction, as a program runs a hook, and show what it brings
    /// back. The transcript up to the compaction goes to a file, and the event to the command's
    /// stdin; what it prints counts as added. Repeatable.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) hook: Vec<String>,
    /// Follow a running session, and say after each compaction what it left. Ctrl-C ends it.
    #[arg(long, conflicts_with_all = ["html", "markdown", "json", "by", "hook"])]
    pub(crate) watch: bool,
    /// Seconds after which a hook is stopped.
    #[arg(hide_short_help = true, long, value_name = "SECONDS", default_value_t = 60, requires = "hook", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) hook_seconds: u64,
    /// The encoding that all token counts use: `o200k_base` or `cl100k_base`.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "ENCODING",
        env = "COMPACTOMETER_TOKENIZER",
        default_value = "o200k_base"
    )]
    pub(crate) tokenizer: String,
    /// Keep secrets instead of masking them.
    #[arg(long)]
    pub(crate) keep_secrets: bool,
    /// Print only errors on stderr.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

fn losses(args: &LossesArgs) -> Result<(), Failure> {
    let counter = encoding(&args.tokenizer)?;
    if args.watch {
        return watch::watch(args, &counter);
    }
    let mut left_out = LeftOutFiles::default();
    let (suite, files) = suite(args, &mut left_out)?;
    let prices = PriceTable::shipped().map_err(Failure::failed)?;
    let bar = progress::bar(suite.scenarios.len(), "sessions", args.quiet);
    let hooks = hooks::Hooks::new(&args.hook, args.hook_seconds, &args.inputs)?;
    let injections = hooks.injections()?;
    let sessions = suite.scenarios.into_iter().map(|scenario| {
        let runs = hooks.run(&scenario, &counter)?;
        let lost = compactometer_harness::losses::losses(scenario, args.budget, &runs, &counter);
        bar.inc(1);
        Ok(lost)
    });
    let mut found = Losses::new(
        sessions.collect::<Result<_, Failure>>()?,
        args.budget,
        &args.hook,
        &args.by,
        &prices,
    );
    for (hook, words) in found.hooks.iter_mut().zip(injections) {
        hook.attackers_words = words;
    }
    if left_out.compactions > 0 {
        *found
            .unmeasured
            .entry(Unmeasured::NothingBefore)
            .or_insert(0) += left_out.compactions;
    }
    bar.finish_and_clear();
    if let Some(path) = &args.html {
        write_report(path, &found.html().map_err(Failure::failed)?, "--html")?;
        note(&format!("page: {}", path.display()));
    }
    if let Some(path) = &args.markdown {
        write_report(path, &found.markdown(), "--markdown")?;
        note(&format!("page: {}", path.display()));
    }
    match args.json {
        true => say_json(&found)?,
        false => say(&found.text(terminal_width()))?,
    }
    match found.compactions.is_empty() && !args.json {
        true => Err(nothing_measured(&found, &args.inputs)),
        false => left_out.check(files),
    }
}

/// No compaction of the sessions is measured.
fn nothing_measured(found: &Losses, inputs: &[PathBuf]) -> Failure {
    let sessions = found.sessions;
    let why = match found.unmeasured.is_empty() {
        true => "no recorded compaction",
        false => "no compaction that can be measured",
    };
    let files = match inputs {
        [file] if file.is_file() => shell_word(&file.to_string_lossy()),
        _ => "FILE...".to_owned(),
    };
    Failure::usage(anyhow!(
        "{why} in {sessions} session{}; to see what a strategy would lose of {}, run: compactometer compare {files} -s summarize",
        if sessions == 1 { "" } else { "s" },
        if sessions == 1 { "it" } else { "them" }
    ))
}

/// The suite that is named, else one imported from the sessions that are named.
fn suite(args: &LossesArgs, left_out: &mut LeftOutFiles) -> Result<(Suite, usize), Failure> {
    let is_suite = |path: &PathBuf| compactometer_formats::suite::is_suite_file(path);
    if !args.inputs.is_empty() && args.inputs.iter().all(is_suite) {
        let suite = suites::join(&args.inputs).map_err(Failure::usage)?;
        return Ok((suite, args.inputs.len()));
    }
    let mut joined: Option<Suite> = None;
    let named = by_format(&args.inputs)?;
    let readable = named.formats.iter().map(|(_, files)| files.len());
    let files = named.refused.len() + readable.sum::<usize>();
    left_out.files = named.refused.len();
    left_out.why = named.refused;
    for (importer, of_format) in named.formats {
        let options = Options {
            keep_secrets: args.keep_secrets,
            skip_refused: files > 1,
            ..Options::default()
        };
        match import::import(importer, &of_format, "sessions", &options) {
            Err(error) if options.skip_refused => {
                left_out.files += of_format.len();
                left_out.why.push(error.to_string());
            }
            imported => {
                let imported = imported.map_err(Failure::usage)?;
                if !args.quiet {
                    note(&read_line(&imported.report));
                }
                left_out.files += imported.report.refused.len();
                left_out.why.extend(imported.report.refused);
                left_out.compactions += imported.report.without_conversation;
                add(&mut joined, imported.suite);
            }
        }
    }
    let Some(mut suite) = joined else {
        left_out.check(files)?;
        return Err(Failure::usage(anyhow!("no session was chosen")));
    };
    let is_read =
        |scenario: &Scenario| !scenario.compactions.is_empty() || !scenario.log.cleared.is_empty();
    if suite.scenarios.iter().any(is_read) {
        // Of all programs together, since a value is generic if more than one project has it.
        import::all_facts(&mut suite);
    }
    Ok((suite, files))
}

fn add(joined: &mut Option<Suite>, more: Suite) {
    match joined {
        Some(suite) => suite.scenarios.extend(more.scenarios),
        None => *joined = Some(more),
    }
}

/// What was read, in one line.
fn read_line(report: &ImportReport) -> String {
    let secrets = report.secrets.values().sum::<usize>();
    let plural = |number: usize| if number == 1 { "" } else { "s" };
    format!(
        "{}: {} file{}, {} message{}, {} repair{}, {secrets} secret{} masked; `compactometer import` lists them",
        report.importer,
        report.files,
        plural(report.files),
        report.messages,
        plural(report.messages),
        report.repairs.len(),
        plural(report.repairs.len()),
        plural(secrets)
    )
}
