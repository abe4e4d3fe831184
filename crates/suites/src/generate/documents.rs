//! Tool results: lines of text formatted as a log, JSON, a table, code or a page.

use serde_json::{Map, Value};

use crate::generate::domains::ResultStyle;
use crate::generate::writer::{ConversationWriter, capitalized};

/// A part of a result in its tool's style.
#[derive(Clone)]
pub(crate) struct ResultRow {
    text: String,
    /// Whether it states a fact or decoy.
    pub(crate) is_stated: bool,
}

/// A line of text for a result, and whether it states a fact or decoy.
pub(crate) type ResultLine = (String, bool);

/// The lines as rows in a tool's style.
pub(crate) fn rows(
    writer: &mut ConversationWriter,
    style: &ResultStyle,
    lines: &[ResultLine],
) -> Vec<ResultRow> {
    match style {
        ResultStyle::Log => row_of_each(lines, |line| logged(writer, line)),
        ResultStyle::Json(fields) => row_of_each(lines, |line| object(writer, fields, line)),
        ResultStyle::Table(columns) => row_of_each(lines, |line| cells(writer, columns, line)),
        ResultStyle::Code(blocks) => row_of_each(lines, |line| commented(writer, blocks, line)),
        ResultStyle::Page(heads) => sections(writer, heads, lines),
    }
}

fn row_of_each(lines: &[ResultLine], mut text: impl FnMut(&str) -> String) -> Vec<ResultRow> {
    lines
        .iter()
        .map(|(line, is_stated)| ResultRow {
            text: text(line),
            is_stated: *is_stated,
        })
        .collect()
}

/// Rows as one result.
pub(crate) fn result(style: &ResultStyle, rows: &[ResultRow]) -> String {
    let joined = |by: &str| {
        rows.iter()
            .map(|row| row.text.as_str())
            .collect::<Vec<_>>()
            .join(by)
    };
    match style {
        ResultStyle::Log => joined("\n"),
        ResultStyle::Json(_) => format!("[\n{}\n]", joined(",\n")),
        ResultStyle::Table(columns) => {
            let names: Vec<&str> = columns
                .iter()
                .map(|(name, _)| name.as_str())
                .chain(["note"])
                .collect();
            let lines = rows.len();
            let body: String = rows.iter().map(|row| format!("{}\n", row.text)).collect();
            format!(
                "| {} |\n|{}\n{body}({lines} lines)",
                names.join(" | "),
                "---|".repeat(names.len())
            )
        }
        ResultStyle::Code(_) | ResultStyle::Page(_) => joined("\n\n"),
    }
}

/// The number of lines of a result. Half of all results are short and a few are long.
pub(crate) fn lines_wanted(writer: &mut ConversationWriter, style: &ResultStyle) -> usize {
    let longest = most_lines(style);
    match writer.dice.below(100) {
        0..45 => writer.dice.between(1, longest / 8),
        45..85 => writer.dice.between(longest / 8, longest / 3),
        _ => writer.dice.between(longest / 3, longest),
    }
}

/// The number of lines of a result of an agent that a spec describes: most results are shorter than
/// otherwise, and `long` in a hundred are much longer.
pub(crate) fn lines_wanted_with_long(
    writer: &mut ConversationWriter,
    style: &ResultStyle,
    long: usize,
) -> usize {
    let longest = most_lines(style);
    match writer.dice.below(100) {
        place if place < long => writer.dice.between(longest * 2 / 3, longest * 2),
        place if place % 3 == 0 => writer.dice.between(longest / 8, longest / 3),
        _ => writer.dice.between(1, longest / 8),
    }
}

fn most_lines(style: &ResultStyle) -> usize {
    match style {
        ResultStyle::Log => 40,
        ResultStyle::Json(_) => 24,
        ResultStyle::Table(_) => 34,
        ResultStyle::Code(_) => 12,
        ResultStyle::Page(_) => 60,
    }
}

fn logged(writer: &mut ConversationWriter, line: &str) -> String {
    writer.pass(200);
    let level = writer
        .dice
        .pick(&["INFO", "INFO", "INFO", "DEBUG", "WARN", "ERROR"]);
    let stamp = writer.fill("{stamp}");
    let source = writer.fill("{component}");
    format!("{stamp} {level:<5} {source}: {line}")
}

fn object(writer: &mut ConversationWriter, fields: &[(String, String)], line: &str) -> String {
    writer.pass(5_400);
    let filled = fields
        .iter()
        .map(|(name, template)| ((*name).to_owned(), Value::String(writer.fill(template))));
    let detail = ("detail".to_owned(), Value::String(line.to_owned()));
    format!(
        "  {}",
        Value::Object(filled.chain([detail]).collect::<Map<_, _>>())
    )
}

fn cells(writer: &mut ConversationWriter, columns: &[(String, String)], line: &str) -> String {
    writer.pass(5_400);
    let cells: Vec<String> = columns
        .iter()
        .map(|(_, template)| writer.fill(template))
        .collect();
    format!("| {} | {line} |", cells.join(" | "))
}

fn commented(writer: &mut ConversationWriter, blocks: &[String], line: &str) -> String {
    let block = writer.pick(blocks);
    format!("// {}.\n{}", capitalized(line), writer.fill(block))
}

/// Paragraphs of about three sentences under headings.
fn sections(
    writer: &mut ConversationWriter,
    heads: &[String],
    lines: &[ResultLine],
) -> Vec<ResultRow> {
    let mut rows = Vec::new();
    let mut rest = lines;
    while !rest.is_empty() {
        let (now, later) = rest.split_at(writer.dice.between(2, 4).min(rest.len()));
        let head = writer.line(heads);
        let sentences: Vec<String> = now
            .iter()
            .map(|(line, _)| format!("{}.", capitalized(line)))
            .collect();
        let is_stated = now.iter().any(|(_, is_stated)| *is_stated);
        rows.push(ResultRow {
            text: format!("## {head}\n{}", sentences.join(" ")),
            is_stated,
        });
        rest = later;
    }
    rows
}
