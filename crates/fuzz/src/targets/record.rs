//! The record reader: an accepted record survives a round trip. Each input is read as a line, and
//! as a record with the right checksum, which no mutation of bytes would find.

use compactometer_formats::record::{Record, text_hash};

pub(super) fn run(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else {
        return false;
    };
    let json = text.trim();
    check(text)
        | check(&format!(
            "{{\"checksum\":\"{}\",\"record\":{json}}}",
            text_hash(json)
        ))
}

fn check(line: &str) -> bool {
    let record = match Record::from_line(line) {
        Ok(record) => record,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return false;
        }
    };
    let written = record
        .to_line()
        .expect("a record that was read can be written");
    assert!(!written.contains('\n'), "a record is one line");
    let back = Record::from_line(&written).expect("what is written reads");
    assert_eq!(back, record);
    assert_eq!(back.to_line().expect("writes"), written);
    // Reports call these on every record.
    assert!(record.calls().count() + record.probe_calls().count() >= record.served_models().len());
    true
}
