//! Reading the lines of attempts and parts.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use compactometer_disk::input;
use compactometer_formats::shards::{Begin, Shard, ShardLine, VERSION};

use super::{PlanFolder, ShardError};

/// Where a line is in its file.
#[derive(Clone, Copy)]
pub(super) struct LineAt {
    pub(super) begin: u64,
    pub(super) length: u64,
}

/// A file of lines. A torn last line counts as its end.
pub(super) struct LineReader {
    path: PathBuf,
    remedy: &'static str,
    reader: BufReader<File>,
    line: Vec<u8>,
    /// Lines read so far.
    number: usize,
    /// Where the next line begins.
    begin: u64,
}

/// A place between two lines, to go on from.
#[derive(Clone, Copy, Default)]
pub(super) struct BetweenLines {
    number: usize,
    begin: u64,
}

impl LineReader {
    /// Opens the file at a place; `remedy` is said of damaged lines.
    pub(super) fn open(
        path: &Path,
        remedy: &'static str,
        place: BetweenLines,
    ) -> Result<Self, ShardError> {
        let mut file = input::open(path).map_err(ShardError::io("read", path))?;
        file.seek(SeekFrom::Start(place.begin))
            .map_err(ShardError::io("read", path))?;
        let BetweenLines { number, begin } = place;
        let reader = BufReader::with_capacity(64 << 10, file);
        Ok(LineReader {
            path: path.to_owned(),
            remedy,
            reader,
            line: Vec::new(),
            number,
            begin,
        })
    }

    pub(super) fn place(&self) -> BetweenLines {
        BetweenLines {
            number: self.number,
            begin: self.begin,
        }
    }

    /// The next line and where it is; nothing at the end.
    pub(super) fn next(&mut self) -> Result<Option<(ShardLine, LineAt)>, ShardError> {
        self.line.clear();
        let read = self
            .reader
            .read_until(b'\n', &mut self.line)
            .map_err(ShardError::io("read", &self.path))?;
        if self.line.last() != Some(&b'\n') {
            return Ok(None);
        }
        let at = LineAt {
            begin: self.begin,
            length: read as u64,
        };
        self.begin += at.length;
        self.number += 1;
        let parsed = std::str::from_utf8(&self.line).map_err(|error| error.to_string());
        match parsed.and_then(|text| ShardLine::parse(text.trim_end())) {
            Ok(line) => Ok(Some((line, at))),
            Err(what) => Err(damaged(&self.path, self.number, what, self.remedy)),
        }
    }

    /// The error for the line that was read last.
    pub(super) fn damaged(&self, what: String) -> ShardError {
        damaged(&self.path, self.number.max(1), what, self.remedy)
    }
}

fn damaged(path: &Path, line: usize, what: String, remedy: &'static str) -> ShardError {
    ShardError::Damaged {
        path: path.to_owned(),
        line,
        what,
        remedy,
    }
}

/// The bytes of a line.
pub(super) fn line_at(mut file: &File, at: LineAt) -> std::io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(at.begin))?;
    let mut line = vec![0; at.length as usize];
    file.read_exact(&mut line)?;
    Ok(line)
}

impl PlanFolder {
    /// Fails if the file that begins so belongs to something else.
    pub(super) fn check(&self, path: &Path, begin: &Begin, shard: Shard) -> Result<(), ShardError> {
        if begin.version != VERSION {
            return Err(ShardError::Version {
                path: path.to_owned(),
                found: format!("its format is {}", begin.version),
            });
        }
        let foreign = |found| {
            Err(ShardError::Foreign {
                path: path.to_owned(),
                found,
            })
        };
        if begin.plan != self.plan.id {
            return foreign("another plan".to_owned());
        }
        if begin.shard != shard {
            return foreign(format!("shard {}", begin.shard));
        }
        Ok(())
    }
}
