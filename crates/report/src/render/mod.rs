//! The files of a report. Each is written under another name and then renamed, so that no file is
//! ever incomplete.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use compactometer_disk::{create_folder, write_whole};
use compactometer_formats::manifest::Manifest;
use compactometer_formats::prices::PriceTable;
use compactometer_formats::record::Record;
use compactometer_formats::summary::Summary;
use serde_json::{Value, json};

use self::page::{PageContents, PicturePart};
use self::plots::{Plot, draw};
use crate::data::ProtocolRun;
use crate::document::render_template;

pub(crate) mod cases;
mod compared;
pub mod explain;
mod judged;
mod markdown;
mod page;
mod page_tables;
mod paper;
pub(crate) mod plots;
mod reasons;
mod rows;
pub(crate) mod sources;
mod sweep_points;
pub(crate) mod targets_shown;
mod terminal;
mod titled;

pub use paper::{PAPER_FOLDER, write_paper};
pub use terminal::{Screen, by_version, table};

/// A part of a report that can be written by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportPart {
    /// `index.html` and `details.html`.
    Html,
    /// `report.md`.
    Markdown,
    /// `summary.csv`, `comparisons.csv` and `facts.csv`.
    Csv,
    /// `summary.json`.
    Json,
    /// `plots/`: the pictures as files. `index.html` holds them itself, and leads to these files
    /// where they are.
    Plots,
}

impl ReportPart {
    /// Every part.
    pub const ALL: &[ReportPart] = &[
        ReportPart::Html,
        ReportPart::Markdown,
        ReportPart::Csv,
        ReportPart::Json,
        ReportPart::Plots,
    ];
}

/// Writes `index.html`, `details.html`, `report.md`, `facts.csv`, `summary.csv`, `comparisons.csv`,
/// `summary.json` and `plots/` into the folder, which is made where it is missing; files of the
/// same names are replaced. The same records give the same bytes.
///
/// # Errors
/// [`ReportError`]: a file that cannot be written, or a page or picture that cannot be made.
pub fn write(
    dir: &Path,
    manifest: &Manifest,
    records: &[Record],
    prices: &PriceTable,
) -> Result<Summary, ReportError> {
    write_formats(dir, manifest, records, prices, ReportPart::ALL)
}

/// As [`write()`], but only these parts.
///
/// # Errors
/// As [`write()`].
pub fn write_formats(
    dir: &Path,
    manifest: &Manifest,
    records: &[Record],
    prices: &PriceTable,
    formats: &[ReportPart],
) -> Result<Summary, ReportError> {
    let runs = ProtocolRun::by_protocol(manifest, records, prices);
    let summary = crate::summary::of_runs(&runs);
    let has = |format| formats.contains(&format);
    create_folder(dir).map_err(|source| ReportError::Io {
        path: dir.to_owned(),
        source,
    })?;
    if has(ReportPart::Html) || has(ReportPart::Markdown) || has(ReportPart::Plots) {
        let written = cases::WrittenCases::read(dir, manifest);
        let beside = |format, name: &str| has(format) || dir.join(name).exists();
        let has_plots = has(ReportPart::Markdown) || has(ReportPart::Plots);
        let pictures = pictures(has_plots.then_some(dir), &runs, &summary)?;
        let mut page = PageContents::new(manifest, &summary, pictures);
        if has(ReportPart::Markdown) {
            let text = markdown::document(&page).markdown(1);
            put(dir, "report.md", text.as_bytes())?;
        }
        if has(ReportPart::Html) {
            let beside = json!({
                "plots": has_plots || dir.join("plots").exists(),
                "csv": beside(ReportPart::Csv, "summary.csv"),
                "json": beside(ReportPart::Json, "summary.json"),
            });
            if written.is_none() {
                page.without_cases();
            }
            let cases_note = written.as_ref().and_then(cases::WrittenCases::note);
            let mut values =
                serde_json::to_value(page).map_err(|error| made("index.html", &error))?;
            values["beside"] = beside;
            values["cases_note"] = json!(cases_note);
            values["has_cases"] = written.is_some().into();
            for (name, template) in PAGES {
                put(dir, name, filled(name, template, &values)?.as_bytes())?;
            }
        }
    }
    if has(ReportPart::Json) {
        let json =
            serde_json::to_string_pretty(&summary).map_err(|error| made("summary.json", &error))?;
        put(dir, "summary.json", (json + "\n").as_bytes())?;
    }
    if has(ReportPart::Csv) {
        put(
            dir,
            "summary.csv",
            &csv("summary.csv", &rows::metrics(&summary))?,
        )?;
        put(
            dir,
            "comparisons.csv",
            &csv("comparisons.csv", &compared::rows(&summary.groups))?,
        )?;
        put(dir, "facts.csv", &csv("facts.csv", &rows::facts(&runs))?)?;
    }
    Ok(summary)
}

/// Pages of HTML and their templates.
const PAGES: [(&str, &str); 2] = [
    ("index.html", include_str!("page.html")),
    ("details.html", include_str!("details.html")),
];

/// What pages show of the pictures of each group, which are written to `plots` if there is a folder
/// for them.
fn pictures(
    dir: Option<&Path>,
    runs: &[ProtocolRun],
    summary: &Summary,
) -> Result<Vec<Vec<PicturePart>>, ReportError> {
    let folder = dir.map(|dir| dir.join("plots"));
    if let Some(folder) = &folder {
        create_folder(folder).map_err(|source| ReportError::Io {
            path: folder.clone(),
            source,
        })?;
    }
    let groups = plots::all(runs, summary).into_iter();
    groups
        .map(|plots| {
            plots
                .into_iter()
                .map(|plot| write_plot(folder.as_deref(), plot))
                .collect()
        })
        .collect()
}

/// A report that could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A file or folder cannot be written.
    #[error("cannot write `{}`: {source}; free space there, or make it writable for this user", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file's content cannot be made.
    #[error("cannot make `{file}`: {what}")]
    Make {
        /// The file.
        file: String,
        /// What went wrong.
        what: String,
    },
}

/// Writes one plot's three files, if there is a folder for them.
fn write_plot(folder: Option<&Path>, plot: Plot) -> Result<PicturePart, ReportError> {
    let file = |ending: &str| format!("{}.{ending}", plot.name);
    let svg = draw::svg(&plot.figure).map_err(|what| made(&file("svg"), &what))?;
    if let Some(folder) = folder {
        put(folder, &file("svg"), svg.as_bytes())?;
        put(folder, &file("csv"), &csv(&file("csv"), &plot.rows)?)?;
        let png = draw::png(&plot.figure).map_err(|what| made(&file("png"), &what))?;
        put(folder, &file("png"), &png)?;
    }
    Ok(PicturePart {
        file: plot.name,
        title: plot.title.to_owned(),
        caption: plot.caption,
        svg,
    })
}

fn csv(file: &str, rows: &[Vec<String>]) -> Result<Vec<u8>, ReportError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        let cells = row.iter().map(|text| cell(text));
        writer
            .write_record(cells.map(Cow::into_owned).collect::<Vec<_>>())
            .map_err(|error| made(file, &error))?;
    }
    writer.into_inner().map_err(|error| made(file, &error))
}

/// A cell that a spreadsheet shows and does not run: an apostrophe precedes text that begins like a
/// formula.
fn cell(text: &str) -> Cow<'_, str> {
    let begins_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if begins_formula && text.parse::<f64>().is_err() {
        format!("'{text}").into()
    } else {
        text.into()
    }
}

fn put(dir: &Path, name: &str, bytes: &[u8]) -> Result<(), ReportError> {
    let path = dir.join(name);
    write_whole(&path, |out| out.write_all(bytes))
        .map_err(|source| ReportError::Io { path, source })
}

/// A page of that name.
fn filled(name: &'static str, template: &'static str, page: &Value) -> Result<String, ReportError> {
    let templates = [
        (name, template),
        ("head.html", include_str!("head.html")),
        ("script.js", include_str!("script.js")),
        ("story.css", include_str!("explain/story.css")),
        ("parts.html", include_str!("explain/parts.html")),
    ];
    render_template(&templates, page).map_err(|error| made(name, &error))
}

fn made(file: &str, error: &impl std::fmt::Display) -> ReportError {
    ReportError::Make {
        file: file.to_owned(),
        what: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common;
    use crate::metrics::dummy::DUMMY;

    /// A metric or picture that is only in its registry is shown in every table, page and file.
    #[test]
    fn a_new_metric_and_picture_need_their_row_alone() {
        let (manifest, records) = common::simulated::run(3);
        let dir = tempfile::tempdir().expect("a folder");
        let summary = write(dir.path(), &manifest, &records, &common::prices()).expect("a report");
        assert_eq!(DUMMY.value(&summary.groups[0].strategies[0]), Some(4_321.0));
        assert!(
            table(
                &summary,
                &Screen {
                    width: 1_000,
                    ..Screen::WHOLE
                }
            )
            .contains("4,321"),
            "the terminal's table does not show the metric"
        );
        let read = |file: &str| std::fs::read_to_string(dir.path().join(file)).unwrap_or_default();
        for file in ["details.html", "report.md", "summary.csv", "summary.json"] {
            assert!(
                read(file).contains(DUMMY.id),
                "{file} does not name the metric"
            );
        }
        assert!(
            read("details.html").contains(DUMMY.definition),
            "the page does not define the metric"
        );
        assert!(
            read("report.md").contains(DUMMY.definition),
            "report.md does not define the metric"
        );
        for page in ["index.html", "report.md"] {
            let text = read(page);
            assert!(
                text.contains("4,321"),
                "no table of {page} shows the metric"
            );
            assert!(
                text.contains(plots::dummy::NAME),
                "{page} does not show the picture"
            );
        }
        assert!(read(&format!("plots/{}.csv", plots::dummy::NAME)).starts_with("row"));
        assert!(
            crate::metrics::ALL
                .iter()
                .any(|metric| metric.id == DUMMY.id),
            "`list metrics` prints this list"
        );
    }
}
