//! `import`: turns transcripts of another program into a suite.

use clap::Args;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use compactometer_formats::property::Property;
use compactometer_suites::import::{self, ImportError, ImportReport, Map, Options};
use compactometer_suites::properties::measure;

use super::command_row::{CommandRow, parsed};
use crate::arguments::help::HelpGroup;
use crate::arguments::suites;
use crate::arguments::transcripts::{LeftOutFiles, format_and_files};
use crate::output::destination::Destination;
use crate::output::failure::Failure;
use crate::output::progress::bar;
use crate::output::terminal::note;

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "import",
    about: "Turn transcripts of another program into a suite",
    group: HelpGroup::Everyday,
    arguments: ImportArgs::augment_args,
    run: |matches| import(&parsed(matches)?),
};

#[derive(clap::Args)]
pub(crate) struct ImportArgs {
    /// The transcripts. The first one's content shows the format; name a format first to override
    /// detection (`compactometer list formats`). A format without files lists the sessions that its
    /// program keeps, if their place is known, and asks which to read. `pair BEFORE AFTER` turns
    /// the last request before a compaction and the first one after it into a conversation with
    /// that compaction.
    #[arg(value_names = ["FORMAT|FILE", "FILE"], num_args = 1.., required = true)]
    pub(crate) inputs: Vec<PathBuf>,
    /// The suite to write; `-` for standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Read rows of any program: say which field is what, such as
    /// `role=speaker,text=body.text,call=tool.name,arguments=tool.input,result=tool.output`. Also
    /// `id`, `time`, and `summary` for compactions.
    #[arg(long, value_name = "KEY=FIELD,...", value_parser = |text: &str| text.parse::<Map>())]
    pub(crate) map: Option<Map>,
    /// Find exact values (ids, numbers, paths) and the calls that use them, so that recall can be
    /// measured without labels.
    #[arg(long)]
    pub(crate) auto_facts: bool,
    /// Join N independent sessions, interleaved by user turn, into one long conversation.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..))]
    pub(crate) concat: Option<u16>,
    /// Keep secrets instead of masking them.
    #[arg(long)]
    pub(crate) keep_secrets: bool,
    /// Refuse input that needs a repair instead of repairing and reporting it.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Also read a file of which no call has a result, or of which more than a fifth of the rows are
    /// dropped, which is mostly of another format; and one with more than 120,000 lines or a line of
    /// more than 16 MB, which takes fourteen times its size in memory.
    #[arg(long, conflicts_with = "strict")]
    pub(crate) lenient: bool,
    /// Overwrite the file at `--out`.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print only errors on stderr.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

fn import(args: &ImportArgs) -> Result<(), Failure> {
    let out = Destination::new(&args.out, args.force).map_err(Failure::usage)?;
    let options = Options {
        auto_facts: args.auto_facts,
        concat: args.concat.map(usize::from),
        keep_secrets: args.keep_secrets,
        strict: args.strict,
        lenient: args.lenient,
        skip_refused: false,
        last: None,
    };
    let (report, properties) = match &args.inputs[..] {
        [word, before, after] if word.as_os_str() == PAIR => {
            import_pair(before, after, out.path(), &options)?
        }
        [word, ..] if word.as_os_str() == PAIR => {
            return Err(Failure::usage(anyhow!(
                "`import {PAIR}` takes two files: the last request before a compaction, and the first one after it"
            )));
        }
        inputs => {
            let (importer, files) = match &args.map {
                Some(_) => (&import::MAPPED, inputs.to_vec()),
                None => format_and_files(inputs)?,
            };
            let options = Options {
                skip_refused: files.len() > 1 && !args.strict,
                ..options
            };
            let bar = bar(files.len(), "files", args.quiet);
            let imported = import::import_to(
                out.path(),
                (importer, args.map.as_ref()),
                &files,
                &options,
                &mut || bar.inc(1),
            );
            bar.finish_and_clear();
            imported.map_err(failure)?
        }
    };
    let written = out.finish()?;
    if !args.quiet {
        report.lines().iter().for_each(|line| note(line));
        properties
            .iter()
            .filter(|property| property.value.is_some())
            .for_each(|property| note(&property.line()));
        note(&format!("wrote {written}"));
    }
    let left_out = LeftOutFiles {
        files: report.refused.len(),
        why: report.refused,
        compactions: report.without_conversation,
    };
    left_out.check(report.files + left_out.files)
}

fn import_pair(
    before: &PathBuf,
    after: &PathBuf,
    out: &Path,
    options: &Options,
) -> Result<(ImportReport, Vec<Property>), Failure> {
    let name = out.file_stem().unwrap_or_default().to_string_lossy();
    let imported = import::import_pair(before, after, &name, options).map_err(failure)?;
    suites::write(out, &imported.suite).map_err(Failure::failed)?;
    Ok((imported.report, measure(&imported.suite)))
}

/// What cannot be read is the user's to mend; what cannot be written is not a fault of the command.
fn failure(error: ImportError) -> Failure {
    match error {
        ImportError::Write { .. } => Failure::failed(error),
        _ => Failure::usage(error),
    }
}

/// The word that makes two requests one conversation with a compaction.
const PAIR: &str = "pair";
