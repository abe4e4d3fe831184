//! Atomic replacement of files: a reader sees the old content or the new, never half of it.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::place::{Identity, folder_of, sync_folder};

/// Writes a temporary file (a part) next to the target, syncs it, renames it and syncs the folder.
/// If that fails, the part is removed. If the process ends in between, the next process that writes
/// the same file removes the part. What is no plain file, such as a device or a pipe, is written to
/// and stays what it is. `-` is no path: whoever passes a file on to standard output does so itself.
///
/// # Errors
/// What the file system or `write` returns.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if path == Path::new("-") {
        let why = "standard output has what the command prints; name a file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    if let Ok(there) = fs::metadata(path)
        && !there.is_file()
        && !there.is_dir()
    {
        return write_to(&OpenOptions::new().write(true).open(path)?, write);
    }
    replace(path, path, |file| {
        write_to(file, write)?;
        file.sync_data()
    })?;
    sync_folder(folder_of(path))
}

/// Like [`write_whole`], for a file that only its first writer may create: of several writers, on
/// any machines that share the folder, one creates it. Returns whether this call did; if not, the
/// file is another writer's and is not touched.
///
/// # Errors
/// As [`write_whole`]. The file system must have hard links, since a rename would replace the other
/// writer's file.
pub fn create_whole(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<bool> {
    remove_left_over(path);
    // Processes on several machines may have the same number.
    let part = part_of(path, RandomState::new().hash_one(std::process::id()));
    let file = open_part(&part)?;
    let created = write_to(&file, write)
        .and_then(|()| file.sync_data())
        .and_then(|()| {
            match fs::hard_link(&part, path) {
                // A network file system may repeat a request whose answer was lost: then the link
                // is this writer's.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    Ok(cfg!(unix) && Identity::new(&file.metadata()?).is_at(path))
                }
                linked => linked.map(|()| true),
            }
        });
    // The content has its own name now, or is not needed.
    let _ = fs::remove_file(&part);
    let created = created?;
    sync_folder(folder_of(path))?;
    Ok(created)
}

/// Like [`write_whole`], without syncing. The file is whole whenever the process ends, but a power
/// failure leaves the old file, the new one or a torn one. For files that readers check and can do
/// without.
///
/// # Errors
/// As [`write_whole`].
pub fn write_whole_unsynced(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    replace(path, path, |file| write_to(file, write))
}

/// Writes a file in place and syncs it, but not its name: for the files of a folder that nothing
/// leads to before all are written and the folder is synced.
///
/// # Errors
/// What the file system returns; then the file may be half written.
pub fn write_in_place(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_data()
}

fn write_to(file: &File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    write(&mut out)?;
    out.flush()
}

/// Copies a file with its permissions, as [`write_whole`] writes.
///
/// # Errors
/// What the file system returns.
pub fn copy_whole(from: &Path, to: &Path) -> io::Result<()> {
    replace(to, from, |mut file| {
        io::copy(&mut File::open(from)?, &mut file)?;
        file.sync_data()
    })?;
    sync_folder(folder_of(to))
}

/// Fills a file that then takes the path. It has the permissions of another, if there is that one,
/// before anything is in it.
fn replace(
    path: &Path,
    other: &Path,
    fill: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<()> {
    remove_left_over(path);
    let part = part_of(path, std::process::id().into());
    // The part stays locked until it is renamed or removed, so that no process takes it for an
    // abandoned one.
    let file = open_part(&part)?;
    let replaced = like(&file, other)
        .and_then(|()| fill(&file))
        .and_then(|()| fs::rename(&part, path));
    replaced.inspect_err(|_| drop(fs::remove_file(&part)))
}

/// Gives a file the permissions of another, if there is that one.
fn like(file: &File, other: &Path) -> io::Result<()> {
    let Ok(other) = fs::metadata(other) else {
        return Ok(());
    };
    // Not every file system can change them.
    match other.permissions() == file.metadata()?.permissions() {
        true => Ok(()),
        false => file.set_permissions(other.permissions()),
    }
}

/// Whether this is the name of a part: a file that is being written, or was when its process ended.
pub fn is_part(name: &str) -> bool {
    let writer = name
        .strip_prefix('.')
        .and_then(|rest| rest.strip_suffix(".part"));
    writer
        .and_then(|writer| writer.rsplit_once('.'))
        .is_some_and(|(_, process)| is_process(process))
}

/// The name of the part that a process writes for a file.
fn part_of(path: &Path, process: u64) -> PathBuf {
    path.with_file_name(format!(".{}.{process}.part", name_of(path)))
}

fn name_of(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

fn is_process(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Opens a part and locks it. If another process removes it before it is locked, it is created
/// again.
fn open_part(part: &Path) -> io::Result<File> {
    loop {
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(part)?;
        // Without locks an abandoned part cannot be recognised, and nothing is removed.
        let _ = file.lock();
        if Identity::new(&file.metadata()?).is_at(part) {
            // An earlier process with this number may have left it.
            file.set_len(0)?;
            return Ok(file);
        }
    }
}

/// Removes a file's parts that no process has locked, since their writers have ended.
fn remove_left_over(path: &Path) {
    let start = format!(".{}.", name_of(path));
    let entries = fs::read_dir(folder_of(path))
        .into_iter()
        .flatten()
        .flatten();
    for entry in entries {
        let name = entry.file_name();
        let process = name
            .to_str()
            .and_then(|name| name.strip_prefix(&start)?.strip_suffix(".part"));
        if process.is_some_and(is_process) {
            // A part that cannot be removed does no harm.
            let _ = remove_unlocked(&entry.path());
        }
    }
}

fn remove_unlocked(part: &Path) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(part)?;
    file.try_lock()?;
    fs::remove_file(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let mut names = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names = names.by_ref().collect::<Vec<_>>();
        names.sort();
        names
    }

    #[test]
    #[cfg(unix)]
    fn a_pipe_is_written_to_and_stays_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let reader = std::thread::spawn({
            let path = path.clone();
            move || fs::read(path).unwrap()
        });
        write_whole(&path, |out| out.write_all(b"all of it")).unwrap();
        assert_eq!(reader.join().unwrap(), b"all of it");
        assert!(!fs::metadata(&path).unwrap().is_file());
        assert_eq!(names(dir.path()), ["pipe"]);
    }

    #[test]
    #[cfg(unix)]
    fn permissions_stay() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let [path, copy] = ["secret", "copy"].map(|name| dir.path().join(name));
        write_whole(&path, |out| out.write_all(b"old")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        copy_whole(&path, &copy).unwrap();
        write_whole(&path, |out| out.write_all(b"new")).unwrap();
        for (file, content) in [(path, "new"), (copy, "old")] {
            assert_eq!(
                fs::metadata(&file).unwrap().permissions().mode() & 0o777,
                0o600
            );
            assert_eq!(fs::read_to_string(file).unwrap(), content);
        }
    }

    #[test]
    fn a_failed_write_leaves_the_old_content_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        write_whole(&path, |out| out.write_all(b"old")).unwrap();
        let failed = write_whole(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("no more"))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(dir.path()), ["file"]);
    }

    #[test]
    fn only_the_first_writer_creates_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let created = std::thread::scope(|scope| {
            let write =
                |content: u8| create_whole(&path, |out| out.write_all(&[content; 10_000])).unwrap();
            let path = &path;
            let first = std::iter::once(write(b'a'));
            let others = (b'b'..b'j').map(|content| {
                scope.spawn(move || {
                    create_whole(path, |out| out.write_all(&[content; 10_000])).unwrap()
                })
            });
            let others = others.collect::<Vec<_>>();
            first
                .chain(others.into_iter().map(|other| other.join().unwrap()))
                .collect::<Vec<_>>()
        });
        assert_eq!(created.iter().filter(|created| **created).count(), 1);
        assert_eq!(fs::read(&path).unwrap(), [b'a'; 10_000]);
        assert_eq!(names(dir.path()), ["file"]);
    }

    #[test]
    fn a_failed_creation_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        assert!(create_whole(&path, |_| Err(io::Error::other("full"))).is_err());
        assert!(names(dir.path()).is_empty());
        assert!(create_whole(&path, |out| out.write_all(b"whole")).unwrap());
    }

    #[test]
    fn parts_of_dead_writers_are_removed_and_those_of_living_ones_remain() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let others = [
            ".file.x.part",
            ".file.part",
            ".files.7.part",
            ".other.7.part",
            "file.7.part",
            ".file.8.part.png",
        ];
        for name in others.into_iter().chain([".file.7.part", ".file.8.part"]) {
            fs::write(dir.path().join(name), "half").unwrap();
        }
        let living = open_part(&part_of(&path, 9)).unwrap();
        write_whole(&path, |out| out.write_all(b"new")).unwrap();
        let mut left = others.map(str::to_owned).to_vec();
        left.extend([".file.9.part".to_owned(), "file".to_owned()]);
        left.sort();
        assert_eq!(names(dir.path()), left);
        drop(living);
        write_whole(&path, |out| out.write_all(b"newer")).unwrap();
        left.retain(|name| name != ".file.9.part");
        assert_eq!(names(dir.path()), left);
        assert_eq!(fs::read(&path).unwrap(), b"newer");
    }

    #[test]
    fn a_part_that_was_removed_before_its_lock_is_created_again() {
        let dir = tempfile::tempdir().unwrap();
        let part = part_of(&dir.path().join("file"), 9);
        let sweeper = File::create(&part).unwrap();
        sweeper.lock().unwrap();
        std::thread::scope(|scope| {
            let opened = scope.spawn(|| open_part(&part));
            fs::remove_file(&part).unwrap();
            drop(sweeper);
            let opened = opened.join().unwrap().unwrap();
            assert!(Identity::new(&opened.metadata().unwrap()).is_at(&part));
        });
    }

    #[test]
    fn many_writers_of_one_file_leave_one_whole_content() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let contents = (0..8_u8)
            .map(|number| vec![b'a' + number; 10_000])
            .collect::<Vec<_>>();
        std::thread::scope(|scope| {
            for content in &contents {
                scope.spawn(|| {
                    (0..20).for_each(|_| write_whole(&path, |out| out.write_all(content)).unwrap())
                });
            }
        });
        assert!(contents.contains(&fs::read(&path).unwrap()));
        assert_eq!(names(dir.path()), ["file"]);
    }

    #[test]
    fn a_part_is_recognised_by_its_name() {
        for (name, expected) in [
            (".manifest.json.4711.part", true),
            (".gitignore", false),
            (".part", false),
            (".notes.part", false),
            ("manifest.json.4711.part", false),
            (".manifest.json.4711.part.png", false),
        ] {
            assert_eq!(is_part(name), expected, "{name}");
        }
    }
}
