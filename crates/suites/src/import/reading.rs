//! Reads files one after the other and gives their conversations as scenarios: paired, masked,
//! joined if requested, and named.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use compactometer_engine::message::{Message, MessageId};
use compactometer_formats::scenario::{Reattached, Scenario, Split};

use super::error::{self, ImportError};
use super::importer::Importer;
use super::input::{Extent, Input};
use super::limits;
use super::place::Place;
use super::report::{ImportReport, Recorder};
use super::secrets::Masker;
use super::session::ReadSession;
use super::{ALL, Map, Options, concat, doubts, project, questions, recorded_compactions, settle};

/// Takes the next conversation.
pub(super) type Push<'p> = dyn FnMut(Scenario) -> Result<(), ImportError> + 'p;

/// The state of an import between two files.
pub(super) struct SuiteReading<'i> {
    importer: &'i Importer,
    options: &'i Options,
    map: Option<&'i Map>,
    recorder: Recorder,
    /// The contents of the files read.
    seen: HashSet<blake3::Hash>,
    masker: Option<Masker>,
    /// Sessions that are to be joined when all are read.
    to_join: Vec<ReadSession>,
    names: SuiteNames,
    reattached: Option<Reattached>,
}

impl<'i> SuiteReading<'i> {
    pub(super) fn new(importer: &'i Importer, options: &'i Options) -> Result<Self, ImportError> {
        Ok(SuiteReading {
            importer,
            options,
            map: None,
            recorder: Recorder::new(importer.name, options.strict),
            seen: HashSet::new(),
            masker: (!options.keep_secrets).then(Masker::new).transpose()?,
            to_join: Vec::new(),
            names: SuiteNames::default(),
            reattached: importer.reattaches.map(|rule| rule()),
        })
    }

    /// The same for files whose fields a map names.
    pub(super) fn by_map(self, map: Option<&'i Map>) -> Self {
        SuiteReading { map, ..self }
    }

    /// Reads all files. `is_read` is called after each of them.
    pub(super) fn read_all(
        mut self,
        files: &[PathBuf],
        is_read: &mut dyn FnMut(),
        push: &mut Push<'_>,
    ) -> Result<ImportReport, ImportError> {
        for file in files {
            let sessions = match self.sessions(file) {
                Err(refused) if self.options.skip_refused => {
                    self.recorder.report.refused.push(refused.to_string());
                    Vec::new()
                }
                sessions => sessions?,
            };
            self.recorder.report.files += 1;
            for session in sessions {
                match self.options.concat {
                    Some(_) => self.to_join.push(session),
                    None => self.scenario(session, push)?,
                }
            }
            is_read();
        }
        if self.recorder.report.scenarios == 0 && self.to_join.is_empty() {
            let (importer, files) = (self.importer.name, files.len());
            let repairs = error::first_repairs(&self.recorder.report.repairs);
            let refused = &self.recorder.report.refused;
            let refused = refused.iter().map(|why| format!("; {why}"));
            return Err(ImportError::Other(format!(
                "no conversation of format `{importer}` in {files} file(s){repairs}{}",
                refused.collect::<String>()
            )));
        }
        if let Some(groups) = self.options.concat {
            let sessions = std::mem::take(&mut self.to_join);
            for session in concat::join(sessions, groups, &mut self.recorder)? {
                self.scenario(session, push)?;
            }
        }
        let secrets = self.masker.map(|masker| masker.counts).unwrap_or_default();
        Ok(ImportReport {
            secrets,
            ..self.recorder.report
        })
    }

    /// The normalized sessions of a file; none if its content is that of an earlier file.
    fn sessions(&mut self, path: &Path) -> Result<Vec<ReadSession>, ImportError> {
        let recorder = &mut self.recorder;
        let extent = match self.options.last {
            Some(most) => Extent::Ends(most),
            None if self.importer.by_line => Extent::Lines,
            None => Extent::Whole,
        };
        if !self.options.lenient && self.options.last.is_none() {
            limits::check(path)?;
        }
        let input = Input::open(path, extent, recorder)?;
        if !self.seen.insert(input.hash) {
            recorder.repair(
                Place::Line(1),
                "same content as an earlier file: left out".to_owned(),
            )?;
            return Ok(Vec::new());
        }
        if !(self.importer.recognises)(&input.text) {
            // What else it may be shows in all of it.
            let input = match input.is_beginning() {
                true => Input::open(path, Extent::Whole, recorder)?,
                false => input,
            };
            let (file, expected, hint) = (
                &input.file,
                self.importer.about,
                hint(self.importer, &input.text),
            );
            return Err(ImportError::Other(format!(
                "`{file}`, line 1: expected {expected}{hint}"
            )));
        }
        let before = recorder.report.repairs.len();
        let read = match self.map {
            Some(map) => map.read(&input, recorder)?,
            None => (self.importer.read)(&input, recorder)?,
        };
        if !self.options.lenient {
            doubts::must_have_results(&read, &input.file)?;
            doubts::must_not_drop(&recorder.report.repairs[before..], &read, &input.file)?;
        }
        let stem = input.stem;
        // A long session's text is most of the memory.
        drop(input.text);
        let mut sessions = Vec::new();
        for session in read {
            sessions.extend(settle::settle(session.with_plain_names(&stem), recorder)?);
        }
        if let Some(masker) = &mut self.masker {
            sessions
                .iter_mut()
                .for_each(|session| masker.session(session));
        }
        Ok(sessions)
    }

    fn scenario(
        &mut self,
        mut session: ReadSession,
        push: &mut Push<'_>,
    ) -> Result<(), ImportError> {
        self.recorder.begin(&session.file);
        let (id, projects) = (
            self.names.unused_id(&session),
            self.names.projects(&session),
        );
        let is_part = self.options.last.is_some();
        let recorded_compactions::ResolvedCompactions {
            measured,
            unmeasured,
        } = recorded_compactions::resolve(&session, is_part, &mut self.recorder)?;
        let asked = std::mem::take(&mut session.questions);
        let places = (1..)
            .zip(&session.messages)
            .map(|(number, said)| (said.place, MessageId(number)))
            .collect();
        let mut scenario = Scenario {
            compactions: measured,
            shaped_after: None,
            unmeasured,
            reattached: self.reattached.clone(),
            ..scenario(session, id, projects)
        };
        questions::add(asked, &places, &mut scenario);
        self.recorder.count(&scenario);
        push(scenario)
    }
}

/// A hint at the actual format of a file, judged by its beginning.
fn hint(tried: &Importer, text: &str) -> String {
    if compactometer_formats::suite::looks_like_suite(text.lines().next().unwrap_or_default()) {
        return "; it is already a suite and needs no import".to_owned();
    }
    match ALL
        .iter()
        .find(|other| other.name != tried.name && (other.recognises)(text))
    {
        Some(other) => format!("; it looks like `{}`", other.name),
        None => format!(
            "; formats are {}",
            ALL.iter()
                .map(|known| known.name)
                .collect::<Vec<_>>()
                .join(", ")
        ),
    }
}

/// The names that conversations and projects of the suite have so far.
#[derive(Default)]
struct SuiteNames {
    numbers: BTreeMap<String, usize>,
    taken: HashSet<String>,
    projects: project::ProjectNames,
}

impl SuiteNames {
    fn unused_id(&mut self, session: &ReadSession) -> String {
        loop {
            let number = self.numbers.entry(session.stem.clone()).or_insert(0);
            *number += 1;
            let id = match (*number, session.numbered) {
                (number, true) => format!("{}{number}", session.stem),
                (1, false) => session.stem.clone(),
                (number, false) => format!("{}/{number}", session.stem),
            };
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
    }

    fn projects(&mut self, session: &ReadSession) -> Vec<String> {
        session
            .projects
            .iter()
            .map(|project| self.projects.name(project))
            .collect()
    }
}

fn scenario(session: ReadSession, id: String, projects: Vec<String>) -> Scenario {
    let log = session.notes.of_messages(&session.messages);
    let messages = session
        .messages
        .into_iter()
        .zip(1..)
        .map(|(said, number)| Message {
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
        shaped_after: None,
        unmeasured: Vec::new(),
        log,
        directories: session.directories,
        reattached: None,
        memory_notes: Vec::new(),
        said: Vec::new(),
        facts: Vec::new(),
        probes: Vec::new(),
    }
}
