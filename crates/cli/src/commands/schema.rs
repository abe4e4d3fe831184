//! `schema`: the JSON Schema of a file format.

use anyhow::anyhow;
use compactometer_formats::schemas;
use compactometer_text::suggest::unknown;

use crate::failure::Failure;
use crate::terminal::say_json;

/// Which format.
#[derive(clap::Args)]
pub(crate) struct SchemaArgs {
    /// The format; `compactometer list schemas` names them.
    #[arg(value_name = "KIND")]
    pub(crate) kind: String,
}

pub(crate) fn schema(args: &SchemaArgs) -> Result<(), Failure> {
    let names = schemas::ALL.iter().map(|format| format.name);
    let format = schemas::ALL.iter().find(|format| format.name == args.kind);
    let format = format.ok_or_else(|| Failure::usage(anyhow!(unknown("schema", &args.kind, names))))?;
    say_json(&(format.schema)())
}
