//! `import`: transcripts of another program become a suite.

use anyhow::anyhow;
use compactometer_schema::import::{self, Options};

use crate::args::ImportArgs;
use crate::failure::Failure;
use crate::files::write_whole;

pub(crate) fn import(args: &ImportArgs) -> Result<(), Failure> {
    let Some(importer) = import::by_name(&args.format) else {
        let choices = import::ALL.iter().map(|importer| format!("`{}`", importer.name)).collect::<Vec<_>>().join(", ");
        return Err(Failure::usage(anyhow!("unknown format `{}`; choose from {choices}", args.format)));
    };
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
    write_whole(&args.out, |out| imported.suite.write(out)).map_err(Failure::failed)?;
    if !args.quiet {
        for line in imported.report.lines() {
            eprintln!("{line}");
        }
        eprintln!("wrote {}", args.out.display());
    }
    Ok(())
}
