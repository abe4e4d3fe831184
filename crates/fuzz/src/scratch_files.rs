//! Files for readers that take a path, in a folder of the thread that is emptied for each input.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

thread_local! {
    static FOLDER: OnceCell<TempDir> = const { OnceCell::new() };
}

/// Runs a function with an empty folder. Its path is the same for each input of a thread, so that
/// messages are the same.
pub(crate) fn in_folder<T>(run: impl FnOnce(&Path) -> T) -> T {
    FOLDER.with(|cell| {
        let folder = cell.get_or_init(|| tempfile::tempdir().expect("a folder"));
        let own = folder.path().join("own");
        let _ = std::fs::remove_dir_all(&own);
        std::fs::create_dir_all(&own).expect("a folder");
        run(&own)
    })
}

/// Writes a file and returns its path.
pub(crate) fn write(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).expect("a folder");
    }
    std::fs::write(&path, bytes).expect("a file");
    path
}
