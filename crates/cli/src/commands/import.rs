//! `import`: transcripts of another program become a suite.

use anyhow::{Context, anyhow};
use compactometer_harness::properties::measure;
use compactometer_schema::choice::unknown;
use compactometer_schema::import::{self, Options};
use compactometer_schema::whole::write_whole;

use crate::args::ImportArgs;
use crate::failure::Failure;

pub(crate) fn import(args: &ImportArgs) -> Result<(), Failure> {
    let Some(importer) = import::by_name(&args.format) else {
        let choices = import::ALL.iter().map(|importer| importer.name);
        return Err(Failure::usage(anyhow!(unknown("format", &args.format, choices))));
    };
    if args.out.extension().is_some_and(|extension| extension == "toml") {
        return Err(Failure::usage(anyhow!(
            "`{}` ends in `.toml`, which names generator specs; use `.jsonl`",
            args.out.display()
        )));
    }
    if args.out.exists() && !args.force {
        return Err(Failure::usage(anyhow!("`{}` exists; give `--force` to overwrite it", args.out.display())));
    }
    let name = args.out.file_stem().map_or_else(|| args.format.clone(), |stem| stem.to_string_lossy().into_owned());
    let options = Options {
        auto_facts: args.auto_facts,
        concat: args.concat.map(usize::from),
        keep_secrets: args.keep_secrets,
        strict: args.strict,
    };
    let imported = import::import(importer, &args.files, &name, &options).map_err(Failure::usage)?;
    let written = write_whole(&args.out, |out| imported.suite.write(out));
    written.with_context(|| format!("cannot write `{}`", args.out.display())).map_err(Failure::failed)?;
    if !args.quiet {
        for line in imported.report.lines() {
            eprintln!("{line}");
        }
        for property in measure(&imported.suite) {
            eprintln!("{}", property.line());
        }
        eprintln!("wrote {}", args.out.display());
    }
    Ok(())
}
