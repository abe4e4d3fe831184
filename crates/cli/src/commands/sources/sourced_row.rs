//! A row: what a document says, and what became of it.

use anyhow::{Error, Result};
use compactometer_engine::strategies;
use compactometer_engine::strategy::StrategySpec;
use compactometer_text::wrapping::wrapped;
use serde::Serialize;

use super::desk::SourcesDesk;

/// A source document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SourceDocument {
    StrategicPlan,
    ThresholdPlan,
    ProgressivePlan,
    AgentLoop,
    SummaryChain,
}

impl SourceDocument {
    pub(super) const ALL: &[SourceDocument] = &[
        SourceDocument::StrategicPlan,
        SourceDocument::ThresholdPlan,
        SourceDocument::ProgressivePlan,
        SourceDocument::AgentLoop,
        SourceDocument::SummaryChain,
    ];

    /// What users type.
    pub(super) const fn id(self) -> &'static str {
        match self {
            SourceDocument::StrategicPlan => "strategic-plan",
            SourceDocument::ThresholdPlan => "threshold-plan",
            SourceDocument::ProgressivePlan => "progressive-plan",
            SourceDocument::AgentLoop => "agent-loop",
            SourceDocument::SummaryChain => "summary-chain",
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            SourceDocument::StrategicPlan => "The strategic plan",
            SourceDocument::ThresholdPlan => "The threshold plan",
            SourceDocument::ProgressivePlan => "The progressive plan",
            SourceDocument::AgentLoop => "The agent loop",
            SourceDocument::SummaryChain => "The summary chain",
        }
    }

    /// The name that a strategy's source and a target begin with.
    pub(super) fn is_named_in(self, source: &str) -> bool {
        source
            .trim_start_matches("the ")
            .starts_with(&self.id().replace('-', " "))
    }

    /// The strategies that it describes.
    pub(super) fn strategies(self) -> impl Iterator<Item = &'static StrategySpec> {
        let all = strategies::ALL.iter().copied();
        all.filter(move |spec| self.is_named_in(spec.source))
    }
}

/// What became of what a document says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum SourceVerdict {
    /// The program does it, and it was checked.
    Holds,
    /// It does not hold.
    Fails,
    /// The program does otherwise, for a reason.
    Dropped,
    /// The document leaves it open; what was chosen is checked.
    Assumed,
}

impl SourceVerdict {
    pub(super) const ALL: &[SourceVerdict] = &[
        SourceVerdict::Holds,
        SourceVerdict::Fails,
        SourceVerdict::Dropped,
        SourceVerdict::Assumed,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            SourceVerdict::Holds => "holds",
            SourceVerdict::Fails => "fails",
            SourceVerdict::Dropped => "dropped",
            SourceVerdict::Assumed => "assumed",
        }
    }

    pub(super) const fn counted(self) -> &'static str {
        match self {
            SourceVerdict::Holds => "hold",
            SourceVerdict::Fails => "fail",
            SourceVerdict::Dropped => "dropped",
            SourceVerdict::Assumed => "assumed",
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct SourceRow {
    pub(super) document: SourceDocument,
    /// Where the document says it.
    pub(super) section: String,
    /// What it says.
    pub(super) claim: String,
    pub(super) verdict: SourceVerdict,
    /// What was measured.
    pub(super) value: String,
    /// Why it fails, was dropped or was chosen.
    pub(super) reason: String,
    /// The command whose result was looked at; none where the program's own tables were.
    pub(super) command: String,
}

impl SourceRow {
    /// What a document says where, and what became of it.
    pub(super) fn new(
        document: SourceDocument,
        (section, claim): (&str, impl Into<String>),
        (verdict, value, reason): Finding,
    ) -> Self {
        SourceRow {
            document,
            section: section.to_owned(),
            claim: claim.into(),
            verdict,
            value,
            reason,
            command: String::new(),
        }
    }

    /// The same with the command whose result was looked at.
    pub(super) fn by(self, command: String) -> Self {
        SourceRow { command, ..self }
    }

    /// A failure without a reason is none that the project knows.
    pub(super) fn is_expected(&self) -> bool {
        self.verdict != SourceVerdict::Fails || !self.reason.is_empty()
    }

    /// The row as lines of at most that width; its command where it is not that of the row before.
    pub(super) fn lines(&self, last_command: &str, width: usize) -> String {
        let mark = if self.is_expected() {
            self.verdict.name()
        } else {
            "FAILS"
        };
        let mut text = String::new();
        for (at, line) in wrapped(&self.words(), width.saturating_sub(12))
            .iter()
            .enumerate()
        {
            let mark = if at == 0 { mark } else { "" };
            text.push_str(&format!("  {mark:<10}{line}\n"));
        }
        if !self.command.is_empty() && self.command != last_command {
            for line in wrapped(&format!("$ {}", self.command), width.saturating_sub(14)) {
                text.push_str(&format!("{:14}{line}\n", ""));
            }
        }
        text
    }

    /// The row as a sentence.
    fn words(&self) -> String {
        let value = if self.value.is_empty() {
            String::new()
        } else {
            format!(" = {}", self.value)
        };
        let reason = if self.reason.is_empty() {
            String::new()
        } else {
            format!("; {}", self.reason)
        };
        format!("{}: {}{value}{reason}", self.section, self.claim)
    }
}

/// A verdict, what was measured, and why.
pub(super) type Finding = (SourceVerdict, String, String);

/// A claim that somebody wrote down, and how it is checked.
pub(super) struct SourceClaim {
    pub(super) section: &'static str,
    pub(super) claim: &'static str,
    pub(super) check: SourceCheck,
}

pub(super) enum SourceCheck {
    /// Measures a value, or says what is wrong.
    Holds(fn(&mut SourcesDesk) -> Result<String>),
    /// Measures a value that is not what the document says, and why.
    Misses(fn(&mut SourcesDesk) -> Result<String>, &'static str),
    /// Not built, or built otherwise, and why.
    Dropped(&'static str),
    /// What the document leaves open, and what was chosen.
    Assumed(&'static str),
}

impl SourceClaim {
    pub(super) fn row(&self, document: SourceDocument, desk: &mut SourcesDesk) -> SourceRow {
        desk.forget_command();
        let none = String::new;
        let found = match self.check {
            SourceCheck::Dropped(reason) => (SourceVerdict::Dropped, none(), reason.to_owned()),
            SourceCheck::Assumed(reason) => (SourceVerdict::Assumed, none(), reason.to_owned()),
            SourceCheck::Holds(check) => match check(desk) {
                Ok(value) => (SourceVerdict::Holds, value, none()),
                Err(error) => (SourceVerdict::Fails, one_line(&error), none()),
            },
            SourceCheck::Misses(check, why) => match check(desk) {
                Ok(value) => (SourceVerdict::Fails, value, why.to_owned()),
                Err(error) => (SourceVerdict::Fails, one_line(&error), none()),
            },
        };
        SourceRow::new(document, (self.section, self.claim), found).by(desk.command())
    }
}

fn one_line(error: &Error) -> String {
    format!("{error:#}")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}
