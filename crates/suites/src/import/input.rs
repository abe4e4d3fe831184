//! One file to import, in memory.

use std::path::{Path, PathBuf};

use super::error::ImportError;
use super::limits;
use super::place::Place;
use super::report::Recorder;
use compactometer_disk::input::{Kind, read, read_ends, read_from};
use flate2::read::MultiGzDecoder;

/// A file's text and its name.
pub(super) struct Input {
    /// The path as the user gave it, for messages to the user.
    pub(super) file: String,
    /// The last component of the path, which is the only part that a suite may contain.
    pub(super) name: String,
    /// The file's name without its extension.
    pub(super) stem: String,
    pub(super) text: String,
    /// The folder beside it that has its name without the extension.
    folder: PathBuf,
}

/// Most files beside one that are read.
const MOST_BESIDE: usize = 200;

/// How much of a file is read.
#[derive(Clone, Copy)]
pub(super) enum Extent {
    Whole,
    /// What shows its format.
    Beginning,
    /// Its first line and so many bytes at its end.
    Ends(u64),
}

impl Input {
    /// Reads a file. Invalid UTF-8 is replaced and reported line by line.
    pub(super) fn open(
        path: &Path,
        extent: Extent,
        recorder: &mut Recorder,
    ) -> Result<Self, ImportError> {
        let bytes = match extent {
            Extent::Whole => read(path, Kind::TRANSCRIPT),
            Extent::Beginning => limits::beginning(path),
            Extent::Ends(most) => read_ends(path, most),
        };
        let bytes = bytes.and_then(unpacked).map_err(|source| ImportError::Io {
            path: path.to_owned(),
            source,
        })?;
        let part = |name: Option<&std::ffi::OsStr>| {
            name.unwrap_or_default().to_string_lossy().into_owned()
        };
        let file = path.display().to_string();
        recorder.begin(&file);
        let text = decode(bytes, recorder)?;
        let text = text
            .strip_prefix('\u{feff}')
            .map(str::to_owned)
            .unwrap_or(text);
        if text.trim().is_empty() {
            return Err(ImportError::Other(format!(
                "`{file}` is empty; expected a transcript"
            )));
        }
        Ok(Input {
            file,
            name: part(path.file_name()),
            stem: part(path.file_stem()),
            text,
            folder: path.with_extension(""),
        })
    }

    /// The texts of files in the folder beside it, by a pattern below that folder, in the order of
    /// their names. What cannot be read is left out.
    pub(super) fn beside(&self, pattern: &str) -> Vec<String> {
        texts_in(&self.folder, pattern)
    }

    /// The same in the folder that it is in.
    pub(super) fn near(&self, pattern: &str) -> Vec<String> {
        let folder = self.folder.parent().filter(|folder| *folder != "");
        texts_in(folder.unwrap_or(Path::new(".")), pattern)
    }

    /// The name of the folder that it is in.
    pub(super) fn folder_name(&self) -> Option<&str> {
        self.folder.parent()?.file_name()?.to_str()
    }

    /// Lines that are not blank, with their numbers.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..)
            .zip(self.text.split('\n'))
            .filter(|(_, line)| !line.trim().is_empty())
    }
}

fn texts_in(folder: &Path, pattern: &str) -> Vec<String> {
    let folder = glob::Pattern::escape(&folder.to_string_lossy());
    let files = glob::glob(&format!("{folder}/{pattern}"));
    let files = files.into_iter().flatten().flatten().take(MOST_BESIDE);
    files
        .filter_map(|file| read(&file, Kind::TRANSCRIPT).ok())
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .collect()
}

/// The bytes of a file that gzip or Zstandard packed, which its first bytes say; others as they are.
fn unpacked(bytes: Vec<u8>) -> std::io::Result<Vec<u8>> {
    match &bytes[..] {
        [0x1f, 0x8b, 8, ..] => read_from(MultiGzDecoder::new(&bytes[..]), Kind::TRANSCRIPT),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => read_from(
            zstd::stream::read::Decoder::new(&bytes[..])?,
            Kind::TRANSCRIPT,
        ),
        _ => Ok(bytes),
    }
}

/// The text of a file in UTF-16, as PowerShell writes it: its first two bytes say so.
fn utf16(bytes: &[u8]) -> Option<String> {
    let (order, rest) = bytes.split_first_chunk::<2>()?;
    let unit = match order {
        [0xff, 0xfe] => u16::from_le_bytes,
        [0xfe, 0xff] => u16::from_be_bytes,
        _ => return None,
    };
    let units = rest.as_chunks::<2>().0.iter().map(|bytes| unit(*bytes));
    let letters = char::decode_utf16(units).map(|letter| letter.unwrap_or('\u{fffd}'));
    Some(letters.collect())
}

fn decode(bytes: Vec<u8>, recorder: &mut Recorder) -> Result<String, ImportError> {
    if let Some(text) = utf16(&bytes) {
        return Ok(text);
    }
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return Ok(text),
        Err(error) => error.into_bytes(),
    };
    let mut text = String::with_capacity(bytes.len());
    for (line, piece) in (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
        let decoded = String::from_utf8_lossy(piece);
        if let std::borrow::Cow::Owned(_) = decoded {
            recorder.repair(
                Place::Line(line),
                "invalid UTF-8: replaced by U+FFFD".to_owned(),
            )?;
        }
        text.push_str(&decoded);
    }
    Ok(text)
}
