//! Signs that a file is of another format than the one that it was read as.

use std::collections::BTreeMap;

use compactometer_engine::message::Part;

use super::error::ImportError;
use super::repair::Repair;
use super::session::ReadSession;

/// Calls of which none has a result are the sign of another format, whose results were read as words
/// of the user.
pub(super) fn must_have_results(sessions: &[ReadSession], file: &str) -> Result<(), ImportError> {
    /// Fewest calls: a file may end at its first ones.
    const CALLS: usize = 3;
    let parts = || {
        sessions
            .iter()
            .flat_map(|session| &session.messages)
            .flat_map(|said| &said.parts)
    };
    let calls = parts()
        .filter(|part| matches!(part, Part::ToolCall { .. }))
        .count();
    let has_result = parts().any(|part| matches!(part, Part::ToolResult { .. }));
    match calls >= CALLS && !has_result {
        true => Err(ImportError::Other(format!(
            "`{file}`: none of its {calls} calls has a result, so it is probably of a format that is not known here; \
             `import --lenient` reads it all the same"
        ))),
        false => Ok(()),
    }
}

/// Rows that are dropped in great number are the sign of another format too. What is dropped later,
/// such as the beginning of a part of a session, is none.
pub(super) fn must_not_drop(
    repairs: &[Repair],
    sessions: &[ReadSession],
    file: &str,
) -> Result<(), ImportError> {
    /// Fewest dropped rows: a short file may be torn.
    const DROPPED: usize = 5;
    /// One dropped row in so many is too much.
    const SHARE: usize = 5;
    let kinds = dropped(repairs);
    let dropped = kinds.values().sum::<usize>();
    let read = sessions
        .iter()
        .map(|session| session.messages.len())
        .sum::<usize>();
    let rows = dropped + read;
    if dropped < DROPPED || dropped * SHARE <= rows {
        return Ok(());
    }
    let most = kinds.iter().max_by_key(|(_, number)| **number);
    let (what, number) = most.map_or(("", 0), |(what, number)| (*what, *number));
    Err(ImportError::Other(format!(
        "`{file}`: {dropped} of {rows} rows were dropped, {number} of them as: {what}; it is probably of another format, \
         and `import --lenient` reads the rest all the same"
    )))
}

/// How often rows were dropped, by reason.
fn dropped(repairs: &[Repair]) -> BTreeMap<&str, usize> {
    let mut kinds = BTreeMap::new();
    for repair in repairs
        .iter()
        .filter(|repair| repair.what.ends_with("dropped"))
    {
        *kinds.entry(repair.what.as_str()).or_default() += 1;
    }
    kinds
}
