//! Fuzz targets: for every reader of the workspace what must hold, whatever bytes it is given.
//!
//! A target is one file in `targets` and one line in [`ALL`]; its inputs to begin with are the files of `seeds/NAME`. The short test of
//! this crate and `scripts/fuzz` run the same list. A panic is a find; so are an input that takes seconds and one that fills memory.
//! Absent on purpose: limits on time, which a test cannot hold on a busy machine; `scripts/fuzz` has them.

mod files;
pub mod mutate;
pub mod swell;
mod targets;

use std::path::{Path, PathBuf};

pub use targets::ALL;

/// What must hold of one reader.
pub struct Target {
    /// Its name, and that of its folders of seeds and of regressions.
    pub name: &'static str,
    /// Reads the bytes and gives whether the reader took them; panics where something does not hold.
    pub run: fn(&[u8]) -> bool,
}

impl Target {
    /// Inputs to begin with.
    pub fn seeds(&self) -> Vec<PathBuf> {
        listed("seeds", self.name)
    }

    /// Inputs that once were finds.
    pub fn regressions(&self) -> Vec<PathBuf> {
        listed("regressions", self.name)
    }
}

/// The target of that name.
pub fn by_name(name: &str) -> Option<&'static Target> {
    ALL.iter().find(|target| target.name == name)
}

/// The files of a target's folder, in order of their names; none where there is no such folder.
fn listed(folder: &str, name: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(name);
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files = entries.map(|entry| entry.path()).collect::<Vec<_>>();
    files.sort();
    files
}
