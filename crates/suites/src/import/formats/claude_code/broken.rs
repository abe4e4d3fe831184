//! Recovers the links of a Claude Code line that is not valid JSON, so that later rows stay in its
//! conversation.
//!
//! Absent on purpose: the line's text. Guessing what a broken message said would invent part of the
//! log.

use std::collections::HashSet;

use crate::import::formats::claude_code::session_row::ClaudeCodeRow;
use crate::import::place::Place;
use crate::import::readers::json_lines::BrokenLine;

/// Inserts a row without a message for each broken line.
pub(in crate::import) fn put_back(rows: &mut Vec<ClaudeCodeRow>, broken: &[BrokenLine]) {
    let mut named = rows
        .iter()
        .filter_map(|row| row.parent.clone())
        .collect::<HashSet<_>>();
    named.extend(broken.iter().filter_map(|(_, text)| parent(text)));
    rows.extend(broken.iter().map(|(line, text)| row(*line, text, &named)));
    rows.sort_by_key(|row| row.place);
}

/// If there are several uuids, such as some in a tool's arguments, the row's own is the one that
/// another row refers to.
fn row(line: usize, text: &str, named: &HashSet<String>) -> ClaudeCodeRow {
    let uuids = values(text, "uuid").filter_map(string).collect::<Vec<_>>();
    let uuid = uuids
        .iter()
        .find(|uuid| named.contains(**uuid))
        .or(uuids.last());
    ClaudeCodeRow {
        place: Place::Line(line),
        kind: "broken".to_owned(),
        uuid: uuid.map(|uuid| (*uuid).to_owned()),
        parent: parent(text),
        session: values(text, "sessionId")
            .next()
            .and_then(string)
            .map(str::to_owned),
        directory: None,
        version: None,
        sidechain: values(text, "isSidechain")
            .next()
            .is_some_and(|value| value.starts_with("true")),
        summary: false,
        boundary: None,
        attached: None,
        by_program: false,
        cleared: Vec::new(),
        broken: true,
        at_ms: None,
        message: None,
    }
}

fn parent(text: &str) -> Option<String> {
    let first = |key| values(text, key).next().and_then(string).map(str::to_owned);
    first("parentUuid").or_else(|| first("logicalParentUuid"))
}

/// The text after each `"key":`.
fn values<'t>(text: &'t str, key: &str) -> impl Iterator<Item = &'t str> {
    let quoted = format!("\"{key}\"");
    let ends = text
        .match_indices(&quoted)
        .map(|(at, found)| at + found.len())
        .collect::<Vec<_>>();
    ends.into_iter()
        .filter_map(|end| text[end..].trim_start().strip_prefix(':'))
        .map(str::trim_start)
}

fn string(value: &str) -> Option<&str> {
    let (text, _) = value.strip_prefix('"')?.split_once('"')?;
    (!text.is_empty() && !text.contains('\\')).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read_from_the_pieces() {
        let text = r#"{"parentUuid" : "p", "isSidechain":true,"sessionId":"s","message":{"content":[{"input":{"uuid":"other"}},"\"uuid\":\"no\""]},"uuid":"own","x":{"uuid":"late"#;
        let named = HashSet::from(["own".to_owned()]);
        let found = row(3, text, &named);
        let links = (
            found.uuid.as_deref(),
            found.parent.as_deref(),
            found.session.as_deref(),
            found.sidechain,
        );
        assert_eq!(links, (Some("own"), Some("p"), Some("s"), true));
        let torn = row(
            4,
            r#"{"parentUuid":null,"logicalParentUuid":"q","isSidechain":false,"uuid":"half"#,
            &named,
        );
        assert_eq!(
            (torn.uuid, torn.parent.as_deref(), torn.sidechain),
            (None, Some("q"), false)
        );
    }
}
