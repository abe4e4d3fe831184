//! Tool results: lines of text formatted as a log, JSON, a table, code or a page.

use serde_json::{Map, Value};

use crate::generate::domains::Style;
use crate::generate::writer::{Writer, capitalized};

/// A result in a tool's style: the `stated` lines mixed in among those that `line` writes.
pub(crate) fn result(
    writer: &mut Writer,
    style: &Style,
    mut line: impl FnMut(&mut Writer) -> String,
    stated: Vec<String>,
) -> String {
    let count = lines_wanted(writer, style);
    let mut lines: Vec<String> = (0..count).map(|_| line(writer)).collect();
    for line in stated {
        let at = writer.dice.below(lines.len() + 1);
        lines.insert(at, line);
    }
    match style {
        Style::Log => log(writer, &lines),
        Style::Json(fields) => json(writer, fields, &lines),
        Style::Table(columns) => table(writer, columns, &lines),
        Style::Code(blocks) => code(writer, blocks, &lines),
        Style::Page(heads) => page(writer, heads, &lines),
    }
}

/// The number of lines of a result. Half of all results are short and a few are long, as with real tools of agents.
fn lines_wanted(writer: &mut Writer, style: &Style) -> usize {
    let longest = match style {
        Style::Log => 40,
        Style::Json(_) => 24,
        Style::Table(_) => 34,
        Style::Code(_) => 12,
        Style::Page(_) => 60,
    };
    match writer.dice.below(100) {
        0..45 => writer.dice.between(1, longest / 8),
        45..85 => writer.dice.between(longest / 8, longest / 3),
        _ => writer.dice.between(longest / 3, longest),
    }
}

fn log(writer: &mut Writer, lines: &[String]) -> String {
    let mut text = String::new();
    for line in lines {
        writer.pass(200);
        let level = writer.dice.pick(&["INFO", "INFO", "INFO", "DEBUG", "WARN", "ERROR"]);
        let stamp = writer.fill("{stamp}");
        let source = writer.fill("{component}");
        text.push_str(&format!("{stamp} {level:<5} {source}: {line}\n"));
    }
    text.truncate(text.trim_end().len());
    text
}

fn json(writer: &mut Writer, fields: &[(String, String)], lines: &[String]) -> String {
    let object = |line: &String| {
        writer.pass(5_400);
        let filled = fields.iter().map(|(name, template)| ((*name).to_owned(), Value::String(writer.fill(template))));
        let detail = ("detail".to_owned(), Value::String(line.clone()));
        Value::Object(filled.chain([detail]).collect::<Map<_, _>>())
    };
    let objects: Vec<String> = lines.iter().map(object).map(|object| format!("  {object}")).collect();
    format!("[\n{}\n]", objects.join(",\n"))
}

fn table(writer: &mut Writer, columns: &[(String, String)], lines: &[String]) -> String {
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).chain(["note"]).collect();
    let mut text = format!("| {} |\n|{}\n", names.join(" | "), "---|".repeat(names.len()));
    for line in lines {
        writer.pass(5_400);
        let cells: Vec<String> = columns.iter().map(|(_, template)| writer.fill(template)).collect();
        text.push_str(&format!("| {} | {line} |\n", cells.join(" | ")));
    }
    text.push_str(&format!("({} lines)", lines.len()));
    text
}

fn code(writer: &mut Writer, blocks: &[String], lines: &[String]) -> String {
    let mut text = String::new();
    for line in lines {
        let block = writer.pick(blocks);
        text.push_str(&format!("// {}.\n{}\n\n", capitalized(line), writer.fill(block)));
    }
    text.truncate(text.trim_end().len());
    text
}

/// Paragraphs of about three sentences under headings.
fn page(writer: &mut Writer, heads: &[String], lines: &[String]) -> String {
    let mut text = String::new();
    let mut rest = lines;
    while !rest.is_empty() {
        let (now, later) = rest.split_at(writer.dice.between(2, 4).min(rest.len()));
        let head = writer.line(heads);
        let sentences: Vec<String> = now.iter().map(|line| format!("{}.", capitalized(line))).collect();
        text.push_str(&format!("## {head}\n{}\n\n", sentences.join(" ")));
        rest = later;
    }
    text.truncate(text.trim_end().len());
    text
}
