//! Where programs keep their sessions.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use compactometer_disk::user::UserFolders;

use super::error::ImportError;

/// Where a program keeps its sessions.
#[derive(Clone, Copy, Debug)]
pub struct SessionFolder {
    /// The environment variable that names the program's folder.
    pub(super) variable: Option<&'static str>,
    /// The program's folder without that variable, in the user's home.
    pub(super) home: &'static str,
    /// The files below the folder, with `*` for any part of a name.
    pub(super) pattern: &'static str,
}

/// A session that was found.
#[derive(Clone, Debug)]
pub struct FoundSession {
    /// The file.
    pub path: PathBuf,
    /// When it was last written.
    pub modified: Option<SystemTime>,
    /// Its size in bytes.
    pub bytes: u64,
}

impl SessionFolder {
    /// Where sessions are looked for, with `*` for any part of a name.
    pub fn place<F: Fn(&str) -> Option<OsString>>(&self, user: &UserFolders<F>) -> Option<PathBuf> {
        let folder = user.of_program(self.variable, self.home)?;
        // Only the program's part of the path is a pattern.
        Some(Path::new(&glob::Pattern::escape(&folder.to_string_lossy())).join(self.pattern))
    }

    /// The sessions at that place, the newest first.
    ///
    /// # Errors
    /// [`ImportError`] if the place has a name that cannot be looked for.
    pub fn find(&self, place: &Path) -> Result<Vec<FoundSession>, ImportError> {
        matching(&place.to_string_lossy())
    }
}

/// The files of a folder and of the folders in it that have the ending of a session, the newest
/// first.
///
/// # Errors
/// [`ImportError`] if the folder has a name that cannot be looked for.
pub fn sessions_in(folder: &Path) -> Result<Vec<FoundSession>, ImportError> {
    let folder = glob::Pattern::escape(&folder.to_string_lossy());
    let mut found = Vec::new();
    for ending in ["jsonl", "json"] {
        found.extend(matching(&format!("{folder}/**/*.{ending}"))?);
    }
    newest_first(&mut found);
    Ok(found)
}

/// Sorts sessions by when they were last written.
pub fn newest_first(found: &mut [FoundSession]) {
    found.sort_by(|one, other| (other.modified, &one.path).cmp(&(one.modified, &other.path)));
}

fn matching(pattern: &str) -> Result<Vec<FoundSession>, ImportError> {
    let paths =
        glob::glob(pattern).map_err(|error| ImportError::Other(format!("`{pattern}`: {error}")))?;
    let mut found = Vec::new();
    for path in paths.flatten().filter(|path| path.is_file()) {
        let about = path.metadata().ok();
        let modified = about.as_ref().and_then(|about| about.modified().ok());
        found.push(FoundSession {
            path,
            modified,
            bytes: about.map_or(0, |about| about.len()),
        });
    }
    newest_first(&mut found);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use compactometer_disk::user::with;

    use super::*;
    use crate::import;

    /// Format, variables, whether it is Windows, and where sessions are looked for.
    type Row = (
        &'static str,
        &'static [(&'static str, &'static str)],
        bool,
        &'static str,
    );

    const ROWS: [Row; 5] = [
        (
            "claude-code",
            &[("HOME", "/Users/ann")],
            false,
            "/Users/ann/.claude/projects/*/*.jsonl",
        ),
        (
            "claude-code",
            &[("HOME", "/home/ann"), ("CLAUDE_CONFIG_DIR", "/a[1]")],
            false,
            "/a[[]1[]]/projects/*/*.jsonl",
        ),
        (
            "claude-code",
            &[("HOME", "/c/Users/ann"), ("USERPROFILE", "C:/Users/ann")],
            true,
            "C:/Users/ann/.claude/projects/*/*.jsonl",
        ),
        (
            "codex",
            &[("USERPROFILE", "C:/Users/ann"), ("CODEX_HOME", "D:/codex")],
            true,
            "D:/codex/sessions/*/*/*/rollout-*.jsonl",
        ),
        (
            "pi",
            &[("USERPROFILE", "C:/Users/ann")],
            true,
            "C:/Users/ann/.pi/agent/sessions/*/*.jsonl",
        ),
    ];

    #[test]
    fn sessions_are_looked_for_where_each_system_has_them() {
        for (format, variables, is_windows, expected) in ROWS {
            let importer = import::ALL.iter().find(|importer| importer.name == format);
            let kept = importer.and_then(|importer| importer.sessions).unwrap();
            let user = with(variables, is_windows);
            assert_eq!(kept.place(&user), Some(PathBuf::from(expected)), "{format}");
        }
    }
}
