//! What a play writes down, so that a row can be looked into: each request of the agent with what
//! became of it, and what its processes printed.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value, json};

/// The fields of a request whose lists grow.
const LISTS: [&str; 3] = ["input", "messages", "contents"];

/// The log of a play. Without a folder nothing is written.
#[derive(Debug, Default)]
pub(crate) struct Log {
    folder: Option<PathBuf>,
    requests: Option<Mutex<Requests>>,
}

#[derive(Debug)]
struct Requests {
    file: File,
    last: Map<String, Value>,
}

impl Log {
    /// A log in a folder, which is made.
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        let folder = folder.filter(|folder| std::fs::create_dir_all(folder).is_ok());
        let mut log = Log {
            folder,
            requests: None,
        };
        log.requests = log.file("requests.jsonl").map(|file| {
            Mutex::new(Requests {
                file,
                last: Map::new(),
            })
        });
        log
    }

    /// Adds a request and what became of it. Of the request it has what differs from the one before:
    /// the fields that changed, and of a list what comes after the items that are the same.
    pub(crate) fn add(&self, request: &Value, became: &Value) {
        let (Some(requests), Some(body)) = (&self.requests, request.as_object()) else {
            return;
        };
        let mut requests = requests.lock().unwrap_or_else(PoisonError::into_inner);
        let mut same_items = 0;
        let mut changed = Map::new();
        for (name, value) in body {
            let last = requests.last.get(name);
            if last == Some(value) {
                continue;
            }
            match (value.as_array(), last.and_then(Value::as_array)) {
                (Some(items), Some(last)) if LISTS.contains(&name.as_str()) => {
                    same_items = items.iter().zip(last).take_while(|(a, b)| a == b).count();
                    changed.insert(name.clone(), items[same_items..].into());
                }
                _ => {
                    changed.insert(name.clone(), value.clone());
                }
            }
        }
        let line = json!({"same_items": same_items, "request": changed, "answer": became});
        let _ = writeln!(requests.file, "{line}");
        requests.last = body.clone();
    }

    /// A file for what a process prints.
    pub(crate) fn file(&self, name: &str) -> Option<File> {
        let path = self.folder.as_ref()?.join(name);
        OpenOptions::new().create(true).append(true).open(path).ok()
    }
}
