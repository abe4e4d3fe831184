//! A file of appended lines, for one process at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::input::refuse;
use crate::place::{Identity, folder_of, sync_folder};

/// A file of lines, open for appending. A process that ends at any moment tears at most the last
/// line. The next process that opens the file, or the next append after a failed write, cuts the
/// torn line off.
#[derive(Debug)]
pub struct LineFile {
    path: PathBuf,
    file: File,
    identity: Identity,
    /// The number of bytes in complete lines.
    whole: u64,
}

/// The reason why lines are not known to be on the disk.
#[derive(Debug, thiserror::Error)]
pub enum NotKept {
    /// An error of the file system.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file no longer has the name under which it was opened, so nobody would find what is
    /// written to it.
    #[error("it was removed or replaced while it was written to")]
    Gone,
}

impl LineFile {
    /// Opens a file and creates it if it is missing. Nothing counts as whole before
    /// [`LineFile::keep`].
    ///
    /// # Errors
    /// What the file system returns.
    pub fn open(path: &Path) -> io::Result<Self> {
        if let Ok(found) = std::fs::metadata(path) {
            refuse(&found, false)?;
        }
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        let identity = Identity::new(&file.metadata()?);
        Ok(LineFile {
            path: path.to_owned(),
            file,
            identity,
            whole: 0,
        })
    }

    /// Keeps other processes from locking the file until this is dropped.
    ///
    /// # Errors
    /// If another process holds the lock, or files cannot be locked.
    pub fn lock(&self) -> Result<(), TryLockError> {
        self.file.try_lock()
    }

    /// The file, for reading from its start.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Keeps the first `whole` bytes, cuts off the rest, and syncs the file and its name.
    ///
    /// # Errors
    /// What the file system returns.
    pub fn keep(&mut self, whole: u64) -> io::Result<()> {
        self.whole = whole;
        self.cut_torn_line()?;
        self.file.sync_data()?;
        sync_folder(folder_of(&self.path))
    }

    /// Appends whole lines. They count as kept once [`LineFile::sync`] has returned.
    ///
    /// # Errors
    /// [`NotKept`].
    pub fn append(&mut self, lines: &[u8]) -> Result<(), NotKept> {
        self.append_with(|out| out.write_all(lines))
    }

    /// Like [`LineFile::append`], for lines written by a function, so that long lines need not be in
    /// memory.
    ///
    /// # Errors
    /// [`NotKept`].
    pub fn append_with(
        &mut self,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<(), NotKept> {
        self.cut_torn_line()?;
        self.file.seek(SeekFrom::Start(self.whole))?;
        write(&mut self.file)?;
        self.whole = self.file.stream_position()?;
        self.check_name()
    }

    /// Waits until all lines are on the disk.
    ///
    /// # Errors
    /// [`NotKept`].
    pub fn sync(&self) -> Result<(), NotKept> {
        self.file.sync_data()?;
        self.check_name()
    }

    fn check_name(&self) -> Result<(), NotKept> {
        if self.identity.is_at(&self.path) {
            Ok(())
        } else {
            Err(NotKept::Gone)
        }
    }

    fn cut_torn_line(&self) -> io::Result<()> {
        if self.file.metadata()?.len() > self.whole {
            self.file.set_len(self.whole)
        } else {
            Ok(())
        }
    }
}

impl Drop for LineFile {
    /// Closing would release the lock only after the last copy of the file is closed, and a process
    /// that another thread is just starting has a copy.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_torn_line_is_cut_off_before_the_next_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lines");
        fs::write(&path, "one\ntwo\nhal").unwrap();
        let mut lines = LineFile::open(&path).unwrap();
        lines.keep(8).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one\ntwo\n");
        lines.append(b"three\n").unwrap();
        // A full disk ends a write like this.
        OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap()
            .write_all(b"a long line that is to")
            .unwrap();
        lines.append(b"four\n").unwrap();
        lines.sync().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one\ntwo\nthree\nfour\n");
    }

    #[test]
    fn one_process_at_a_time_holds_the_lock() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lines");
        let first = LineFile::open(&path).unwrap();
        first.lock().unwrap();
        assert!(matches!(
            LineFile::open(&path).unwrap().lock(),
            Err(TryLockError::WouldBlock)
        ));
        // As in a process that another thread is just starting.
        let _copy = first.file().try_clone().unwrap();
        drop(first);
        LineFile::open(&path).unwrap().lock().unwrap();
    }

    #[test]
    fn lines_of_a_removed_or_replaced_file_are_not_kept() {
        for replaced in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("run/lines");
            crate::create_folder(&dir.path().join("run")).unwrap();
            let mut lines = LineFile::open(&path).unwrap();
            lines.append(b"one\n").unwrap();
            lines.sync().unwrap();
            fs::rename(dir.path().join("run"), dir.path().join("moved")).unwrap();
            if replaced && cfg!(unix) {
                fs::create_dir(dir.path().join("run")).unwrap();
                fs::copy(dir.path().join("moved/lines"), &path).unwrap();
            }
            assert!(matches!(lines.append(b"two\n"), Err(NotKept::Gone)));
            assert!(matches!(lines.sync(), Err(NotKept::Gone)));
        }
    }
}
