//! `compare --mocks`: how the order of the strategies changes under other mocks.

use std::io::ErrorKind;
use std::path::Path;
use std::str::FromStr;

use anyhow::{Context, anyhow};
use compactometer_disk::input::{InputKind, read_text};
use compactometer_disk::write_whole;
use compactometer_engine::tokens::TokenCounter;
use compactometer_formats::manifest::Manifest;
use compactometer_formats::mock_name::is_mock;
use compactometer_harness::plan::Plan;
use compactometer_report::other_mocks::{UnderMock, UnderMocks, metric, recalls};

use super::reruns::Reruns;
use crate::output::failure::Failure;

const FILE: &str = "mocks.json";
/// Groups of which a conversation is run.
const GROUPS: usize = 4;
/// The mocks of a run of the program's own suite: one that fills its room with what matters, and
/// one that writes little.
const OF_DEFAULTS: [&str; 2] = ["mock:strong", "mock:lost-in-compaction-length"];

/// One item of `--mocks`.
#[derive(Clone, Debug)]
pub(crate) enum MockItem {
    /// The mock of this name.
    Named(String),
    /// This many draws of what the run's own mock assumes.
    Draws(u16),
}

impl FromStr for MockItem {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            let draws = text.parse().ok().filter(|draws| *draws > 0);
            return draws
                .map(MockItem::Draws)
                .ok_or_else(|| format!("a number of draws is from 1 to {}", u16::MAX));
        }
        Ok(MockItem::Named(text.to_owned()))
    }
}

/// A mock to run.
pub(super) struct Other {
    name: String,
    is_draw: bool,
}

/// The mocks to run: those that are asked for, otherwise some for the program's own suite.
///
/// # Errors
/// If one of them, or the run's own `summarizer`, is unknown or no mock: better before the run than
/// after it.
pub(super) fn wanted(
    asked: Option<&[MockItem]>,
    summarizer: &str,
    is_default: bool,
) -> Result<Vec<Other>, Failure> {
    let of_defaults = || {
        OF_DEFAULTS
            .map(|mock| MockItem::Named(mock.to_owned()))
            .to_vec()
    };
    let asked = match asked {
        Some(asked) => asked.to_vec(),
        None if is_default => of_defaults(),
        None => return Ok(Vec::new()),
    };
    let own = known_mock(summarizer)?;
    let mut wanted = Vec::new();
    for item in asked {
        match item {
            MockItem::Named(name) => wanted.push(Other {
                name,
                is_draw: false,
            }),
            MockItem::Draws(draws) => {
                wanted.extend((1..=draws).map(|number| drawn(&own, number)));
            }
        }
    }
    for other in &wanted {
        known_mock(&other.name)?;
    }
    Ok(wanted)
}

/// The full name of a mock.
fn known_mock(model: &str) -> Result<String, Failure> {
    if !is_mock(model) {
        return Err(Failure::usage(anyhow!(
            "`--mocks` compares mocks; `{model}` is not one (`list models`)"
        )));
    }
    let mock = compactometer_models::by_name(model).map_err(Failure::usage)?;
    Ok(mock.name().to_owned())
}

/// A draw of a mock's assumptions. Its number comes before the faults, in place of another draw's.
fn drawn(model: &str, number: u16) -> Other {
    let (mock, faults) = model.find('+').map_or((model, ""), |at| model.split_at(at));
    let mock = mock.split('~').next().unwrap_or(mock);
    Other {
        name: format!("{mock}~{number}{faults}"),
        is_draw: true,
    }
}

/// Reruns some of the plan's cases under `mocks`. `dir` has the results under the run's own.
/// Nothing if no strategy called its model.
pub(super) fn test(
    plan: &Plan,
    dir: &Path,
    mocks: &[Other],
    counter: &dyn TokenCounter,
    jobs: usize,
    quiet: bool,
) -> Result<Option<UnderMocks>, Failure> {
    let reruns = Reruns::new(plan, dir, GROUPS).map_err(Failure::failed)?;
    if mocks.is_empty() || reruns.is_empty() {
        return Ok(None);
    }
    let names: Vec<String> = mocks.iter().map(|other| other.name.clone()).collect();
    let recalled = reruns.under(&names, counter, jobs, quiet)?;
    let under = |(other, recalls): (&Other, _)| UnderMock {
        mock: other.name.clone(),
        is_draw: other.is_draw,
        recalls,
    };
    let own = Other {
        name: plan.options.summarizer.clone(),
        is_draw: false,
    };
    Ok(Some(UnderMocks {
        metric: metric(&reruns.own).to_owned(),
        scenarios: reruns.scenarios(),
        own: under((&own, recalls(&reruns.own))),
        others: mocks.iter().zip(recalled).map(under).collect(),
        newest_talk: reruns.newest_talk,
    }))
}

/// Adds what other mocks show to the manifest of a report.
pub(crate) fn add_to(manifest: &mut Manifest, found: &UnderMocks) {
    manifest.notes.push(found.note());
    manifest.newest_talk = found.talk();
}

/// Writes `mocks.json`, so that a report that is made again says it too.
pub(super) fn write(dir: &Path, found: &UnderMocks) -> Result<(), Failure> {
    let path = dir.join(FILE);
    let json = serde_json::to_string_pretty(found).map_err(Failure::failed)?;
    write_whole(&path, |out| writeln!(out, "{json}"))
        .with_context(|| format!("cannot write `{}`", path.display()))
        .map_err(Failure::failed)
}

/// What an earlier `compare` wrote to this folder, if anything.
pub(crate) fn read(dir: &Path) -> anyhow::Result<Option<UnderMocks>> {
    let path = dir.join(FILE);
    let text = match read_text(&path, InputKind::MANIFEST) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        read => read.with_context(|| format!("cannot read `{}`", path.display()))?,
    };
    let parsed = serde_json::from_str(&text);
    parsed.map(Some).with_context(|| {
        format!(
            "`{}` is damaged; delete it, or run `compare --mocks` again",
            path.display()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_is_named_before_the_faults() {
        assert_eq!(drawn("mock:weak", 7).name, "mock:weak~7");
        assert_eq!(
            drawn("mock:weak+empty=0.1", 7).name,
            "mock:weak~7+empty=0.1"
        );
        assert_eq!(drawn("mock:weak~3", 7).name, "mock:weak~7");
        assert!(compactometer_models::by_name("mock:weak~7+empty=0.1").is_ok());
    }

    #[test]
    fn a_number_asks_for_draws() {
        assert!(matches!("50".parse(), Ok(MockItem::Draws(50))));
        assert!(matches!("mock:weak".parse(), Ok(MockItem::Named(_))));
        assert!("0".parse::<MockItem>().is_err() && "70000".parse::<MockItem>().is_err());
        let wanted = wanted(
            Some(&[
                MockItem::Draws(2),
                MockItem::Named("mock:strong".to_owned()),
            ]),
            "mock",
            false,
        );
        let names = wanted
            .ok()
            .into_iter()
            .flatten()
            .map(|other| (other.name, other.is_draw));
        assert_eq!(
            names.collect::<Vec<_>>(),
            [
                ("mock:claude-code~1", true),
                ("mock:claude-code~2", true),
                ("mock:strong", false)
            ]
            .map(|(name, is_draw)| (name.to_owned(), is_draw))
        );
    }
}
