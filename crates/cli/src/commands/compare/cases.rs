//! The pages of single conversations, written with the report.

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

use compactometer_formats::manifest::Manifest;
use compactometer_harness::plan::{Plan, PlannedCase};
use compactometer_harness::run::Lookup;
use compactometer_report::Cases;

use crate::output::failure::Failure;
use crate::output::progress;

/// Which conversations have pages of their own: the first of the suite, up to both limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WhichCases {
    conversations: usize,
    bytes: u64,
}

impl FromStr for WhichCases {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        /// Bytes of pages that are written without being asked for.
        const SOME: u64 = 25_000_000;
        let (conversations, bytes) = match text {
            "none" => (0, 0),
            "some" => (usize::MAX, SOME),
            "all" => (usize::MAX, u64::MAX),
            number => (
                number
                    .parse()
                    .map_err(|_| "expected `none`, `some`, `all` or a number of conversations")?,
                u64::MAX,
            ),
        };
        Ok(WhichCases {
            conversations,
            bytes,
        })
    }
}

/// Writes the pages of a finished run into its folder.
pub(super) fn write(
    dir: &Path,
    plan: &Plan,
    manifest: &Manifest,
    which: WhichCases,
    quiet: bool,
) -> Result<(), Failure> {
    let mut pages = Cases::begin(dir, which.bytes, plan.suite.len()).map_err(Failure::failed)?;
    if which.conversations == 0 {
        return Ok(());
    }
    let lookup = Lookup::open(dir).map_err(Failure::failed)?;
    let mut cases_of = BTreeMap::<&str, Vec<&PlannedCase>>::new();
    for case in plan.cases.iter().filter(|case| !plan.is_swept(case)) {
        cases_of
            .entry(&case.prepared.scenario.id)
            .or_default()
            .push(case);
    }
    let bar = progress::bar(plan.suite.len(), "pages", quiet);
    for prepared in plan.suite.iter().take(which.conversations) {
        let of_conversation = cases_of
            .get(prepared.scenario.id.as_str())
            .into_iter()
            .flatten();
        let cases = of_conversation.filter_map(|case| lookup.case(&case.key).transpose());
        let cases = cases
            .collect::<Result<Vec<_>, _>>()
            .map_err(Failure::failed)?;
        if !pages
            .add(&prepared.scenario, &prepared.messages, &cases)
            .map_err(Failure::failed)?
        {
            break;
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    pages.finish(manifest).map_err(Failure::failed)
}
