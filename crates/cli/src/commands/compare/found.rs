//! What reruns found, as files beside a run's records, so that a report that is made again says it
//! too.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::Context;
use compactometer_disk::input::{Kind, read_text};
use compactometer_disk::write_whole;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::output::failure::Failure;

/// Writes `file` in the run's folder.
pub(super) fn write(dir: &Path, file: &str, found: &impl Serialize) -> Result<(), Failure> {
    let path = dir.join(file);
    let json = serde_json::to_string_pretty(found).map_err(Failure::failed)?;
    write_whole(&path, |out| writeln!(out, "{json}"))
        .with_context(|| format!("cannot write `{}`", path.display()))
        .map_err(Failure::failed)
}

/// What an earlier `compare` with `flag` wrote to this folder, if anything.
pub(super) fn read<T: DeserializeOwned>(
    dir: &Path,
    file: &str,
    flag: &str,
) -> anyhow::Result<Option<T>> {
    let path = dir.join(file);
    let text = match read_text(&path, Kind::MANIFEST) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        read => read.with_context(|| format!("cannot read `{}`", path.display()))?,
    };
    let parsed = serde_json::from_str(&text);
    parsed.map(Some).with_context(|| {
        format!(
            "`{}` is damaged; delete it, or run `compare {flag}` again",
            path.display()
        )
    })
}
