//! `play`: what an agent's own processes run while a conversation is played to it.

use std::io::Read;

use anyhow::anyhow;
use clap::Args;
use compactometer_agents::tools;
use serde_json::json;

use super::command_row::{CommandRow, parsed};
use crate::arguments::help::HelpGroup;
use crate::output::failure::Failure;
use crate::output::terminal::say;

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "play",
    about: "Answer a call of a conversation that `--agent` plays to an agent",
    group: HelpGroup::Rest,
    arguments: PlayArgs::augment_args,
    run: |matches| play(&parsed(matches)?),
};

#[derive(clap::Args)]
#[command(
    after_help = "Agents run this command by themselves. It prints what was recorded, and exits with 1 if that was an error. The recorded arguments are its standard input, so that they are in the agent's context."
)]
pub(crate) struct PlayArgs {
    /// The number of the call.
    #[arg(value_name = "N", required_unless_present = "mcp")]
    pub(crate) number: Option<u64>,
    /// The tool. It is for whoever reads the agent's context.
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The address of the play.
    #[arg(long, value_name = "HOST:PORT", env = "COMPACTOMETER_PLAY")]
    pub(crate) at: String,
    /// Serve the conversation's tools by the Model Context Protocol, on standard input and output.
    #[arg(long)]
    pub(crate) mcp: bool,
}

fn play(args: &PlayArgs) -> Result<(), Failure> {
    if args.mcp {
        let served = tools::serve_mcp(&args.at, std::io::stdin().lock(), Output);
        return served.map_err(|why| Failure::failed(anyhow!(why)));
    }
    let mut arguments = String::new();
    // What the agent passes on is looked up by its number.
    let _ = std::io::stdin().read_to_string(&mut arguments);
    let asked = json!({"number": args.number, "name": args.name});
    let (text, is_error) =
        tools::call(&args.at, &asked).map_err(|why| Failure::failed(anyhow!(why)))?;
    say(&text)?;
    match is_error {
        true => Err(Failure::failed(anyhow!("the recorded call failed"))),
        false => Ok(()),
    }
}

/// Standard output, a line at a time.
struct Output;

impl std::io::Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        say(&String::from_utf8_lossy(bytes))
            .map(|()| bytes.len())
            .map_err(|failure| std::io::Error::other(failure.words()))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
