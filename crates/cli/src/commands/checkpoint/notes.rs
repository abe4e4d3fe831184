//! `checkpoint search` and `checkpoint memory`: the notes that left a conversation, and the
//! document that its agent keeps.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, anyhow};
use compactometer_disk::input::{InputKind, read_text};
use compactometer_engine::memory::{notes, search};
use serde_json::json;

use super::arguments::{MemoryArgs, SearchArgs};
use crate::arguments::stores;
use crate::output::failure::Failure;
use crate::output::terminal::{say, say_json};

pub(super) fn find(args: &SearchArgs) -> Result<(), Failure> {
    let path = &args.place.store;
    let store = stores::to_read(path).map_err(Failure::usage)?;
    let (id, mut thread) =
        stores::thread(&store, path, args.place.thread.as_deref()).map_err(Failure::usage)?;
    let history = thread.load().map_err(Failure::usage)?.history;
    let found = search(&history, &args.query, usize::from(args.most));
    if args.json {
        let found = found.iter().map(|(saved, note)| {
            json!({"record": saved.number, "covers": saved.covers, "created_at_ms": saved.created_at_ms,
                "importance": note.importance, "text": note.text})
        });
        return say_json(
            &json!({"thread": id, "query": args.query, "notes": found.collect::<Vec<_>>()}),
        );
    }
    let all = notes(&history).len();
    let mut text = match (found.len(), all) {
        (_, 0) => format!(
            "thread {id} holds no notes; `handoff` writes one for each message that leaves\n"
        ),
        (0, _) => format!("thread {id}: no note of {all} shares a word with the query\n"),
        (some, _) => format!("thread {id}: {some} of {all} notes, best first\n"),
    };
    for (saved, note) in &found {
        let from =
            saved
                .covers
                .map_or("the host".to_owned(), |(first, last)| match first == last {
                    true => format!("message {}", first.0),
                    false => format!("messages {} to {}", first.0, last.0),
                });
        let _ = writeln!(text, "\nrecord {}, {from}:", saved.number);
        for line in note.text.lines() {
            let _ = writeln!(text, "  {line}");
        }
    }
    say(&text)
}

pub(super) fn memory(args: &MemoryArgs) -> Result<(), Failure> {
    let path = &args.place.store;
    match &args.set {
        Some(file) => set(args, file),
        None => {
            let store = stores::to_read(path).map_err(Failure::usage)?;
            let (id, thread) = stores::thread(&store, path, args.place.thread.as_deref())
                .map_err(Failure::usage)?;
            match thread.memory_document().map_err(Failure::usage)? {
                Some(text) => say(&text),
                None => Err(Failure::usage(anyhow!(
                    "thread `{id}` has no memory document; `--set FILE` gives it one"
                ))),
            }
        }
    }
}

/// Puts a file's text in place of the thread's document. A thread that is named need not exist.
fn set(args: &MemoryArgs, file: &Path) -> Result<(), Failure> {
    let path = &args.place.store;
    let text = read_text(file, InputKind::MEMORY)
        .with_context(|| format!("cannot read `{}`", file.display()))
        .map_err(Failure::usage)?;
    let (id, thread) = match &args.place.thread {
        Some(id) => {
            let store = stores::open(path).map_err(Failure::usage)?;
            (id.clone(), store.thread(id).map_err(Failure::usage)?)
        }
        None => {
            let store = stores::existing(path).map_err(Failure::usage)?;
            stores::thread(&store, path, None).map_err(Failure::usage)?
        }
    };
    thread.set_memory_document(&text).map_err(Failure::failed)?;
    say(&format!(
        "thread {id} has a memory document of {} bytes\n",
        text.len()
    ))
}
