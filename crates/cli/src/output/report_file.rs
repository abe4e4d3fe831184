//! A report as a file that a flag names.

use std::path::Path;

use compactometer_disk::{create_folder, write_whole};

use super::failure::Failure;
use super::run_folder::cannot;

/// Writes a report whole or not at all, and the folder before it where that is missing.
pub(crate) fn write_report(path: &Path, text: &str, flag: &str) -> Result<(), Failure> {
    let folder = path.parent();
    let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
    folder
        .map_or(Ok(()), create_folder)
        .and_then(|()| write_whole(path, |out| out.write_all(text.as_bytes())))
        .map_err(|error| {
            let what = format!("write `{}`", path.display());
            Failure::usage(cannot(&what, error, flag))
        })
}
