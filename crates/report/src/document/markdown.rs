//! A document as Markdown. Links within a document are only text, since sites rename its places.

use super::{
    Block, Document, Emphasis, Fold, Heading, Inline, LinkTarget, Span, Table, TableRow, code_html,
    markdown_cell, markdown_text, shown,
};

impl Document {
    /// The text, with a title of that level.
    pub(crate) fn markdown(&self, level: usize) -> String {
        let title = Heading {
            text: self.title.clone(),
            depth: 0,
            place: None,
        };
        let text = format!(
            "{}\n\n{}",
            title.markdown(level),
            blocks(&self.blocks, level)
        );
        text.trim_end().to_owned() + "\n"
    }
}

fn blocks(blocks: &[Block], level: usize) -> String {
    let blocks = blocks.iter();
    blocks.map(|block| block.markdown(level) + "\n\n").collect()
}

impl Block {
    fn markdown(&self, level: usize) -> String {
        match self {
            Block::Heading(heading) => heading.markdown(level),
            Block::Paragraph(text) | Block::Note(text) => text.markdown(markdown_text),
            Block::List(items) => list(items, |_| "-".to_owned()),
            Block::Numbered(items) => list(items, |place| format!("{}.", place + 1)),
            Block::Table(table) => table.markdown(),
            Block::Picture { file, title } => format!("![{}]({file})", markdown_text(title)),
            Block::Fold(fold) => fold.markdown(level),
            Block::Verbatim(text) => {
                let lines = text.lines().map(|line| format!("    {}", shown(line)));
                lines.collect::<Vec<_>>().join("\n")
            }
        }
    }
}

fn list(items: &[Inline], mark: impl Fn(usize) -> String) -> String {
    let line = |(place, item): (usize, &Inline)| {
        format!("{} {}", mark(place), item.markdown(markdown_text))
    };
    let lines = items.iter().enumerate().map(line);
    lines.collect::<Vec<_>>().join("\n")
}

impl Heading {
    fn markdown(&self, level: usize) -> String {
        let marks = "#".repeat(level + self.depth);
        format!("{marks} {}", markdown_text(&self.text))
    }
}

impl Fold {
    fn markdown(&self, level: usize) -> String {
        format!(
            "<details{}><summary>{}</summary>\n\n{}</details>",
            if self.is_open { " open" } else { "" },
            // Readers treat a summary as HTML.
            code_html(&shown(&self.summary.plain())),
            blocks(&self.blocks, level)
        )
    }
}

impl Inline {
    fn markdown(&self, escape: fn(&str) -> String) -> String {
        self.0.iter().map(|span| span.markdown(escape)).collect()
    }
}

impl Span {
    fn markdown(&self, escape: fn(&str) -> String) -> String {
        let text = escape(&self.text);
        match &self.to {
            Some(LinkTarget::File(file)) => format!("[{text}]({file})"),
            _ => match self.emphasis {
                Emphasis::None => text,
                Emphasis::Light => format!("*{text}*"),
                Emphasis::Strong => format!("**{text}**"),
            },
        }
    }
}

impl Table {
    fn markdown(&self) -> String {
        let names = self
            .columns
            .iter()
            .map(|column| markdown_cell(&column.name));
        let rules = self.columns.iter().map(|column| match column.is_number {
            true => "---:",
            false => "---",
        });
        let rules = rules.collect::<Vec<_>>().join("|");
        let head = [line(names), format!("|{rules}|")];
        let rows = self.rows.iter().map(TableRow::markdown);
        head.into_iter().chain(rows).collect::<Vec<_>>().join("\n")
    }
}

impl TableRow {
    fn markdown(&self) -> String {
        line(self.cells.iter().enumerate().map(|(place, cell)| {
            let text = cell.markdown(markdown_cell);
            match self.is_control && place == 0 {
                true => format!("*{text}*"),
                false => text,
            }
        }))
    }
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
}
