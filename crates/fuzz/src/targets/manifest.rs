//! The manifest reader: an accepted manifest of either version survives a round trip.

use compactometer_formats::manifest::Manifest;

pub(super) fn run(data: &[u8]) -> bool {
    match serde_json::from_slice::<Manifest>(data) {
        Ok(manifest) => {
            let written =
                serde_json::to_string(&manifest).expect("a manifest that was read can be written");
            assert_eq!(
                serde_json::from_str::<Manifest>(&written).expect("what is written reads"),
                manifest
            );
            true
        }
        Err(error) => {
            assert!(error.to_string().contains("line"), "no place: {error}");
            false
        }
    }
}
