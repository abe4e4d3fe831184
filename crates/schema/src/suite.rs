//! A suite: scenarios in one JSON-lines file, a header line first.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use compactometer_engine::log::{Counted, Log};
use compactometer_engine::message::{Message, Part};
use compactometer_engine::view::View;
use serde::{Deserialize, Serialize};

use crate::matcher::{Matcher, part_text};
use crate::scenario::{Fact, Probe, Scenario};

/// The value of `format` in every suite's header.
pub const FORMAT: &str = "compactometer-suite";
/// The version that this program writes.
pub const VERSION: u32 = 1;

/// Scenarios that are run together.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// The header line.
    pub header: Header,
    /// The scenarios; ids unique.
    pub scenarios: Vec<Scenario>,
}

/// The first line of a suite's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Always [`FORMAT`].
    pub format: String,
    /// At most [`VERSION`].
    pub version: u32,
    /// The suite's name as it stands in reports.
    pub name: String,
    /// The context window that the suite is made for, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
    /// What a reader of results must know, for example what an importer repaired; shown in every report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Header {
    /// A header of the current version.
    pub fn new(name: impl Into<String>, window: Option<u32>, notes: Vec<String>) -> Self {
        Header { format: FORMAT.to_owned(), version: VERSION, name: name.into(), window, notes }
    }
}

impl Suite {
    /// Reads a suite from a file and validates it.
    ///
    /// # Errors
    /// [`SuiteError`] naming file, line and what was expected.
    pub fn read(path: &Path) -> Result<Self, SuiteError> {
        let file = File::open(path).map_err(|source| SuiteError::Io { path: path.to_owned(), source })?;
        Suite::from_reader(BufReader::new(file), path)
    }

    /// Reads a suite from text; `path` names it in errors.
    ///
    /// # Errors
    /// As [`Suite::read`].
    pub fn from_reader(reader: impl BufRead, path: &Path) -> Result<Self, SuiteError> {
        let mut lines = Lines { reader, path, number: 0 };
        let header = match lines.next_line()? {
            Some(line) => parse_header(&line).map_err(|what| lines.error(what))?,
            None => {
                return Err(SuiteError::Line {
                    path: path.to_owned(),
                    line: 1,
                    what: "the file is empty; expected a suite header".to_owned(),
                });
            }
        };
        let mut scenarios = Vec::new();
        let mut ids = HashSet::new();
        while let Some(line) = lines.next_line()? {
            let scenario: Scenario =
                serde_json::from_str(&line).map_err(|error| lines.error(format!("expected a scenario: {error}")))?;
            validate(&scenario).map_err(|what| lines.error(format!("scenario `{}`: {what}", scenario.id)))?;
            if !ids.insert(scenario.id.clone()) {
                return Err(lines.error(format!("scenario id `{}` repeats", scenario.id)));
            }
            scenarios.push(scenario);
        }
        if scenarios.is_empty() {
            return Err(lines.error("no scenario follows the header".to_owned()));
        }
        Ok(Suite { header, scenarios })
    }

    /// Writes the suite as JSON lines.
    ///
    /// # Errors
    /// What the writer returns.
    pub fn write(&self, mut out: impl Write) -> std::io::Result<()> {
        serde_json::to_writer(&mut out, &self.header)?;
        out.write_all(b"\n")?;
        for scenario in &self.scenarios {
            serde_json::to_writer(&mut out, scenario)?;
            out.write_all(b"\n")?;
        }
        out.flush()
    }

    /// The content's hash: blake3 of the written form, in hex.
    pub fn hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        // A hasher never fails to write.
        let _ = self.write(&mut hasher);
        hasher.finalize().to_hex().to_string()
    }
}

/// Whether a file's first bytes are those of a suite; for telling suites from transcripts.
pub fn looks_like_suite(first_line: &str) -> bool {
    parse_header(first_line).is_ok()
}

fn parse_header(line: &str) -> Result<Header, String> {
    let header: Header = serde_json::from_str(line)
        .map_err(|error| format!("expected a suite header such as {{\"format\":\"{FORMAT}\",\"version\":{VERSION},\"name\":...}}: {error}; to read a transcript, `compactometer import` it first"))?;
    if header.format != FORMAT {
        return Err(format!("format `{}` is not `{FORMAT}`", header.format));
    }
    for name in header.notes.iter().chain([&header.name]) {
        is_plain("name or note", name)?;
    }
    if header.version > VERSION {
        return Err(format!(
            "version `{}` is newer than this program's, {VERSION}; update compactometer",
            header.version
        ));
    }
    Ok(header)
}

/// What a scenario must hold so that a replay can trust it.
fn validate(scenario: &Scenario) -> Result<(), String> {
    is_plain("scenario id", &scenario.id)?;
    is_plain("group id", &scenario.group_id)?;
    if scenario.messages.is_empty() {
        return Err("it has no messages".to_owned());
    }
    let log = validate_messages(scenario)?;
    let mut ids = HashSet::new();
    for fact in &scenario.facts {
        if !ids.insert(fact.id.as_str()) {
            return Err(format!("fact id `{}` repeats", fact.id));
        }
        validate_fact(fact, &log).map_err(|what| format!("fact `{}` {what}", fact.id))?;
    }
    for fact in &scenario.facts {
        let named = fact.decoy_of.iter().chain(&fact.supersedes);
        if let Some(unknown) = named.into_iter().find(|id| !ids.contains(id.as_str()) || **id == fact.id) {
            return Err(format!("fact `{}` names fact `{unknown}`, which is no other fact", fact.id));
        }
    }
    for probe in &scenario.probes {
        if log.get(probe.asked_after).is_none() {
            return Err(format!("probe `{}` names message `{}`, which is not there", probe.id, probe.asked_after.0));
        }
        if let Some(unknown) = probe.fact_ids.iter().find(|id| !ids.contains(id.as_str())) {
            return Err(format!("probe `{}` names fact `{unknown}`, which is not there", probe.id));
        }
        validate_order(probe).map_err(|what| format!("probe `{}` {what}", probe.id))?;
    }
    Ok(())
}

/// Ids ascend, a provider would take the chat, and no medium claims more tokens than a window can have.
fn validate_messages(scenario: &Scenario) -> Result<Log, String> {
    let mut log = Log::default();
    let mut view = View::default();
    for message in &scenario.messages {
        for part in &message.parts {
            if let Part::Media { tokens, .. } = part
                && *tokens > MOST_MEDIA_TOKENS
            {
                return Err(format!(
                    "message `{}` has a medium of {tokens} tokens; at most {MOST_MEDIA_TOKENS}",
                    message.id.0
                ));
            }
        }
        let counted = Counted { message: message.clone().into(), tokens: 0 };
        view.push(&counted);
        log.push(counted).map_err(|error| error.to_string())?;
    }
    match view.check().first() {
        Some(violation) => Err(violation.to_string()),
        None => Ok(log),
    }
}

/// Most tokens of one image, sound or document.
const MOST_MEDIA_TOKENS: u32 = 1_000_000;
/// Longest value or variant of a fact, in characters.
const LONGEST_VALUE: usize = 1_000;
/// Greatest weight of a fact.
const GREATEST_WEIGHT: f64 = 1e6;

fn validate_fact(fact: &Fact, log: &Log) -> Result<(), String> {
    is_plain("id", &fact.id)?;
    if fact.forms().chain(fact.foil_values.iter().map(String::as_str)).any(|form| form.trim().is_empty()) {
        return Err("has an empty value, variant or foil".to_owned());
    }
    if fact.forms().any(|form| form.chars().count() > LONGEST_VALUE) {
        return Err(format!("has a value or variant of more than {LONGEST_VALUE} characters"));
    }
    if !(fact.weight > 0.0 && fact.weight <= GREATEST_WEIGHT) {
        return Err(format!("has the weight {}; it must be over 0 and at most {GREATEST_WEIGHT}", fact.weight));
    }
    if fact.evidence_message_ids.is_empty() {
        return Err("names no evidence message".to_owned());
    }
    let named = fact.evidence_message_ids.iter().chain(&fact.used_at).chain(&fact.valid_to);
    if let Some(unknown) = named.into_iter().find(|id| log.get(**id).is_none()) {
        return Err(format!("names message `{}`, which is not there", unknown.0));
    }
    let matcher = Matcher::new([(fact.value_kind, fact.forms())]).map_err(|error| error.to_string())?;
    let states =
        |message: &Message| message.parts.iter().filter_map(part_text).any(|text| matcher.find(text).next().is_some());
    let lying =
        fact.evidence_message_ids.iter().find(|id| log.get(**id).is_some_and(|counted| !states(&counted.message)));
    lying
        .map_or(Ok(()), |id| Err(format!("names message `{}` as evidence, which does not hold `{}`", id.0, fact.value)))
}

/// A list of labels can be read and says where each fact stands.
fn validate_order(probe: &Probe) -> Result<(), String> {
    let Probe { order, fact_ids, .. } = probe;
    if order.is_empty() {
        return Ok(());
    }
    if order.len() < 2 || order.len() != fact_ids.len() {
        return Err(format!(
            "has {} labels for {} facts; an order needs two facts or more, with one label each",
            order.len(),
            fact_ids.len()
        ));
    }
    if let Some(label) = order.iter().find(|label| label.is_empty() || !label.chars().all(char::is_alphanumeric)) {
        return Err(format!("has the label {label:?}; it must be letters and digits"));
    }
    if let Some(twice) = (1..order.len()).find(|at| order[..*at].contains(&order[*at])) {
        return Err(format!("has the label `{}` twice", order[twice]));
    }
    if probe.gold.is_some() || probe.abstain_expected {
        return Err("asks for an order, so it can have no `gold` and not expect to abstain".to_owned());
    }
    Ok(())
}

/// Names stand in terminals and file names: no control characters.
fn is_plain(what: &str, name: &str) -> Result<(), String> {
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(format!("has the {what} {name:?}; it must have letters and no control characters"));
    }
    Ok(())
}

/// Longest line that is read, in bytes: a limit against files that are no suite at all.
const LONGEST_LINE: u64 = 256 * 1024 * 1024;

struct Lines<'p, R> {
    reader: R,
    path: &'p Path,
    number: usize,
}

impl<R: BufRead> Lines<'_, R> {
    /// The next line that is not blank.
    fn next_line(&mut self) -> Result<Option<String>, SuiteError> {
        loop {
            let mut bytes = Vec::new();
            let read = (&mut self.reader).take(LONGEST_LINE).read_until(b'\n', &mut bytes);
            let read = read.map_err(|source| SuiteError::Io { path: self.path.to_owned(), source })?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            if read as u64 == LONGEST_LINE {
                return Err(self.error(format!("line is longer than {LONGEST_LINE} bytes")));
            }
            let line = String::from_utf8(bytes).map_err(|error| self.error(format!("invalid UTF-8: {error}")))?;
            let line = line.strip_prefix('\u{feff}').map_or(line.clone(), str::to_owned);
            if !line.trim().is_empty() {
                return Ok(Some(line));
            }
        }
    }

    fn error(&self, what: String) -> SuiteError {
        SuiteError::Line { path: self.path.to_owned(), line: self.number.max(1), what }
    }
}

/// A suite that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// The file cannot be read at all.
    #[error("cannot read `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A line is not what it should be.
    #[error("`{}`, line {line}: {what}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What was found and what was expected.
        what: String,
    },
}
