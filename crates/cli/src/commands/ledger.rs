//! `ledger`: the user's words and the exact values of a session that its next request lacks, by
//! rules and without a model.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use compactometer_engine::ledger::{LedgerKind, Listed, Page, Quote};
use compactometer_engine::message::MessageId;
use compactometer_formats::scenario::Scenario;
use compactometer_formats::suite::{Suite, is_suite_file};
use compactometer_harness::ledgers::ledger_at;
use compactometer_suites::import::{self, Options};
use compactometer_text::suggest::unknown;
use serde_json::json;

use super::command_row::{CommandRow, parsed};
use crate::arguments::encoding;
use crate::arguments::help::HelpGroup;
use crate::arguments::transcripts::format_and_files;
use crate::output::failure::Failure;
use crate::output::terminal::{note, say, say_json};

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "ledger",
    about: "Print what a session's next request lacks: words of the user and exact values, in a given size",
    group: HelpGroup::Everyday,
    arguments: LedgerArgs::augment_args,
    run: |matches| ledger(&parsed(matches)?),
};

/// Tokens of a ledger.
pub(super) const BUDGET: &str = "900";

#[derive(clap::Args)]
pub(crate) struct LedgerArgs {
    /// A session as your agent keeps it, or a suite that was imported from it. Its content shows
    /// its format; a format before it overrides it.
    #[arg(value_names = ["FORMAT|FILE", "FILE"], num_args = 1..=2, required = true)]
    pub(crate) inputs: Vec<PathBuf>,
    /// After which message: `last` is that of the last compaction, or the end of a session without
    /// one.
    #[arg(long, value_name = "last|MESSAGE", default_value = "last", value_parser = at)]
    pub(crate) at: LedgerPlace,
    /// The most tokens of the list, of which the words of the user take at most 400.
    #[arg(long, value_name = "TOKENS", default_value = BUDGET, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) budget: u32,
    /// The conversation, if the file has several. Default: the longest.
    #[arg(long, value_name = "ID")]
    pub(crate) scenario: Option<String>,
    /// Print what is listed, and why, as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// The encoding that all token counts use: `o200k_base` or `cl100k_base`.
    #[arg(
        long,
        value_name = "ENCODING",
        env = "COMPACTOMETER_TOKENIZER",
        default_value = "o200k_base"
    )]
    pub(crate) tokenizer: String,
    /// Print only errors on stderr.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// A place in a conversation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LedgerPlace {
    LastCompaction,
    Message(MessageId),
}

fn at(word: &str) -> Result<LedgerPlace, String> {
    match word {
        "last" => Ok(LedgerPlace::LastCompaction),
        number => number
            .parse()
            .map(|id| LedgerPlace::Message(MessageId(id)))
            .map_err(|_| "it must be `last` or the number of a message".to_owned()),
    }
}

fn ledger(args: &LedgerArgs) -> Result<(), Failure> {
    let counter = encoding(&args.tokenizer)?;
    let suite = suite(&args.inputs)?;
    let scenario = chosen(&suite, args.scenario.as_deref())?;
    let until = match args.at {
        LedgerPlace::Message(id) if !scenario.messages.iter().any(|message| message.id == id) => {
            return Err(no_message(scenario, id));
        }
        LedgerPlace::Message(id) => Some(id),
        LedgerPlace::LastCompaction => {
            let unread = scenario
                .unmeasured
                .iter()
                .filter_map(|left_out| left_out.after)
                .max();
            scenario
                .compactions
                .last()
                .map(|made| made.after)
                .max(unread)
        }
    };
    let found = ledger_at(scenario, until, args.budget, &counter);
    if args.json {
        return say_json(&json!({
            "session": scenario.id,
            "messages": found.messages,
            "compacted_after": found.compacted_after,
            "tokens": found.page.tokens,
            "text": found.page.text,
            "quotes": found.page.quotes.iter().map(quote).collect::<Vec<_>>(),
            "listed": found.page.listed.iter().map(row).collect::<Vec<_>>(),
        }));
    }
    say(&found.page.text)?;
    if !args.quiet {
        let after = match found.compacted_after {
            Some(id) => format!("the compaction after message {} left none of them", id.0),
            None => "no compaction came before".to_owned(),
        };
        let Page {
            quotes,
            listed,
            tokens,
            ..
        } = &found.page;
        note(&format!(
            "{} sentence{} of the user and {} values in {tokens} tokens, of {} messages; {after}",
            quotes.len(),
            if quotes.len() == 1 { "" } else { "s" },
            listed.len(),
            found.messages
        ));
    }
    Ok(())
}

fn quote(quote: &Quote) -> serde_json::Value {
    json!({
        "text": quote.text,
        "said_in": quote.said_in,
        "is_standing": quote.is_standing,
        "is_of_last_message": quote.is_open,
    })
}

fn row(listed: &Listed) -> serde_json::Value {
    json!({
        "value": listed.value,
        "kind": match listed.kind {
            LedgerKind::Path => "path",
            LedgerKind::Url => "url",
            LedgerKind::Id => "id",
            LedgerKind::Number => "number",
            LedgerKind::Time => "time",
        },
        "bound_to": listed.bound,
        "replaced_by": listed.replaced_by,
        "first_said_in": listed.first,
        "calls": listed.calls,
        "said_by_user_or_agent": listed.is_stated,
    })
}

fn suite(inputs: &[PathBuf]) -> Result<Suite, Failure> {
    if let [file] = inputs
        && is_suite_file(file)
    {
        return Suite::read(file).map_err(Failure::usage);
    }
    let (importer, files) = format_and_files(inputs)?;
    let imported =
        import::import(importer, &files, "session", &Options::default()).map_err(Failure::usage)?;
    Ok(imported.suite)
}

/// The conversation with that id, or else the longest.
fn chosen<'s>(suite: &'s Suite, id: Option<&str>) -> Result<&'s Scenario, Failure> {
    let scenarios = || suite.scenarios.iter();
    match id {
        Some(id) => scenarios()
            .find(|scenario| scenario.id == id)
            .ok_or_else(|| {
                Failure::usage(anyhow!(unknown(
                    "conversation",
                    id,
                    scenarios().map(|scenario| scenario.id.as_str())
                )))
            }),
        None => longest(&suite.scenarios)
            .ok_or_else(|| Failure::usage(anyhow!("the suite has no conversation"))),
    }
}

/// The conversation that an agent's session is about: those of its helpers are shorter.
pub(super) fn longest(scenarios: &[Scenario]) -> Option<&Scenario> {
    scenarios
        .iter()
        .rev()
        .max_by_key(|scenario| scenario.messages.len())
}

fn no_message(scenario: &Scenario, id: MessageId) -> Failure {
    let ends = scenario.messages.first().zip(scenario.messages.last());
    let ends = ends.map_or(String::new(), |(first, last)| {
        format!("; it has {} to {}", first.id.0, last.id.0)
    });
    Failure::usage(anyhow!("`{}` has no message {}{ends}", scenario.id, id.0))
}
