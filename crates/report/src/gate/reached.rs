//! Whether every fact reached a summarizer before it left the context: a gate that needs neither a
//! baseline nor a judge. A strategy cannot keep what no model has read.
//!
//! Absent on purpose: recall. A summarizer that reads everything may still write nothing down.

use compactometer_formats::fate::Fate;
use compactometer_formats::prices::PriceTable;
use compactometer_formats::protocol::Protocol;
use compactometer_formats::record::Record;
use compactometer_formats::summary::Check;
use compactometer_text::wrapping::wrapped;
use serde::Serialize;

use super::gate_text::{fact_line, failed_checks};
use super::replay::{default_replay, tested};
use super::{GateVerdict, Mismatch, StatedFact, VERSION};
use crate::data::run_files::RunFiles;
use crate::data::{ProtocolRun, StrategyRecords, fates, points};
use crate::document::{Block, Document, Fold, Inline, Table, TableRow};
use crate::phrases::models;

/// Facts that a terminal lists of a strategy.
const LISTED: usize = 10;

/// What a gate of reached facts found.
#[derive(Clone, Debug, Serialize)]
pub struct ReachedReport {
    /// The version of gate reports.
    pub version: u32,
    /// The worst of all.
    pub verdict: GateVerdict,
    /// The suite's name.
    pub suite: String,
    /// The summarizer, and the target model where that is another.
    pub model: String,
    /// The run's hard checks that failed.
    pub failed_checks: Vec<Check>,
    /// One for each strategy and protocol.
    pub strategies: Vec<StrategyReached>,
}

/// What it found of one strategy under one protocol.
#[derive(Clone, Debug, Serialize)]
pub struct StrategyReached {
    /// How budgets were set.
    pub protocol: Protocol,
    /// Its name.
    pub strategy: String,
    /// A pass if every fact that left was read, and no conversation ended without a usable context.
    pub verdict: GateVerdict,
    /// Valid facts whose last message left the context, without decoys and generic values.
    pub left: usize,
    /// Conversations that ended without a usable context.
    pub unusable: usize,
    /// Facts that left unread.
    pub unread: Vec<UnreadFact>,
}

/// A fact that no summarizer read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnreadFact {
    /// The conversation.
    pub scenario: String,
    /// The fact's id.
    pub fact: String,
    /// What the fact is about and its value, if the suite is at hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stated: Option<StatedFact>,
}

/// Judges a run; `strategies` are those asked for, or none for all under test.
///
/// # Errors
/// [`Mismatch`] if a strategy is unknown, or none is tested.
pub fn reached(
    run: &RunFiles,
    prices: &PriceTable,
    strategies: &[String],
) -> Result<ReachedReport, Mismatch> {
    let runs = ProtocolRun::by_protocol(&run.manifest, &run.records, prices);
    let replay = default_replay(&runs)?;
    let names = || tested(replay).map(|strategy| strategy.name);
    let unknown = strategies
        .iter()
        .find(|asked| names().all(|name| name != asked.as_str()));
    if let Some(unknown) = unknown {
        let why = compactometer_text::suggest::unknown("strategy", unknown, names());
        return Err(Mismatch::Unknown(why));
    }
    let is_asked =
        |name: &str| strategies.is_empty() || strategies.iter().any(|asked| asked == name);
    let judged = tested(replay).filter(|strategy| is_asked(strategy.name));
    let judged = judged.map(|strategy| StrategyReached::new(replay.protocol, strategy));
    let strategies = judged.collect::<Vec<_>>();
    let summary = crate::summary::of_runs(std::slice::from_ref(replay));
    let checks = summary.groups.into_iter().flat_map(|group| group.checks);
    let failed_checks = checks.filter(|check| check.passed == Some(false));
    let failed_checks = failed_checks.collect::<Vec<_>>();
    let hard = (!failed_checks.is_empty()).then_some(GateVerdict::Failed);
    let worst = strategies.iter().map(|one| one.verdict).max();
    Ok(ReachedReport {
        version: VERSION,
        verdict: worst
            .ok_or(Mismatch::NothingTested)?
            .max(hard.unwrap_or(GateVerdict::Pass)),
        suite: run.manifest.suite.clone(),
        model: models(&run.manifest.summarizer, run.manifest.target.as_deref()),
        failed_checks,
        strategies,
    })
}

impl StrategyReached {
    fn new(protocol: Protocol, of: &StrategyRecords) -> Self {
        let mut found = StrategyReached {
            protocol,
            strategy: of.name.to_owned(),
            verdict: GateVerdict::Pass,
            left: 0,
            unusable: 0,
            unread: Vec::new(),
        };
        let mut is_known = true;
        for record in of.records() {
            is_known &= found.count(record);
        }
        found.verdict = match () {
            () if !found.unread.is_empty() || found.unusable > 0 => GateVerdict::Regression,
            () if found.left == 0 || !is_known => GateVerdict::Inconclusive,
            () => GateVerdict::Pass,
        };
        found
    }

    /// Counts a conversation. Returns whether the requests to the summarizer are known.
    fn count(&mut self, record: &Record) -> bool {
        let last = points(record).last();
        self.unusable += usize::from(last.is_some_and(|seen| seen.unusable.is_some()));
        let mut is_known = true;
        for (fact, fate) in fates::last(record).filter(|(fact, _)| !fact.decoy && !fact.generic) {
            match fate {
                Fate::DroppedUnseen => self.unread.push(UnreadFact {
                    scenario: record.case.scenario.clone(),
                    fact: fact.id.clone(),
                    stated: None,
                }),
                Fate::Lost => is_known = false,
                Fate::Carried | Fate::Unwritten | Fate::Eroded | Fate::Sealed => {}
                Fate::Unstated
                | Fate::Verbatim
                | Fate::StoredOnly
                | Fate::Superseded
                | Fate::Unexplained => continue,
            }
            self.left += 1;
        }
        is_known
    }

    /// What was found, in a sentence.
    fn sentence(&self) -> String {
        let StrategyReached { left, unread, .. } = self;
        let unusable = match self.unusable {
            0 => String::new(),
            1 => "; 1 conversation ends without a usable context".to_owned(),
            more => format!("; {more} conversations end without a usable context"),
        };
        match left {
            0 => format!("no fact left the context{unusable}"),
            _ => format!(
                "{} of {left} facts that left were never read{unusable}",
                unread.len()
            ),
        }
    }
}

impl UnreadFact {
    fn line(&self) -> String {
        fact_line(
            &self.scenario,
            &self.fact,
            self.stated.as_ref(),
            str::to_owned,
        )
    }
}

impl ReachedReport {
    /// Adds what the facts state, as `stated` knows it by scenario and fact.
    pub fn name_facts(&mut self, stated: impl Fn(&str, &str) -> Option<StatedFact>) {
        let strategies = self.strategies.iter_mut();
        for unread in strategies.flat_map(|strategy| &mut strategy.unread) {
            unread.stated = stated(&unread.scenario, &unread.fact);
        }
    }

    fn heading(&self) -> String {
        format!("{}, summaries by {}", self.suite, self.model)
    }

    /// The verdict and the first facts of each strategy.
    pub fn text(&self, width: usize) -> String {
        let mut lines = vec![format!("verdict: {}", self.verdict.name()), self.heading()];
        lines.extend(failed_checks(&self.failed_checks));
        lines.push(String::new());
        for strategy in &self.strategies {
            let StrategyReached {
                protocol, unread, ..
            } = strategy;
            let name = format!("{} ({})", strategy.strategy, protocol.name());
            lines.push(format!(
                "{name}: {}; {}",
                strategy.verdict.name(),
                strategy.sentence()
            ));
            lines.extend(
                unread
                    .iter()
                    .take(LISTED)
                    .map(|unread| format!("  {}", unread.line())),
            );
            if unread.len() > LISTED {
                lines.push(format!(
                    "  and {} more: --json has all",
                    unread.len() - LISTED
                ));
            }
        }
        let lines = lines.iter().flat_map(|line| wrapped(line, width));
        lines.map(|line| line + "\n").collect()
    }

    /// As Markdown, with every unread fact.
    pub fn markdown(&self) -> String {
        self.document().markdown(2)
    }

    /// As a page of HTML that needs no other file.
    ///
    /// # Errors
    /// Where the template of pages does not render.
    pub fn html(&self) -> Result<String, minijinja::Error> {
        self.document().html()
    }

    fn document(&self) -> Document {
        let mut document = Document::new(format!(
            "Facts read by a summarizer: {}",
            self.verdict.name()
        ));
        document.add(Block::Paragraph((self.heading() + ".").into()));
        document.extend(Block::list(failed_checks(&self.failed_checks)));
        let columns = ["strategy", "protocol", "left", "never read", "verdict"];
        let rows = self.strategies.iter().map(|one| {
            TableRow::new([
                one.strategy.clone(),
                one.protocol.name().to_owned(),
                one.left.to_string(),
                one.unread.len().to_string(),
                one.verdict.name().to_owned(),
            ])
        });
        document.add(Block::Table(
            Table::of_text(columns).numbers(2..4).with_rows(rows),
        ));
        for one in self
            .strategies
            .iter()
            .filter(|one| one.verdict == GateVerdict::Regression)
        {
            let summary = format!("{}: {}", one.strategy, one.sentence());
            let lines = one.unread.iter().map(|unread| Inline::from(unread.line()));
            document.add(Block::Fold(Fold::new(summary, Block::list(lines))));
        }
        document
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_lists_ten_facts_and_says_how_many_more_there_are() {
        let report = |unread: usize| {
            let unread = (0..unread).map(|number| UnreadFact {
                scenario: "s".to_owned(),
                fact: format!("f{number}"),
                stated: None,
            });
            let strategy = StrategyReached {
                protocol: Protocol::Matched,
                strategy: "mine".to_owned(),
                verdict: GateVerdict::Regression,
                left: 40,
                unusable: 0,
                unread: unread.collect(),
            };
            ReachedReport {
                version: VERSION,
                verdict: strategy.verdict,
                suite: "tiny".to_owned(),
                model: "mock".to_owned(),
                failed_checks: Vec::new(),
                strategies: vec![strategy],
            }
        };
        let text = report(13).text(80);
        assert!(
            text.contains("\n  s f9\n  and 3 more: --json has all\n"),
            "{text}"
        );
        assert!(!text.contains("s f10"), "{text}");
        let text = report(10).text(80);
        assert!(
            text.contains("\n  s f9\n") && !text.contains("more"),
            "{text}"
        );
    }
}
