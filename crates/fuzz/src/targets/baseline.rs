//! The baseline reader: an accepted baseline is written as the same bytes. Each input is read as it
//! is, and with the right checksum for the text after its first line.

use compactometer_formats::baseline::{Baseline, VERSION};
use compactometer_formats::record::text_hash;

pub(super) fn run(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else {
        return false;
    };
    let body = text.split_once('\n').map_or(text, |(_, body)| body);
    check(text)
        | check(&format!(
            "{{\"version\":{VERSION},\"checksum\":\"{}\",\n{body}",
            text_hash(body)
        ))
}

fn check(text: &str) -> bool {
    match Baseline::parse(text) {
        Ok(baseline) => {
            let written = baseline
                .to_text()
                .expect("a baseline that was read can be written");
            assert_eq!(Baseline::parse(&written).as_ref(), Ok(&baseline));
            assert_eq!(baseline.to_text().expect("writes"), written);
            true
        }
        Err(error) => {
            assert!(
                error.to_string().contains("baseline") || error.to_string().contains("version"),
                "{error}"
            );
            false
        }
    }
}
