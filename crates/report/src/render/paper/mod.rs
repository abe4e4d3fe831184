//! A run's numbers for a paper in LaTeX: a table, two figures of one column's width, how it was run,
//! and how to cite it, with a document that shows how they are put in.

mod latex;

use std::path::Path;

use compactometer_disk::create_folder;
use compactometer_formats::manifest::Manifest;
use compactometer_formats::prices::{PriceRow, PriceTable, PriceTier};
use compactometer_formats::record::{Family, Record};
use compactometer_formats::summary::{Group, MetricValue, StrategySummary, Summary};
use serde_json::{Value, json};

use self::latex::{breakable, escaped};
use super::plots::{Plot, fates_in_column, over_tokens_in_column, pdf};
use super::{ReportError, made, page, put, terminal};
use crate::data::ProtocolRun;
use crate::document::render_template;
use crate::metrics::compaction_trouble::WAIT_MS_P95;
use crate::metrics::cost::COST_USD;
use crate::metrics::recall::ADDRESS_USE_RECALL;
use crate::metrics::scores::shown_recall;
use crate::metrics::{Metric, MetricUnit};
use crate::numbers::{grouped, plain_zero};
use crate::vocabulary;

/// The folder of these files in the report's.
pub const PAPER_FOLDER: &str = "paper";
const DOCUMENT: &str = "paper.tex";
const TITLE: &str = "Compactometer: what a long conversation loses when it is compacted";
const AUTHORS: &str = "The authors of Compactometer";
const YEAR: &str = "2026";

/// A figure in print: its file's stem and the plot.
type PaperFigure = (&'static str, fn(&Group) -> Plot);

const FIGURES: [PaperFigure; 2] = [
    ("frontier", over_tokens_in_column),
    ("fates", fates_in_column),
];

/// Writes `paper/` into the folder: `table.tex` (booktabs), `frontier.pdf` and `fates.pdf`, 240
/// points wide, `setup.tex` with the command, commit and prices, `compactometer.bib`, and
/// `paper.tex`, a document that holds them all. The table and figures of several protocols end in
/// the protocol's name. The same records give the same bytes.
///
/// # Errors
/// [`ReportError`]: a file that cannot be written, or a figure that cannot be made.
pub fn write_paper(
    dir: &Path,
    manifest: &Manifest,
    records: &[Record],
    prices: &PriceTable,
) -> Result<Summary, ReportError> {
    let runs = ProtocolRun::by_protocol(manifest, records, prices);
    let summary = crate::summary::of_runs(&runs);
    let groups = &summary.groups;
    let folder = dir.join(PAPER_FOLDER);
    create_folder(&folder).map_err(|source| ReportError::Io {
        path: folder.clone(),
        source,
    })?;
    let sections = groups.iter().map(|group| {
        let ending = match groups.len() {
            1 => String::new(),
            _ => format!("-{}", crate::phrases::slug(group)),
        };
        section(&folder, group, &ending)
    });
    let sections = sections.collect::<Result<Vec<_>, _>>()?;
    put(&folder, "setup.tex", setup(manifest, prices).as_bytes())?;
    put(&folder, "compactometer.bib", citation(manifest).as_bytes())?;
    let paper = json!({"title": escaped(&manifest.suite), "sections": sections});
    let document = render_template(&[(DOCUMENT, include_str!("paper.tex"))], &paper);
    let document = document.map_err(|error| made(DOCUMENT, &error))?;
    put(&folder, DOCUMENT, document.as_bytes())?;
    Ok(summary)
}

/// Writes the table and figures of a group; what the document shows of them.
fn section(folder: &Path, group: &Group, ending: &str) -> Result<Value, ReportError> {
    let table = format!("table{ending}.tex");
    put(folder, &table, table_of(group).as_bytes())?;
    let without_ideas = without_ideas(group);
    let figure = |(stem, plot): PaperFigure| {
        let (file, plot) = (format!("{stem}{ending}.pdf"), plot(&without_ideas));
        let pdf = pdf::pdf(&plot.figure).map_err(|what| made(&file, &what))?;
        put(folder, &file, &pdf)?;
        let caption = escaped(&format!("{}. {}", plot.title, plot.caption));
        Ok(json!({"file": file, "caption": caption}))
    };
    let figures: Result<Vec<_>, ReportError> = FIGURES.into_iter().map(figure).collect();
    let caption = escaped(&caption(group));
    Ok(json!({"table": table, "caption": caption, "figures": figures?}))
}

/// What was run, what the columns show, and what the marks of rows say.
fn caption(group: &Group) -> String {
    let rows = group.strategies.iter().collect::<Vec<_>>();
    let marks = terminal::marks_explained(&rows).map(|mark| format!("{mark}."));
    let abouts = columns(group).into_iter().map(|metric| match metric.id {
        id if id == COST_USD.id => "Cost: of one conversation, with prompt caching.".to_owned(),
        _ => terminal::about(metric, group),
    });
    let parts = std::iter::once(terminal::heading(group)).chain(abouts);
    let intervals =
        "Means over conversations, 95 % intervals in brackets; controls in italics.".to_owned();
    let parts = parts.chain([intervals]).chain(marks);
    parts
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// A column has no room for rows that change one idea of another; the table has them.
fn without_ideas(group: &Group) -> Group {
    let mut group = group.clone();
    group.strategies.retain(|row| row.family != Family::Idea);
    group
}

/// The metrics of the table, of which those are shown that any row has.
fn columns(group: &Group) -> Vec<&'static Metric> {
    let recall = shown_recall(&group.strategies);
    let all = [recall, &ADDRESS_USE_RECALL, &COST_USD, &WAIT_MS_P95];
    let is_known = |metric: &&Metric| {
        let mut rows = group.strategies.iter();
        rows.any(|row| metric.value(row).is_some())
    };
    all.into_iter().filter(is_known).collect()
}

/// A `tabular` of every row, in the order of the screen; shares with their 95 % intervals.
fn table_of(group: &Group) -> String {
    let columns = columns(group);
    let headers = columns.iter().map(|metric| header(metric));
    let mut lines = vec![
        format!(
            "\\begin{{tabular}}{{@{{}}l{}@{{}}}}",
            "r".repeat(columns.len())
        ),
        "\\toprule".to_owned(),
        line("strategy", headers),
    ];
    let mut rule = "\\midrule";
    for (first, rows) in terminal::sections(group) {
        lines.extend([rule.to_owned(), format!("% {first}")]);
        lines.extend(rows.iter().map(|(name, row)| {
            let cells = columns.iter().map(|metric| cell(metric, row));
            line(&row_name(name, row), cells)
        }));
        rule = "\\addlinespace";
    }
    lines.extend(["\\bottomrule", "\\end{tabular}", ""].map(str::to_owned));
    lines.join("\n")
}

fn line(first: &str, cells: impl Iterator<Item = String>) -> String {
    let cells = cells.map(|cell| format!(" & {cell}"));
    format!("{first}{} \\\\", cells.collect::<String>())
}

/// A column's name in two lines, with its unit.
fn header(metric: &Metric) -> String {
    let unit = match metric.unit {
        MetricUnit::Share => ", %",
        MetricUnit::Usd => ", $",
        MetricUnit::Milliseconds => ", s",
        _ => "",
    };
    let [above, below] = vocabulary::header(metric.id).map(|line| escaped(&line));
    format!("\\shortstack[r]{{{above}\\\\{below}{}}}", escaped(unit))
}

/// A control in italics, a changed idea indented below the row that it changes.
fn row_name(name: &str, row: &StrategySummary) -> String {
    let indent = if name.starts_with(' ') { "\\quad " } else { "" };
    let name = escaped(name.trim_start());
    match row.family {
        Family::Control => format!("\\textit{{{name}}}"),
        _ => format!("{indent}{name}"),
    }
}

fn cell(metric: &Metric, row: &StrategySummary) -> String {
    let found = metric.get(row);
    let Some(value) = found.and_then(|found| found.value) else {
        return "--".to_owned();
    };
    match metric.unit {
        MetricUnit::Share => share(value, found),
        MetricUnit::Usd => format!("{value:.2}"),
        MetricUnit::Milliseconds => format!("{:.1}", value / 1_000.0),
        _ => grouped(value),
    }
}

/// A share in per cent, with its interval where it has one.
fn share(value: f64, found: Option<&MetricValue>) -> String {
    let percent = |share: f64| plain_zero(format!("{:.0}", 100.0 * share)).replace('-', "$-$");
    let ends = found.and_then(|found| found.low.zip(found.high));
    let interval = ends.map(|(low, high)| format!(" [{}, {}]", percent(low), percent(high)));
    percent(value) + &interval.unwrap_or_default()
}

/// What was run, the prices of its models and the command.
fn setup(manifest: &Manifest, prices: &PriceTable) -> String {
    let mut items = page::run_facts(manifest);
    let Manifest {
        summarizer,
        target,
        checkpointer,
        ..
    } = manifest;
    let priced = [
        (
            "prices of calls",
            prices.row(target.as_ref().unwrap_or(summarizer)),
        ),
        ("prices of summaries", prices.summarizer_row(summarizer)),
        (
            "prices of checkpoints",
            prices.checkpointer_row(checkpointer.as_ref().unwrap_or(summarizer)),
        ),
    ];
    let others = priced.iter().skip(1).filter(|(_, row)| *row != priced[0].1);
    let shown = priced.iter().take(1).chain(others);
    items.extend(shown.map(|(name, row)| (*name, price(*row))));
    let items = items
        .iter()
        .map(|(name, value)| format!("\\item[{}] {}\n", escaped(name), breakable(value)));
    let command = breakable(&page::shell(&manifest.command));
    format!(
        "\\begin{{description}}\\raggedright\n{}\\item[command] \\texttt{{{command}}}\n\\end{{description}}\n",
        items.collect::<String>()
    )
}

fn price(row: Option<&PriceRow>) -> String {
    let Some(row) = row else {
        return "the table has none, so no cost is shown".to_owned();
    };
    let tier = |tier: PriceTier| {
        let PriceTier {
            above_tokens,
            input,
            cache_write,
            cache_read,
            output,
        } = tier;
        let from = match above_tokens {
            0 => String::new(),
            _ => format!("; above {above_tokens} tokens of input, "),
        };
        format!(
            "{from}input ${input}, written to the cache ${cache_write}, read from it ${cache_read}, output ${output}"
        )
    };
    let tiers = row.tiers().map(tier).collect::<String>();
    format!(
        "as {}, per million tokens: {tiers}; {}",
        row.name,
        read_on(row)
    )
}

/// Where the figures come from, and when they were read there.
fn read_on(row: &PriceRow) -> String {
    if row.date.is_empty() {
        row.source.clone()
    } else {
        format!("{}, read on {}", row.source, row.date)
    }
}

fn citation(manifest: &Manifest) -> String {
    let [program, commit] = [&manifest.program, &manifest.commit].map(|text| escaped(text));
    format!(
        "@misc{{compactometer,\n  author = {{{{{AUTHORS}}}}},\n  title = {{{{{TITLE}}}}},\n  year = {{{YEAR}}},\n  \
         note = {{Version {program}, commit {commit}}}\n}}\n"
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use compactometer_engine::event::Outcome;
    use compactometer_engine::strategy::FailReason;

    use super::*;
    use crate::common;

    /// The files of a paper, by name.
    fn paper_files(manifest: &Manifest, records: &[Record]) -> BTreeMap<String, Vec<u8>> {
        let dir = tempfile::tempdir().expect("a folder");
        write_paper(dir.path(), manifest, records, &common::prices()).expect("a paper");
        let files = std::fs::read_dir(dir.path().join(PAPER_FOLDER)).expect("the folder");
        let read = |file: std::io::Result<std::fs::DirEntry>| {
            let file = file.expect("an entry");
            let name = file.file_name().to_string_lossy().into_owned();
            (name, std::fs::read(file.path()).expect("a file"))
        };
        files.map(read).collect()
    }

    fn text<'f>(files: &'f BTreeMap<String, Vec<u8>>, name: &str) -> &'f str {
        std::str::from_utf8(&files[name]).expect("LaTeX is text")
    }

    #[test]
    fn the_table_has_every_row_with_the_numbers_of_the_summary() {
        let (manifest, records) = common::simulated::run(5);
        let files = paper_files(&manifest, &records);
        let table = text(&files, "table.tex");
        let summary = crate::summarize(&manifest, &records, &common::prices());
        let group = &summary.groups[0];
        let rows = table.lines().filter(|line| line.contains(" & ")).skip(1);
        assert_eq!(rows.count(), group.strategies.len(), "{table}");
        let row = group.strategies.iter().find(|row| row.name == "summarize");
        let row = row.expect("the run has it");
        let recall = shown_recall(&group.strategies);
        let line = table.lines().find(|line| line.starts_with("summarize & "));
        let line = line.expect("the table has it");
        let value = 100.0 * recall.value(row).expect("it is defined");
        let cost = COST_USD.value(row).expect("it is priced");
        assert!(
            line.starts_with(&format!("summarize & {value:.0} [")),
            "{line}"
        );
        assert!(line.contains(&format!(" & {cost:.2} & ")), "{line}");
        assert_eq!(files, paper_files(&manifest, &records), "the same bytes");
    }

    #[test]
    fn marks_and_columns_are_explained_in_the_caption() {
        let (manifest, mut records) = common::simulated::run(5);
        let caption = |records: &[Record]| {
            let paper = paper_files(&manifest, records);
            text(&paper, "paper.tex").to_owned()
        };
        let before = caption(&records);
        assert!(before.contains("Cost: of one conversation") && before.contains("19 of 20"));
        assert!(
            before.contains("may differ") && !before.contains("not compared"),
            "{before}"
        );
        for record in records
            .iter_mut()
            .filter(|one| one.case.strategy == "chained")
        {
            for row in &mut record.compactions {
                row.event.outcome = Outcome::Failed(FailReason::NoCheckpoint);
            }
        }
        assert!(caption(&records).contains("* not compared: over 5 \\%"));
    }

    #[test]
    fn figures_have_the_width_of_a_column_and_every_font_in_them() {
        let (manifest, records) = common::simulated::run(5);
        let files = paper_files(&manifest, &records);
        for name in ["frontier.pdf", "fates.pdf"] {
            let pdf = &files[name];
            let has = |part: &[u8]| pdf.windows(part.len()).any(|found| found == part);
            assert!(pdf.starts_with(b"%PDF-1."), "{name}");
            assert!(has(b"/MediaBox [0 0 240 "), "{name}");
            assert!(has(b"/FontFile2") && has(b"/ToUnicode"), "{name}");
            assert!(
                pdf.len() < 80_000,
                "{name} holds more of the font than it uses: {}",
                pdf.len()
            );
        }
    }

    #[test]
    fn names_are_data_and_no_commands() {
        let (mut manifest, mut records) = common::simulated::run(3);
        let hostile = "\\input{/etc/passwd}%\n\\end{tabular}✗";
        let shown = "\\textbackslash{}input\\{/etc/passwd\\}\\% \\textbackslash{}end\\{tabular\\}?";
        for record in &mut records {
            if record.case.strategy == "summarize" {
                record.case.strategy = hostile.to_owned();
            }
        }
        for name in &mut manifest.strategies {
            if name == "summarize" {
                *name = hostile.to_owned();
            }
        }
        manifest.suite = hostile.to_owned();
        manifest.command.push(hostile.to_owned());
        let files = paper_files(&manifest, &records);
        for name in ["table.tex", "setup.tex", "paper.tex"] {
            let text = text(&files, name).replace("\\allowbreak{}", "");
            assert!(text.contains(shown), "{name}: {text}");
            assert!(!text.contains("\\input{/etc"), "{name}: {text}");
        }
    }

    #[test]
    fn what_is_cited_is_what_the_citation_file_says() {
        let file = include_str!("../../../../../CITATION.cff");
        let says = |line: String| assert!(file.lines().any(|found| found.trim() == line), "{line}");
        says(format!("title: \"{TITLE}\""));
        says(format!("- name: {AUTHORS}"));
        assert!(file.contains(&format!("date-released: {YEAR}-")));
    }
}
