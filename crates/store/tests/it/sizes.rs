//! Storage of long threads (source 000, part 6: under 1 MB).

use compactometer_engine::saved::SavedKind;

use crate::rounds::{STORES, commit_records, open, record};

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
            let record = record(round, SavedKind::Summary, 20);
            commit_records(&mut thread, &[compactometer_engine::saved::Saved { body: body(round), ..record }]);
        }
        let size = store.size().unwrap();
        let least = if kind == "directory" { 10 * 3_000 } else { 100 * 3_000 };
        assert!((least..1_000_000).contains(&size.bytes), "{kind}: {size:?}");
        let files = if kind == "directory" { 12 } else { 3 };
        assert_eq!(size.files, files, "{kind}: ten commits, index and archive; or database, log and its index");
        assert_eq!(thread.load().unwrap().history[3].body, body(3), "{kind}: nothing is lost");
    }
}
