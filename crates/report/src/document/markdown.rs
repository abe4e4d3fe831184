//! A document as Markdown, which may follow other Markdown: its title is a heading of the second
//! level. Links within a document are only text, since sites rename its places.

use super::{
    Block, Document, Fold, Inline, Span, Table, code_html, markdown_cell, markdown_text, shown,
};

impl Document {
    /// The text.
    pub(crate) fn markdown(&self) -> String {
        format!(
            "## {}\n\n{}",
            markdown_text(&self.title),
            blocks(&self.blocks)
        )
    }
}

fn blocks(blocks: &[Block]) -> String {
    blocks
        .iter()
        .map(|block| block.markdown() + "\n\n")
        .collect()
}

impl Block {
    fn markdown(&self) -> String {
        match self {
            Block::Heading(text) => format!("### {}", markdown_text(text)),
            Block::Part(text, _) => format!("#### {}", markdown_text(text)),
            Block::Paragraph(text) | Block::Note(text) => text.markdown(markdown_text),
            Block::List(items) => {
                let items = items.iter();
                let items = items.map(|item| format!("- {}", item.markdown(markdown_text)));
                items.collect::<Vec<_>>().join("\n")
            }
            Block::Table(table) => table.markdown(),
            Block::Fold(fold) => fold.markdown(),
            Block::Verbatim(text) => {
                let lines = text.lines().map(|line| format!("    {}", shown(line)));
                lines.collect::<Vec<_>>().join("\n")
            }
        }
    }
}

impl Fold {
    fn markdown(&self) -> String {
        format!(
            "<details{}><summary>{}</summary>\n\n{}</details>",
            if self.is_open { " open" } else { "" },
            // Readers treat a summary as HTML.
            code_html(&shown(&self.summary.plain())),
            blocks(&self.blocks)
        )
    }
}

impl Inline {
    fn markdown(&self, escape: fn(&str) -> String) -> String {
        let span = |span: &Span| match span.is_strong {
            true => format!("**{}**", escape(&span.text)),
            false => escape(&span.text),
        };
        self.0.iter().map(span).collect()
    }

    fn plain(&self) -> String {
        self.0.iter().map(|span| span.text.as_str()).collect()
    }
}

impl Table {
    fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let names = self.columns.iter().map(|column| markdown_cell(column.name));
        let rules = self.columns.iter().map(|column| match column.is_number {
            true => "---:",
            false => "---",
        });
        let rules = format!("|{}|\n", rules.collect::<Vec<_>>().join("|"));
        let rows = self.rows.iter().map(|row| {
            let cells = row.cells.iter();
            line(cells.map(|cell| cell.markdown(markdown_cell)).collect())
        });
        let text = line(names.collect()) + &rules + &rows.collect::<String>();
        text.trim_end().to_owned()
    }
}
