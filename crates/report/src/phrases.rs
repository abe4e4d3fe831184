//! Words that pages, tables and messages share.

use compactometer_formats::record::Family;
use compactometer_formats::scenario::Speaker;
use compactometer_formats::summary::{Group, StrategySummary};

use crate::data::{RANDOM_DROP, RECENT_TALK, VALUE_LIST};
use crate::metrics::failures::is_marked;

/// The summarizer, and the target model where that is another.
pub(crate) fn models(summarizer: &str, target: Option<&str>) -> String {
    target.map_or(summarizer.to_owned(), |target| {
        format!("{summarizer}, target model {target}")
    })
}

/// A row's name, or what a control of the same size keeps.
pub(crate) fn row_name(row: &StrategySummary) -> &str {
    let known = [
        (RECENT_TALK, "newest messages"),
        (VALUE_LIST, "list of values"),
        (RANDOM_DROP, "random old text"),
    ];
    let known = known.iter().find(|(name, _)| *name == row.name);
    known
        .filter(|_| row.family == Family::Control)
        .map_or(&row.name, |(_, words)| words)
}

/// A row's name where it is shown, with a mark if the strategy is not compared.
pub(crate) fn label(strategy: &StrategySummary) -> String {
    match () {
        () if strategy.unmetered => format!("{} (unmetered)", strategy.name),
        () if strategy.not_understood => format!("{} (prompt not understood)", strategy.name),
        () if is_marked(strategy) => format!("{} (fails)", strategy.name),
        () => row_name(strategy).to_owned(),
    }
}

/// A group's protocol, with the scale of published limits.
pub(crate) fn conditions(group: &Group) -> String {
    let name = group.protocol.name();
    group
        .scale
        .map_or(name.to_owned(), |scale| format!("{name}, scale {scale}"))
}

/// A group's name in links and files.
pub(crate) fn slug(group: &Group) -> &'static str {
    group.protocol.name()
}

/// A time in milliseconds, as people read it.
pub(crate) fn seconds(milliseconds: f64) -> String {
    match milliseconds / 1_000.0 {
        seconds if seconds < 9.95 => format!("{seconds:.1} s"),
        seconds => format!("{seconds:.0} s"),
    }
}

/// Who said something, in words.
pub(crate) fn speaker_name(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::Assistant => "the agent",
        Speaker::User => "the user",
        Speaker::Tool => "tools",
        Speaker::Program => "the agent's program",
        Speaker::System => "the system prompt",
    }
}

/// The word for a check's verdict.
pub(crate) fn verdict(passed: Option<bool>) -> &'static str {
    match passed {
        Some(true) => "ok",
        Some(false) => "FAILED",
        None => "n.a.",
    }
}

/// The text without the characters that XML 1.0 cannot hold, escaped or not.
pub(crate) fn in_xml(text: &str) -> String {
    let is_allowed = |letter: char| match letter {
        '\n' | '\t' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        _ => !letter.is_control(),
    };
    text.chars()
        .map(|letter| if is_allowed(letter) { letter } else { '?' })
        .collect()
}
