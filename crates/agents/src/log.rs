//! What a play writes down, so that a row can be looked into: each request of the agent with what
//! became of it, and what its processes printed.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

/// A folder for the plays of a run.
#[derive(Debug, Default)]
pub(crate) struct Log {
    folder: Option<PathBuf>,
    requests: Mutex<Option<File>>,
}

impl Log {
    /// A log in a folder, which is made. Without one nothing is written.
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        let made = folder.filter(|folder| std::fs::create_dir_all(folder).is_ok());
        let requests = made.as_ref().and_then(|folder| {
            OpenOptions::new()
                .create(true)
                .append(true)
                .open(folder.join("requests.jsonl"))
                .ok()
        });
        Log {
            folder: made,
            requests: Mutex::new(requests),
        }
    }

    /// Adds a line: what came, and what became of it.
    pub(crate) fn add(&self, line: &Value) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = &mut *requests {
            let _ = writeln!(file, "{line}");
        }
    }

    /// A file for what a process prints.
    pub(crate) fn file(&self, name: &str) -> Option<File> {
        let path = self.folder.as_ref()?.join(name);
        OpenOptions::new().create(true).append(true).open(path).ok()
    }
}
