//! How large a session may be: its rows are in memory together, and take up to fourteen times its
//! size. A file that is not of one object a line has the limit of its kind only.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use compactometer_disk::input::{InputKind, open, read};
use flate2::read::MultiGzDecoder;

use super::error::ImportError;

/// The most lines of a file of one object a line.
const LINES: usize = 120_000;
/// The most bytes of one of its lines.
const LINE: usize = 16 << 20;

/// Refuses a file of one object a line that has more or longer lines than a session has. It is read
/// in pieces, so that a refusal takes no memory.
pub(super) fn check(path: &Path) -> Result<(), ImportError> {
    let failed = |source| ImportError::Io {
        path: path.to_owned(),
        source,
    };
    // A pipe can be read once.
    if !path.metadata().map_err(failed)?.is_file() {
        return Ok(());
    }
    let mut file = BufReader::new(open(path).map_err(failed)?);
    let found = match file.fill_buf().map_err(failed)? {
        [0x1f, 0x8b, 8, ..] => beyond(MultiGzDecoder::new(file)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            zstd::stream::read::Decoder::with_buffer(file).and_then(beyond)
        }
        _ => beyond(file),
    };
    let Some(what) = found.map_err(failed)? else {
        return Ok(());
    };
    Err(ImportError::Other(refusal(path, &what)))
}

fn refusal(path: &Path, what: &str) -> String {
    format!(
        "`{}` {what}, more than a session has: it would take fourteen times its size in memory; cut it into sessions, or read \
         it all the same with `import FORMAT FILE --lenient`",
        path.display()
    )
}

/// The lines at a file's beginning by which its format is known; all of it, if it is no file of one
/// object a line.
pub(super) fn beginning(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path.metadata()?.is_file() {
        BufReader::new(open(path)?)
            .take(LINE as u64)
            .read_to_end(&mut bytes)?;
    }
    let end = bytes.iter().rposition(|byte| *byte == b'\n');
    let first = bytes
        .split(|byte| *byte == b'\n')
        .find(|line| !line.trim_ascii().is_empty());
    let is_object = |line: &[u8]| {
        let line = line.trim_ascii();
        line.starts_with(b"{") && line.ends_with(b"}")
    };
    match end {
        Some(end) if bytes.len() == LINE && first.is_some_and(is_object) => {
            bytes.truncate(end + 1);
            Ok(bytes)
        }
        // A document, or lines of which the first is too long.
        _ if bytes.len() == LINE => match beyond(open(path)?)? {
            Some(what) => Err(std::io::Error::other(refusal(path, &what))),
            None => read(path, InputKind::TRANSCRIPT),
        },
        _ if bytes.is_empty() => read(path, InputKind::TRANSCRIPT),
        _ => Ok(bytes),
    }
}

/// What is beyond the limits.
fn beyond(file: impl Read) -> std::io::Result<Option<String>> {
    let mut file = BufReader::with_capacity(1 << 16, file);
    let (mut number, mut length) = (1, 0);
    // The first line decides, if it ends: that of a document may be as long as the document.
    let mut first = Some((None, None));
    loop {
        let piece = file.fill_buf()?;
        if piece.is_empty() {
            return Ok(None);
        }
        if number > LINES && first.is_none() {
            return Ok(Some(format!("has more than {LINES} lines")));
        }
        let end = piece.iter().position(|byte| *byte == b'\n');
        let part = &piece[..end.unwrap_or(piece.len())];
        if let Some((opens, closes)) = &mut first {
            let mut solid = part.iter().filter(|byte| !byte.is_ascii_whitespace());
            *opens = opens.or(solid.next().copied());
            *closes = solid.next_back().copied().or(*closes);
        }
        length += part.len();
        let (used, is_end) = (part.len() + usize::from(end.is_some()), end.is_some());
        file.consume(used);
        if is_end && let Some((Some(opens), closes)) = first {
            if (opens, closes) != (b'{', Some(b'}')) {
                return Ok(None);
            }
            first = None;
        }
        if first.is_none() && length > LINE {
            return Ok(Some(format!(
                "has a line of more than {} MB ({number})",
                LINE >> 20
            )));
        }
        if is_end {
            (number, length) = (number + 1, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trouble_in(text: &str) -> Option<String> {
        beyond(text.as_bytes()).unwrap()
    }

    #[test]
    fn only_lines_of_objects_have_limits() {
        let row = "{\"a\": 1}\n";
        let many = row.repeat(LINES + 1);
        let long = format!("{row}{{\"a\": \"{}\"}}\n", "x".repeat(LINE));
        assert!(trouble_in(&many).is_some_and(|what| what.contains("more than 120000 lines")));
        assert!(trouble_in(&long).is_some_and(|what| what.contains("more than 16 MB (2)")));
        let document = format!("{{\n{}}}", "\"a\": 1,\n".repeat(LINES + 1));
        let array = format!("[\"{}\"]\n", "x".repeat(LINE));
        for text in [
            row.repeat(LINES),
            document,
            array,
            String::new(),
            "\n\n".into(),
        ] {
            assert_eq!(trouble_in(&text), None);
        }
    }

    #[test]
    fn a_first_line_that_is_too_long_is_refused_before_it_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("session.jsonl");
        let line = format!("{{\"a\": \"{}\"}}", "x".repeat(LINE));
        std::fs::write(&path, &line).unwrap();
        assert_eq!(beginning(&path).unwrap().len(), line.len(), "a document");
        std::fs::write(&path, format!("{line}\n{{}}\n")).unwrap();
        let told = beginning(&path).unwrap_err().to_string();
        assert!(told.contains("line of more than 16 MB (1)"), "{told}");
    }

    #[test]
    fn what_is_packed_is_measured_unpacked() {
        use std::io::Write;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("session.jsonl.gz");
        let file = std::fs::File::create(&path).unwrap();
        let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        packed.write_all(b"{}\n{\"a\": \"").unwrap();
        packed.write_all(&vec![b'x'; LINE]).unwrap();
        packed.write_all(b"\"}\n").unwrap();
        packed.finish().unwrap();
        assert!(check(&path).is_err_and(|error| error.to_string().contains("line of more than")));
    }
}
