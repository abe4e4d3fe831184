//! Every step that changes a file. Each can fail in tests at any point, as a full disk or a kill
//! would make it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::Error;

#[cfg(test)]
pub(super) mod faults;

/// Puts a whole file in place of the one before, by a synced neighbour that is renamed. The folder
/// is the caller's to sync.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let partial = partial(path);
    let write = || {
        step("create", &partial)?;
        let mut file = File::create(&partial)?;
        write(&mut file, &partial, bytes)
    };
    write().map_err(Error::io("write", &partial))?;
    rename(&partial, path)
}

/// Where a file is written before it takes its name.
pub(super) fn partial(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".partial");
    PathBuf::from(name)
}

/// Writes after the first `length` bytes; what stood behind them was never committed.
pub(super) fn append(path: &Path, length: u64, bytes: &[u8]) -> Result<(), Error> {
    let append = || {
        step("open", path)?;
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)?;
        step("cut", path)?;
        file.set_len(length)?;
        file.seek(SeekFrom::Start(length))?;
        write(&mut file, path, bytes)
    };
    append().map_err(Error::io("append to", path))
}

fn write(file: &mut File, path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Err(error) = step("write", path) {
        // A kill or a full disk tears what is being written.
        file.write_all(&bytes[..bytes.len() / 2])?;
        return Err(error);
    }
    file.write_all(bytes)?;
    step("sync", path)?;
    file.sync_all()
}

pub(super) fn rename(from: &Path, to: &Path) -> Result<(), Error> {
    step("rename", to)
        .and_then(|()| fs::rename(from, to))
        .map_err(Error::io("rename a file to", to))
}

/// Makes names last: new, renamed and removed ones. Only where folders can be synced.
pub(super) fn sync_folder(path: &Path) -> Result<(), Error> {
    step("sync folder", path)
        .and_then(|()| compactometer_disk::sync_folder(path))
        .map_err(Error::io("sync", path))
}

/// Makes a folder and those above it, with names that last.
pub(super) fn create_folder(path: &Path) -> Result<(), Error> {
    let create =
        || step("create folder", path).and_then(|()| compactometer_disk::create_folder(path));
    create().map_err(Error::io("make the folder", path))
}

pub(super) fn remove_file(path: &Path) -> Result<(), Error> {
    step("remove", path)
        .and_then(|()| fs::remove_file(path))
        .map_err(Error::io("remove", path))
}

/// Removes a folder with all in it; one that is not there is none to remove.
pub(super) fn remove_folder(path: &Path) -> Result<(), Error> {
    match step("remove folder", path).and_then(|()| fs::remove_dir_all(path)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result.map_err(Error::io("remove", path)),
    }
}

/// The file's bytes; none where it is not there.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some).map_err(Error::io("read", path)),
    }
}

/// The file's first `length` bytes; none where it has fewer.
pub(super) fn read_start(path: &Path, length: u64) -> Result<Option<Vec<u8>>, Error> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(Error::io("open", path))?;
    file.take(length)
        .read_to_end(&mut bytes)
        .map_err(Error::io("read", path))?;
    Ok((bytes.len() as u64 == length).then_some(bytes))
}

/// Names of all that a folder holds, sorted; none where it is not there.
pub(super) fn names(folder: &Path) -> Result<Vec<String>, Error> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(Error::io("list", folder))?,
    };
    let names = entries.map(|entry| Ok(entry?.file_name().into_string().ok()));
    let names = names
        .collect::<io::Result<Vec<_>>>()
        .map_err(Error::io("list", folder))?;
    let mut names = names.into_iter().flatten().collect::<Vec<_>>();
    names.sort();
    Ok(names)
}

/// Whether others may hold the same lock.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    /// Others may read.
    Shared,
    /// Nobody else.
    Alone,
}

/// Waits between two tries for a lock, and how many there are: longer than any commit takes.
const WAIT: Duration = Duration::from_millis(10);
const TRIES: u32 = 1_000;

/// Holds an advisory lock until the file is dropped, or the process ends in any way.
pub(super) fn lock(path: &Path, hold: Hold) -> Result<File, Error> {
    let open = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path);
    let file = open.map_err(Error::io("open the lock", path))?;
    for _ in 0..TRIES {
        let tried = if hold == Hold::Alone {
            file.try_lock()
        } else {
            file.try_lock_shared()
        };
        match tried {
            Ok(()) => return Ok(file),
            Err(fs::TryLockError::WouldBlock) => std::thread::sleep(WAIT),
            Err(fs::TryLockError::Error(error)) => return Err(Error::io("lock", path)(error)),
        }
    }
    Err(Error::Locked {
        path: path.to_owned(),
        seconds: (WAIT * TRIES).as_secs(),
    })
}

/// Every change of a file passes here.
#[cfg(test)]
fn step(what: &'static str, path: &Path) -> io::Result<()> {
    faults::step(what, path)
}

#[cfg(not(test))]
fn step(_what: &'static str, _path: &Path) -> io::Result<()> {
    Ok(())
}
