//! `schema`: the JSON Schema of a file format.

use anyhow::anyhow;
use clap::Args;
use compactometer_formats::schemas;
use compactometer_text::suggest::unknown;

use super::command_row::{CommandRow, parsed};
use crate::arguments::help::HelpGroup;
use crate::output::failure::Failure;
use crate::output::terminal::say_json;

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "schema",
    about: "Print the JSON Schema of a file format, for programs that read or write it",
    group: HelpGroup::Rest,
    arguments: SchemaArgs::augment_args,
    run: |matches| schema(&parsed(matches)?),
};

#[derive(clap::Args)]
pub(crate) struct SchemaArgs {
    /// The format; `compactometer list schemas` names them.
    #[arg(value_name = "KIND")]
    pub(crate) kind: String,
}

fn schema(args: &SchemaArgs) -> Result<(), Failure> {
    let names = schemas::ALL.iter().map(|format| format.name);
    let format = schemas::ALL.iter().find(|format| format.name == args.kind);
    let format =
        format.ok_or_else(|| Failure::usage(anyhow!(unknown("schema", &args.kind, names))))?;
    say_json(&(format.schema)())
}
