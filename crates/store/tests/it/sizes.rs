//! Storage of long threads (the strategic plan, part 6: under 1 MB).

use compactometer_engine::record::{RecordKind, SessionRecord};
use compactometer_engine::store::{Commit, Store};
use compactometer_engine::strategies;
use compactometer_store::KEEP;

use crate::rounds::{STORES, commit_records, open, record};
use crate::sessions::{Decision, decisions, endless};
use crate::versions::bytes_under;

/// Bytes of one thread.
const MOST: u64 = 1_000_000;

/// Prints the table of the README.
#[tokio::test]
async fn a_hundred_rounds_of_every_strategy_take_less_than_a_megabyte() {
    let messages = endless();
    println!("{:22} records   body   old   alone  newer as  one    directory   sqlite", "");
    println!("{:22}         (mean)  (kB)         dictionary stream      (kB)     (kB)", "strategy");
    for spec in strategies::ALL {
        let decisions = decisions(spec, &messages, 100).await;
        let sizes = STORES.iter().map(|kind| size_in(kind, &decisions)).collect::<Vec<_>>();
        print_row(spec.name, &decisions, &sizes);
        for (kind, bytes) in STORES.iter().zip(sizes) {
            assert!(bytes < MOST, "{}: {bytes} bytes in {kind}", spec.name);
        }
    }
}

/// Bytes that a closed store takes with a thread of these decisions, all of which it gives back.
fn size_in(kind: &str, decisions: &[Decision]) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let store = open(kind, folder.path());
    let mut thread = store.thread("measured").unwrap();
    for Decision { saved, view, after } in decisions {
        thread.commit(&Commit { saved, view, after: *after }).unwrap();
    }
    let written = decisions.iter().flat_map(|decision| &decision.saved);
    assert!(thread.load().unwrap().history.iter().eq(written), "{kind}: nothing is lost");
    // SQLite's log belongs to the database, not to a thread; it goes when the last process closes it.
    drop((thread, store));
    bytes_under(folder.path()).len() as u64
}

fn print_row(name: &str, decisions: &[Decision], sizes: &[u64]) {
    let records = decisions.iter().map(|decision| decision.saved.len()).sum::<usize>();
    let bodies = decisions.iter().flat_map(|decision| &decision.saved).map(|saved| saved.body.len()).sum::<usize>();
    let jsons = decisions.iter().map(|decision| serde_json::to_vec(&decision.saved).unwrap()).collect::<Vec<_>>();
    let old = &jsons[..jsons.len().saturating_sub(KEEP.get())];
    let plain = old.iter().map(Vec::len).sum::<usize>();
    let alone = compressed(old, |_| &[]);
    let newer = compressed(old, |index| &jsons[index + 1]);
    let stream = zstd::bulk::compress(&old.concat(), LEVEL).unwrap().len();
    let [alone, newer, stream] = [alone, newer, stream].map(|bytes| 100 * bytes / plain.max(1));
    let sizes = sizes.iter().map(|bytes| format!("{:9}", bytes / 1_000)).collect::<String>();
    let (body, plain) = (bodies / records.max(1), plain / 1_000);
    println!("{name:22} {records:7} {body:6} {plain:5} {alone:5} % {newer:7} % {stream:5} % {sizes}");
}

/// Bytes of all texts, each compressed with a dictionary of its own.
fn compressed<'l>(texts: &'l [Vec<u8>], dictionary: impl Fn(usize) -> &'l [u8]) -> usize {
    let size = |(index, text): (usize, &Vec<u8>)| {
        let mut compressor = zstd::bulk::Compressor::with_dictionary(LEVEL, dictionary(index)).unwrap();
        compressor.compress(text).unwrap().len()
    };
    texts.iter().enumerate().map(size).sum()
}

/// As the stores compress.
const LEVEL: i32 = 3;

/// As a checkpoint of a real conversation: little of it repeats, and the next one says most of it again.
fn body(round: u32) -> String {
    let line = |line: u32| {
        let seed =
            u64::from(line).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        format!("- svc-{line}: quota {seed:016x}, owner {:08x}, asked for in message {}", seed >> 17, line * 3)
    };
    // Two of fifty lines change each round.
    (2 * round..2 * round + 50).map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_hundred_rounds_take_less_than_a_megabyte() {
    assert!((3_000..4_096).contains(&body(99).len()), "{} bytes", body(99).len());
    for &kind in STORES {
        let folder = tempfile::tempdir().unwrap();
        let store = open(kind, folder.path());
        let mut thread = store.thread("t").unwrap();
        for round in 0..100 {
            let record = record(round, RecordKind::Summary, 20);
            commit_records(&mut thread, &[SessionRecord { body: body(round), ..record }]);
        }
        let size = store.size().unwrap();
        assert!((10 * 3_000..MOST / 2).contains(&size.bytes), "{kind}: {size:?}");
        let files = if kind == "directory" { 12 } else { 3 };
        assert_eq!(size.files, files, "{kind}: ten commits, index and archive; or database, log and its index");
        assert_eq!(thread.load().unwrap().history[3].body, body(3), "{kind}: nothing is lost");
    }
}
