//! `prompt`: a strategy's prompt, to start one's own from.

use std::fmt::Write as _;

use anyhow::anyhow;
use clap::Args;
use compactometer_engine::strategy::Placeholder;
use compactometer_harness::entrants::all;
use compactometer_harness::plan::EntrantKind;
use compactometer_text::suggest::unknown;

use super::command_row::{CommandRow, parsed};
use crate::arguments::help::HelpGroup;
use crate::output::failure::Failure;
use crate::output::terminal::{note, say};

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "prompt",
    about: "Print a strategy's prompt, to start one of your own from",
    group: HelpGroup::Engine,
    arguments: PromptArgs::augment_args,
    run: |matches| prompt(&parsed(matches)?),
};

#[derive(clap::Args)]
#[command(
    after_help = "The prompt goes to stdout, and what its placeholders mean to stderr. So `compactometer prompt chained > my.md` \
    makes a file that `-s mine=chained:prompt=my.md` takes."
)]
pub(crate) struct PromptArgs {
    /// The strategy; `compactometer list strategies` and `list faithful` name them.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

fn prompt(args: &PromptArgs) -> Result<(), Failure> {
    let prompts = || {
        all().filter_map(|entrant| match entrant.entry {
            EntrantKind::Strategy(spec, settings) if !settings.prompt().is_empty() => {
                Some((entrant.name, spec, settings))
            }
            EntrantKind::Strategy(..)
            | EntrantKind::Control(_)
            | EntrantKind::Recorded(_)
            | EntrantKind::Custom(_) => None,
        })
    };
    let Some((name, spec, settings)) = prompts().find(|(name, ..)| *name == args.name) else {
        let names = prompts().map(|(name, ..)| name).collect::<Vec<_>>();
        let why = if all().any(|entrant| entrant.name == args.name) {
            format!(
                "`{}` calls no model, so it has no prompt; choose one of: {}",
                args.name,
                names.join(", ")
            )
        } else {
            unknown("strategy", &args.name, names.iter().map(String::as_str))
        };
        return Err(Failure::usage(anyhow!(why)));
    };
    let mut about = format!("The prompt of `{name}`. A run replaces these placeholders:\n");
    for placeholder in Placeholder::within(settings.prompt()) {
        let required = if spec.placeholders.contains(&placeholder.name) {
            " (required)"
        } else {
            ""
        };
        let _ = writeln!(
            about,
            "  {:<11} {}{required}",
            placeholder.place(),
            placeholder.about
        );
    }
    let _ = writeln!(
        about,
        "To try your own: compactometer compare -s {name},mine={name}:prompt=my.md"
    );
    about.push_str(
        "A mock reads a prompt's form and limits, and whether it asks for files and exact values. How well it is worded, only a \
         model shows.\n",
    );
    note(&about);
    say(settings.prompt())
}
