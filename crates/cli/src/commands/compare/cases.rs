//! The pages of single conversations, written with the report.

use std::collections::BTreeMap;
use std::path::Path;

use clap::ValueEnum;
use compactometer_formats::manifest::Manifest;
use compactometer_harness::plan::{Plan, PlannedCase};
use compactometer_harness::run::Lookup;
use compactometer_report::Cases;

use crate::output::failure::Failure;
use crate::output::progress;

/// Which conversations have pages of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Which {
    /// None.
    None,
    /// The first ones, up to 100 MB of pages.
    Some,
    /// All.
    All,
}

/// Bytes of pages that are written without being asked for.
const MOST: u64 = 100_000_000;

/// Writes the pages of a finished run into its folder.
pub(super) fn write(dir: &Path, plan: &Plan, manifest: &Manifest, which: Which, quiet: bool) -> Result<(), Failure> {
    let most = match which {
        Which::None => Some(0),
        Which::Some => Some(MOST),
        Which::All => None,
    };
    let mut pages = Cases::begin(dir, most, plan.suite.len()).map_err(Failure::failed)?;
    if which == Which::None {
        return Ok(());
    }
    let lookup = Lookup::open(dir).map_err(Failure::failed)?;
    let mut cases_of = BTreeMap::<&str, Vec<&PlannedCase>>::new();
    for case in plan.cases.iter().filter(|case| !plan.is_swept(case)) {
        cases_of.entry(&case.prepared.scenario.id).or_default().push(case);
    }
    let bar = progress::bar(plan.suite.len(), "pages", quiet);
    for prepared in &plan.suite {
        let of_conversation = cases_of.get(prepared.scenario.id.as_str()).into_iter().flatten();
        let cases = of_conversation.filter_map(|case| lookup.case(&case.key).transpose());
        let cases = cases.collect::<Result<Vec<_>, _>>().map_err(Failure::failed)?;
        if !pages.add(&prepared.scenario, &prepared.messages, &cases).map_err(Failure::failed)? {
            break;
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    pages.finish(manifest).map_err(Failure::failed)
}
