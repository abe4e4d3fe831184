//! Fuzz targets: what must hold for every reader of the workspace, whatever bytes it gets.
//!
//! A target is one file in `targets` and one line in [`ALL`]. Its first inputs are the files of
//! `seeds/NAME`. This crate's short test and `scripts/fuzz` run the same list. A panic is a
//! finding, and so is an input that takes seconds or fills memory. Absent on purpose: time limits,
//! which a test cannot enforce on a busy machine; `scripts/fuzz` has them.

pub mod mutate;
mod scratch_files;
pub mod swell;
mod targets;

use std::path::{Path, PathBuf};

pub use targets::ALL;

/// The checks of one reader.
pub struct FuzzTarget {
    /// Its name, which is also that of its folders of seeds and regressions.
    pub name: &'static str,
    /// Reads the bytes and returns whether the reader accepted them. Panics if a check fails.
    pub run: fn(&[u8]) -> bool,
}

impl FuzzTarget {
    /// The first inputs.
    pub fn seeds(&self) -> Vec<PathBuf> {
        files("seeds", self.name)
    }

    /// Inputs that were findings.
    pub fn regressions(&self) -> Vec<PathBuf> {
        files("regressions", self.name)
    }
}

/// The target with this name.
pub fn by_name(name: &str) -> Option<&'static FuzzTarget> {
    ALL.iter().find(|target| target.name == name)
}

/// The files of a target's folder, sorted by name. Empty if there is no such folder.
fn files(folder: &str, name: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(folder)
        .join(name);
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files = entries.map(|entry| entry.path()).collect::<Vec<_>>();
    files.sort();
    files
}
