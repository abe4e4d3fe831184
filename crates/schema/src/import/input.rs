//! One file to import, in memory.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use super::error::ImportError;
use super::report::Recorder;
use super::session::Place;

/// Longest file that is read, in bytes: it is held in memory several times over.
const LONGEST: u64 = 1 << 30;

/// A file's text and its name.
pub(super) struct Input {
    /// The path as it was given, for messages to the person who gave it.
    pub(super) file: String,
    /// The last part of the path: all that a suite may hold of it.
    pub(super) name: String,
    /// The file's name without its ending.
    pub(super) stem: String,
    pub(super) text: String,
}

impl Input {
    /// Reads a file. Bytes that are no UTF-8 are replaced and reported, line by line.
    pub(super) fn open(path: &Path, recorder: &mut Recorder) -> Result<Self, ImportError> {
        let bytes = read(path)?;
        let part = |name: Option<&std::ffi::OsStr>| name.unwrap_or_default().to_string_lossy().into_owned();
        let file = path.display().to_string();
        let text = decode(&file, bytes, recorder)?;
        let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
        if text.trim().is_empty() {
            return Err(ImportError::Empty { path: path.to_owned() });
        }
        Ok(Input { file, name: part(path.file_name()), stem: part(path.file_stem()), text })
    }

    /// Lines that are not blank, with their numbers.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.split('\n')).filter(|(_, line)| !line.trim().is_empty())
    }
}

fn read(path: &Path) -> Result<Vec<u8>, ImportError> {
    let io = |source| ImportError::Io { path: path.to_owned(), source };
    let file = File::open(path).map_err(io)?;
    if file.metadata().map_err(io)?.is_dir() {
        return Err(ImportError::Directory { path: path.to_owned() });
    }
    let mut bytes = Vec::new();
    match file.take(LONGEST + 1).read_to_end(&mut bytes) {
        Ok(read) if read as u64 > LONGEST => Err(ImportError::TooLong { path: path.to_owned(), limit: LONGEST }),
        Ok(_) => Ok(bytes),
        Err(error) if error.kind() == ErrorKind::IsADirectory => Err(ImportError::Directory { path: path.to_owned() }),
        Err(error) => Err(io(error)),
    }
}

fn decode(file: &str, bytes: Vec<u8>, recorder: &mut Recorder) -> Result<String, ImportError> {
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return Ok(text),
        Err(error) => error.into_bytes(),
    };
    let mut text = String::with_capacity(bytes.len());
    for (line, piece) in (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
        let decoded = String::from_utf8_lossy(piece);
        if let std::borrow::Cow::Owned(_) = decoded {
            recorder.repair(file, Place::Line(line), "invalid UTF-8: replaced by U+FFFD".to_owned())?;
        }
        text.push_str(&decoded);
    }
    Ok(text)
}
