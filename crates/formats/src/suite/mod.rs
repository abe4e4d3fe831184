//! A suite: scenarios in one JSON-lines file, a header line first.

mod valid;
mod valid_sentences;

pub use valid::MOST_REPORTED_TOKENS;

use std::collections::HashSet;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scenario::Scenario;
use compactometer_disk::input;

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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Always [`FORMAT`].
    pub format: String,
    /// At most [`VERSION`].
    pub version: u32,
    /// The suite's name in reports.
    pub name: String,
    /// The context window that the suite is made for, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
    /// What a compaction may leave in that window, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retained: Option<u32>,
    /// Ids of the metrics that answer what the suite is for, which a table shows first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headline_metrics: Vec<String>,
    /// Notes that every report shows, for example what an importer repaired.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Header {
    /// A header of the current version.
    pub fn new(name: impl Into<String>, window: Option<u32>, notes: Vec<String>) -> Self {
        Header {
            format: FORMAT.to_owned(),
            version: VERSION,
            name: name.into(),
            window,
            retained: None,
            headline_metrics: Vec::new(),
            notes,
        }
    }

    /// What is wrong with the retained budget, if anything.
    pub fn fault(&self) -> Option<String> {
        let retained = self.retained?;
        let window = self.window.unwrap_or(0);
        (retained == 0 || retained >= window).then(|| {
            format!(
                "`retained` is `{retained}`; expected a number of tokens from 1 and under `window`"
            )
        })
    }

    /// The share of its window that a compaction may leave, if the suite has both.
    pub fn retained_share(&self) -> Option<f64> {
        Some(f64::from(self.retained?) / f64::from(self.window?))
    }
}

impl Suite {
    /// Reads a suite from a file and validates it.
    ///
    /// # Errors
    /// [`SuiteError`] naming the file, and of each fault the line and what was expected.
    pub fn read(path: &Path) -> Result<Self, SuiteError> {
        let file = input::open(path).map_err(|source| SuiteError::Io {
            path: path.to_owned(),
            source,
        })?;
        Suite::from_reader(BufReader::new(file), path)
    }

    /// Reads a suite from text; `path` names it in errors.
    ///
    /// # Errors
    /// As [`Suite::read`].
    pub fn from_reader(reader: impl BufRead, path: &Path) -> Result<Self, SuiteError> {
        let mut lines = SuiteLines {
            reader,
            path,
            number: 0,
            ended: false,
        };
        let mut faults = SuiteFaults::default();
        let first = lines
            .next_line()?
            .unwrap_or_else(|| Err("the file is empty; expected a suite header".to_owned()));
        // A file without a header is not a suite, so its other lines are not judged.
        let header = first
            .and_then(|line| parse_header(&line))
            .map_err(|what| SuiteFaults::only(lines.number, what).at(path))?;
        check_header(&header, lines.number, &mut faults);
        let scenarios = scenarios(&mut lines, &mut faults)?;
        if scenarios.is_empty() && faults.count == 0 {
            faults.push(
                lines.number,
                "no scenario follows the header; add one on a line of its own".to_owned(),
            );
        }
        if faults.count > 0 {
            return Err(faults.at(path));
        }
        Ok(Suite { header, scenarios })
    }

    /// Writes the suite as JSON lines.
    ///
    /// # Errors
    /// What the writer returns.
    pub fn write(&self, mut out: impl Write) -> std::io::Result<()> {
        write_line(&mut out, &self.header)?;
        self.scenarios
            .iter()
            .try_for_each(|scenario| write_line(&mut out, scenario))?;
        out.flush()
    }

    /// The content's hash: blake3 of the written form, in hex.
    pub fn hash(&self) -> String {
        self.hashes().0
    }

    /// The content's hash and the hash of each scenario's line without its end, computed in one
    /// pass.
    pub fn hashes(&self) -> (String, Vec<String>) {
        let mut whole = blake3::Hasher::new();
        hash_line(&self.header, &mut whole);
        let scenarios = self
            .scenarios
            .iter()
            .map(|scenario| hash_line(scenario, &mut whole))
            .collect();
        (whole.finalize().to_hex().to_string(), scenarios)
    }
}

fn check_header(header: &Header, line: usize, faults: &mut SuiteFaults) {
    for name in header.notes.iter().chain([&header.name]) {
        if let Err(what) = is_plain("name or note", name) {
            faults.push(line, what);
        }
    }
    if let Some(what) = header.fault() {
        faults.push(line, what);
    }
}

/// Writes a line of a suite: its [`Header`], which comes first, or a [`Scenario`].
///
/// # Errors
/// What the writer returns.
pub fn write_line(
    out: &mut (impl Write + ?Sized),
    content: &impl Serialize,
) -> std::io::Result<()> {
    serde_json::to_writer(&mut *out, content)?;
    out.write_all(b"\n")
}

/// The hash of a line without its end. The hash of the whole includes the end.
fn hash_line(content: &impl Serialize, whole: &mut blake3::Hasher) -> String {
    let mut line = blake3::Hasher::new();
    let mut out = BufWriter::with_capacity(HASHED_AT_ONCE, Both(whole, &mut line));
    // Writing to a hash cannot fail.
    let _ = serde_json::to_writer(&mut out, content)
        .map_err(std::io::Error::from)
        .and_then(|()| out.flush());
    drop(out);
    whole.update(b"\n");
    line.finalize().to_hex().to_string()
}

/// Bytes that are hashed at once, since a line may be too long to be in memory beside its content.
const HASHED_AT_ONCE: usize = 64 << 10;

/// Two hashes of the same bytes.
struct Both<'h>(&'h mut blake3::Hasher, &'h mut blake3::Hasher);

impl Write for Both<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        self.1.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Whether a file's first bytes are those of a suite and not of a transcript.
pub fn looks_like_suite(first_line: &str) -> bool {
    parse_header(first_line).is_ok()
}

/// Whether the file at that path begins like a suite. A file that cannot be read does not.
pub fn is_suite_file(path: &Path) -> bool {
    /// The most bytes of a header that are read.
    const LONGEST: u64 = 1 << 20;
    let Ok(file) = compactometer_disk::input::open(path) else {
        return false;
    };
    let mut line = String::new();
    let read = BufReader::new(file.take(LONGEST)).read_line(&mut line);
    read.is_ok() && looks_like_suite(&line)
}

fn parse_header(line: &str) -> Result<Header, String> {
    let header: Header = serde_json::from_str(line)
        .map_err(|error| format!("expected a suite header such as {{\"format\":\"{FORMAT}\",\"version\":{VERSION},\"name\":...}}: {error}; to read a transcript, `compactometer import` it first"))?;
    if header.format != FORMAT {
        return Err(format!("format `{}` is not `{FORMAT}`", header.format));
    }
    if header.version > VERSION {
        return Err(format!(
            "version `{}` is newer than this program's, {VERSION}; update compactometer",
            header.version
        ));
    }
    Ok(header)
}

/// Names appear in terminals and file names, so they may have no control characters.
fn is_plain(what: &str, name: &str) -> Result<(), String> {
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(format!(
            "has the {what} {name:?}; it must have letters and no control characters"
        ));
    }
    Ok(())
}

/// The scenarios after the header. None is kept once a fault is found.
fn scenarios(
    lines: &mut SuiteLines<'_, impl BufRead>,
    faults: &mut SuiteFaults,
) -> Result<Vec<Scenario>, SuiteError> {
    let mut scenarios = Vec::new();
    let mut ids = HashSet::new();
    while let Some(line) = lines.next_line()? {
        // A conversation may take much of the memory, so its line is dropped before the checks.
        let mut scenario = match line.and_then(parse_scenario) {
            Ok(scenario) => scenario,
            Err(what) => {
                faults.push(lines.number, what);
                continue;
            }
        };
        let id = scenario.id.escape_debug().to_string();
        for what in valid::scenario(&mut scenario) {
            faults.push(lines.number, format!("scenario `{id}`: {what}"));
        }
        if !ids.insert(scenario.id.clone()) {
            faults.push(
                lines.number,
                format!("scenario id `{id}` repeats; give each scenario an id of its own"),
            );
        }
        if faults.count == 0 {
            scenarios.push(scenario);
        }
    }
    Ok(scenarios)
}

fn parse_scenario(line: String) -> Result<Scenario, String> {
    serde_json::from_str(line.trim_end()).map_err(|error| {
        let error = error.to_string().replace("line 1 column", "column");
        format!("expected a scenario: {error}; `compactometer schema suite` prints the format")
    })
}

/// Longest line that is read, in bytes. It protects against files that are not a suite.
const LONGEST_LINE: u64 = 256 * 1024 * 1024;

struct SuiteLines<'p, R> {
    reader: R,
    path: &'p Path,
    number: usize,
    /// Whether the rest cannot be divided into lines.
    ended: bool,
}

impl<R: BufRead> SuiteLines<'_, R> {
    /// The next line that is not blank, or why it cannot be read.
    fn next_line(&mut self) -> Result<Option<Result<String, String>>, SuiteError> {
        while !self.ended {
            let mut bytes = Vec::new();
            let read = (&mut self.reader)
                .take(LONGEST_LINE)
                .read_until(b'\n', &mut bytes);
            let read = read.map_err(|source| SuiteError::Io {
                path: self.path.to_owned(),
                source,
            })?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            if read as u64 == LONGEST_LINE {
                self.ended = true;
                let what = format!(
                    "line is longer than {LONGEST_LINE} bytes; write one scenario on each line"
                );
                return Ok(Some(Err(what)));
            }
            match without_mark(bytes) {
                Ok(line) if line.trim().is_empty() => {}
                line => return Ok(Some(line)),
            }
        }
        Ok(None)
    }
}

/// A line as text, without the mark that some editors put before the first.
fn without_mark(bytes: Vec<u8>) -> Result<String, String> {
    let line = String::from_utf8(bytes)
        .map_err(|error| format!("invalid UTF-8: {error}; save the file as UTF-8"))?;
    Ok(match line.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => line,
    })
}

/// The most faults that an error lists.
const LISTED: usize = 20;

/// The first faults of a file, and the number of all.
#[derive(Default)]
struct SuiteFaults {
    first: Vec<SuiteFault>,
    count: usize,
}

impl SuiteFaults {
    fn only(line: usize, what: String) -> Self {
        let mut faults = SuiteFaults::default();
        faults.push(line, what);
        faults
    }

    fn push(&mut self, line: usize, what: String) {
        self.count += 1;
        if self.first.len() < LISTED {
            self.first.push(SuiteFault {
                line: line.max(1),
                what,
            });
        }
    }

    fn at(self, path: &Path) -> SuiteError {
        let more = self.count - self.first.len();
        SuiteError::Invalid {
            path: path.to_owned(),
            faults: self.first,
            more,
        }
    }
}

/// What is wrong with a line of a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteFault {
    /// From 1.
    pub line: usize,
    /// What was found, and what was expected or is to be done.
    pub what: String,
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
    /// Lines are not what they should be.
    #[error("{}", fault_list(path, faults, *more))]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The first faults, in the order of lines; at least one.
        faults: Vec<SuiteFault>,
        /// The number of faults after these.
        more: usize,
    },
}

/// A single fault in one line of text, several in one line each.
fn fault_list(path: &Path, faults: &[SuiteFault], more: usize) -> String {
    let path = path.display();
    if let ([SuiteFault { line, what }], 0) = (faults, more) {
        return format!("`{path}`, line {line}: {what}");
    }
    let mut text = format!("`{path}` has {} errors:", faults.len() + more);
    for SuiteFault { line, what } in faults {
        text += &format!("\n  line {line}: {what}");
    }
    if more > 0 {
        text += &format!("\n  and {more} more");
    }
    text
}
