//! A file store that somebody changed. Each line of an input changes a file of a healthy thread:
//! `FILE = CONTENT` replaces it, `FILE @ OFFSET HEX` overwrites bytes, `FILE < LENGTH` cuts it,
//! `FILE -` removes it. Other lines change nothing.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use compactometer_store::Checkpoints;

use super::store;
use crate::scratch_files;

/// The files of a healthy store, as the path within its folder and the bytes.
static HEALTHY: LazyLock<Vec<(PathBuf, Vec<u8>)>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    store::fill(&Checkpoints::in_directory(folder.path(), store::KEEP).expect("a store"));
    let mut files = Vec::new();
    collect(folder.path(), folder.path(), &mut files);
    files
});

fn collect(root: &Path, folder: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            let name = path.strip_prefix(root).expect("it is inside").to_owned();
            files.push((name, std::fs::read(&path).expect("a file")));
        }
    }
}

pub(super) fn run(data: &[u8]) -> bool {
    scratch_files::in_folder(|folder| {
        for (name, bytes) in &*HEALTHY {
            scratch_files::write(folder, &name.to_string_lossy(), bytes);
        }
        for line in data.split(|byte| *byte == b'\n') {
            let _ = change(folder, line);
        }
        Checkpoints::in_directory(folder, store::KEEP).is_ok_and(|store| store::examine(&store))
    })
}

/// Makes the change that a line describes. `None` if it names no file or no change.
fn change(folder: &Path, line: &[u8]) -> Option<()> {
    let line = String::from_utf8_lossy(line);
    let (file, change) = line.split_once(' ')?;
    let (name, _) = HEALTHY.iter().find(|(name, _)| name.ends_with(file))?;
    let path = folder.join(name);
    if change == "-" {
        return std::fs::remove_file(path).ok();
    }
    let (verb, rest) = change.split_once(' ')?;
    let mut bytes = std::fs::read(&path).unwrap_or_default();
    match verb {
        "=" => bytes = rest.as_bytes().to_vec(),
        "<" => bytes.truncate(rest.parse().ok()?),
        "@" => over(&mut bytes, rest)?,
        _ => return None,
    }
    std::fs::write(path, bytes).ok()
}

/// Overwrites bytes by `OFFSET HEX`; an offset beyond the end wraps around.
pub(super) fn over(bytes: &mut [u8], change: &str) -> Option<()> {
    let (offset, hex) = change.split_once(' ')?;
    let start = offset.parse::<usize>().ok()?.checked_rem(bytes.len())?;
    let digits = hex
        .trim()
        .as_bytes()
        .chunks(2)
        .filter_map(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok());
    bytes[start..]
        .iter_mut()
        .zip(digits)
        .for_each(|(byte, new)| *byte = new);
    Some(())
}
