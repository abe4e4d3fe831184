//! Names in folders: syncing them, and whether a name still belongs to the file that was opened
//! under it.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::path::Path;

/// The identity of a file under any name: its device and inode on Unix. Elsewhere all files look
/// alike, and only a missing name is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity(u64, u64);

impl Identity {
    /// The identity of the file with this metadata.
    #[cfg(unix)]
    pub fn new(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Identity(metadata.dev(), metadata.ino())
    }

    /// The identity of the file with this metadata.
    #[cfg(not(unix))]
    pub fn new(_metadata: &Metadata) -> Self {
        Identity(0, 0)
    }

    /// Whether this file is at the path. The path is not opened, since closing the file would drop
    /// a database's locks on it.
    pub fn is_at(self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|metadata| Identity::new(&metadata) == self)
    }
}

/// Creates a folder and its missing parents, and syncs their names.
///
/// # Errors
/// What the file system returns.
pub fn create_folder(path: &Path) -> io::Result<()> {
    let parent = folder_of(path);
    if !parent.is_dir() {
        create_folder(parent)?;
    }
    match fs::create_dir(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists || !path.is_dir() => Err(error),
        // Existing folders are synced too, because an earlier process may have stopped before it
        // synced the name.
        _ => sync_folder(parent),
    }
}

/// Syncs the names in a folder: new, renamed and removed ones. Does nothing if folders cannot be
/// synced.
///
/// # Errors
/// What the file system returns.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    match File::open(path)?.sync_all() {
        // Some network file systems refuse this.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::InvalidInput | ErrorKind::Unsupported
            ) =>
        {
            Ok(())
        }
        synced => synced,
    }
}

/// The folder that a path is in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_another_file_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let file = File::create(&path).unwrap();
        let identity = Identity::new(&file.metadata().unwrap());
        assert!(identity.is_at(&path));
        fs::rename(&path, dir.path().join("moved")).unwrap();
        assert!(!identity.is_at(&path), "it is gone");
        fs::write(&path, "another").unwrap();
        assert_eq!(identity.is_at(&path), cfg!(not(unix)), "it is another one");
    }

    #[test]
    fn folders_are_created_with_their_parents() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b");
        for _ in 0..2 {
            create_folder(&path).unwrap();
            assert!(path.is_dir());
        }
        fs::write(dir.path().join("file"), "").unwrap();
        assert!(create_folder(&dir.path().join("file")).is_err());
        assert!(create_folder(&dir.path().join("file/below")).is_err());
    }

    #[test]
    fn a_path_without_a_folder_is_in_the_current_one() {
        assert_eq!(folder_of(Path::new("file")), Path::new("."));
        assert_eq!(folder_of(Path::new("a/file")), Path::new("a"));
        assert_eq!(folder_of(Path::new("/file")), Path::new("/"));
    }
}
