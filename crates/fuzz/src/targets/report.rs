//! Reports from arbitrary records: all their numbers are finite, and the same records give the same
//! report. An input is a manifest on the first line and a record on each other line, which gets the
//! right checksum.

use compactometer_formats::manifest::Manifest;
use compactometer_formats::prices::PriceTable;
use compactometer_formats::record::{Record, text_hash};
use compactometer_formats::summary::Summary;

pub(super) fn run(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else {
        return false;
    };
    let (first, lines) = text.split_once('\n').unwrap_or((text, ""));
    let Ok(manifest) = serde_json::from_str::<Manifest>(first) else {
        return false;
    };
    let record = |json: &str| {
        Record::from_line(&format!(
            "{{\"checksum\":\"{}\",\"record\":{json}}}",
            text_hash(json)
        ))
    };
    let Ok(records) = lines.lines().map(record).collect::<Result<Vec<_>, _>>() else {
        return false;
    };
    let prices = PriceTable::shipped().expect("the shipped table parses");
    let summary = compactometer_report::summarize(&manifest, &records, &prices);
    let written = serde_json::to_string(&summary).expect("a summary can be written");
    // A NaN is written as null, which does not read back as a number.
    assert_eq!(
        serde_json::from_str::<Summary>(&written).expect("it reads back"),
        summary
    );
    assert_eq!(
        compactometer_report::summarize(&manifest, &records, &prices),
        summary
    );
    !records.is_empty()
}
