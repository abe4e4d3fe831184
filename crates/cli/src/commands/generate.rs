//! `generate`: turns a spec into a suite.

use clap::Args;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::anyhow;
use compactometer_engine::tokens::{Encoding, TokenCounter};
use compactometer_formats::scenario::{Category, Split};
use compactometer_formats::suite::Suite;
use compactometer_suites::properties::measure;
use compactometer_suites::{SuiteSpec, embedded};
use compactometer_text::suggest::unknown;

use super::command_row::{CommandRow, parsed};
use crate::arguments::help::HelpGroup;
use crate::arguments::suites;
use crate::output::destination::Destination;
use crate::output::failure::Failure;
use crate::output::progress;
use crate::output::terminal::{name_in_files, note, say};

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "generate",
    about: "Write the suite that a spec describes: conversations with known facts",
    group: HelpGroup::Data,
    arguments: GenerateArgs::augment_args,
    run: |matches| generate(&parsed(matches)?),
};

#[derive(clap::Args)]
pub(crate) struct GenerateArgs {
    /// An embedded spec (`list suites` names them), or a `.toml` file.
    pub(crate) spec: PathBuf,
    /// The suite to write; `-` for standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Overwrite the file at `--out`.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print only errors on stderr.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

fn generate(args: &GenerateArgs) -> Result<(), Failure> {
    let out = Destination::new(&args.out, args.force).map_err(Failure::usage)?;
    let spec = spec(args)?;
    let bar = progress::bar(0, "conversations", args.quiet);
    let suite = spec.suite_telling(&mut |all, written| {
        bar.set_length(all as u64);
        bar.set_position(written as u64);
    });
    bar.finish_and_clear();
    let suite = suite.map_err(Failure::usage)?;
    suites::write(out.path(), &suite).map_err(Failure::failed)?;
    let summary = summary_line(&suite, tokens_in(&suite));
    match out.is_stdout() {
        true if args.quiet => {}
        true => note(summary.trim_end()),
        false => say(&summary)?,
    }
    let written = out.finish()?;
    if !args.quiet {
        note(&format!("wrote {written}"));
    }
    Ok(())
}

/// The tokens (o200k_base) of a suite's messages.
fn tokens_in(suite: &Suite) -> usize {
    let messages = suite
        .scenarios
        .iter()
        .flat_map(|scenario| &scenario.messages);
    let tokens = messages.map(|message| Encoding::O200k.count_message(message));
    tokens.map(|tokens| tokens as usize).sum()
}

fn spec(args: &GenerateArgs) -> Result<SuiteSpec, Failure> {
    let names = || embedded::ALL.iter().map(|embedded| embedded.name);
    let given = args.spec.display().to_string();
    let not_one = || {
        Failure::usage(anyhow!(
            "{}; or name a `.toml` file",
            unknown("spec", &given, names())
        ))
    };
    suites::spec(&args.spec)
        .map_err(Failure::usage)?
        .ok_or_else(not_one)
}

/// The suite's contents and measured properties.
fn summary_line(suite: &Suite, tokens: usize) -> String {
    let scenarios = &suite.scenarios;
    let groups: BTreeSet<&str> = scenarios
        .iter()
        .map(|scenario| scenario.group_id.as_str())
        .collect();
    let of_split = |split: Split| {
        scenarios
            .iter()
            .filter(|scenario| scenario.split == split)
            .count()
    };
    let [dev, test, calibration] = [Split::Dev, Split::Test, Split::Calibration].map(of_split);
    let facts = || scenarios.iter().flat_map(|scenario| &scenario.facts);
    let mut categories: BTreeMap<Category, usize> = BTreeMap::new();
    facts()
        .filter(|fact| fact.decoy_of.is_none())
        .for_each(|fact| *categories.entry(fact.category).or_default() += 1);
    let stated: usize = categories.values().sum();
    let decoys = facts().count() - stated;
    let questions: usize = scenarios.iter().map(|scenario| scenario.probes.len()).sum();
    let lines = [
        format!("suite {}, blake3 {}", suite.header.name, suite.hash()),
        format!(
            "conversations {}, independent {}, tokens {tokens}",
            scenarios.len(),
            groups.len()
        ),
        format!("splits: dev {dev}, test {test}, calibration {calibration}"),
        format!("facts {stated}, decoys {decoys}, questions {questions}"),
    ];
    let categories = categories
        .iter()
        .map(|(category, count)| format!("  {:<16} {count}", name_in_files(category)));
    let properties = measure(suite).into_iter().map(|property| property.line());
    lines
        .into_iter()
        .chain(categories)
        .chain(properties)
        .map(|line| line + "\n")
        .collect()
}
