//! A document of headings, sentences, lists and tables, and what it looks like as a page of HTML, as
//! Markdown and in a terminal. What a command found is put into words once, and all have it.
//!
//! Absent on purpose: any knowledge of what is found.

mod escape;
mod html;
mod markdown;
mod table;
mod template;
mod terminal;

pub(crate) use escape::{breakable_html, code_html, markdown_cell, markdown_text, shown};
pub(crate) use table::{Table, TableRow};
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
    Heading(Heading),
    Paragraph(Inline),
    /// How to read what follows or precedes.
    Note(Inline),
    List(Vec<Inline>),
    Numbered(Vec<Inline>),
    Table(Table),
    /// The file of a picture, and what it shows.
    Picture {
        file: String,
        title: String,
    },
    Fold(Fold),
    /// Text as it is.
    Verbatim(String),
}

/// What is shown when its summary is clicked.
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    summary: Inline,
    place: Option<String>,
    is_open: bool,
    blocks: Vec<Block>,
}

#[derive(Clone, Debug)]
pub(crate) struct Heading {
    text: String,
    /// How many headings it is under, the title among them.
    depth: usize,
    place: Option<String>,
}

/// What a link leads to.
#[derive(Clone, Debug)]
enum LinkTarget {
    /// The name of a place of the document.
    Place(String),
    /// A file beside it.
    File(String),
}

/// A sentence, or the content of a cell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inline(Vec<Span>);

#[derive(Clone, Debug)]
struct Span {
    text: String,
    emphasis: Emphasis,
    to: Option<LinkTarget>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Emphasis {
    #[default]
    None,
    Light,
    Strong,
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

    pub(crate) fn extend(&mut self, blocks: impl IntoIterator<Item = Block>) {
        self.blocks.extend(blocks);
    }

    /// A heading under the title and what is under it; nothing if nothing is.
    pub(crate) fn section(&mut self, heading: impl Into<String>, blocks: Vec<Block>) {
        self.section_at(1, heading, blocks);
    }

    /// The same at a depth.
    pub(crate) fn section_at(
        &mut self,
        depth: usize,
        heading: impl Into<String>,
        blocks: Vec<Block>,
    ) {
        if !blocks.is_empty() {
            self.add(Block::heading(depth, heading));
            self.blocks.extend(blocks);
        }
    }
}

impl Block {
    pub(crate) fn heading(depth: usize, text: impl Into<String>) -> Block {
        Block::Heading(Heading {
            text: text.into(),
            depth,
            place: None,
        })
    }

    /// A heading to which links may lead.
    pub(crate) fn heading_at(depth: usize, place: String, text: impl Into<String>) -> Block {
        Block::Heading(Heading {
            text: text.into(),
            depth,
            place: Some(place),
        })
    }

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
            place: None,
            is_open: false,
            blocks,
        }
    }

    /// The same where links may lead to it.
    pub(crate) fn at(self, place: String) -> Self {
        Fold {
            place: Some(place),
            ..self
        }
    }

    /// The same, shown at first if that is so.
    pub(crate) fn open_if(self, is_open: bool) -> Self {
        Fold { is_open, ..self }
    }
}

impl Inline {
    pub(crate) fn light(mut self, text: impl Into<String>) -> Self {
        self.0.push(Span {
            emphasis: Emphasis::Light,
            ..Span::from(text.into())
        });
        self
    }

    pub(crate) fn strong(mut self, text: impl Into<String>) -> Self {
        self.0.push(Span {
            emphasis: Emphasis::Strong,
            ..Span::from(text.into())
        });
        self
    }

    pub(crate) fn text(mut self, text: impl Into<String>) -> Self {
        self.0.push(Span::from(text.into()));
        self
    }

    /// A link to a place of the document.
    pub(crate) fn link(mut self, place: String, text: impl Into<String>) -> Self {
        self.0.push(Span {
            to: Some(LinkTarget::Place(place)),
            ..Span::from(text.into())
        });
        self
    }

    /// A link to a file beside the document.
    pub(crate) fn file(mut self, file: impl Into<String>, text: impl Into<String>) -> Self {
        self.0.push(Span {
            to: Some(LinkTarget::File(file.into())),
            ..Span::from(text.into())
        });
        self
    }

    /// The text without marks.
    fn plain(&self) -> String {
        self.0.iter().map(|span| span.text.as_str()).collect()
    }
}

impl From<String> for Span {
    fn from(text: String) -> Self {
        Span {
            text,
            emphasis: Emphasis::None,
            to: None,
        }
    }
}

impl<T: Into<String>> From<T> for Inline {
    fn from(text: T) -> Self {
        Inline::default().text(text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use quick_xml::events::Event;

    use super::*;

    /// One block of each kind, with the text wherever a text may be.
    fn every_block(text: &str) -> Document {
        let mut table = Table::of_text([text, "number"]).numbers(1..2);
        table.add(
            TableRow::new([text.into(), Inline::default().strong(text).light(text)])
                .of_control(true),
        );
        table.add(TableRow::new([text, text]).at(text.to_owned()));
        table.add(TableRow::new([text, text]).with_share(0.5));
        table.add(TableRow::new([text, text]).with_page(text.to_owned()));
        let mut document = Document::new(text);
        document.section(text, vec![Block::Note(text.into())]);
        document.section(text, Vec::new());
        document.add(Block::heading_at(2, text.to_owned(), text));
        let line = Inline::from(text).link(text.to_owned(), text);
        document.add(Block::Paragraph(line.file("file.csv", text)));
        document.add(Block::Picture {
            file: "a.svg".to_owned(),
            title: text.to_owned(),
        });
        document.blocks.extend(Block::list([text, text]));
        document.add(Block::Table(table));
        let verbatim = vec![Block::Verbatim(text.to_owned())];
        document.add(Block::Fold(Fold::new(text, verbatim).at(text.to_owned())));
        document
    }

    /// The names of a page's elements, without those of code and of places where a name may break.
    fn elements(page: &str) -> Vec<String> {
        let (_, main) = page.split_once("<main>").expect("a main part");
        let (main, _) = main.split_once("</main>").expect("its end");
        let whole = format!("<main>{main}</main>");
        let mut reader = quick_xml::Reader::from_str(&whole);
        let mut names = Vec::new();
        loop {
            match reader.read_event().expect("elements that end") {
                Event::Start(element) | Event::Empty(element) => {
                    names.push(element.name().as_ref().to_owned());
                }
                Event::Eof => break,
                _ => {}
            }
        }
        names.retain(|name| name != "code" && name != "wbr");
        names
    }

    proptest! {
        #[test]
        fn no_text_is_a_mark(text in "[a-z<>&\"'|\\\\`*_#\\-! \n\u{1b}]{0,24}") {
            let html = every_block(&text).html().expect("a page");
            prop_assert_eq!(elements(&html), elements(&every_block("x").html().expect("a page")));
            let markdown = every_block(&text).markdown(1);
            prop_assert!(!markdown.contains('\u{1b}'), "{}", markdown);
            let bars = |line: &str| line.matches('|').count() - line.matches(r"\|").count();
            let rows = markdown.lines().filter(|line| line.starts_with('|'));
            prop_assert_eq!(rows.map(bars).collect::<Vec<_>>(), [3; 6]);
            let terminal = every_block(&text).terminal(80);
            prop_assert!(!terminal.contains('\u{1b}'), "{}", terminal);
        }
    }

    #[test]
    fn a_terminal_has_sentences_of_its_width_and_columns_that_align() {
        let mut table = Table::of_text(["strategy", "recall"]).numbers(1..);
        table.add(TableRow::new(["summarize", "0.5"]));
        table.add(TableRow::new(["drop", "0.25"]).of_control(true));
        let mut document = Document::new("Title");
        document.section("Part", vec![Block::Paragraph("word ".repeat(12).into())]);
        document.add(Block::Table(table));
        document.extend(Block::list(["one", "two"]));
        let lines = [
            "Title",
            "",
            "Part",
            "",
            "word word word word word word word word",
            "  word word word word",
            "",
            "strategy   recall",
            "summarize     0.5",
            "drop         0.25",
            "",
            "- one",
            "- two",
            "",
        ];
        assert_eq!(document.terminal(40), lines.join("\n"));
    }

    #[test]
    fn a_table_that_is_wider_than_the_terminal_has_a_paragraph_for_each_row() {
        let mut table = Table::of_text(["strategy", "recall", "about"]).numbers(1..2);
        table.add(TableRow::new([
            "summarize",
            "0.5",
            "long ".repeat(7).trim(),
        ]));
        table.add(TableRow::new(["drop", "0.25", ""]));
        let mut document = Document::new("Title");
        document.add(Block::Table(table));
        assert_eq!(
            document.terminal(40),
            "Title\n\nsummarize: recall 0.5; about long long\n  long long long long long\ndrop: recall 0.25\n"
        );
    }

    #[test]
    fn a_section_without_blocks_has_no_heading() {
        assert_eq!(every_block("x").markdown(1).matches("## x").count(), 2);
    }
}
