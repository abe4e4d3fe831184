//! Where a command writes its file: a path, or standard output.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use tempfile::TempDir;

use super::failure::Failure;
use super::terminal::pass_on;

/// The path that means standard output.
const STDOUT: &str = "-";

/// The file that a command writes. What goes to standard output is written whole first.
pub(crate) struct Destination {
    path: PathBuf,
    scratch: Option<TempDir>,
}

impl Destination {
    /// Fails if a new file must not be written to this path.
    pub(crate) fn new(out: &Path, force: bool) -> Result<Self> {
        if out == Path::new(STDOUT) {
            let scratch = tempfile::tempdir()?;
            return Ok(Destination {
                path: scratch.path().join("suite.jsonl"),
                scratch: Some(scratch),
            });
        }
        if out.extension().is_some_and(|extension| extension == "toml") {
            bail!(
                "`{}` ends in `.toml`, which names generator specs; use `.jsonl`",
                out.display()
            );
        }
        if out.exists() && !force {
            bail!("`{}` exists; give `--force` to overwrite it", out.display());
        }
        Ok(Destination {
            path: out.to_owned(),
            scratch: None,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn is_stdout(&self) -> bool {
        self.scratch.is_some()
    }

    /// Passes the file on, if it goes to standard output. Returns what was written, for a message.
    pub(crate) fn finish(self) -> Result<String, Failure> {
        if self.is_stdout() {
            pass_on(&self.path)?;
            return Ok("to standard output".to_owned());
        }
        Ok(self.path.display().to_string())
    }
}
