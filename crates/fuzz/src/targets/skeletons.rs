//! Skeletons: a file that is accepted renders the same text twice, holds no text, and reads back.

use compactometer_suites::skeletons::{read, render, write};

pub(super) fn run(mut data: &[u8]) -> bool {
    let skeletons = match read(&mut data) {
        Ok(skeletons) => skeletons,
        Err(error) => {
            let error = error.to_string();
            assert!(
                error.contains("line ") || error.contains("holds text") || error.contains("UTF-8"),
                "no place: {error}"
            );
            return false;
        }
    };
    assert_eq!(render(&skeletons, "r", 1), render(&skeletons, "r", 1));
    let mut written = Vec::new();
    write(&mut written, &skeletons).expect("what was read can be written");
    assert_eq!(
        read(&mut &written[..]).expect("what is written reads"),
        skeletons
    );
    true
}
