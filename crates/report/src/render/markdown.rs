//! The document of `report.md`: all that the pages show.

use super::compared::ComparedTable;
use super::page::{NOTES, PageContents, PageSection, PicturePart};
use super::targets_shown::TargetsTable;
use super::terminal::PageOpening;
use super::titled::TitledTable;
use crate::document::{Block, Document, Inline, Table, TableRow};

pub(super) fn document(page: &PageContents) -> Document {
    let mut document = Document::new(page.title.as_str());
    let opening = page.opening.as_ref();
    if let Some(opening) = opening {
        document.add(Block::Paragraph(opening.heading.as_str().into()));
    }
    let shows = page.shows.iter().map(|line| line.as_str().into());
    let shows = shows.collect::<Vec<_>>();
    if !shows.is_empty() {
        document.section("What it shows", vec![Block::Numbered(shows)]);
    }
    document.extend(opening.into_iter().flat_map(of_opening));
    let rows = page
        .run
        .iter()
        .map(|(name, value)| TableRow::new([*name, value]));
    let run = Table::of_text(["what", "value"]).with_rows(rows);
    document.section("What was run", vec![Block::Table(run)]);
    // Where there are several groups, each has a heading of its own.
    let depth = if page.sections.len() == 1 { 1 } else { 2 };
    for section in &page.sections {
        if depth > 1 {
            document.add(Block::heading(1, section.heading.as_str()));
        }
        add_section(&mut document, section, depth);
    }
    let rows = page.definitions.iter().map(|[name, id, rest @ ..]| {
        let first = [name.clone(), format!("`{id}`")];
        TableRow::new(first.into_iter().chain(rest.iter().cloned()))
    });
    let names = ["metric", "id", "in", "better", "definition", "chapter"];
    let definitions = Block::Table(Table::of_text(names).with_rows(rows));
    document.section(
        "Definitions",
        vec![definitions, Block::Note(NOTES.intervals.into())],
    );
    document.section(
        "How to repeat it",
        vec![Block::Verbatim(page.command.clone())],
    );
    document
}

fn of_opening(opening: &PageOpening) -> [Block; 2] {
    let table = &opening.table;
    let names = ["", "strategy"].map(str::to_owned);
    let names = names.into_iter().chain(table.columns.iter().cloned());
    let rows = table.rows.iter().map(|row| {
        let name = match row.is_control {
            true => Inline::default().light(row.name.as_str()),
            false => row.name.as_str().into(),
        };
        let cells = row.cells.iter().map(|cell| cell.as_str().into());
        TableRow::new([row.first.into(), name].into_iter().chain(cells))
    });
    let table_of_all = Table::of_text(names).numbers(2..).with_rows(rows);
    [
        Block::Table(table_of_all),
        Block::Note(table.note.as_str().into()),
    ]
}

fn add_section(document: &mut Document, section: &PageSection, depth: usize) {
    let warnings = match section.warnings.is_empty() {
        true => vec![Block::Paragraph("No warning applies.".into())],
        false => lines(&section.warnings),
    };
    document.section_at(depth, "Read first", warnings);
    document.section_at(depth, "What the sweeps show", lines(&section.findings));
    document.section_at(depth, "Results", vec![Block::Note(NOTES.order.into())]);
    for table in &section.tables {
        document.section_at(depth + 1, table.title.as_str(), of_table(table));
    }
    document.section_at(
        depth + 1,
        "Why values are undefined",
        lines(&section.reasons),
    );
    if !section.failures.is_empty() {
        let blocks = noted(NOTES.failures, lines(&section.failures));
        document.section_at(depth + 1, "Why compactions and checkpoints failed", blocks);
    }
    document.add(Block::Paragraph(files()));
    if !section.judged.is_empty() {
        document.section_at(depth, "Judge", noted(NOTES.judge, lines(&section.judged)));
    }
    let compared = section.compared.as_ref().map_or(Vec::new(), of_comparisons);
    document.section_at(depth, "Comparisons", compared);
    document.section_at(
        depth,
        "The sources' own targets",
        of_targets(&section.targets),
    );
    if !section.plots.is_empty() {
        document.add(Block::heading(depth, "Pictures"));
    }
    for plot in &section.plots {
        document.section_at(depth + 1, plot.title.as_str(), of_plot(plot));
    }
    let rows = section.checks.iter().map(TableRow::new);
    let checks = Table::of_text(["verdict", "what must hold", "found"]).with_rows(rows);
    document.section_at(depth, "Hard checks", vec![Block::Table(checks)]);
}

fn lines(lines: &[String]) -> Vec<Block> {
    Block::list(lines.iter().map(String::as_str))
}

fn noted(note: &str, blocks: Vec<Block>) -> Vec<Block> {
    std::iter::once(Block::Note(note.into()))
        .chain(blocks)
        .collect()
}

fn of_table(titled: &TitledTable) -> Vec<Block> {
    let note = Some(titled.note.as_str()).filter(|note| !note.is_empty());
    let note = note.map(|note| Block::Note(note.into()));
    let table = Block::Table(titled.table.clone());
    note.into_iter().chain([table]).collect()
}

fn files() -> Inline {
    Inline::from("All numbers: ")
        .file("summary.json", "summary.json")
        .text(", ")
        .file("summary.csv", "summary.csv")
        .text("; every fact's fate: ")
        .file("facts.csv", "facts.csv")
        .text(".")
}

fn of_comparisons(compared: &ComparedTable) -> Vec<Block> {
    let note = Inline::from(compared.note.as_str()).text(" Data: ");
    let note = note.file("comparisons.csv", "comparisons.csv").text(".");
    let table = Block::Table(compared.table.clone());
    [Block::Note(note), table]
        .into_iter()
        .chain(lines(&compared.reasons))
        .collect()
}

fn of_targets(targets: &TargetsTable) -> Vec<Block> {
    if targets.strategies.is_empty() {
        return Vec::new();
    }
    let names = ["target", "source"].map(str::to_owned);
    let names = names.into_iter().chain(targets.strategies.iter().cloned());
    let rows = targets.rows.iter().map(|(target, source, cells)| {
        let first = [target, source].into_iter().chain(cells);
        TableRow::new(first.map(String::as_str))
    });
    let table = Table::of_text(names).numbers(2..).with_rows(rows);
    let table = std::iter::once(Block::Table(table));
    noted(NOTES.targets, table.chain(lines(&targets.notes)).collect())
}

fn of_plot(plot: &PicturePart) -> Vec<Block> {
    let file = |ending: &str| format!("plots/{}.{ending}", plot.file);
    let caption = Inline::from(plot.caption.as_str()).text(" ");
    let picture = Block::Picture {
        file: file("svg"),
        title: plot.title.clone(),
    };
    let caption = caption.file(file("csv"), "Data").text(".");
    vec![picture, Block::Paragraph(caption)]
}
