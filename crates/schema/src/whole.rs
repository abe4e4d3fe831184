//! Writing files whole: a reader sees the old content or the new, never half of it.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

/// Writes a file beside its place and moves it there. What was written is removed where that fails.
///
/// # Errors
/// What the file system or `write` returns.
pub fn write_whole(path: &Path, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> std::io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Two processes may write the same file at once; the last one wins, and each writes a whole one.
    let part = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
    let save = || {
        let mut out = BufWriter::new(File::create(&part)?);
        write(&mut out)?;
        out.flush()?;
        drop(out);
        fs::rename(&part, path)
    };
    save().inspect_err(|_| drop(fs::remove_file(&part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_content_and_nothing_else() {
        let dir = std::env::temp_dir().join(format!("compactometer-whole-{}", std::process::id()));
        fs::create_dir_all(&dir).expect("a folder");
        let path = dir.join("file");
        write_whole(&path, |out| out.write_all(b"old")).expect("writes");
        let failed = write_whole(&path, |out| {
            out.write_all(b"half")?;
            Err(std::io::Error::other("no more"))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read(&path).expect("reads"), b"old");
        assert_eq!(fs::read_dir(&dir).expect("lists").count(), 1);
        fs::remove_dir_all(&dir).expect("cleans up");
    }
}
