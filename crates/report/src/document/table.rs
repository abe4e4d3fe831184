//! Tables of documents.

use std::ops::{Range, RangeBounds};

use serde::{Serialize, Serializer};

use super::Inline;

/// A table. Without a name of any column it has no head.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// The class of its element in HTML; cells of a table without one are labelled on narrow screens.
    pub(super) class: &'static str,
    pub(super) columns: Vec<TableColumn>,
    pub(super) rows: Vec<TableRow>,
}

#[derive(Clone, Debug)]
pub(super) struct TableColumn {
    pub(super) name: String,
    pub(super) is_number: bool,
}

/// A row, whose first cell names it.
#[derive(Clone, Debug, Default)]
pub(crate) struct TableRow {
    pub(super) place: Option<String>,
    pub(super) share: Option<f64>,
    pub(super) page: Option<String>,
    pub(super) is_control: bool,
    pub(super) cells: Vec<Inline>,
}

impl Table {
    /// A table whose columns are all text.
    pub(crate) fn of_text(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let column = |name: String| TableColumn {
            name,
            is_number: false,
        };
        Table {
            class: "",
            columns: names.into_iter().map(Into::into).map(column).collect(),
            rows: Vec::new(),
        }
    }

    /// Makes columns those of numbers, by their places.
    pub(crate) fn numbers(mut self, places: impl RangeBounds<usize>) -> Self {
        for (place, column) in self.columns.iter_mut().enumerate() {
            column.is_number |= places.contains(&place);
        }
        self
    }

    /// Removes what leads to pages about its rows.
    pub(crate) fn without_pages(&mut self) {
        self.rows.iter_mut().for_each(|row| row.page = None);
    }

    /// Sets the class of its element in HTML.
    pub(crate) fn of_class(self, class: &'static str) -> Self {
        Table { class, ..self }
    }

    pub(crate) fn add(&mut self, row: TableRow) {
        self.rows.push(row);
    }

    /// The same with rows.
    pub(crate) fn with_rows(self, rows: impl IntoIterator<Item = TableRow>) -> Self {
        Table {
            rows: rows.into_iter().collect(),
            ..self
        }
    }

    /// The first column, and these of the others.
    pub(crate) fn part(&self, others: Range<usize>) -> Self {
        fn of<T: Clone>(all: &[T], others: &Range<usize>) -> Vec<T> {
            let (first, rest) = all.split_at(1);
            [first, &rest[others.clone()]].concat()
        }
        let row = |row: &TableRow| TableRow {
            cells: of(&row.cells, &others),
            ..row.clone()
        };
        Table {
            class: self.class,
            columns: of(&self.columns, &others),
            rows: self.rows.iter().map(row).collect(),
        }
    }

    /// The letters of the longest cell of each column but the first, without its head.
    pub(crate) fn widths(&self) -> Vec<usize> {
        let letters = |at: usize| {
            let cells = self.rows.iter().filter_map(|row| row.cells.get(at));
            cells.map(|cell| cell.plain().chars().count()).max()
        };
        let others = 1..self.columns.len();
        others.map(|at| letters(at).unwrap_or_default()).collect()
    }

    pub(super) fn has_head(&self) -> bool {
        self.columns.iter().any(|column| !column.name.is_empty())
    }
}

/// A template has a table as its element of HTML.
impl Serialize for Table {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.html())
    }
}

impl TableRow {
    pub(crate) fn new(cells: impl IntoIterator<Item = impl Into<Inline>>) -> Self {
        TableRow {
            cells: cells.into_iter().map(Into::into).collect(),
            ..TableRow::default()
        }
    }

    /// The same where links may lead to it.
    pub(crate) fn at(self, place: String) -> Self {
        TableRow {
            place: Some(place),
            ..self
        }
    }

    /// The same with a share, drawn behind the first cell where there is room.
    pub(crate) fn with_share(self, share: f64) -> Self {
        TableRow {
            share: Some(share),
            ..self
        }
    }

    /// The same with a page of HTML about it.
    pub(crate) fn with_page(self, page: String) -> Self {
        TableRow {
            page: Some(page),
            ..self
        }
    }

    /// The same, shown as that of a control if it is one.
    pub(crate) fn of_control(self, is_control: bool) -> Self {
        TableRow { is_control, ..self }
    }
}
