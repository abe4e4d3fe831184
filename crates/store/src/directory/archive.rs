//! Records of commits without a file of their own: one compressed frame a commit, appended once and
//! never changed.
//!
//! A frame's dictionary is the next newer commit, which is still plain when the frame is written;
//! so appending reads nothing, and reading goes from the newest back. Old records take 12 to 41 %
//! of their JSON this way, 28 to 57 % without a dictionary (100 rounds of each strategy, `cargo
//! test -p compactometer-store --test it sizes -- --nocapture`).

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use compactometer_engine::record::SessionRecord;

use super::thread_files;
use crate::error::Error;
use crate::packing;

/// Of a frame: its commit's sequence, that of its dictionary's commit (0 for none), bytes when
/// plain, bytes compressed.
const HEADER: usize = 8 + 8 + 4 + 4;

/// The JSON of a commit's records, by its sequence.
pub(super) type Plain = BTreeMap<u64, Vec<u8>>;

/// A frame with the records of a commit; the dictionary is another commit's.
pub(super) fn frame(
    sequence: u64,
    records: &[u8],
    dictionary: Option<(u64, &[u8])>,
) -> io::Result<Vec<u8>> {
    let (against, dictionary) = dictionary.unwrap_or_default();
    let compressed = packing::pack(records, dictionary)?;
    let mut frame = Vec::with_capacity(HEADER + compressed.len());
    frame.extend(sequence.to_le_bytes());
    frame.extend(against.to_le_bytes());
    frame.extend((records.len() as u32).to_le_bytes());
    frame.extend((compressed.len() as u32).to_le_bytes());
    frame.extend(compressed);
    Ok(frame)
}

/// All records of an archive; `plain` holds those of the commits with files.
///
/// # Errors
/// [`Error::Damaged`], saying where.
pub(super) fn records(
    bytes: &[u8],
    mut plain: Plain,
    path: &Path,
) -> Result<Vec<SessionRecord>, Error> {
    let mut records = Vec::new();
    for frame in frames(bytes, path)?.into_iter().rev() {
        let json = frame.unpack(&plain).map_err(|why| {
            Error::damaged(
                path,
                format!(
                    "the frame of commit {} at byte {}: {why}",
                    frame.sequence, frame.at
                ),
            )
        })?;
        records.extend(thread_files::parse::<Vec<SessionRecord>>(&json, path)?);
        plain.insert(frame.sequence, json);
    }
    Ok(records)
}

struct ArchiveFrame<'b> {
    at: usize,
    sequence: u64,
    against: u64,
    plain_bytes: usize,
    compressed: &'b [u8],
}

impl ArchiveFrame<'_> {
    fn unpack(&self, plain: &Plain) -> Result<Vec<u8>, String> {
        let none = Vec::new();
        let dictionary = match self.against {
            0 => &none,
            against => plain
                .get(&against)
                .ok_or_else(|| format!("its dictionary, commit {against}, is missing"))?,
        };
        packing::unpack(self.compressed, self.plain_bytes, dictionary)
            .map_err(|error| error.to_string())
    }
}

fn frames<'b>(bytes: &'b [u8], path: &Path) -> Result<Vec<ArchiveFrame<'b>>, Error> {
    let mut frames = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let frame = frame_at(bytes, at)
            .ok_or_else(|| Error::damaged(path, format!("no whole frame at byte {at}")))?;
        at += HEADER + frame.compressed.len();
        frames.push(frame);
    }
    Ok(frames)
}

fn frame_at(bytes: &[u8], at: usize) -> Option<ArchiveFrame<'_>> {
    let (sequence, rest) = bytes[at..].split_first_chunk()?;
    let (against, rest) = rest.split_first_chunk()?;
    let (plain_bytes, rest) = rest.split_first_chunk()?;
    let (compressed_bytes, rest) = rest.split_first_chunk()?;
    let plain_bytes = u32::from_le_bytes(*plain_bytes) as usize;
    let compressed = rest.get(..u32::from_le_bytes(*compressed_bytes) as usize)?;
    let (sequence, against) = (u64::from_le_bytes(*sequence), u64::from_le_bytes(*against));
    (plain_bytes <= packing::MOST).then_some(ArchiveFrame {
        at,
        sequence,
        against,
        plain_bytes,
        compressed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(number: u32, body: &str) -> Vec<u8> {
        let saved = serde_json::json!([{
            "number": number, "kind": "summary", "covers": null, "tokens_before": 9, "tokens_after": 3,
            "usage": {"input": 1, "cache_read": 0, "cache_write": 0, "output": 1}, "created_at_ms": null, "body": body,
        }]);
        serde_json::to_vec(&saved).unwrap()
    }

    #[test]
    fn frames_give_their_records_back_and_name_what_is_torn() {
        let text = "The quota of svc-7 stands at 455, since finance asked for it; region eu-west-3, owner Ada.";
        let [oldest, middle, newest] =
            [0, 1, 2].map(|number| json(number, &format!("{text} Round {number}.")));
        let first = frame(1, &oldest, Some((2, &middle))).unwrap();
        let alone = frame(1, &oldest, None).unwrap();
        assert!(
            first.len() * 2 < alone.len(),
            "{} of {}",
            first.len(),
            alone.len()
        );
        let archive = [
            first.clone(),
            frame(2, &middle, Some((3, &newest))).unwrap(),
        ]
        .concat();
        let kept = || Plain::from([(3, newest.clone())]);
        let path = Path::new("history.zst");
        let numbers = |records: Vec<SessionRecord>| {
            records.iter().map(|saved| saved.number).collect::<Vec<_>>()
        };
        assert_eq!(numbers(records(&archive, kept(), path).unwrap()), [1, 0]);
        for cut in [1, HEADER, first.len() - 1, archive.len() - 1] {
            let error = records(&archive[..cut], kept(), path)
                .unwrap_err()
                .to_string();
            assert!(error.contains("no whole frame at byte"), "{error}");
        }
        let mut flipped = archive.clone();
        *flipped.last_mut().unwrap() ^= 1;
        let error = records(&flipped, kept(), path).unwrap_err().to_string();
        assert!(error.contains("the frame of commit 2 at byte"), "{error}");
        let error = records(&archive, Plain::new(), path)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("its dictionary, commit 3, is missing"),
            "{error}"
        );
        let other = Plain::from([(3, json(2, "something else"))]);
        assert!(
            records(&archive, other, path).is_err(),
            "another dictionary does not pass for the right one"
        );
    }
}
