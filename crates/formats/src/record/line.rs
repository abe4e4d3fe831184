//! A record as a line with a checksum, written and read.

use std::io::{BufWriter, Write};

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Record, VERSION, valid};

/// A record with this many turns has some megabytes of JSON.
const MANY_TURNS: usize = 50_000;
/// Bytes of a long record that are hashed or written at once.
const WRITTEN_AT_ONCE: usize = 64 << 10;

impl Record {
    /// The record as one line of `records.jsonl`, with a checksum of its bytes and without the
    /// line's end.
    ///
    /// # Errors
    /// If a number in it has no JSON form.
    pub fn to_line(&self) -> serde_json::Result<String> {
        let json = serde_json::to_string(self)?;
        Ok(format!(
            "{{\"checksum\":\"{}\",\"record\":{json}}}",
            text_hash(&json)
        ))
    }

    /// Writes the line with its end, in one piece unless the record is so long that its JSON would
    /// take much of a run's memory. The JSON of a long record is made twice, first for the
    /// checksum.
    ///
    /// # Errors
    /// What the writer returns.
    pub fn write_line(&self, mut out: impl Write) -> std::io::Result<()> {
        if self.turns.len() < MANY_TURNS {
            let mut line = self.to_line()?;
            line.push('\n');
            return out.write_all(line.as_bytes());
        }
        let mut hasher = blake3::Hasher::new();
        let mut hashed = BufWriter::with_capacity(WRITTEN_AT_ONCE, &mut hasher);
        serde_json::to_writer(&mut hashed, self)?;
        hashed.flush()?;
        drop(hashed);
        let mut out = BufWriter::with_capacity(WRITTEN_AT_ONCE, out);
        write!(
            out,
            "{{\"checksum\":\"{}\",\"record\":",
            short_hex(&hasher.finalize())
        )?;
        serde_json::to_writer(&mut out, self)?;
        out.write_all(b"}\n")?;
        out.flush()
    }

    /// Reads a line that [`Record::to_line`] wrote.
    ///
    /// # Errors
    /// What is wrong, if the line is torn, edited, of a newer version, or says something
    /// impossible.
    pub fn from_line(line: &str) -> Result<Self, String> {
        let malformed = |error: serde_json::Error| format!("expected a record: {error}");
        let line: LineOfRecord = serde_json::from_str(line).map_err(malformed)?;
        if text_hash(line.record.get()) != line.checksum {
            return Err("the checksum does not match: the line was edited or damaged".to_owned());
        }
        let record: Record = serde_json::from_str(line.record.get()).map_err(malformed)?;
        if record.version > VERSION {
            let newer = record.version;
            return Err(format!(
                "version `{newer}` is newer than this program's, {VERSION}; update compactometer"
            ));
        }
        valid::check(&record).map_err(|what| format!("no run writes such a record: {what}"))?;
        Ok(record)
    }
}

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Line")]
pub(crate) struct LineOfRecord<'l> {
    /// [`text_hash`] of the record's bytes.
    checksum: String,
    #[serde(borrow)]
    #[schemars(with = "Record")]
    record: &'l serde_json::value::RawValue,
}

/// The hash by which records refer to a text.
pub fn text_hash(text: &str) -> String {
    short_hex(&blake3::hash(text.as_bytes()))
}

fn short_hex(hash: &blake3::Hash) -> String {
    hash.to_hex()[..32].to_owned()
}
