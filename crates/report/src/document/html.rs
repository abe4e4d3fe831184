//! A document as a page of HTML that needs no other file.

use std::fmt::Write as _;

use minijinja::HtmlEscape;
use serde_json::json;

use super::{
    Block, Document, Fold, Inline, LinkTarget, Span, Table, TableColumn, TableRow, code_html,
    render_template,
};

impl Document {
    /// The page.
    ///
    /// # Errors
    /// Where the template of pages does not render.
    pub(crate) fn html(&self) -> Result<String, minijinja::Error> {
        let page = json!({"title": self.title, "body": blocks(&self.blocks)});
        let template = ("document.html", include_str!("document.html"));
        render_template(&[template], &page)
    }
}

fn blocks(blocks: &[Block]) -> String {
    blocks.iter().map(|block| block.html() + "\n").collect()
}

impl Block {
    fn html(&self) -> String {
        match self {
            Block::Heading(text) => format!("<h2>{}</h2>", code_html(text)),
            Block::Part(text, target) => {
                format!("<h3{}>{}</h3>", id(Some(target)), code_html(text))
            }
            Block::Paragraph(text) => format!("<p>{}</p>", text.html()),
            Block::Note(text) => format!("<p class=\"note\">{}</p>", text.html()),
            Block::List(items) => {
                let items = items.iter();
                let items = items.map(|item| format!("<li>{}</li>", item.html()));
                format!("<ul>{}</ul>", items.collect::<String>())
            }
            Block::Table(table) => table.html(),
            Block::Fold(fold) => fold.html(),
            Block::Verbatim(text) => format!("<pre>{}</pre>", HtmlEscape(text)),
        }
    }
}

impl Fold {
    fn html(&self) -> String {
        format!(
            "<details{}><summary{}>{}</summary>\n{}</details>",
            if self.is_open { " open" } else { "" },
            id(self.target.as_ref()),
            self.summary.html(),
            blocks(&self.blocks)
        )
    }
}

impl Inline {
    fn html(&self) -> String {
        self.0.iter().map(Span::html).collect()
    }
}

impl Span {
    fn html(&self) -> String {
        let mut html = code_html(&self.text);
        if self.is_strong {
            html = format!("<strong>{html}</strong>");
        }
        match &self.to {
            Some(to) => format!("<a href=\"#{}\">{html}</a>", HtmlEscape(to)),
            None => html,
        }
    }
}

impl Table {
    fn html(&self) -> String {
        let mut html = "<div class=\"scroll\" tabindex=\"0\"><table>\n".to_owned();
        if self.has_head() {
            let heads = self.columns.iter().map(TableColumn::head);
            let heads = heads.collect::<String>();
            let _ = writeln!(html, "<tr class=\"head\">{heads}</tr>");
        }
        for row in &self.rows {
            let id = id(row.target.as_ref());
            let _ = writeln!(html, "<tr{id}>{}</tr>", self.cells(row));
        }
        html + "</table></div>"
    }

    fn cells(&self, row: &TableRow) -> String {
        let Some((first, others)) = row.cells.split_first() else {
            return String::new();
        };
        let others = others.iter().zip(self.columns.iter().skip(1));
        let others = others.map(|(cell, column)| column.cell(&cell.html()));
        let bar = row.share.map_or(String::new(), bar);
        let first = first.html();
        let others = others.collect::<String>();
        format!("<th scope=\"row\">{first}</th>{bar}{others}")
    }
}

impl TableColumn {
    fn head(&self) -> String {
        let (class, name) = (self.class(), code_html(self.name));
        format!("<th scope=\"col\"{class}>{name}</th>")
    }

    /// A cell, which has the column's name where the table has no room for its head.
    fn cell(&self, html: &str) -> String {
        let label = match self.name {
            "" => String::new(),
            name => format!(" data-label=\"{}\"", HtmlEscape(name)),
        };
        format!("<td{}{label}>{html}</td>", self.class())
    }

    fn class(&self) -> &'static str {
        if self.is_number {
            ""
        } else {
            " class=\"text\""
        }
    }
}

fn id(target: Option<&LinkTarget>) -> String {
    target.map_or(String::new(), |target| {
        format!(" id=\"{}\"", HtmlEscape(target))
    })
}

fn bar(share: f64) -> String {
    let width = (100.0 * share).round();
    format!("<td class=\"scale\"><span class=\"bar\" style=\"width: {width}%\"></span></td>")
}
