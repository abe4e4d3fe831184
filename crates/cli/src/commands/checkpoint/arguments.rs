//! The arguments of `checkpoint`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

/// The commands of `checkpoint`.
#[derive(Subcommand)]
pub(crate) enum CheckpointCommand {
    /// Show a record: the newest valid checkpoint or summary, or the one with this number.
    Show(ShowArgs),
    /// List a thread's records, or the store's threads.
    History(HistoryArgs),
    /// Go back to the view after a record; nothing is deleted.
    Rollback(RollbackArgs),
    /// Search the notes of what left a conversation.
    Search(SearchArgs),
    /// Print the document that an agent keeps beside its conversation, or replace it.
    Memory(MemoryArgs),
    /// Delete a thread for good.
    Clear(ClearArgs),
    /// Extract a checkpoint from a conversation, and show how the reply was read and what it holds.
    Test(TestArgs),
}

/// Which thread of which store.
#[derive(ClapArgs)]
pub(crate) struct PlaceArgs {
    /// A folder of files, or a SQLite database (a file, or a path that ends in `.db`, `.sqlite` or
    /// `.sqlite3`).
    #[arg(
        long,
        value_name = "DIR|FILE.db",
        env = "COMPACTOMETER_STORE",
        default_value = "checkpoints"
    )]
    pub(crate) store: PathBuf,
    /// The conversation; may be left out if the store holds only one.
    #[arg(long, value_name = "ID")]
    pub(crate) thread: Option<String>,
}

#[derive(ClapArgs)]
pub(crate) struct ShowArgs {
    /// The record's number; `history` lists them. Default: the newest valid record.
    pub(crate) number: Option<u32>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Print the record as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ClapArgs)]
pub(crate) struct HistoryArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Print the list as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ClapArgs)]
pub(crate) struct RollbackArgs {
    /// The record's number; `history` marks the records whose view is kept.
    pub(crate) number: u32,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

#[derive(ClapArgs)]
pub(crate) struct SearchArgs {
    /// Words that a note should hold.
    pub(crate) query: String,
    /// Most notes to print.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) most: u16,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Print the notes as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ClapArgs)]
pub(crate) struct MemoryArgs {
    /// Put this file's text, at most 1 MiB, in place of the document.
    #[arg(long, value_name = "FILE")]
    pub(crate) set: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

#[derive(ClapArgs)]
pub(crate) struct ClearArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Delete without asking.
    #[arg(short, long)]
    pub(crate) yes: bool,
}

#[derive(ClapArgs)]
pub(crate) struct TestArgs {
    /// A suite (`.jsonl`, `.toml`), or a transcript of the format given with `--format`.
    pub(crate) file: PathBuf,
    /// The transcript's format; `compactometer list formats` names them.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// The conversation. Default: the one with the most messages.
    #[arg(long, value_name = "ID")]
    pub(crate) scenario: Option<String>,
    /// The strategy whose checkpoint prompt is tried.
    #[arg(
        short = 's',
        long,
        value_name = "NAME",
        default_value = "middleware-checkpoint"
    )]
    pub(crate) strategy: String,
    /// The model to call.
    #[arg(
        long,
        value_name = "MODEL",
        env = "COMPACTOMETER_MODEL",
        default_value = "mock"
    )]
    pub(crate) model: String,
    /// The model's context window in tokens; a longer conversation is read in pieces. Default: no
    /// limit.
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) window: Option<u32>,
    /// The encoding that counts tokens: `o200k_base` or `cl100k_base`.
    #[arg(
        long,
        value_name = "ENCODING",
        env = "COMPACTOMETER_TOKENIZER",
        default_value = "o200k_base"
    )]
    pub(crate) tokenizer: String,
    /// Seed of the model's answers.
    #[arg(
        long,
        value_name = "N",
        env = "COMPACTOMETER_SEED",
        default_value_t = 0
    )]
    pub(crate) seed: u64,
    /// Save the checkpoint in the store.
    #[arg(long)]
    pub(crate) save: bool,
    /// The store for `--save`: a folder of files, or a SQLite database.
    #[arg(
        long,
        value_name = "DIR|FILE.db",
        env = "COMPACTOMETER_STORE",
        default_value = "checkpoints"
    )]
    pub(crate) store: PathBuf,
    /// The thread that `--save` adds to. Default: the conversation's id.
    #[arg(long, value_name = "ID")]
    pub(crate) thread: Option<String>,
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
