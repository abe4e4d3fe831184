//! A document of headings, sentences, lists and tables, and what it looks like as a page of HTML and
//! as Markdown. What a command found is put into words once, and both have it.
//!
//! Absent on purpose: any knowledge of what is found, and terminals, which have room for less.

mod escape;
mod html;
mod markdown;
mod template;

pub(crate) use escape::{code_html, markdown_cell, markdown_text, shown};
pub(crate) use template::render as render_template;

/// A document. Texts are data: what is between backticks is code, and nothing else is a mark.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    title: String,
    blocks: Vec<Block>,
}

/// A part of a document.
#[derive(Clone, Debug)]
pub(crate) enum Block {
    Heading(String),
    /// The heading of a part, to which links may lead.
    Part(String, LinkTarget),
    Paragraph(Inline),
    /// How to read what follows or precedes.
    Note(Inline),
    List(Vec<Inline>),
    Table(Table),
    Fold(Fold),
    /// Text as it is.
    Verbatim(String),
}

/// What is shown when its summary is clicked.
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    summary: Inline,
    target: Option<LinkTarget>,
    is_open: bool,
    blocks: Vec<Block>,
}

/// The name of a place of a document.
pub(crate) type LinkTarget = String;

/// A sentence, or the content of a cell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inline(Vec<Span>);

#[derive(Clone, Debug)]
struct Span {
    text: String,
    is_strong: bool,
    to: Option<LinkTarget>,
}

/// A table. Without a name of any column it has no head.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    columns: Vec<TableColumn>,
    rows: Vec<TableRow>,
}

#[derive(Clone, Debug)]
struct TableColumn {
    name: &'static str,
    is_number: bool,
}

#[derive(Clone, Debug, Default)]
struct TableRow {
    target: Option<LinkTarget>,
    /// A share, drawn before the last cell where there is room.
    share: Option<f64>,
    cells: Vec<Inline>,
}

impl Document {
    pub(crate) fn new(title: impl Into<String>) -> Self {
        Document {
            title: title.into(),
            blocks: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, block: Block) {
        self.blocks.push(block);
    }

    /// A heading and what is under it; nothing if nothing is.
    pub(crate) fn section(&mut self, heading: impl Into<String>, blocks: Vec<Block>) {
        if !blocks.is_empty() {
            self.add(Block::Heading(heading.into()));
            self.blocks.extend(blocks);
        }
    }
}

impl Block {
    /// A list of sentences; nothing without any.
    pub(crate) fn list(items: impl IntoIterator<Item = impl Into<Inline>>) -> Vec<Block> {
        let items = items.into_iter().map(Into::into).collect::<Vec<_>>();
        match items.is_empty() {
            true => Vec::new(),
            false => vec![Block::List(items)],
        }
    }
}

impl Fold {
    /// Blocks that are hidden at first.
    pub(crate) fn new(summary: impl Into<Inline>, blocks: Vec<Block>) -> Self {
        Fold {
            summary: summary.into(),
            target: None,
            is_open: false,
            blocks,
        }
    }

    /// The same where links may lead to it.
    pub(crate) fn at(self, target: LinkTarget) -> Self {
        Fold {
            target: Some(target),
            ..self
        }
    }

    /// The same, shown at first if that is so.
    pub(crate) fn open_if(self, is_open: bool) -> Self {
        Fold { is_open, ..self }
    }
}

impl Inline {
    pub(crate) fn strong(mut self, text: impl Into<String>) -> Self {
        self.0.push(Span {
            text: text.into(),
            is_strong: true,
            to: None,
        });
        self
    }

    pub(crate) fn text(mut self, text: impl Into<String>) -> Self {
        self.0.push(Span::from(text.into()));
        self
    }

    pub(crate) fn link(mut self, to: LinkTarget, text: impl Into<String>) -> Self {
        self.0.push(Span {
            to: Some(to),
            ..Span::from(text.into())
        });
        self
    }
}

impl From<String> for Span {
    fn from(text: String) -> Self {
        Span {
            text,
            is_strong: false,
            to: None,
        }
    }
}

impl<T: Into<String>> From<T> for Inline {
    fn from(text: T) -> Self {
        Inline::default().text(text)
    }
}

impl Table {
    /// A table whose columns are all text.
    pub(crate) fn of_text(names: &[&'static str]) -> Self {
        let column = |name: &&'static str| TableColumn {
            name,
            is_number: false,
        };
        Table {
            columns: names.iter().map(column).collect(),
            rows: Vec::new(),
        }
    }

    /// Makes columns those of numbers, by their places.
    pub(crate) fn numbers(mut self, places: std::ops::Range<usize>) -> Self {
        for column in &mut self.columns[places] {
            column.is_number = true;
        }
        self
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Inline>) {
        self.rows.push(TableRow {
            cells: cells.into_iter().collect(),
            ..TableRow::default()
        });
    }

    /// A row to which links may lead.
    pub(crate) fn row_at(&mut self, target: LinkTarget, cells: impl IntoIterator<Item = Inline>) {
        self.row(cells);
        if let Some(row) = self.rows.last_mut() {
            row.target = Some(target);
        }
    }

    /// A row with a share.
    pub(crate) fn share_row(&mut self, share: f64, cells: impl IntoIterator<Item = Inline>) {
        self.row(cells);
        if let Some(row) = self.rows.last_mut() {
            row.share = Some(share);
        }
    }

    fn has_head(&self) -> bool {
        self.columns.iter().any(|column| !column.name.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use quick_xml::events::Event;

    use super::*;

    /// One block of each kind, with the text wherever a text may be.
    fn every_block(text: &str) -> Document {
        let mut table = Table::of_text(&["what", "number"]).numbers(1..2);
        table.row([text.into(), Inline::default().strong(text)]);
        table.row_at(text.to_owned(), [text.into(), text.into()]);
        table.share_row(0.5, [text.into(), text.into()]);
        let mut document = Document::new(text);
        document.section(text, vec![Block::Note(text.into())]);
        document.section(text, Vec::new());
        document.add(Block::Part(text.to_owned(), text.to_owned()));
        document.add(Block::Paragraph(
            Inline::from(text).link(text.to_owned(), text),
        ));
        document.blocks.extend(Block::list([text, text]));
        document.add(Block::Table(table));
        let verbatim = vec![Block::Verbatim(text.to_owned())];
        document.add(Block::Fold(Fold::new(text, verbatim).at(text.to_owned())));
        document
    }

    /// The names of a page's elements, without those of code.
    fn elements(page: &str) -> Vec<String> {
        let (_, main) = page.split_once("<main>").expect("a main part");
        let (main, _) = main.split_once("</main>").expect("its end");
        let whole = format!("<main>{main}</main>");
        let mut reader = quick_xml::Reader::from_str(&whole);
        let mut names = Vec::new();
        loop {
            match reader.read_event().expect("elements that end") {
                Event::Start(element) => {
                    names.push(element.name().as_ref().to_owned());
                }
                Event::Eof => break,
                _ => {}
            }
        }
        names.retain(|name| name != "code");
        names
    }

    proptest! {
        #[test]
        fn no_text_is_a_mark(text in "[a-z<>&\"'|\\\\`*_#\\-! \n\u{1b}]{0,24}") {
            let html = every_block(&text).html().expect("a page");
            prop_assert_eq!(elements(&html), elements(&every_block("x").html().expect("a page")));
            let markdown = every_block(&text).markdown();
            prop_assert!(!markdown.contains('\u{1b}'), "{}", markdown);
            let bars = |line: &str| line.matches('|').count() - line.matches(r"\|").count();
            let rows = markdown.lines().filter(|line| line.starts_with("| ") || line.starts_with("|-"));
            prop_assert_eq!(rows.map(bars).collect::<Vec<_>>(), [3; 5]);
        }
    }

    #[test]
    fn a_section_without_blocks_has_no_heading() {
        assert_eq!(every_block("x").markdown().matches("### x").count(), 2);
    }
}
