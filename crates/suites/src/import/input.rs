//! One file to import, in memory or line by line.

use std::borrow::Cow;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::error::ImportError;
use super::limits;
use super::place::Place;
use super::report::Recorder;
use compactometer_disk::input::{InputKind, open, read, read_ends, read_from};
use flate2::read::MultiGzDecoder;

/// A file's text and its name.
pub(super) struct Input {
    /// The path as the user gave it, for messages to the user.
    pub(super) file: String,
    /// The last component of the path, which is the only part that a suite may contain.
    pub(super) name: String,
    /// The file's name without its extension.
    pub(super) stem: String,
    /// All of it, or the beginning of one whose lines are read from the disk.
    pub(super) text: String,
    /// What tells files of the same content.
    pub(super) hash: blake3::Hash,
    on_disk: Option<PathBuf>,
    /// The folder beside it that has its name without the extension.
    folder: PathBuf,
}

/// Most files beside one that are read.
const MOST_BESIDE: usize = 200;

/// How many lines that are not blank show a format.
pub(super) const BEGINNING: usize = 5;

/// How much of a file is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    Whole,
    /// What shows its format.
    Beginning,
    /// Its first line and so many bytes at its end.
    Ends(u64),
    /// Its beginning, and its lines one after the other, if it is a regular file of UTF-8 that is
    /// not packed; otherwise all of it.
    Lines,
}

impl Input {
    /// Reads a file. Invalid UTF-8 is replaced and reported line by line.
    pub(super) fn open(
        path: &Path,
        extent: Extent,
        recorder: &mut Recorder,
    ) -> Result<Self, ImportError> {
        let failed = |source| ImportError::Io {
            path: path.to_owned(),
            source,
        };
        let by_line = extent == Extent::Lines && has_plain_lines(path).map_err(failed)?;
        let bytes = match extent {
            Extent::Lines if by_line => first_lines(path),
            Extent::Whole | Extent::Lines => read(path, InputKind::TRANSCRIPT),
            Extent::Beginning => limits::beginning(path),
            Extent::Ends(most) => read_ends(path, most),
        };
        let bytes = bytes.and_then(unpacked).map_err(failed)?;
        let part = |name: Option<&std::ffi::OsStr>| {
            name.unwrap_or_default().to_string_lossy().into_owned()
        };
        let file = path.display().to_string();
        recorder.begin(&file);
        let hash = match by_line {
            true => hash_of(path).map_err(failed)?,
            false => blake3::hash(&bytes),
        };
        let text = match by_line {
            // Each of its lines is decoded, and what is invalid recorded, when it is read.
            true => String::from_utf8_lossy(&bytes).into_owned(),
            false => decode(bytes, recorder)?,
        };
        let text = match text.strip_prefix(MARK) {
            Some(rest) => rest.to_owned(),
            None => text,
        };
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
            hash,
            on_disk: by_line.then(|| path.to_owned()),
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

    /// Whether `text` is only its beginning.
    pub(super) fn is_beginning(&self) -> bool {
        self.on_disk.is_some()
    }

    /// Lines of its text that are not blank, with their numbers.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..)
            .zip(self.text.split('\n'))
            .filter(|(_, line)| !line.trim().is_empty())
    }

    /// Takes each line that is not blank, from memory or from the disk.
    pub(super) fn each_line(
        &self,
        recorder: &mut Recorder,
        take: &mut TakeLine<'_>,
    ) -> Result<(), ImportError> {
        let Some(path) = &self.on_disk else {
            let mut lines = self.lines().peekable();
            while let Some((number, text)) = lines.next() {
                let is_last = lines.peek().is_none();
                take(
                    InputLine {
                        number,
                        text,
                        is_last,
                    },
                    recorder,
                )?;
            }
            return Ok(());
        };
        each_on_disk(path, recorder, take)
    }
}

fn each_on_disk(
    path: &Path,
    recorder: &mut Recorder,
    take: &mut TakeLine<'_>,
) -> Result<(), ImportError> {
    let failed = |source| ImportError::Io {
        path: path.to_owned(),
        source,
    };
    let mut file = BufReader::new(open(path).map_err(failed)?);
    // The line before, which is taken when it is known whether it is the last.
    let (mut before, mut bytes) = (None::<(usize, Vec<u8>)>, Vec::new());
    for number in 1.. {
        bytes.clear();
        let is_end = file.read_until(b'\n', &mut bytes).map_err(failed)? == 0;
        if number == 1 && bytes.starts_with(MARK.as_bytes()) {
            bytes.drain(..MARK.len());
        }
        if bytes.trim_ascii().is_empty() && !is_end {
            continue;
        }
        if let Some((number, bytes)) = &before {
            take_line(*number, bytes, is_end, recorder, take)?;
        }
        if is_end {
            break;
        }
        before = Some((number, std::mem::take(&mut bytes)));
    }
    Ok(())
}

/// A line that is not blank.
pub(super) struct InputLine<'l> {
    pub(super) number: usize,
    pub(super) text: &'l str,
    pub(super) is_last: bool,
}

type TakeLine<'t> = dyn FnMut(InputLine<'_>, &mut Recorder) -> Result<(), ImportError> + 't;

fn take_line(
    number: usize,
    bytes: &[u8],
    is_last: bool,
    recorder: &mut Recorder,
    take: &mut TakeLine<'_>,
) -> Result<(), ImportError> {
    let text = decoded(number, bytes.strip_suffix(b"\n").unwrap_or(bytes), recorder)?;
    take(
        InputLine {
            number,
            text: &text,
            is_last,
        },
        recorder,
    )
}

/// The mark of byte order, which some editors put before a text.
const MARK: &str = "\u{feff}";

/// Whether it is a regular file of UTF-8 that is not packed, as its first bytes show.
fn has_plain_lines(path: &Path) -> std::io::Result<bool> {
    if !path.metadata()?.is_file() || !InputKind::TRANSCRIPT.allows(path)? {
        return Ok(false);
    }
    let mut first = Vec::new();
    open(path)?.take(4).read_to_end(&mut first)?;
    Ok(!matches!(
        first[..],
        [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd] | [0xff, 0xfe, ..] | [0xfe, 0xff, ..]
    ))
}

/// Its first lines, enough to know its format.
fn first_lines(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = BufReader::new(open(path)?);
    let (mut bytes, mut lines) = (Vec::new(), 0);
    while lines < BEGINNING {
        let before = bytes.len();
        if file.read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
        lines += usize::from(!bytes[before..].trim_ascii().is_empty());
    }
    Ok(bytes)
}

fn hash_of(path: &Path) -> std::io::Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(open(path)?)?;
    Ok(hasher.finalize())
}

fn texts_in(folder: &Path, pattern: &str) -> Vec<String> {
    let folder = glob::Pattern::escape(&folder.to_string_lossy());
    let files = glob::glob(&format!("{folder}/{pattern}"));
    let files = files.into_iter().flatten().flatten().take(MOST_BESIDE);
    files
        .filter_map(|file| read(&file, InputKind::TRANSCRIPT).ok())
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .collect()
}

/// The bytes of a file that gzip or Zstandard packed, which its first bytes say; others as they are.
fn unpacked(bytes: Vec<u8>) -> std::io::Result<Vec<u8>> {
    match &bytes[..] {
        [0x1f, 0x8b, 8, ..] => read_from(MultiGzDecoder::new(&bytes[..]), InputKind::TRANSCRIPT),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => read_from(
            zstd::stream::read::Decoder::new(&bytes[..])?,
            InputKind::TRANSCRIPT,
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
        text.push_str(&decoded(line, piece, recorder)?);
    }
    Ok(text)
}

fn decoded<'l>(
    line: usize,
    bytes: &'l [u8],
    recorder: &mut Recorder,
) -> Result<Cow<'l, str>, ImportError> {
    let text = String::from_utf8_lossy(bytes);
    if let Cow::Owned(_) = text {
        recorder.repair(
            Place::Line(line),
            "invalid UTF-8: replaced by U+FFFD".to_owned(),
        )?;
    }
    Ok(text)
}
