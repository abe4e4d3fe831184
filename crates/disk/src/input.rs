//! Reading files that a user named: only regular ones, up to a size limit for each kind.
//!
//! Otherwise the program could wait for a pipe, or read a device, forever.

use std::fs::{File, Metadata};
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result, Seek, SeekFrom};
use std::path::Path;

/// A kind of file that is read as a whole, and its size limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputKind {
    name: &'static str,
    most: u64,
}

impl InputKind {
    /// The prompt that a strategy sends to the summarizer.
    pub const PROMPT: InputKind = InputKind {
        name: "a prompt",
        most: MIB,
    };
    /// Defaults of a folder.
    pub const SETTINGS: InputKind = InputKind {
        name: "a settings file",
        most: MIB,
    };
    /// The spec from which a suite is generated.
    pub const SPEC: InputKind = InputKind {
        name: "a generator spec",
        most: MIB,
    };
    /// The document that an agent keeps beside its conversation.
    pub const MEMORY: InputKind = InputKind {
        name: "a memory document",
        most: MIB,
    };
    /// Prices of models.
    pub const PRICES: InputKind = InputKind {
        name: "a price table",
        most: 4 * MIB,
    };
    /// The baseline that a gate compares a run with.
    pub const BASELINE: InputKind = InputKind {
        name: "a baseline",
        most: 256 * MIB,
    };
    /// The description of a run in its folder.
    pub const MANIFEST: InputKind = InputKind {
        name: "a manifest",
        most: 256 * MIB,
    };
    /// Another program's record of conversations. An import holds several copies in memory.
    pub const TRANSCRIPT: InputKind = InputKind {
        name: "a transcript",
        most: 1024 * MIB,
    };
}

const MIB: u64 = 1 << 20;

impl InputKind {
    /// Whether a file is no larger than its kind may be.
    ///
    /// # Errors
    /// What the file system returns.
    pub fn allows(self, path: &Path) -> Result<bool> {
        Ok(path.metadata()?.len() <= self.most)
    }
}

/// The file's text.
///
/// # Errors
/// As [`open`]; and if the file is too large for its kind or not UTF-8. The text says what to do.
pub fn read_text(path: &Path, kind: InputKind) -> Result<String> {
    let bytes = read(path, kind)?;
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        Error::new(
            ErrorKind::InvalidData,
            format!("line {line} is not UTF-8; save the file as UTF-8"),
        )
    })
}

/// The file's bytes.
///
/// # Errors
/// As [`open`]; and if the file is too large for its kind. The text says what to do.
pub fn read(path: &Path, kind: InputKind) -> Result<Vec<u8>> {
    let file = open(path)?;
    let bytes = with_room(file.metadata()?.len().min(kind.most));
    read_into(bytes, file, kind)
}

/// The bytes of an open file, or of what is packed in one.
///
/// # Errors
/// If reading fails, or if there are more bytes than its kind may have. The text says what to do.
pub fn read_from(reader: impl Read, kind: InputKind) -> Result<Vec<u8>> {
    read_into(Vec::new(), reader, kind)
}

fn read_into(mut bytes: Vec<u8>, reader: impl Read, kind: InputKind) -> Result<Vec<u8>> {
    let read = reader.take(kind.most + 1).read_to_end(&mut bytes)?;
    if read as u64 > kind.most {
        let InputKind { name, most } = kind;
        let what = format!(
            "it is larger than {} MiB, the limit for {name}; check that it is the file you mean",
            most / MIB
        );
        return Err(Error::new(ErrorKind::FileTooLarge, what));
    }
    Ok(bytes)
}

/// The first line of a file of lines, up to 1 MiB of it, and its last `most` bytes from the
/// beginning of a line: all of a file that is no larger.
///
/// # Errors
/// As [`open`].
pub fn read_ends(path: &Path, most: u64) -> Result<Vec<u8>> {
    let mut file = BufReader::new(open(path)?);
    let length = file.get_ref().metadata()?.len();
    let mut bytes = with_room(length.min(most));
    if length <= most {
        file.take(most).read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    let first = (&mut file).take(MIB).read_until(b'\n', &mut bytes)? as u64;
    // The byte before, so that a line that begins right there counts as whole.
    file.seek(SeekFrom::Start(first.max(length - most) - 1))?;
    file.skip_until(b'\n')?;
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Room for a file's bytes and the try to read one more: they are not copied to a larger place while
/// they are read.
fn with_room(length: u64) -> Vec<u8> {
    Vec::with_capacity(usize::try_from(length + 1).unwrap_or_default())
}

/// Opens a regular file or an inherited descriptor: `/dev/stdin`, or `/dev/fd/63` as shells name
/// the output of a command.
///
/// # Errors
/// What the file system returns. Anything else is refused before it is opened: opening a pipe waits
/// for its writer.
pub fn open(path: &Path) -> Result<File> {
    let is_given = path == Path::new("/dev/stdin")
        || path.starts_with("/dev/fd")
        || path.starts_with("/proc/self/fd");
    refuse(&std::fs::metadata(path)?, is_given)?;
    let file = File::open(path)?;
    // Another file may have taken the name in the meantime.
    refuse(&file.metadata()?, is_given)?;
    Ok(file)
}

pub(crate) fn refuse(found: &Metadata, is_given: bool) -> Result<()> {
    if found.is_dir() {
        return Err(Error::new(
            ErrorKind::IsADirectory,
            "it is a folder; name a file in it",
        ));
    }
    if found.is_file() || is_given {
        return Ok(());
    }
    let what = format!(
        "it is {}, which may never end; write its content to a file and name the file",
        other(found)
    );
    Err(Error::new(ErrorKind::InvalidInput, what))
}

#[cfg(unix)]
fn other(found: &Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    match found.file_type() {
        kind if kind.is_fifo() => "a named pipe",
        kind if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

#[cfg(not(unix))]
fn other(_found: &Metadata) -> &'static str {
    "not a regular file"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_file_are_whole_lines() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("lines");
        let ends = |text: &str, most| {
            std::fs::write(&path, text).expect("written");
            String::from_utf8(read_ends(&path, most).expect("read")).expect("text")
        };
        assert_eq!(ends("head\nb\nc\nd\n", 100), "head\nb\nc\nd\n");
        assert_eq!(ends("head\nb\nc\nd\n", 4), "head\nc\nd\n");
        assert_eq!(ends("head\nb\nc\nd\n", 5), "head\nc\nd\n");
        assert_eq!(
            ends("head\nb\nc\nd\n", 10),
            "head\nb\nc\nd\n",
            "no line is there twice"
        );
        assert_eq!(ends("head\nb\nc\nd", 1), "head\nd");
        assert_eq!(
            (ends("", 4), ends("head", 0)),
            (String::new(), "head".to_owned())
        );
    }
}
