//! The agent's own document of a thread: one file, replaced by a rename, apart from the index and
//! what it names.

use std::path::Path;

use super::disk;
use crate::error::Error;

/// The agent loop, section 8.
pub(super) const FILE: &str = "MEMORY.md";

pub(super) fn read(folder: &Path) -> Result<Option<String>, Error> {
    let path = folder.join(FILE);
    let bytes = disk::read(&path)?;
    bytes
        .map(|bytes| String::from_utf8(bytes).map_err(|error| Error::damaged(&path, error)))
        .transpose()
}

pub(super) fn write(folder: &Path, text: &str) -> Result<(), Error> {
    disk::create_folder(folder)?;
    disk::replace(&folder.join(FILE), text.as_bytes())?;
    disk::sync_folder(folder)
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use crate::directory::disk::faults::{self, DiskFault};
    use crate::{Checkpoints, KEEP};

    #[test]
    fn a_fault_at_any_step_leaves_the_document_before_or_the_new_one() {
        let steps = |folder: &std::path::Path, fault| {
            let thread = Checkpoints::in_directory(folder, KEEP)
                .unwrap()
                .thread("t")
                .unwrap();
            thread.set_memory_document("before").unwrap();
            let (written, steps) =
                faults::with(fault, || thread.set_memory_document("the new one"));
            let found = Checkpoints::in_directory(folder, KEEP)
                .unwrap()
                .thread("t")
                .unwrap()
                .memory_document();
            (written.is_ok(), found.unwrap().unwrap(), steps.len())
        };
        let root = tempfile::tempdir().unwrap();
        let (_, _, number) = steps(root.path(), None);
        assert!(number >= 5, "{number}");
        let mut kept = 0;
        for at in 0..number {
            for fault in [DiskFault::Once(ErrorKind::StorageFull), DiskFault::Kill] {
                let (is_written, found, _) = steps(root.path(), Some((at, fault)));
                assert!(
                    found == "the new one" || (found == "before" && !is_written),
                    "{at} {fault:?}: {found}"
                );
                kept += usize::from(found == "before");
            }
        }
        assert!(kept > 0);
    }
}
