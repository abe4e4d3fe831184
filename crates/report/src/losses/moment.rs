//! What one compaction left, as it is said when it happens.

use compactometer_formats::losses::{CompactionLosses, SentenceSeen, SessionLosses, TotalLoss};
use compactometer_text::code::code;

use super::losses_screen::{counted, thousands};
use super::sentences_left::quote;

/// Values that a line names.
const NAMED: usize = 3;

/// The values that calls had needed most when a compaction was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NeededValues {
    /// How many of them the context still holds.
    pub held: usize,
    /// Those that it does not hold, the most needed first.
    pub gone: Vec<String>,
}

/// What the compaction at a place of a session's list left, in three lines: its size, the values
/// that calls had needed most, and the user's sentences. Nothing if it was not measured.
pub fn moment_lines(
    session: &SessionLosses,
    place: usize,
    needed: &NeededValues,
) -> Option<[String; 3]> {
    let made = session
        .compactions
        .iter()
        .find(|made| made.place == place)?;
    let said = session.said.iter().filter(|seen| seen.compaction == place);
    let said = said.collect::<Vec<_>>();
    Some([size(made), values(needed), sentences(&said)])
}

fn size(made: &CompactionLosses) -> String {
    let left = match made.total_loss {
        Some(TotalLoss::Nothing) => "; it left nothing",
        Some(TotalLoss::Error) => "; it left the error of a server in place of a summary",
        None => "",
    };
    format!(
        "Compaction after message {}: {} tokens of the log became {}{left}",
        made.after,
        thousands(made.tokens_before.into()),
        thousands(made.tokens_after.into())
    )
}

fn values(needed: &NeededValues) -> String {
    let of = needed.held + needed.gone.len();
    if of == 0 {
        return "  No call had needed a value, such as a path".to_owned();
    }
    let gone = needed.gone.iter().take(NAMED).map(|value| code(value));
    let gone = gone.collect::<Vec<_>>().join(", ");
    let more = needed.gone.len().saturating_sub(NAMED);
    let gone = match (needed.gone.is_empty(), more) {
        (true, _) => String::new(),
        (false, 0) => format!("; gone: {gone}"),
        (false, more) => format!("; gone: {gone} and {more} more"),
    };
    format!(
        "  Of {} that calls had needed most, {}{gone}",
        counted(of, "value"),
        left(needed.held)
    )
}

fn sentences(said: &[&SentenceSeen]) -> String {
    let found = said.iter().filter(|seen| seen.is_left).count();
    if said.is_empty() {
        return "  You had said no sentence that can be followed".to_owned();
    }
    let mut gone = said.iter().filter(|seen| !seen.is_left).collect::<Vec<_>>();
    gone.sort_by_key(|seen| std::cmp::Reverse((seen.is_rule, seen.said_at)));
    let gone = gone
        .first()
        .map_or(String::new(), |seen| format!("; gone: {}", quote(seen)));
    let of = counted(said.len(), "sentence");
    format!("  Of {of} of yours, {}{gone}", left(found))
}

fn left(number: usize) -> String {
    format!("{number} {} left", if number == 1 { "is" } else { "are" })
}
