//! Fuzz targets: what must hold for every reader of the workspace, whatever bytes it gets.
//!
//! A target is one file in `targets` and one line in [`ALL`]; its first inputs are the files of `seeds/NAME`. This crate's short
//! test and `scripts/fuzz` run the same list. A panic is a find; so is an input that takes seconds or fills memory. Absent on
//! purpose: time limits, which a test cannot keep on a busy machine; `scripts/fuzz` has them.

mod files;
pub mod mutate;
pub mod swell;
mod targets;

use std::path::{Path, PathBuf};

pub use targets::ALL;

/// What must hold for one reader.
pub struct Target {
    /// Its name, which its folders of seeds and of regressions share.
    pub name: &'static str,
    /// Reads the bytes and returns whether the reader took them; panics if something does not hold.
    pub run: fn(&[u8]) -> bool,
}

impl Target {
    /// The first inputs.
    pub fn seeds(&self) -> Vec<PathBuf> {
        listed("seeds", self.name)
    }

    /// Inputs that were finds.
    pub fn regressions(&self) -> Vec<PathBuf> {
        listed("regressions", self.name)
    }
}

/// The target of that name.
pub fn by_name(name: &str) -> Option<&'static Target> {
    ALL.iter().find(|target| target.name == name)
}

/// The files of a target's folder, in order of their names; none if there is no such folder.
fn listed(folder: &str, name: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(name);
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files = entries.map(|entry| entry.path()).collect::<Vec<_>>();
    files.sort();
    files
}
