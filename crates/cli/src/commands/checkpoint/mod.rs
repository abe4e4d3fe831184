//! `checkpoint`: shows, searches, rolls back and deletes the records of a store, and tries an
//! extraction.

mod arguments;
mod extraction;
mod notes;

use clap::Subcommand;
use std::fmt::Write as _;

use anyhow::{anyhow, bail};
use compactometer_engine::record::{RecordKind, SessionRecord};
use compactometer_store::{Version, Which};
use serde_json::{Value, json};

use self::arguments::{
    CheckpointCommand, ClearArgs, HistoryArgs, PlaceArgs, RollbackArgs, ShowArgs,
};
use super::command_row::{CommandRow, parsed};
use crate::arguments::help::HelpGroup;
use crate::arguments::stores;
use crate::output::failure::Failure;
use crate::output::terminal::{self, say, say_json};

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "checkpoint",
    about: "Show, search, roll back or delete the records of a store, or try an extraction",
    group: HelpGroup::Engine,
    arguments: |command| {
        CheckpointCommand::augment_subcommands(command)
            .subcommand_required(true)
            .arg_required_else_help(true)
    },
    run: |matches| checkpoint(&parsed(matches)?),
};

fn checkpoint(command: &CheckpointCommand) -> Result<(), Failure> {
    match command {
        CheckpointCommand::Show(args) => show(args),
        CheckpointCommand::History(args) => history(args),
        CheckpointCommand::Rollback(args) => rollback(args),
        CheckpointCommand::Search(args) => notes::find(args),
        CheckpointCommand::Memory(args) => notes::memory(args),
        CheckpointCommand::Clear(args) => clear(args),
        CheckpointCommand::Test(args) => extraction::test(args),
    }
}

fn show(args: &ShowArgs) -> Result<(), Failure> {
    let store = stores::to_read(&args.place.store).map_err(Failure::usage)?;
    let (id, thread) = stores::thread(&store, &args.place.store, args.place.thread.as_deref())
        .map_err(Failure::usage)?;
    let saved = thread
        .show(args.number.map_or(Which::Latest, Which::Number))
        .map_err(Failure::usage)?;
    if args.json {
        return say_json(&json!({"thread": id, "record": saved}));
    }
    say(&record_text(&id, &saved))
}

fn record_text(id: &str, saved: &SessionRecord) -> String {
    let covers = saved.covers.map_or(String::new(), |(first, last)| {
        format!(", covers messages {} to {}", first.0, last.0)
    });
    let mut text = format!(
        "thread {id}: record {} is a {}{}{covers}, view of {} tokens before and {} after\n\n",
        saved.number,
        kind_name(saved.kind),
        saved
            .created_at_ms
            .map_or(String::new(), |at| format!(" of {}", time(at))),
        saved.tokens_before,
        saved.tokens_after
    );
    let structured = serde_json::from_str::<Value>(&saved.body)
        .ok()
        .filter(Value::is_object);
    let body = structured.map_or_else(|| saved.body.clone(), |value| format!("{value:#}"));
    text.push_str(body.trim_end());
    text.push('\n');
    text
}

fn history(args: &HistoryArgs) -> Result<(), Failure> {
    let PlaceArgs {
        store: path,
        thread,
    } = &args.place;
    let store = stores::to_read(path).map_err(Failure::usage)?;
    let threads = store.threads().map_err(Failure::usage)?;
    if thread.is_none() && threads.len() != 1 {
        return list_threads(args, &threads);
    }
    let (id, thread) = stores::thread(&store, path, thread.as_deref()).map_err(Failure::usage)?;
    let versions = thread.versions().map_err(Failure::usage)?;
    if args.json {
        return say_json(&json!({"thread": id, "records": versions}));
    }
    let mut text = format!(
        "thread {id}\nrecord  kind        written                   messages      tokens           bytes  state\n"
    );
    for version in &versions {
        let _ = writeln!(text, "{}", version_line(version).trim_end());
    }
    say(&text)
}

fn list_threads(args: &HistoryArgs, threads: &[String]) -> Result<(), Failure> {
    if args.json {
        return say_json(&json!({"threads": threads}));
    }
    let mut text = format!(
        "{} threads; name one with `--thread` for its records\n",
        threads.len()
    );
    threads
        .iter()
        .for_each(|id| text.push_str(&format!("  {id}\n")));
    say(&text)
}

fn version_line(version: &Version) -> String {
    let covers = version.covers.map_or("-".to_owned(), |(first, last)| {
        format!("{}..{}", first.0, last.0)
    });
    let tokens = format!("{} -> {}", version.tokens_before, version.tokens_after);
    let state = match (version.rolled_back, version.restorable) {
        (true, true) => "rolled back, its view is kept",
        (true, false) => "rolled back",
        (false, true) => "its view is kept",
        (false, false) => "",
    };
    format!(
        "{:>6}  {:<10}  {:<24}  {covers:<12}  {tokens:<15}  {:>5}  {state}",
        version.number,
        kind_name(version.kind),
        version.created_at_ms.map_or("-".to_owned(), time),
        version.bytes
    )
}

fn rollback(args: &RollbackArgs) -> Result<(), Failure> {
    let store = stores::existing(&args.place.store).map_err(Failure::usage)?;
    let (id, mut thread) = stores::thread(&store, &args.place.store, args.place.thread.as_deref())
        .map_err(Failure::usage)?;
    let state = thread.rollback(args.number).map_err(Failure::usage)?;
    let after = state.after.map_or("the start".to_owned(), |after| {
        format!("message {}", after.0)
    });
    let later = thread
        .versions()
        .map_err(Failure::failed)?
        .iter()
        .filter(|version| version.rolled_back)
        .count();
    say(&format!(
        "thread {id} holds the view of record {} again, as of {after}; {later} later records are rolled back and stay listed\n",
        args.number
    ))
}

fn clear(args: &ClearArgs) -> Result<(), Failure> {
    let path = &args.place.store;
    let store = stores::existing(path).map_err(Failure::usage)?;
    let id = match &args.place.thread {
        Some(id) => id.clone(),
        None => {
            stores::thread(&store, path, None)
                .map_err(Failure::usage)?
                .0
        }
    };
    // A damaged thread can still be deleted.
    let what = match store.thread(&id).and_then(|thread| thread.versions()) {
        Err(error @ compactometer_store::Error::ThreadId { .. }) => {
            return Err(Failure::usage(error));
        }
        Err(error) => format!("all that is left of it ({error})"),
        Ok(versions)
            if versions.is_empty() && !store.threads().map_err(Failure::usage)?.contains(&id) =>
        {
            return Err(Failure::usage(
                stores::no_thread(&store, path, &id).map_err(Failure::usage)?,
            ));
        }
        Ok(versions) => format!("{} records", versions.len()),
    };
    if !args.yes {
        confirm(&format!(
            "delete thread `{id}` of `{}` for good, {what}?",
            path.display()
        ))
        .map_err(Failure::usage)?;
    }
    store.clear(&id).map_err(Failure::failed)?;
    say(&format!("deleted thread {id}\n"))
}

/// Asks on a terminal.
fn confirm(question: &str) -> anyhow::Result<()> {
    if !terminal::can_ask() {
        bail!("{question} There is no terminal to ask on: give `--yes`");
    }
    if terminal::agrees(question)? {
        Ok(())
    } else {
        Err(anyhow!("nothing was deleted"))
    }
}

fn kind_name(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Summary => "summary",
        RecordKind::Checkpoint => "checkpoint",
        RecordKind::Pinned => "pinned",
        RecordKind::Failed => "failure",
        RecordKind::Shared => "shared",
        RecordKind::Note => "note",
    }
}

/// A time given in milliseconds since the Unix epoch, for people.
fn time(at_ms: i64) -> String {
    jiff::Timestamp::from_millisecond(at_ms)
        .map_or_else(|_| format!("{at_ms} ms"), |time| time.to_string())
}
