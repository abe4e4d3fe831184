//! The rows as a page of HTML.

use std::io;
use std::path::Path;

use compactometer_disk::write_whole;
use compactometer_report::sources_page;
use serde_json::json;

use super::counts;
use super::sourced_row::{SourceDocument, SourceRow};

pub(super) fn write(path: &Path, rows: &[SourceRow]) -> io::Result<()> {
    let of = |document: &SourceDocument| {
        let rows = rows
            .iter()
            .filter(|row| row.document == *document)
            .collect::<Vec<_>>();
        json!({"name": document.name(), "rows": rows})
    };
    let documents = SourceDocument::ALL.iter().map(of).collect::<Vec<_>>();
    let page = sources_page(&json!({"counts": counts(rows), "documents": documents}));
    let page = page.map_err(io::Error::other)?;
    write_whole(path, |out| out.write_all(page.as_bytes()))
}
