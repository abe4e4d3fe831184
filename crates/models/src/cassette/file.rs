//! A cassette on disk: a folder of `.jsonl` files, a call on each line. New calls are appended to
//! `calls.jsonl`; two recordings are joined by putting their files into one folder, or by sorting
//! their lines into one file (`LC_ALL=C sort -u`).

use std::fs::TryLockError;
use std::io::Read;
use std::path::{Path, PathBuf};

use compactometer_disk::{LineFile, NotKept, create_folder, input};

use super::call::{CallOutcome, RecordedCall, key};

/// The file that is appended to.
const FILE: &str = "calls.jsonl";

/// A folder that takes calls, by one process at a time.
pub(super) struct Tape {
    folder: PathBuf,
    lines: LineFile,
    /// Calls that a power failure may lose.
    unsynced: usize,
}

/// So many calls that cost nothing are synced together: one sync takes longer than hundreds of
/// them.
const FREE_CALLS: usize = 1_000;

impl Tape {
    /// Opens the folder's file and cuts off a torn last line that a killed process left.
    pub(super) fn open(folder: &Path) -> Result<Self, CassetteError> {
        let path = folder.join(FILE);
        let failed = |source| CassetteError::write(&path, source);
        create_folder(folder).map_err(failed)?;
        let mut lines = LineFile::open(&path).map_err(failed)?;
        locked(&path, lines.lock())?;
        let mut bytes = Vec::new();
        lines.file().read_to_end(&mut bytes).map_err(failed)?;
        let whole = bytes
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |end| end + 1);
        lines.keep(whole as u64).map_err(failed)?;
        Ok(Tape {
            folder: folder.to_owned(),
            lines,
            unsynced: 0,
        })
    }

    /// Appends a call in one write, so that a killed process tears at most one line. A server's
    /// answer is synced, so that nothing paid for is lost once it is used.
    pub(super) fn append(&mut self, call: &RecordedCall) -> Result<(), CassetteError> {
        let mut line =
            serde_json::to_vec(call).map_err(|error| self.failed(NotKept::Io(error.into())))?;
        line.push(b'\n');
        self.lines
            .append(&line)
            .map_err(|error| self.failed(error))?;
        self.unsynced += 1;
        if is_served(call) || self.unsynced >= FREE_CALLS {
            self.sync()
        } else {
            Ok(())
        }
    }

    fn sync(&mut self) -> Result<(), CassetteError> {
        self.lines.sync().map_err(|error| self.failed(error))?;
        self.unsynced = 0;
        Ok(())
    }

    fn failed(&self, error: NotKept) -> CassetteError {
        match error {
            NotKept::Io(source) => CassetteError::write(&self.folder.join(FILE), source),
            NotKept::Gone => CassetteError::Folder(format!(
                "the cassette `{}` was removed or replaced during the recording; move it back and give the same command to \
                 resume, or give the command again to start over",
                self.folder.display()
            )),
        }
    }
}

impl Drop for Tape {
    fn drop(&mut self) {
        // Nothing can report an error here, and the calls cost nothing.
        let _ = self.sync();
    }
}

/// Whether a server answered the call, which may have cost something.
fn is_served(call: &RecordedCall) -> bool {
    matches!(&call.outcome, CallOutcome::Reply(reply) if reply.served.is_some())
}

/// What came of locking a cassette's file: only a lock that another process holds is one to wait
/// for.
fn locked(path: &Path, outcome: Result<(), TryLockError>) -> Result<(), CassetteError> {
    let shown = path.display();
    outcome.map_err(|error| match error {
        TryLockError::WouldBlock => CassetteError::Folder(format!(
            "another process records to `{shown}`; wait for it, or record to another folder and join the two"
        )),
        TryLockError::Error(source) => {
            let what =
                format!("cannot lock the cassette `{shown}`: {source}; record to a folder on a disk of this machine");
            CassetteError::Io { what, source }
        }
    })
}

/// Every call of a folder's files, by file name and line; blank lines and a torn last one are left
/// out.
pub(super) fn read(folder: &Path) -> Result<Vec<RecordedCall>, CassetteError> {
    let failed = |path: &Path, source| {
        let path = path.display();
        let what = format!(
            "cannot read the cassette `{path}`: {source}; name a folder that `--record DIR` wrote"
        );
        CassetteError::Io { what, source }
    };
    let entries = std::fs::read_dir(folder).map_err(|error| failed(folder, error))?;
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| failed(folder, error))?;
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "jsonl")
    });
    paths.sort();
    let mut calls = Vec::new();
    for path in paths {
        let mut bytes = Vec::new();
        input::open(&path)
            .and_then(|mut file| file.read_to_end(&mut bytes))
            .map_err(|error| failed(&path, error))?;
        // A torn line may end within a letter, so it goes before the bytes are text.
        bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0));
        let lines = bytes
            .split(|byte| *byte == b'\n')
            .map(<[u8]>::trim_ascii)
            .enumerate();
        for (number, line) in lines.filter(|(_, line)| !line.is_empty()) {
            let wrong = |why| CassetteError::Line {
                path: path.clone(),
                line: number + 1,
                why,
            };
            let line = std::str::from_utf8(line)
                .map_err(|error| wrong(format!("invalid UTF-8: {error}")))?;
            let call: RecordedCall =
                serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
            if key(&call.model, &call.request) != call.key {
                return Err(wrong(
                    "its key does not match its model and request".to_owned(),
                ));
            }
            calls.push(call);
        }
    }
    Ok(calls)
}

/// A cassette that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    /// A file or the folder cannot be read, written or locked.
    #[error("{what}")]
    Io {
        /// What failed and why, and what to do.
        what: String,
        /// Why.
        source: std::io::Error,
    },
    /// A line is not a call.
    #[error("`{}`, line {line}: {why}; take the line out, and it is recorded again", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Why.
        why: String,
    },
    /// The folder does not hold one model's calls, or no call can be kept in it now.
    #[error("{0}")]
    Folder(String),
}

impl CassetteError {
    fn write(path: &Path, source: std::io::Error) -> Self {
        let path = path.display();
        let what = format!(
            "cannot write the cassette `{path}`: {source}; free space, make it writable for this user, or record to another folder"
        );
        CassetteError::Io { what, source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_lock_that_is_held_is_another_process() {
        let path = Path::new("tape/calls.jsonl");
        let told = |error| locked(path, Err(error)).expect_err("refused").to_string();
        assert!(told(TryLockError::WouldBlock).contains("another process records"));
        let unsupported = told(TryLockError::Error(std::io::ErrorKind::Unsupported.into()));
        assert!(
            unsupported.contains("cannot lock") && !unsupported.contains("process"),
            "{unsupported}"
        );
    }
}
