//! The arguments of `checkpoint`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

/// What is done with a store.
#[derive(Subcommand)]
pub(crate) enum CheckpointCommand {
    /// Show a record: the newest checkpoint or summary that holds, or the one of a number.
    Show(ShowArgs),
    /// List a thread's records, or the store's threads.
    History(HistoryArgs),
    /// Go back to the view after a record; nothing is deleted.
    Rollback(RollbackArgs),
    /// Delete a thread for good.
    Clear(ClearArgs),
    /// Extract a checkpoint from a conversation by hand, and say how it was read and what it holds.
    Test(TestArgs),
}

/// Which thread of which store.
#[derive(ClapArgs)]
pub(crate) struct PlaceArgs {
    /// A folder of files, or a SQLite database (a file, or a path that ends in `.db`, `.sqlite` or `.sqlite3`).
    #[arg(long, value_name = "DIR|FILE.db", env = "COMPACTOMETER_STORE", default_value = "checkpoints")]
    pub(crate) store: PathBuf,
    /// The conversation; may be left out where the store holds one.
    #[arg(long, value_name = "ID")]
    pub(crate) thread: Option<String>,
}

/// What to show.
#[derive(ClapArgs)]
pub(crate) struct ShowArgs {
    /// The record's number; `history` lists them. Default: the newest that holds.
    pub(crate) number: Option<u32>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Print the record as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What to list.
#[derive(ClapArgs)]
pub(crate) struct HistoryArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Print the list as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where to go back to.
#[derive(ClapArgs)]
pub(crate) struct RollbackArgs {
    /// The record's number; `history` lists those whose view is kept.
    pub(crate) number: u32,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// What to delete.
#[derive(ClapArgs)]
pub(crate) struct ClearArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Delete without asking.
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// What to extract from, and with what.
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
    /// The strategy whose checkpoint before a turn is tried.
    #[arg(short = 's', long, value_name = "NAME", default_value = "middleware-checkpoint")]
    pub(crate) strategy: String,
    /// The model that is asked.
    #[arg(long, value_name = "MODEL", env = "COMPACTOMETER_MODEL", default_value = "mock")]
    pub(crate) model: String,
    /// The model's context window in tokens; a longer conversation is read in pieces. Default: it does not bind.
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) window: Option<u32>,
    /// Counts tokens: `o200k_base` or `cl100k_base`.
    #[arg(long, value_name = "ENCODING", env = "COMPACTOMETER_TOKENIZER", default_value = "o200k_base")]
    pub(crate) tokenizer: String,
    /// Seed of the model's answers.
    #[arg(long, value_name = "N", env = "COMPACTOMETER_SEED", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Keep what was extracted in the store.
    #[arg(long)]
    pub(crate) save: bool,
    /// Where `--save` keeps it: a folder of files, or a SQLite database.
    #[arg(long, value_name = "DIR|FILE.db", env = "COMPACTOMETER_STORE", default_value = "checkpoints")]
    pub(crate) store: PathBuf,
    /// The thread that `--save` adds to. Default: the conversation's id.
    #[arg(long, value_name = "ID")]
    pub(crate) thread: Option<String>,
    /// Print what came of it as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
