//! Where an agent runs: a temporary folder, which goes even if the program is interrupted.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use compactometer_external::end_all;
use tempfile::TempDir;

/// The folders that there are.
static FOLDERS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn folders() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends all agents and removes their folders, for a program that is about to end.
pub fn abandon() {
    // Held to the end, so that no agent finds a new folder.
    let folders = folders();
    end_all();
    for folder in folders.iter() {
        let _ = std::fs::remove_dir_all(folder);
    }
}

/// A temporary folder.
pub(crate) struct Folder(TempDir);

impl Folder {
    /// The length of its name is always the same, since the agent's context has it.
    pub(crate) fn new() -> std::io::Result<Self> {
        let mut folders = folders();
        let folder = tempfile::Builder::new()
            .prefix("compactometer-play-")
            .tempdir()?;
        folders.insert(folder.path().to_owned());
        Ok(Folder(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        folders().remove(self.path());
    }
}
