//! What people read: one set of texts and tables, as HTML and as Markdown.

use compactometer_formats::manifest::Manifest;
use compactometer_formats::protocol::LimitsOf;
use compactometer_formats::summary::{Check, Group, Summary, Sweep};
use compactometer_text::shell::shell_word;
use serde::Serialize;

use super::compared::{self, ComparedTable};
use super::targets_shown::{self, TargetsTable};
use super::terminal::{self, PageOpening};
use super::titled::TitledTable;
use super::{judged, page_tables, reasons, sweep_points};
use crate::metrics::{self, Metric};
use crate::numbers::grouped;
use crate::phrases::{conditions, slug, verdict};
use crate::vocabulary;

/// How to read what the pages show.
#[derive(Serialize)]
pub(super) struct PageNotes {
    pub(super) order: &'static str,
    pub(super) failures: &'static str,
    pub(super) judge: &'static str,
    pub(super) targets: &'static str,
    pub(super) intervals: &'static str,
}

pub(super) const NOTES: PageNotes = PageNotes {
    order: "The order of strategies is fixed and is no ranking; controls are set apart. An undefined value is a dash, with its reason below.",
    failures: "The three most frequent reasons of each strategy with their counts. A fallback to a lesser answer counts too.",
    judge: "A model's opinion of each answer beside the grader's, over all strategies. No number of a strategy depends on it.",
    targets: "What each document asks of itself, and what these records show. Under a mock this is mechanism, not model.",
    intervals: "A number \"by conversation\" is computed of each conversation, then averaged; conversations that belong together, such as \
                an agent and its helpers, count as one. Intervals are 95 % t intervals over conversations, wider on the longer tail; \
                where fewer than three differ from the most frequent value, there are none.",
};

/// Everything that the pages show.
#[derive(Serialize)]
pub(super) struct PageContents {
    pub(super) title: String,
    pub(super) opening: Option<PageOpening>,
    pub(super) shows: Vec<String>,
    pub(super) run: Vec<(&'static str, String)>,
    pub(super) sections: Vec<PageSection>,
    /// Name, id, unit, better, definition and chapter.
    pub(super) definitions: Vec<[String; 6]>,
    pub(super) command: String,
    notes: PageNotes,
}

/// What they show of a group.
#[derive(Serialize)]
pub(super) struct PageSection {
    /// Where links to it lead.
    id: &'static str,
    pub(super) heading: String,
    pub(super) warnings: Vec<String>,
    pub(super) findings: Vec<String>,
    pub(super) tables: Vec<TitledTable>,
    pub(super) reasons: Vec<String>,
    pub(super) failures: Vec<String>,
    pub(super) plots: Vec<PicturePart>,
    pub(super) compared: Option<ComparedTable>,
    pub(super) judged: Vec<String>,
    pub(super) targets: TargetsTable,
    has_failed: bool,
    /// Verdict, what must hold, and what was found.
    pub(super) checks: Vec<[String; 3]>,
    is_first: bool,
}

/// A picture with its words.
#[derive(Serialize)]
pub(super) struct PicturePart {
    /// The name of its files without an ending.
    pub(super) file: String,
    pub(super) title: String,
    pub(super) caption: String,
    pub(super) svg: String,
}

impl PageContents {
    /// What the pages of a run show; `pictures` are those of each group.
    pub(super) fn new(
        manifest: &Manifest,
        summary: &Summary,
        pictures: Vec<Vec<PicturePart>>,
    ) -> Self {
        let swept = |group: &Group| {
            let sweep = summary.sweep.as_ref();
            sweep.filter(|_| group.protocol.has_limits_of_run())
        };
        let sections = summary.groups.iter().zip(pictures).enumerate();
        let sections = sections.map(|(at, (group, plots))| PageSection {
            is_first: at == 0,
            ..PageSection::new(group, swept(group), plots)
        });
        PageContents {
            title: format!("Compaction report: {}", manifest.suite),
            opening: summary.groups.first().map(terminal::opening),
            shows: summary.findings.clone(),
            run: run_facts(manifest),
            sections: sections.collect(),
            definitions: metrics::ALL.iter().map(definition).collect(),
            command: shell(&manifest.command),
            notes: NOTES,
        }
    }
}

impl PageContents {
    /// Without links to pages of single conversations.
    pub(super) fn without_cases(&mut self) {
        let sections = self.sections.iter_mut();
        let tables = sections.flat_map(|section| &mut section.tables);
        tables.for_each(|titled| titled.table.without_pages());
    }
}

impl PageSection {
    fn new(group: &Group, swept: Option<&Sweep>, plots: Vec<PicturePart>) -> Self {
        let tables = page_tables::tables(group)
            .into_iter()
            .chain(swept.map(sweep_points::table));
        PageSection {
            id: slug(group),
            heading: format!("Protocol {}", conditions(group)),
            warnings: group.warnings.clone(),
            findings: swept.map_or(Vec::new(), |sweep| sweep.findings.clone()),
            tables: tables.collect(),
            reasons: reasons::lines(group, page_tables::in_order()),
            failures: reasons::failures(group),
            plots,
            compared: compared::table(group),
            judged: group.judged.as_ref().map_or(Vec::new(), judged::lines),
            targets: targets_shown::table(group),
            has_failed: group.checks.iter().any(|check| check.passed == Some(false)),
            checks: group.checks.iter().map(check).collect(),
            is_first: false,
        }
    }
}

fn check(check: &Check) -> [String; 3] {
    [verdict(check.passed), &check.name, &check.detail].map(str::to_owned)
}

pub(super) fn run_facts(manifest: &Manifest) -> Vec<(&'static str, String)> {
    let tokens = |count: u32| format!("{} tokens", grouped(f64::from(count)));
    let protocols = manifest
        .protocols
        .iter()
        .map(|protocol| protocol.name())
        .collect::<Vec<_>>()
        .join(", ");
    let retained = std::iter::once(&manifest.retained).chain(&manifest.sweep);
    let mut facts = vec![
        (
            "suite",
            format!("{} ({})", manifest.suite, manifest.suite_hash),
        ),
        (
            "conversations",
            format!(
                "{}, of which {} are independent",
                manifest.conversations, manifest.groups
            ),
        ),
        ("replays", manifest.cases.to_string()),
        ("summarizer", manifest.summarizer.clone()),
        ("protocol", protocols),
    ];
    let sets = |limits: LimitsOf| {
        manifest
            .protocols
            .iter()
            .any(|protocol| protocol.limits() == limits)
    };
    if sets(LimitsOf::Strategy) {
        let limits = format!(
            "multiplied by {}; the limits below are those of the matched protocol and of controls",
            manifest.scale
        );
        facts.push(("published limits", limits));
    }
    if sets(LimitsOf::Recording) {
        let limits = "moments and sizes of the recorded compactions; the limits below are the largest of them";
        facts.push(("recorded limits", limits.to_owned()));
    }
    facts.extend([
        ("context window", tokens(manifest.window)),
        ("trigger", tokens(manifest.trigger)),
        (
            "retained budget",
            retained
                .map(|most| tokens(*most))
                .collect::<Vec<_>>()
                .join(", "),
        ),
        ("measuring counter", manifest.tokenizer.clone()),
        ("settings", manifest.settings_hash.clone()),
        ("prices", manifest.prices_hash.clone()),
        ("seed", manifest.seed.to_string()),
        (
            "program",
            format!(
                "compactometer {}, commit {}",
                manifest.program, manifest.commit
            ),
        ),
    ]);
    facts.extend(
        manifest
            .target
            .clone()
            .map(|target| ("target model", target)),
    );
    facts.extend(
        manifest
            .checkpointer
            .clone()
            .map(|checkpointer| ("checkpointer", checkpointer)),
    );
    facts.extend(manifest.judge.clone().map(|judge| ("judge", judge)));
    facts
}

/// Name, id, unit, better, definition and chapter.
fn definition(metric: &Metric) -> [String; 6] {
    let [id, unit, better, definition, chapter] = [
        metric.id,
        metric.unit.name(),
        metric.better.name(),
        metric.definition,
        metric.chapter,
    ]
    .map(str::to_owned);
    [vocabulary::name(&id), id, unit, better, definition, chapter]
}

/// A command line as a shell reads it.
pub(super) fn shell(command: &[String]) -> String {
    let words = command.iter().map(|word| shell_word(word));
    words.collect::<Vec<_>>().join(" ")
}
