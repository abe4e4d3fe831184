//! The log of what went wrong in hooks, in the user's cache folder: programs show little of what a
//! hook says.

use std::fs::{OpenOptions, create_dir_all};
use std::io::Write;
use std::path::PathBuf;

use crate::output::cache;

/// A log of this many bytes is started again.
const LONGEST: u64 = 100_000;

/// Adds a line. A log that cannot be written is left as it is, since the hook must not fail.
pub(super) fn append(words: &str) {
    let Some(path) = path() else { return };
    let is_long = std::fs::metadata(&path).is_ok_and(|file| file.len() > LONGEST);
    let opened = path
        .parent()
        .and_then(|folder| create_dir_all(folder).ok())
        .and_then(|()| {
            OpenOptions::new()
                .create(true)
                .append(!is_long)
                .write(true)
                .truncate(is_long)
                .open(&path)
                .ok()
        });
    if let Some(mut file) = opened {
        let at = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ");
        let _ = writeln!(file, "{at} {}", words.replace('\n', " "));
    }
}

/// `hook.log` in the cache folder.
pub(super) fn path() -> Option<PathBuf> {
    Some(cache::folder()?.join("hook.log"))
}
