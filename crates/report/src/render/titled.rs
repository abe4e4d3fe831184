//! Tables of a page under their titles.

use serde::Serialize;

use crate::document::{Table, TableRow};

/// A table under its title.
#[derive(Serialize)]
pub(super) struct TitledTable {
    pub(super) title: String,
    /// How to read it; may be empty.
    pub(super) note: String,
    #[serde(rename = "html")]
    pub(super) table: Table,
    /// Where links to it lead.
    pub(super) id: String,
    /// Whether a page shows it at first.
    pub(super) is_open: bool,
}

/// A table of a page that can be sorted, of rows with a name and numbers.
pub(super) fn titled(
    title: &str,
    note: impl Into<String>,
    columns: impl IntoIterator<Item = String>,
    rows: impl IntoIterator<Item = TableRow>,
) -> TitledTable {
    let columns = std::iter::once("strategy".to_owned()).chain(columns);
    let table = Table::of_text(columns).numbers(1..).of_class("sorts");
    TitledTable {
        title: title.to_owned(),
        note: note.into(),
        table: table.with_rows(rows),
        id: String::new(),
        is_open: false,
    }
}
