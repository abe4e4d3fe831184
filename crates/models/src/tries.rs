//! The journal of tries: every request that goes to a server, written down before it is sent and
//! again after its answer, so that nothing that may have been billed is forgotten.
//!
//! A call that fails and is made again is several tries. Absent on purpose: texts. A line has
//! numbers, the model's name and the reason of a failure.

use std::collections::BTreeMap;
use std::fs::TryLockError;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use compactometer_disk::input;
use compactometer_disk::{LineFile, NotKept};
use compactometer_engine::message::Usage;
use serde::{Deserialize, Serialize};

/// The journal's name in a run's folder.
pub const FILE: &str = "tries.jsonl";

/// What a request may use, by the program's own count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sent {
    /// The model's name.
    pub model: String,
    /// Tokens of the request.
    pub input: u32,
    /// The most tokens of an answer.
    pub output: u32,
}

/// How a try ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TryOutcome {
    /// With an answer.
    Answered,
    /// With a failure that may pass, so that the call is made again, if it was not the last try.
    Failed,
    /// The server did not take the request.
    Refused,
    /// Nothing more can be asked.
    Stopped,
    /// Before anything was sent.
    NotSent,
}

/// What is known of a try after its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ended {
    /// How.
    pub outcome: TryOutcome,
    /// The reason of a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What counts as used: what the server reports, and at least the own count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Whether the server reports less than half of the own count, or over four times as much input.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_doubtful: bool,
    /// The hash of the answer's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
}

/// A request that was sent, or was about to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Try {
    /// What it may use.
    pub sent: Sent,
    /// Its end; nothing is known of it if the program was ended before.
    pub ended: Option<Ended>,
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum TryLine {
    Sent(u64, Sent),
    Ended(u64, Ended),
}

/// A journal, open for appending. One process writes to it at a time.
#[derive(Debug)]
pub struct TryJournal {
    path: PathBuf,
    open: Mutex<OpenTry>,
}

#[derive(Debug)]
struct OpenTry {
    lines: LineFile,
    next: u64,
}

impl TryJournal {
    /// Opens the journal of a folder, or begins it.
    ///
    /// # Errors
    /// [`TryJournalError`] if the file cannot be used, another process writes to it, or a line before
    /// the last is damaged.
    pub fn open(folder: &Path) -> Result<Self, TryJournalError> {
        let path = folder.join(FILE);
        let failed = |source| io_error(&path, source);
        let mut lines = LineFile::open(&path).map_err(failed)?;
        lines.lock().map_err(|error| match error {
            TryLockError::WouldBlock => TryJournalError::InUse(path.clone()),
            TryLockError::Error(source) => io_error(&path, source),
        })?;
        let mut bytes = Vec::new();
        lines.file().read_to_end(&mut bytes).map_err(failed)?;
        let whole = whole_lines(&bytes);
        let next = parse(&path, whole)?.len() as u64;
        lines.keep(whole.len() as u64).map_err(failed)?;
        Ok(TryJournal {
            open: Mutex::new(OpenTry { lines, next }),
            path,
        })
    }

    /// Writes down that a request is about to be sent, and waits until that is on the disk. Returns
    /// the try's number.
    ///
    /// # Errors
    /// [`TryJournalError`] if it is not on the disk; the request must not be sent then.
    pub fn sent(&self, sent: Sent) -> Result<u64, TryJournalError> {
        let mut open = self.locked();
        let number = open.next;
        self.append(&mut open, &TryLine::Sent(number, sent))?;
        open.lines.sync().map_err(|error| self.failed(error))?;
        open.next += 1;
        Ok(number)
    }

    /// Writes down how a try ended, and waits until that is on the disk.
    ///
    /// # Errors
    /// [`TryJournalError`] if it is not.
    pub fn ended(&self, number: u64, ended: Ended) -> Result<(), TryJournalError> {
        let mut open = self.locked();
        self.append(&mut open, &TryLine::Ended(number, ended))?;
        open.lines.sync().map_err(|error| self.failed(error))
    }

    fn append(&self, open: &mut OpenTry, line: &TryLine) -> Result<(), TryJournalError> {
        let json =
            serde_json::to_string(line).map_err(|error| io_error(&self.path, error.into()))?;
        let appended = open.lines.append((json + "\n").as_bytes());
        appended.map_err(|error| self.failed(error))
    }

    fn locked(&self) -> MutexGuard<'_, OpenTry> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, error: NotKept) -> TryJournalError {
        match error {
            NotKept::Io(source) => io_error(&self.path, source),
            NotKept::Gone => TryJournalError::Gone(self.path.clone()),
        }
    }
}

/// The tries in the journal of a folder, in order; none without a journal. A torn last line is left
/// out.
///
/// # Errors
/// [`TryJournalError`] if the file cannot be read.
pub fn read(folder: &Path) -> Result<Vec<Try>, TryJournalError> {
    let path = folder.join(FILE);
    let mut bytes = Vec::new();
    match input::open(&path).and_then(|mut file| file.read_to_end(&mut bytes)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        outcome => outcome.map_err(|source| io_error(&path, source))?,
    };
    parse(&path, whole_lines(&bytes))
}

fn io_error(path: &Path, source: io::Error) -> TryJournalError {
    TryJournalError::Io {
        path: path.to_owned(),
        source,
    }
}

fn whole_lines(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| *byte == b'\n');
    &bytes[..end.map_or(0, |end| end + 1)]
}

fn parse(path: &Path, bytes: &[u8]) -> Result<Vec<Try>, TryJournalError> {
    let mut tries = BTreeMap::<u64, Try>::new();
    let lines = bytes.split(|byte| *byte == b'\n').zip(1..);
    for (line, number) in lines.filter(|(line, _)| !line.is_empty()) {
        let damaged = || TryJournalError::Damaged {
            path: path.to_owned(),
            line: number,
        };
        match serde_json::from_slice(line).map_err(|_| damaged())? {
            TryLine::Sent(at, sent) => {
                tries.insert(at, Try { sent, ended: None });
            }
            TryLine::Ended(at, ended) => {
                tries.get_mut(&at).ok_or_else(damaged)?.ended = Some(ended);
            }
        }
    }
    Ok(tries.into_values().collect())
}

/// The hash by which an answer's text is known, as in records.
pub fn reply_hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..32].to_owned()
}

/// A journal that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TryJournalError {
    /// The file system failed.
    #[error("`{}` cannot be used: {source}; mend that, and give the same command again", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the file system says.
        source: io::Error,
    },
    /// Another process writes to it.
    #[error("another process writes to `{}`; wait for it, or name another folder", .0.display())]
    InUse(PathBuf),
    /// It has been moved.
    #[error("`{}` was removed or replaced during the run; move it back, and give the same command again", .0.display())]
    Gone(PathBuf),
    /// A line is none of a journal.
    #[error("line {line} of `{}` is damaged; delete the line, and what it cost is not counted", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line's number.
        line: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(input: u32) -> Sent {
        Sent {
            model: "openai:m".to_owned(),
            input,
            output: 10,
        }
    }

    fn failed() -> Ended {
        Ended {
            outcome: TryOutcome::Failed,
            why: Some("it broke off".to_owned()),
            usage: None,
            is_doubtful: false,
            reply: None,
        }
    }

    #[test]
    fn a_try_is_there_before_its_end_and_a_torn_line_is_not() {
        let dir = tempfile::tempdir().expect("a folder");
        assert_eq!(read(dir.path()).expect("no journal has no tries"), []);
        let journal = TryJournal::open(dir.path()).expect("it begins");
        let first = journal.sent(sent(1)).expect("it is written");
        assert_eq!(read(dir.path()).expect("it reads").len(), 1);
        journal.sent(sent(2)).expect("it is written");
        journal.ended(first, failed()).expect("it is written");
        assert!(matches!(
            TryJournal::open(dir.path()),
            Err(TryJournalError::InUse(_))
        ));
        drop(journal);
        let path = dir.path().join(FILE);
        let whole = std::fs::read(&path).expect("it is there");
        std::fs::write(&path, [&whole[..], b"{\"sent\":[2,{\"mod"].concat()).expect("torn");
        let expected = vec![
            Try {
                sent: sent(1),
                ended: Some(failed()),
            },
            Try {
                sent: sent(2),
                ended: None,
            },
        ];
        assert_eq!(read(dir.path()).expect("it reads"), expected);
        let journal = TryJournal::open(dir.path()).expect("it goes on");
        assert_eq!(journal.sent(sent(3)).expect("it is written"), 2);
        std::fs::write(&path, "{\"sent\":[0,{}]}\nx\n").expect("damaged");
        let error = read(dir.path()).expect_err("it is damaged").to_string();
        assert!(error.starts_with("line 1 of "), "{error}");
    }
}
