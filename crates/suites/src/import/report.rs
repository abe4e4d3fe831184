//! A report of an import: counts for the command line, and notes for readers of results.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use super::error::ImportError;
use super::facts::FactCounts;
use super::place::Place;
use super::repair::{Repair, counted};
use compactometer_formats::scenario::{Scenario, Unmeasured};

/// What was read, repaired, masked and left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// The format's name.
    pub importer: &'static str,
    /// Files read.
    pub files: usize,
    /// Groups in the suite: the units of statistics.
    pub groups: usize,
    /// Scenarios in the suite.
    pub scenarios: usize,
    /// Messages in the suite.
    pub messages: usize,
    /// Recorded compactions in the suite.
    pub compactions: usize,
    /// Recorded compactions that are not measured, by reason.
    pub unmeasured: BTreeMap<Unmeasured, usize>,
    /// Those of them that are in no conversation of the suite, since nothing else was read of
    /// theirs.
    pub without_conversation: usize,
    /// Questions in the suite.
    pub questions: usize,
    /// Exact values found, or `None` if they were not requested.
    pub facts: Option<FactCounts>,
    /// All repairs, file by file. Lines that are not JSON come before what is wrong with the
    /// others.
    pub repairs: Vec<Repair>,
    /// Secrets masked, by kind. Every occurrence counts.
    pub secrets: BTreeMap<&'static str, usize>,
    /// Rows without a turn of a conversation, by type.
    pub ignored: BTreeMap<String, usize>,
    /// Tool calls that repeat an id of their session. All calls are renumbered.
    pub repeated_call_ids: usize,
    /// The number of sessions joined into each scenario; 0 if none were joined.
    pub joined: usize,
    /// What joining left out.
    pub leftovers: Vec<String>,
    /// Files that were left out because they were refused, with the reason.
    pub refused: Vec<String>,
}

/// The number of repairs shown one by one. The others are only counted.
const SHOWN_REPAIRS: usize = 20;

impl ImportReport {
    /// The report as lines of text, beginning with the number of conversations.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "{} of {}, {}",
            counted(self.scenarios, "conversation"),
            counted(self.groups, "independent session"),
            counted(self.messages, "message")
        )];
        lines.extend(self.facts.iter().flat_map(FactCounts::lines));
        lines.push(format!(
            "{} in {}",
            counted(self.repairs.len(), "repair"),
            counted(self.files, "file")
        ));
        lines.extend(
            self.repairs
                .iter()
                .take(SHOWN_REPAIRS)
                .map(|repair| format!("  {repair}")),
        );
        if self.repairs.len() > SHOWN_REPAIRS {
            lines.push(format!("  and {} more", self.repairs.len() - SHOWN_REPAIRS));
        }
        lines.extend(self.remarks());
        lines
    }

    /// Notes for readers of results.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = vec![format!(
            "imported from {} of format {}",
            counted(self.files, "file"),
            self.importer
        )];
        notes.extend(self.facts.iter().flat_map(FactCounts::notes));
        if !self.repairs.is_empty() {
            notes.push(format!(
                "{} made by the importer",
                counted(self.repairs.len(), "repair")
            ));
        }
        notes.extend(self.remarks());
        notes
    }

    fn remarks(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.secrets.is_empty() {
            lines.push(format!(
                "{} masked: {}",
                counted(self.secrets.values().sum(), "secret"),
                join_counts(&self.secrets)
            ));
        }
        if !self.ignored.is_empty() {
            lines.push(format!(
                "{} ignored: {}",
                counted(self.ignored.values().sum(), "row"),
                join_counts(&self.ignored)
            ));
        }
        if self.repeated_call_ids > 0 {
            lines.push(format!(
                "{} repeated within a session; all calls are renumbered",
                counted(self.repeated_call_ids, "tool call id")
            ));
        }
        if self.joined > 0 {
            lines.push(format!(
                "joined from {} sessions; long-range uses come from joining",
                self.joined
            ));
        }
        if self.compactions > 0 {
            lines.push(format!(
                "{} of the recorded program",
                counted(self.compactions, "compaction")
            ));
        }
        for (reason, number) in &self.unmeasured {
            lines.push(format!(
                "{} left out: {}",
                counted(*number, "compaction"),
                reason.why()
            ));
        }
        if self.questions > 0 {
            lines.push(format!(
                "{} that the files have",
                counted(self.questions, "question")
            ));
        }
        lines.extend(self.leftovers.iter().cloned());
        lines.extend(self.refused.iter().map(|why| format!("left out: {why}")));
        lines
    }
}

fn join_counts<K: fmt::Display>(counts: &BTreeMap<K, usize>) -> String {
    counts
        .iter()
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Collects the report as files are read.
pub(super) struct Recorder {
    pub(super) report: ImportReport,
    /// The file that is read, as repairs name it.
    file: String,
    strict: bool,
    groups: HashSet<String>,
}

impl Recorder {
    pub(super) fn new(importer: &'static str, strict: bool) -> Self {
        Recorder {
            report: ImportReport {
                importer,
                ..ImportReport::default()
            },
            file: String::new(),
            strict,
            groups: HashSet::new(),
        }
    }

    /// Counts a conversation that becomes part of the suite.
    pub(super) fn count(&mut self, scenario: &Scenario) {
        self.groups.insert(scenario.group_id.clone());
        self.report.groups = self.groups.len();
        self.report.scenarios += 1;
        self.report.messages += scenario.messages.len();
        self.report.questions += scenario.probes.len();
    }

    /// Says which file repairs are of from now on.
    pub(super) fn begin(&mut self, file: &str) {
        file.clone_into(&mut self.file);
    }

    /// Records a repair of the file that is read. Under strict reading the repair is an error.
    pub(super) fn repair(&mut self, place: Place, what: String) -> Result<(), ImportError> {
        let repair = Repair {
            file: self.file.clone(),
            place: place.to_string(),
            what,
        };
        if self.strict {
            return Err(ImportError::Strict(repair));
        }
        self.report.repairs.push(repair);
        Ok(())
    }

    /// Counts compactions that are not measured.
    pub(super) fn not_measured(&mut self, reason: Unmeasured, number: usize) {
        if number > 0 {
            *self.report.unmeasured.entry(reason).or_insert(0) += number;
        }
    }

    /// Counts compactions before which the file has nothing that could be read as a conversation.
    pub(super) fn without_conversation(&mut self, number: usize) {
        self.not_measured(Unmeasured::NothingBefore, number);
        self.report.without_conversation += number;
    }

    /// Counts a row without a turn. Control characters are removed, because the file itself may
    /// name the kind.
    pub(super) fn ignore(&mut self, kind: &str) {
        *self
            .report
            .ignored
            .entry(kind.replace(char::is_control, " "))
            .or_insert(0) += 1;
    }
}
