//! Writing files whole: a reader sees the old content or the new, never half of it.

use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};

/// Writes a file beside its place and moves it there.
pub(crate) fn write_whole(path: &Path, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let save = || -> std::io::Result<()> {
        let file = tempfile::Builder::new().prefix(".compactometer-").tempfile_in(dir)?;
        let mut out = BufWriter::new(file);
        write(&mut out)?;
        let file = out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        allow_as_created(file.as_file())?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    save().with_context(|| format!("cannot write `{}`", path.display()))
}

/// A temporary file is readable by its owner alone; a result should be as readable as any new file.
#[cfg(unix)]
fn allow_as_created(file: &std::fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn allow_as_created(_: &std::fs::File) -> std::io::Result<()> {
    Ok(())
}
