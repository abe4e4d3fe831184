//! Storage of long threads (the strategic plan, part 6: under 1 MB).

use compactometer_engine::record::{RecordKind, SessionRecord};
use compactometer_engine::store::{Commit, Store};
use compactometer_engine::strategies;

use crate::rounds::{STORES, commit_records, open, record};
use crate::sessions::{Decision, decisions, endless};
use crate::versions::bytes_under;

/// Bytes of one thread.
const MOST: u64 = 1_000_000;

/// Prints what each takes.
#[tokio::test]
async fn a_hundred_rounds_of_every_strategy_take_less_than_a_megabyte() {
    let messages = endless();
    println!(
        "{:22} {:>7} {:>12} {:>9} {:>9}",
        "strategy", "records", "mean bytes", "directory", "sqlite"
    );
    for spec in strategies::ALL {
        let decisions = decisions(spec, &messages, 100).await;
        let sizes = STORES
            .iter()
            .map(|kind| size_in(kind, &decisions))
            .collect::<Vec<_>>();
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
        thread
            .commit(&Commit {
                saved,
                view,
                after: *after,
            })
            .unwrap();
    }
    let written = decisions.iter().flat_map(|decision| &decision.saved);
    assert!(
        thread.load().unwrap().history.iter().eq(written),
        "{kind}: nothing is lost"
    );
    // SQLite's log belongs to the database, not to a thread; it goes when the last process closes
    // it.
    drop((thread, store));
    bytes_under(folder.path()).len() as u64
}

/// The number of records, their mean size in bytes, and what each store takes in kB.
fn print_row(name: &str, decisions: &[Decision], sizes: &[u64]) {
    let records = decisions
        .iter()
        .map(|decision| decision.saved.len())
        .sum::<usize>();
    let bodies = decisions
        .iter()
        .flat_map(|decision| &decision.saved)
        .map(|saved| saved.body.len())
        .sum::<usize>();
    let sizes = sizes
        .iter()
        .map(|bytes| format!(" {:9}", bytes / 1_000))
        .collect::<String>();
    println!(
        "{name:22} {records:7} {:12}{sizes}",
        bodies / records.max(1)
    );
}

/// As a checkpoint of a real conversation: little of it repeats, and the next one says most of it
/// again.
fn body(round: u32) -> String {
    let line = |line: u32| {
        let seed = u64::from(line)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(31)
            .wrapping_mul(0xbf58_476d_1ce4_e5b9);
        format!(
            "- svc-{line}: quota {seed:016x}, owner {:08x}, asked for in message {}",
            seed >> 17,
            line * 3
        )
    };
    // Two of fifty lines change each round.
    (2 * round..2 * round + 50)
        .map(line)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn a_hundred_rounds_take_less_than_a_megabyte() {
    assert!(
        (3_000..4_096).contains(&body(99).len()),
        "{} bytes",
        body(99).len()
    );
    for &kind in STORES {
        let folder = tempfile::tempdir().unwrap();
        let store = open(kind, folder.path());
        let mut thread = store.thread("t").unwrap();
        for round in 0..100 {
            let record = record(round, RecordKind::Summary, 20);
            commit_records(
                &mut thread,
                &[SessionRecord {
                    body: body(round),
                    ..record
                }],
            );
        }
        let size = store.size().unwrap();
        assert!(
            (10 * 3_000..MOST / 2).contains(&size.bytes),
            "{kind}: {size:?}"
        );
        let files = if kind == "directory" { 12 } else { 3 };
        assert_eq!(
            size.files, files,
            "{kind}: ten commits, index and archive; or database, log and its index"
        );
        assert_eq!(
            thread.load().unwrap().history[3].body,
            body(3),
            "{kind}: nothing is lost"
        );
    }
}
