//! A document as a page of HTML that needs no other file.

use std::fmt::Write as _;

use minijinja::HtmlEscape;
use serde_json::json;

use super::table::TableColumn;
use super::{
    Block, Document, Emphasis, Fold, Heading, Inline, LinkTarget, Span, Table, TableRow,
    breakable_html, code_html, render_template,
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
            Block::Heading(heading) => heading.html(),
            Block::Paragraph(text) => format!("<p>{}</p>", text.html()),
            Block::Note(text) => format!("<p class=\"note\">{}</p>", text.html()),
            Block::List(items) => format!("<ul>{}</ul>", list(items)),
            Block::Numbered(items) => format!("<ol>{}</ol>", list(items)),
            Block::Table(table) => {
                format!(
                    "<div class=\"scroll\" tabindex=\"0\">{}</div>",
                    table.html()
                )
            }
            Block::Picture { file, title } => {
                let [file, title] = [file, title].map(|text| HtmlEscape(text));
                format!("<img src=\"{file}\" alt=\"{title}\" />")
            }
            Block::Fold(fold) => fold.html(),
            Block::Verbatim(text) => format!("<pre>{}</pre>", HtmlEscape(text)),
        }
    }
}

fn list(items: &[Inline]) -> String {
    let items = items.iter();
    items
        .map(|item| format!("<li>{}</li>", item.html()))
        .collect()
}

impl Heading {
    fn html(&self) -> String {
        let (level, text) = (self.depth + 1, code_html(&self.text));
        format!("<h{level}{}>{text}</h{level}>", id(self.place.as_ref()))
    }
}

impl Fold {
    fn html(&self) -> String {
        format!(
            "<details{}><summary{}>{}</summary>\n{}</details>",
            if self.is_open { " open" } else { "" },
            id(self.place.as_ref()),
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
        let html = code_html(&self.text);
        let html = match self.emphasis {
            Emphasis::None => html,
            Emphasis::Light => format!("<em>{html}</em>"),
            Emphasis::Strong => format!("<strong>{html}</strong>"),
        };
        match &self.to {
            Some(LinkTarget::Place(to)) => format!("<a href=\"#{}\">{html}</a>", HtmlEscape(to)),
            Some(LinkTarget::File(to)) => format!("<a href=\"{}\">{html}</a>", HtmlEscape(to)),
            None => html,
        }
    }
}

impl Table {
    /// Its element.
    pub(crate) fn html(&self) -> String {
        let mut html = format!("<table{}>\n", class(self.class));
        if self.has_head() {
            let heads = self.columns.iter().map(TableColumn::head);
            let heads = heads.collect::<String>();
            let _ = writeln!(html, "<tr class=\"head\">{heads}</tr>");
        }
        for row in &self.rows {
            let id = id(row.place.as_ref());
            let class = class(if row.is_control { "control" } else { "" });
            let _ = writeln!(html, "<tr{id}{class}>{}</tr>", self.cells(row));
        }
        html + "</table>"
    }

    fn cells(&self, row: &TableRow) -> String {
        let Some((first, others)) = row.cells.split_first() else {
            return String::new();
        };
        let others = others.iter().zip(self.columns.iter().skip(1));
        let is_labelled = self.class.is_empty();
        let others = others.map(|(cell, column)| column.cell(&cell.html(), is_labelled));
        let bar = row.share.map_or(String::new(), bar);
        let first = match &row.page {
            Some(page) => format!("<a href=\"{}\">{}</a>", HtmlEscape(page), first.html()),
            None => first.html(),
        };
        let others = others.collect::<String>();
        format!("<th scope=\"row\">{first}</th>{bar}{others}")
    }
}

impl TableColumn {
    fn head(&self) -> String {
        let name = breakable_html(&self.name);
        format!("<th scope=\"col\"{}>{name}</th>", self.class())
    }

    /// A cell, which has the column's name where the table has no room for its head.
    fn cell(&self, html: &str, is_labelled: bool) -> String {
        let label = match self.name.as_str() {
            name if is_labelled && !name.is_empty() => {
                format!(" data-label=\"{}\"", HtmlEscape(name))
            }
            _ => String::new(),
        };
        format!("<td{}{label}>{html}</td>", self.class())
    }

    fn class(&self) -> String {
        class(if self.is_number { "" } else { "text" })
    }
}

fn class(name: &str) -> String {
    match name {
        "" => String::new(),
        name => format!(" class=\"{name}\""),
    }
}

fn id(place: Option<&String>) -> String {
    place.map_or(String::new(), |place| {
        format!(" id=\"{}\"", HtmlEscape(place))
    })
}

fn bar(share: f64) -> String {
    let width = (100.0 * share).round();
    format!("<td class=\"scale\"><span class=\"bar\" style=\"width: {width}%\"></span></td>")
}
