//! Importers of transcripts: a file of another program becomes a suite that a replay can trust.
//!
//! A format is one file in `formats` and one line in [`ALL`], and it only reads; what several
//! formats have in common is in `readers`. The later steps are the same for all formats: calls and
//! results are paired, secrets masked, sessions joined if requested, and exact values found if
//! requested. No repair is silent: the [`ImportReport`] lists each with its file and place. Absent
//! on purpose: prices, questions that the file does not have, anything that needs a model.

mod concat;
mod cut;
mod doubts;
mod error;
mod facts;
pub(crate) mod foils;
mod formats;
mod importer;
mod input;
mod kept;
mod limits;
mod mapped;
mod nearest;
mod pair;
mod place;
mod project;
mod questions;
mod readers;
mod reading;
mod recorded_compactions;
mod repair;
mod report;
pub mod secrets;
mod session;
mod settle;
mod spool;

use std::path::{Path, PathBuf};

use compactometer_disk::write_whole;
use compactometer_formats::property::Property;
use compactometer_formats::suite::{Header, Suite, write_line};

use crate::properties::measure_all;

pub use cut::up_to_compaction;
pub use error::ImportError;
pub use facts::{FactCounts, all_facts, auto_facts};
pub use formats::ALL;
pub use importer::Importer;
pub use kept::{FoundSession, SessionFolder, newest_first, sessions_in};
pub use mapped::{MAPPED, Map};
pub use pair::import_pair;
pub use repair::Repair;
pub use report::ImportReport;

use input::{Extent, Input};
use reading::SuiteReading;
use report::Recorder;
use spool::Spool;

/// The importer with this name.
pub fn by_name(name: &str) -> Option<&'static Importer> {
    ALL.iter().copied().find(|importer| importer.name == name)
}

/// The importer whose format a file begins like.
///
/// # Errors
/// [`ImportError`] if the file cannot be read, is a suite already, or is of no known format.
pub fn by_content(path: &Path) -> Result<&'static Importer, ImportError> {
    let input = Input::open(path, Extent::Beginning, &mut Recorder::new("any", false))?;
    ALL.iter()
        .copied()
        .find(|importer| (importer.recognises)(&input.text))
        .ok_or_else(|| {
            let why = match compactometer_formats::suite::looks_like_suite(
                input.text.lines().next().unwrap_or_default(),
            ) {
                true => "is already a suite and needs no import".to_owned(),
                false => format!(
                    "is of no known format; nearest are:{}",
                    nearest::nearest(&input.text)
                ),
            };
            ImportError::Other(format!("`{}` {why}", input.file))
        })
}

/// What an import does in addition to reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Find exact values and where calls use them, as facts.
    pub auto_facts: bool,
    /// Join sessions of this many groups, interleaved by user turn.
    pub concat: Option<usize>,
    /// Keep secrets instead of masking them.
    pub keep_secrets: bool,
    /// Fail instead of making a repair.
    pub strict: bool,
    /// Also read a file that shows a wrong format (no call has a result, or many rows are dropped)
    /// or is larger than a session.
    pub lenient: bool,
    /// Leave out a file that is refused, and report it, instead of failing.
    pub skip_refused: bool,
    /// Read only the first line and so many bytes at the end of each file, which must have one
    /// object a line. A compaction is then measured although what came before it may be missing.
    pub last: Option<u64>,
}

/// A suite made from transcripts, and a report about the import.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The suite; it passes [`Suite::read`]'s validation.
    pub suite: Suite,
    /// What was read, repaired, masked and left out.
    pub report: ImportReport,
}

/// Reads files of one format into one suite called `name`.
///
/// # Errors
/// [`ImportError`] with the file, the place and what was expected. Under [`Options::strict`], the
/// first repair is also an error.
pub fn import(
    importer: &Importer,
    files: &[PathBuf],
    name: &str,
    options: &Options,
) -> Result<Imported, ImportError> {
    let mut scenarios = Vec::new();
    let mut report =
        SuiteReading::new(importer, options)?.read_all(files, &mut || (), &mut |scenario| {
            scenarios.push(scenario);
            Ok(())
        })?;
    if options.auto_facts {
        report.facts = Some(facts::find(
            &mut scenarios,
            facts::INCIDENTAL,
            facts::Foils::Made,
        ));
    }
    let header = Header::new(name, None, report.notes());
    Ok(Imported {
        suite: Suite { header, scenarios },
        report,
    })
}

/// Reads files of one format into a suite at `out`, called like that file. Unless
/// [`Options::concat`] is given, only one file's conversations are in memory at a time. Calls
/// `is_read` after each file. Also measures the suite's properties. Files of [`MAPPED`] need a map.
///
/// # Errors
/// As [`import`]; and [`ImportError::Write`], after which `out` is as it was.
pub fn import_to(
    out: &Path,
    (importer, map): (&Importer, Option<&Map>),
    files: &[PathBuf],
    options: &Options,
    is_read: &mut dyn FnMut(),
) -> Result<(ImportReport, Vec<Property>), ImportError> {
    let cannot = |source| ImportError::Write {
        path: out.to_owned(),
        source,
    };
    let mut spool = Spool::beside(out).map_err(cannot)?;
    let mut finder = options
        .auto_facts
        .then(|| facts::Finder::new(facts::INCIDENTAL, facts::Foils::Made));
    let mut report = SuiteReading::new(importer, options)?.by_map(map).read_all(
        files,
        is_read,
        &mut |mut scenario| {
            if let Some(finder) = &mut finder {
                finder.add(finder.look(&scenario), &mut scenario);
            }
            spool.push(&scenario).map_err(cannot)
        },
    )?;
    let found = finder
        .map(|finder| finder.compare(&mut spool))
        .transpose()
        .map_err(cannot)?;
    report.facts = found.as_ref().map(|found| found.counts);
    let name = out.file_stem().unwrap_or_default().to_string_lossy();
    let header = Header::new(name, None, report.notes());
    let written = write_whole(out, |file| {
        write_line(file, &header)?;
        spool.each(|number, mut scenario| {
            found
                .iter()
                .for_each(|found| found.mark(number, &mut scenario));
            write_line(file, &scenario)
        })
    });
    written.map_err(cannot)?;
    Ok((report, measure_all(&mut spool).map_err(cannot)?))
}

#[cfg(test)]
mod tests;
