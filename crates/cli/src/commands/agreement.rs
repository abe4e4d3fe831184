//! `agreement`: a mock's order of strategies beside a model's.

use std::path::Path;

use anyhow::Context;
use compactometer_report::agreement::{agreement as compared, agreement_text};
use compactometer_report::gate::RunFiles;
use compactometer_schema::prices::PriceTable;

use crate::args::AgreementArgs;
use crate::failure::Failure;
use crate::print;

/// Compares the runs of two or three folders.
pub(crate) fn agreement(args: &AgreementArgs) -> Result<(), Failure> {
    let prices = PriceTable::shipped().context("the shipped price table").map_err(Failure::failed)?;
    let read = |dir: &Path| RunFiles::read(dir).map_err(Failure::usage);
    let (mock, model) = (read(&args.mock)?, read(&args.model)?);
    let again = args.ceiling.as_deref().map(read).transpose()?;
    let found = compared(&mock, &model, again.as_ref(), &prices).map_err(Failure::usage)?;
    if !args.json {
        return print(&agreement_text(&found));
    }
    let json = serde_json::to_string_pretty(&found).map_err(Failure::failed)?;
    print(&format!("{json}\n"))
}
