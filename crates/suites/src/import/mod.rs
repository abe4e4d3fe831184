//! Importers of transcripts: a file of another program becomes a suite that a replay can trust.
//!
//! A format is one file in `formats` and one line in [`ALL`], and it only reads; what several formats have in common is in
//! `readers`. The later steps are the same for all formats: calls and results are paired, secrets masked, sessions joined if
//! requested, and exact values found if requested. No repair is silent: the [`ImportReport`] lists each with its file and place.
//! Absent on purpose: prices, questions that the file does not have, anything that needs a model.

mod compactions;
mod concat;
mod cut;
mod error;
mod facts;
pub(crate) mod foils;
mod formats;
mod importer;
mod input;
mod kept;
mod nearest;
mod pair;
mod place;
mod project;
mod questions;
mod readers;
mod repair;
mod report;
pub mod secrets;
mod session;
mod settle;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use compactometer_engine::message::{Message, MessageId};

use compactometer_formats::scenario::{Reattached, Scenario, Split};
use compactometer_formats::suite::{Header, Suite};

pub use cut::up_to_compaction;
pub use error::ImportError;
pub use facts::{FactCounts, all_facts, auto_facts};
pub use formats::ALL;
pub use importer::Importer;
pub use kept::{Found, Kept, newest_first, sessions_in};
pub use pair::import_pair;
pub use repair::Repair;
pub use report::ImportReport;

use input::Input;
use report::Recorder;
use session::Session;

/// The importer with this name.
pub fn by_name(name: &str) -> Option<&'static Importer> {
    ALL.iter().copied().find(|importer| importer.name == name)
}

/// The importer whose format a file begins like.
///
/// # Errors
/// [`ImportError`] if the file cannot be read, is a suite already, or is of no known format.
pub fn by_content(path: &Path) -> Result<&'static Importer, ImportError> {
    let input = Input::open(path, None, &mut Recorder::new("any", false))?;
    ALL.iter().copied().find(|importer| (importer.recognises)(&input.text)).ok_or_else(|| {
        let why = match compactometer_formats::suite::looks_like_suite(input.text.lines().next().unwrap_or_default()) {
            true => "is already a suite and needs no import".to_owned(),
            false => format!("is of no known format; nearest are:{}", nearest::nearest(&input.text)),
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
    /// Read only the first line and so many bytes at the end of each file, which must have one object a line. A compaction is then
    /// measured although what came before it may be missing.
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
/// [`ImportError`] with the file, the place and what was expected. Under [`Options::strict`], the first repair is also an error.
pub fn import(importer: &Importer, files: &[PathBuf], name: &str, options: &Options) -> Result<Imported, ImportError> {
    let mut recorder = Recorder::new(importer.name, options.strict);
    let mut sessions = read_all(importer, files, options.last, &mut recorder)?;
    if sessions.is_empty() {
        let (importer, files, repairs) = (importer.name, files.len(), error::first_repairs(&recorder.report.repairs));
        return Err(ImportError::Other(format!("no conversation of format `{importer}` in {files} file(s){repairs}")));
    }
    if !options.keep_secrets {
        recorder.report.secrets = secrets::mask(&mut sessions)?;
    }
    let sessions = match options.concat {
        Some(groups) => concat::join(sessions, groups, &mut recorder)?,
        None => sessions,
    };
    let reattached = importer.reattaches.map(|rule| rule());
    let mut scenarios = into_scenarios(sessions, options, reattached.as_ref(), &mut recorder)?;
    if options.auto_facts {
        recorder.report.facts = Some(facts::find(&mut scenarios, facts::INCIDENTAL, facts::Foils::Made));
    }
    let mut report = recorder.report;
    report.count(&scenarios);
    let header = Header::new(name, None, report.notes());
    Ok(Imported { suite: Suite { header, scenarios }, report })
}

/// The normalized sessions of all files. A file with the same content as an earlier one is left out.
fn read_all(
    importer: &Importer,
    files: &[PathBuf],
    last: Option<u64>,
    recorder: &mut Recorder,
) -> Result<Vec<Session>, ImportError> {
    let mut seen = HashSet::new();
    let mut sessions = Vec::new();
    for path in files {
        let input = Input::open(path, last, recorder)?;
        recorder.report.files += 1;
        if !seen.insert(blake3::hash(input.text.as_bytes())) {
            let what = "same content as an earlier file: left out".to_owned();
            recorder.repair(place::Place::Line(1), what)?;
            continue;
        }
        if !(importer.recognises)(&input.text) {
            let (file, expected, hint) = (&input.file, importer.about, hint(importer, &input.text));
            return Err(ImportError::Other(format!("`{file}`, line 1: expected {expected}{hint}")));
        }
        for session in (importer.read)(&input, recorder)? {
            sessions.extend(settle::settle(session.with_plain_names(&input.stem), recorder)?);
        }
    }
    Ok(sessions)
}

/// A hint at the actual format of a file, judged by its beginning.
fn hint(tried: &Importer, text: &str) -> String {
    if compactometer_formats::suite::looks_like_suite(text.lines().next().unwrap_or_default()) {
        return "; it is already a suite and needs no import".to_owned();
    }
    match ALL.iter().find(|other| other.name != tried.name && (other.recognises)(text)) {
        Some(other) => format!("; it looks like `{}`", other.name),
        None => format!("; formats are {}", ALL.iter().map(|known| known.name).collect::<Vec<_>>().join(", ")),
    }
}

fn into_scenarios(
    sessions: Vec<Session>,
    options: &Options,
    reattached: Option<&Reattached>,
    recorder: &mut Recorder,
) -> Result<Vec<Scenario>, ImportError> {
    let mut numbers = BTreeMap::new();
    let (mut taken, mut projects) = (HashSet::new(), project::Names::default());
    let mut scenarios = Vec::with_capacity(sessions.len());
    for mut session in sessions {
        recorder.begin(&session.file);
        let id = unused_id(&session, &mut numbers, &mut taken);
        let projects = session.projects.iter().map(|project| projects.name(project)).collect();
        let compactions::Resolved { measured, unmeasured } =
            compactions::resolve(&session, options.last.is_some(), recorder)?;
        let asked = std::mem::take(&mut session.questions);
        let places = (1..).zip(&session.messages).map(|(number, said)| (said.place, MessageId(number))).collect();
        let mut scenario = Scenario {
            compactions: measured,
            unmeasured,
            reattached: reattached.cloned(),
            ..scenario(session, id, projects)
        };
        questions::add(asked, &places, &mut scenario);
        scenarios.push(scenario);
    }
    Ok(scenarios)
}

fn unused_id(session: &Session, numbers: &mut BTreeMap<String, usize>, taken: &mut HashSet<String>) -> String {
    loop {
        let number = numbers.entry(session.stem.clone()).or_insert(0);
        *number += 1;
        let id = match (*number, session.numbered) {
            (number, true) => format!("{}{number}", session.stem),
            (1, false) => session.stem.clone(),
            (number, false) => format!("{}/{number}", session.stem),
        };
        if taken.insert(id.clone()) {
            return id;
        }
    }
}

fn scenario(session: Session, id: String, projects: Vec<String>) -> Scenario {
    let messages = session.messages.into_iter().zip(1..).map(|(said, number)| Message {
        id: MessageId(number),
        role: said.role,
        at_ms: said.at_ms,
        parts: said.parts,
        usage: said.usage.map(Box::new),
    });
    Scenario {
        id,
        group_id: session.group,
        projects,
        version: 1,
        seed: None,
        source: session.source,
        licence: None,
        split: Split::Dev,
        tools: Vec::new(),
        messages: messages.collect(),
        compactions: Vec::new(),
        unmeasured: Vec::new(),
        directories: session.directories,
        reattached: None,
        memory_notes: Vec::new(),
        facts: Vec::new(),
        probes: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
