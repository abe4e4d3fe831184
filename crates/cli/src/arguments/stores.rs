//! Stores and their threads as a user names them.

use std::path::Path;

use anyhow::{Result, anyhow, bail};
use compactometer_store::{Checkpoints, KEEP, Thread};
use compactometer_text::suggest::unknown;

use crate::output::terminal::note;

/// Endings that name a database rather than a folder.
const DATABASES: [&str; 3] = ["db", "sqlite", "sqlite3"];

/// Opens a store and creates it if it is missing: a SQLite database if the path is a file or has a
/// database's extension, else a folder.
pub(crate) fn open(path: &Path) -> Result<Checkpoints> {
    if !is_database(path) {
        return Ok(Checkpoints::in_directory(path, KEEP)?);
    }
    let store = Checkpoints::in_sqlite(path, KEEP)?;
    if let Some(older) = store.older_format() {
        let path = path.display();
        note(&format!(
            "note: `{path}` was a store of format {older} and is now one that older versions of this program cannot open"
        ));
    }
    Ok(store)
}

/// Opens an existing store.
pub(crate) fn existing(path: &Path) -> Result<Checkpoints> {
    must_exist(path)?;
    open(path)
}

/// Opens an existing store for reading, which also works on a disk that cannot be written.
pub(crate) fn to_read(path: &Path) -> Result<Checkpoints> {
    must_exist(path)?;
    if is_database(path) {
        Ok(Checkpoints::in_sqlite_to_read(path, KEEP)?)
    } else {
        open(path)
    }
}

fn is_database(path: &Path) -> bool {
    let ends_as_one = path
        .extension()
        .is_some_and(|ending| DATABASES.iter().any(|known| ending == *known));
    path.is_file() || (ends_as_one && !path.is_dir())
}

fn must_exist(path: &Path) -> Result<()> {
    if !path.exists() {
        bail!(
            "no store at `{}`; name the one that `run --store` or the agent wrote: `--store DIR` or `--store FILE.db`",
            path.display()
        );
    }
    Ok(())
}

/// An existing thread: the one with this id, or the only one.
pub(crate) fn thread(
    store: &Checkpoints,
    path: &Path,
    id: Option<&str>,
) -> Result<(String, Thread)> {
    let id = match id {
        Some(id) => id.to_owned(),
        None => only_thread(store, path)?,
    };
    let thread = store.thread(&id)?;
    // A damaged thread may be in no list; its own error says more.
    if thread.versions()?.is_empty() && !store.threads()?.contains(&id) {
        return Err(no_thread(store, path, &id)?);
    }
    Ok((id, thread))
}

/// The error for an id that no thread of the store has.
///
/// # Errors
/// If the store cannot be read.
pub(crate) fn no_thread(store: &Checkpoints, path: &Path, id: &str) -> Result<anyhow::Error> {
    let threads = store.threads()?;
    let escaped = id.escape_debug().to_string();
    Ok(if threads.is_empty() {
        anyhow!(
            "no thread `{escaped}`: the store `{}` holds none",
            path.display()
        )
    } else {
        anyhow!(
            "{} in `{}`",
            unknown("thread", &escaped, threads.iter().map(String::as_str)),
            path.display()
        )
    })
}

fn only_thread(store: &Checkpoints, path: &Path) -> Result<String> {
    let mut threads = store.threads()?;
    match threads.len() {
        0 => bail!("the store `{}` holds no thread", path.display()),
        1 => Ok(threads.remove(0)),
        more => {
            let near = threads
                .iter()
                .take(SHOWN)
                .map(|id| format!("`{id}`"))
                .collect::<Vec<_>>()
                .join(", ");
            bail!(
                "the store `{}` holds {more} threads; name one with `--thread`: {near}{}",
                path.display(),
                dots(more)
            )
        }
    }
}

/// Most threads that an error lists.
const SHOWN: usize = 12;

fn dots(threads: usize) -> &'static str {
    if threads > SHOWN { ", ..." } else { "" }
}
