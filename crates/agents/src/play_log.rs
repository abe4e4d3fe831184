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
pub(crate) struct PlayLog {
    folder: Option<PathBuf>,
    requests: Option<Mutex<LoggedRequests>>,
}

#[derive(Debug)]
struct LoggedRequests {
    file: File,
    last: Map<String, Value>,
}

impl PlayLog {
    /// A log in a folder, which is made.
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        let folder = folder.filter(|folder| std::fs::create_dir_all(folder).is_ok());
        let mut log = PlayLog {
            folder,
            requests: None,
        };
        log.requests = log.file("requests.jsonl").map(|file| {
            Mutex::new(LoggedRequests {
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
        let (same_items, changed) = changes(&requests.last, body);
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

/// What a body has that the one before has not, and the number of items of its list that are the
/// same.
fn changes(before: &Map<String, Value>, body: &Map<String, Value>) -> (usize, Map<String, Value>) {
    let mut same_items = 0;
    let mut changed = Map::new();
    let differing = body
        .iter()
        .filter(|(name, value)| before.get(*name) != Some(*value));
    for (name, value) in differing {
        let last = before.get(name).and_then(Value::as_array);
        let value = match (value.as_array(), last) {
            (Some(items), Some(last)) if LISTS.contains(&name.as_str()) => {
                same_items = items.iter().zip(last).take_while(|(a, b)| a == b).count();
                items[same_items..].into()
            }
            _ => value.clone(),
        };
        changed.insert(name.clone(), value);
    }
    (same_items, changed)
}
