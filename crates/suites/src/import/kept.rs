//! Where programs keep their sessions.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::error::ImportError;

/// Where a program keeps its sessions.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    /// The environment variable that names the program's folder.
    pub(super) variable: Option<&'static str>,
    /// The program's folder without that variable, in the user's home.
    pub(super) home: &'static str,
    /// The files below the folder, with `*` for any part of a name.
    pub(super) pattern: &'static str,
}

/// A session that was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The file.
    pub path: PathBuf,
    /// When it was last written.
    pub modified: Option<SystemTime>,
    /// Its size in bytes.
    pub bytes: u64,
}

impl Kept {
    /// Where sessions are looked for, with `*` for any part of a name. `variable` reads an
    /// environment variable.
    pub fn place(&self, variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
        let named = self
            .variable
            .and_then(&variable)
            .filter(|folder| !folder.is_empty())
            .map(PathBuf::from);
        let home = || {
            Some(Path::new(&variable("HOME").or_else(|| variable("USERPROFILE"))?).join(self.home))
        };
        let folder = named.or_else(home)?;
        // Only the program's part of the path is a pattern.
        Some(Path::new(&glob::Pattern::escape(&folder.to_string_lossy())).join(self.pattern))
    }

    /// The sessions at that place, the newest first.
    ///
    /// # Errors
    /// [`ImportError`] if the place has a name that cannot be looked for.
    pub fn find(&self, place: &Path) -> Result<Vec<Found>, ImportError> {
        matching(&place.to_string_lossy())
    }
}

/// The files of a folder and of the folders in it that have the ending of a session, the newest
/// first.
///
/// # Errors
/// [`ImportError`] if the folder has a name that cannot be looked for.
pub fn sessions_in(folder: &Path) -> Result<Vec<Found>, ImportError> {
    let folder = glob::Pattern::escape(&folder.to_string_lossy());
    let mut found = Vec::new();
    for ending in ["jsonl", "json"] {
        found.extend(matching(&format!("{folder}/**/*.{ending}"))?);
    }
    newest_first(&mut found);
    Ok(found)
}

/// Sorts sessions by when they were last written.
pub fn newest_first(found: &mut [Found]) {
    found.sort_by(|one, other| (other.modified, &one.path).cmp(&(one.modified, &other.path)));
}

fn matching(pattern: &str) -> Result<Vec<Found>, ImportError> {
    let paths =
        glob::glob(pattern).map_err(|error| ImportError::Other(format!("`{pattern}`: {error}")))?;
    let mut found = Vec::new();
    for path in paths.flatten().filter(|path| path.is_file()) {
        let about = path.metadata().ok();
        let modified = about.as_ref().and_then(|about| about.modified().ok());
        found.push(Found {
            path,
            modified,
            bytes: about.map_or(0, |about| about.len()),
        });
    }
    newest_first(&mut found);
    Ok(found)
}
