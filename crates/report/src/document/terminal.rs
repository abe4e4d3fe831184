//! A document as a terminal shows it: sentences broken at its width, and tables in aligned columns
//! where they fit.

use compactometer_text::wrapping::wrapped;

use super::{Block, Document, Fold, Inline, Table, shown};

impl Document {
    /// The text for a terminal of that many columns. A table that is wider has a paragraph for each
    /// row. Emphasis and links are only text.
    pub(crate) fn terminal(&self, columns: usize) -> String {
        let title = wrap(&self.title, columns);
        let text = format!("{title}\n\n{}", blocks(&self.blocks, columns));
        text.trim_end().to_owned() + "\n"
    }
}

fn blocks(blocks: &[Block], columns: usize) -> String {
    let blocks = blocks.iter();
    blocks
        .map(|block| block.terminal(columns) + "\n\n")
        .collect()
}

impl Block {
    fn terminal(&self, columns: usize) -> String {
        match self {
            Block::Heading(heading) => wrap(&heading.text, columns),
            Block::Paragraph(text) | Block::Note(text) => wrap(&text.plain(), columns),
            Block::List(items) => list(items, columns, |_| "-".to_owned()),
            Block::Numbered(items) => list(items, columns, |place| format!("{}.", place + 1)),
            Block::Table(table) => table.terminal(columns),
            Block::Picture { file, title } => wrap(&format!("{title}: {file}"), columns),
            Block::Fold(fold) => fold.terminal(columns),
            Block::Verbatim(text) => {
                let lines = text.lines().map(|line| format!("    {}", shown(line)));
                lines.collect::<Vec<_>>().join("\n")
            }
        }
    }
}

impl Fold {
    /// A terminal hides nothing.
    fn terminal(&self, columns: usize) -> String {
        let text = wrap(&self.summary.plain(), columns);
        format!("{text}\n\n{}", blocks(&self.blocks, columns))
            .trim_end()
            .to_owned()
    }
}

impl Table {
    fn terminal(&self, columns: usize) -> String {
        let head = self.columns.iter().map(|column| shown(&column.name));
        let rows = self.rows.iter().map(|row| {
            let cells = row.cells.iter();
            cells.map(|cell| shown(&cell.plain())).collect::<Vec<_>>()
        });
        let head = self.has_head().then(|| head.collect::<Vec<_>>());
        let lines = head.into_iter().chain(rows).collect::<Vec<_>>();
        let widths = (0..self.columns.len()).map(|at| {
            let cells = lines.iter().filter_map(|line| line.get(at));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        });
        let widths = widths.collect::<Vec<_>>();
        if widths.iter().map(|width| width + 2).sum::<usize>() > columns + 2 {
            return self.paragraphs(columns);
        }
        let lines = lines.iter().map(|line| self.line(line, &widths));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Each row by its first cell, and its other cells after the names of their columns.
    fn paragraphs(&self, columns: usize) -> String {
        let paragraphs = self.rows.iter().map(|row| {
            let cells = row.cells.iter().map(Inline::plain).zip(&self.columns);
            let cells = cells.skip(1).filter(|(cell, _)| !cell.is_empty());
            let named = cells.map(|(cell, column)| format!("{} {cell}", column.name));
            let first = row.cells.first().map(Inline::plain).unwrap_or_default();
            let line = format!("{first}: {}", named.collect::<Vec<_>>().join("; "));
            wrap(&line, columns)
        });
        paragraphs.collect::<Vec<_>>().join("\n")
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let cells = cells.iter().zip(&self.columns).zip(widths);
        let cells = cells.map(|((cell, column), width)| match column.is_number {
            true => format!("{cell:>width$}"),
            false => format!("{cell:<width$}"),
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        line.trim_end().to_owned()
    }
}

fn list(items: &[Inline], columns: usize, mark: impl Fn(usize) -> String) -> String {
    let items = items.iter().enumerate();
    let items =
        items.map(|(place, item)| wrap(&format!("{} {}", mark(place), item.plain()), columns));
    items.collect::<Vec<_>>().join("\n")
}

fn wrap(text: &str, columns: usize) -> String {
    wrapped(&shown(text), columns).join("\n")
}
