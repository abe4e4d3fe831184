//! A story in a terminal.

use std::fmt::Write as _;

use compactometer_formats::fate::Fate;

use super::timeline::{FactsAround, TimelineStep};
use super::{ExplainedChange, Story, left, memory_name, unread};
use crate::vocabulary::of_fate;

impl Story<'_> {
    /// The story in lines, for a terminal.
    pub fn text(&self) -> String {
        let facts = self.record.facts.iter().filter(|fact| !fact.decoy).count();
        let messages = self.messages.len();
        let mut text = format!(
            "{} ({messages} messages, {facts} facts)\n{}\n",
            self.title(),
            self.limits()
        );
        for step in self.timeline() {
            let _ = writeln!(text, "\nafter message {}: {}", step.after().0, step.words());
            let (row, round, shown) = match step {
                TimelineStep::Compaction(row, round, shown) => (row, round, shown),
                TimelineStep::Checkpoint(row) => {
                    let answers = self.answers(row);
                    answers.for_each(|answer| tell_written(&mut text, answer));
                    continue;
                }
                TimelineStep::Recovery(_) => continue,
            };
            let said = [("left", left(row)), ("unread", unread(row))];
            for (what, said) in said
                .into_iter()
                .filter_map(|(what, said)| Some((what, said?)))
            {
                let _ = writeln!(text, "  {what}: {said}");
            }
            for line in shown {
                let _ = writeln!(text, "  {line}");
            }
            let Some(round) = round else { continue };
            self.texts_added(row)
                .for_each(|written| tell_written(&mut text, written));
            tell_changes(&mut text, self, round);
        }
        if self.record.compactions.is_empty() {
            text.push_str("\nno compaction: the conversation never reached the trigger\n");
        }
        tell_end(&mut text, self);
        text
    }
}

fn tell_written(text: &mut String, written: &str) {
    text.push_str("  written:\n");
    for line in written.lines() {
        let _ = writeln!(text, "  | {}", visible(line));
    }
}

fn tell_changes(text: &mut String, story: &Story<'_>, round: FactsAround<'_>) {
    for ExplainedChange { fact, from, to } in story.changes(round) {
        let _ = writeln!(
            text,
            "  {} -> {}: {} = {}",
            of_fate(from),
            of_fate(to),
            fact.id,
            one_line(&fact.value)
        );
    }
}

fn tell_end(text: &mut String, story: &Story<'_>) {
    let Some(last) = story.record.observations.last() else {
        return;
    };
    let _ = writeln!(text, "\nat the end, after message {}:", last.after.0);
    if let Some(why) = story.unusable() {
        let _ = writeln!(
            text,
            "  the context counts as empty, since {why}; it held all the same:"
        );
    }
    for fate in Fate::STATED {
        let ending = story
            .facts()
            .filter(|(index, _)| last.fates.0[*index] == *fate);
        let values = ending
            .map(|(_, fact)| one_line(&fact.value))
            .collect::<Vec<_>>();
        if !values.is_empty() {
            let listed = values[..values.len().min(MOST_VALUES)].join(", ");
            let more = if values.len() > MOST_VALUES {
                ", ..."
            } else {
                ""
            };
            let _ = writeln!(
                text,
                "  {:<15}{:>5}  {listed}{more}",
                of_fate(*fate),
                values.len()
            );
        }
    }
    let stored = story
        .facts()
        .filter(|(index, _)| last.is_stored(*index as u32))
        .count();
    if stored > 0 {
        let _ = writeln!(
            text,
            "  {stored} of those out of the context are still in storage"
        );
    }
    for (part, held, asked) in story.memory() {
        let _ = writeln!(
            text,
            "  of {asked} answers that only {} states, requests held {held}",
            memory_name(part)
        );
    }
}

/// Values listed for each fate at the end.
const MOST_VALUES: usize = 6;

/// A value on one line, shortened.
fn one_line(value: &str) -> String {
    let safe = visible(value);
    match safe.char_indices().nth(60) {
        Some((at, _)) => format!("{}...", &safe[..at]),
        None => safe,
    }
}

/// Text of a transcript without control characters, so that it cannot steer a terminal.
fn visible(text: &str) -> String {
    text.chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect()
}
