//! What a terminal shows of a report: sentences, a table and a few notes on one screen, the rest on
//! demand; without colours.

mod grid;
mod notes;
mod versions;

use compactometer_formats::mock_name::{has_mock, is_mock as is_simulated};
use compactometer_formats::protocol::LimitsOf;
use compactometer_formats::summary::{Group, Summary};
use compactometer_text::wrapping::wrapped;
use serde::Serialize;

use crate::numbers::grouped;
use crate::phrases::{conditions, models};
use crate::render::sweep_points;

/// Most lines of a screen. What is planned and the report's place take two more.
const LINES: usize = 28;
/// Least lines for notes, whatever came before.
const LEAST_NOTES: usize = 1;

/// How much of a report a terminal shows.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    /// Characters in a line.
    pub width: usize,
    /// Every row of the table instead of eleven.
    pub all_rows: bool,
    /// Every note, the paired comparisons and the points of sweeps.
    pub all_notes: bool,
}

impl Screen {
    /// Everything, in lines of 100 characters.
    pub const WHOLE: Screen = Screen {
        width: 100,
        all_rows: true,
        all_notes: true,
    };
}

/// A report's sentences, the table of every group, and notes.
pub fn table(summary: &Summary, screen: &Screen) -> String {
    let mut lines = Vec::new();
    for (at, group) in summary.groups.iter().enumerate() {
        if at > 0 {
            lines.push(String::new());
        }
        lines.extend(wrapped(&heading(group), screen.width));
        if at == 0 && !summary.findings.is_empty() {
            let numbered = summary
                .findings
                .iter()
                .enumerate()
                .map(|(at, finding)| format!("{} {finding}", at + 1));
            lines.extend(numbered.flat_map(|finding| wrapped(&finding, screen.width)));
        }
        lines.push(String::new());
        let table = grid::lines(group, screen);
        lines.extend(table.lines);
        if screen.all_notes {
            lines.extend(wrapped(&table.key, screen.width));
            lines.push(String::new());
        }
        let swept = summary
            .sweep
            .as_ref()
            .filter(|_| group.protocol.has_limits_of_run());
        if screen.all_notes {
            lines.extend(notes::compared(group, swept));
            lines.extend(
                swept
                    .into_iter()
                    .flat_map(|sweep| sweep_points::lines(sweep, screen.width)),
            );
            lines.extend(
                notes::all(group, swept)
                    .iter()
                    .flat_map(|line| wrapped(line, screen.width)),
            );
        } else {
            let room = LINES.saturating_sub(lines.len()).max(LEAST_NOTES);
            lines.extend(notes::few(group, swept, table.hidden, screen.width, room));
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// What a page opens with.
#[derive(Serialize)]
pub(super) struct PageOpening {
    /// The run in a sentence.
    pub(super) heading: String,
    /// The table of the first screen.
    pub(super) table: grid::OpeningTable,
}

pub(super) fn opening(group: &Group) -> PageOpening {
    PageOpening {
        heading: heading(group),
        table: grid::for_page(group),
    }
}

/// The table of a run by the version of the recorded program; nothing if no transcript has one.
pub fn by_version(summary: &Summary) -> Option<String> {
    let lines = versions::lines(summary)?;
    Some(lines.iter().map(|line| format!("{line}\n")).collect())
}

pub(super) use grid::{about, marks_explained};

/// Every row with its name as the table shows it, by what the rows have in common.
pub(super) fn sections(group: &Group) -> Vec<grid::NamedRows<'_>> {
    grid::named_sections(group)
}

/// What was run, in a line.
pub(super) fn heading(group: &Group) -> String {
    let Group {
        suite,
        window,
        conversations,
        retained,
        ..
    } = group;
    let [window, retained] = [window, retained].map(|tokens| grouped(f64::from(*tokens)));
    let limits = match group.protocol.limits() {
        LimitsOf::Run => {
            format!("compacted to {retained} tokens in a context window of {window}")
        }
        LimitsOf::Recording => "compacted when and as far as the recorded program did".to_owned(),
        LimitsOf::Strategy => format!(
            "protocol {}, context window of controls {window} tokens",
            conditions(group)
        ),
    };
    let model = models(&group.summarizer, group.target.as_deref());
    let is_mock = has_mock(&group.summarizer, group.target.as_deref());
    let model = match (is_mock, is_simulated(&group.summarizer)) {
        (true, true) => format!("A simulated model wrote ({model}); a real one may differ"),
        (true, false) => format!("Summaries by {model}, which is simulated; a real one may differ"),
        (false, _) => format!("Summaries by {model}"),
    };
    let plural = if *conversations == 1 { "" } else { "s" };
    format!("{suite}: {conversations} conversation{plural}, {limits}. {model}.")
}
