//! Joins sessions into longer ones, because most recorded sessions are too short for a value to be
//! needed after a compaction.
//!
//! Groups, sorted by name, form disjoint blocks. A block's k-th scenario takes the k-th session of
//! each of its groups and interleaves them by user turn, round robin. The block becomes the new
//! group.

use std::collections::{BTreeMap, VecDeque};

use compactometer_engine::message::Role;

use super::error::ImportError;
use super::project;
use super::repair::counted;
use super::report::Recorder;
use super::session::{Notes, ReadSession, Spoken};
use super::settle;

/// Joins sessions of `groups` groups at a time.
pub(super) fn join(
    sessions: Vec<ReadSession>,
    groups: usize,
    recorder: &mut Recorder,
) -> Result<Vec<ReadSession>, ImportError> {
    let compactions = sessions
        .iter()
        .map(|session| session.compactions.len())
        .sum::<usize>();
    let mut by_group: BTreeMap<_, Vec<ReadSession>> = BTreeMap::new();
    for session in sessions {
        by_group
            .entry(natural(&session.group))
            .or_default()
            .push(session);
    }
    if groups < 2 || groups > by_group.len() {
        return Err(ImportError::Other(format!(
            "cannot join `{groups}` independent sessions: expected 2 to {}, the number imported",
            by_group.len()
        )));
    }
    let mut ordered = by_group.into_values().collect::<Vec<_>>();
    let leftover = ordered.split_off(ordered.len() - ordered.len() % groups);
    for group in &leftover {
        let name = group.first().map_or("", |session| session.group.as_str());
        recorder.report.leftovers.push(format!(
            "session `{name}` left over: {groups} independent sessions make a block"
        ));
    }
    recorder.report.joined = groups;
    let (mut joined, mut dropped_systems) = (Vec::new(), 0);
    let blocks = ordered.len() / groups;
    let mut ordered = ordered.into_iter();
    for number in 1..=blocks {
        let block = ordered.by_ref().take(groups).collect::<Vec<_>>();
        dropped_systems += join_block(number, block, recorder, &mut joined)?;
    }
    if dropped_systems > 0 {
        let prompts = counted(dropped_systems, "later system prompt");
        recorder
            .report
            .leftovers
            .push(format!("{prompts} dropped: a conversation has one"));
    }
    if compactions > 0 {
        let dropped = counted(compactions, "recorded compaction");
        recorder.report.leftovers.push(format!(
            "{dropped} left out: a joined conversation was never compacted"
        ));
    }
    Ok(joined)
}

/// Joins a block's sessions. Returns how many system prompts were dropped.
fn join_block(
    number: usize,
    mut block: Vec<Vec<ReadSession>>,
    recorder: &mut Recorder,
    joined: &mut Vec<ReadSession>,
) -> Result<usize, ImportError> {
    let count = block.iter().map(Vec::len).min().unwrap_or(0);
    for group in &mut block {
        group.sort_by_key(|session| session.order);
        if let (Some(first), leftover @ 1..) = (group.first(), group.len() - count) {
            let (name, leftover) = (&first.group, counted(leftover, "session"));
            recorder.report.leftovers.push(format!(
                "{leftover} of session `{name}` left over: block-{number} has {count} of each"
            ));
        }
        group.truncate(count);
    }
    let mut groups = block.into_iter().map(Vec::into_iter).collect::<Vec<_>>();
    let mut dropped_systems = 0;
    for _ in 0..count {
        let sessions = groups
            .iter_mut()
            .filter_map(Iterator::next)
            .collect::<Vec<_>>();
        joined.push(interleave(
            number,
            sessions,
            &mut dropped_systems,
            recorder,
        )?);
    }
    Ok(dropped_systems)
}

fn interleave(
    block: usize,
    sessions: Vec<ReadSession>,
    dropped_systems: &mut usize,
    recorder: &mut Recorder,
) -> Result<ReadSession, ImportError> {
    let count = sessions.len();
    let origins = sessions
        .iter()
        .map(|session| session.stem.as_str())
        .collect::<Vec<_>>()
        .join(", ");
    let source = sessions
        .first()
        .map_or("", |session| session.source.as_str());
    let source = format!(
        "{source}; joined from {count} sessions ({origins}); long-range uses come from joining"
    );
    let file = sessions
        .first()
        .map(|session| session.file.clone())
        .unwrap_or_default();
    let mut directories = Vec::new();
    let worked_in = sessions.iter().flat_map(|session| &session.directories);
    worked_in.for_each(|directory| project::note_directory(&mut directories, Some(directory)));
    let projects = sessions
        .iter()
        .flat_map(|session| session.projects.iter().cloned())
        .collect();
    let mut system = None;
    let mut turns = Vec::new();
    for session in sessions {
        session
            .questions
            .iter()
            .for_each(|_| recorder.ignore("question of a joined session"));
        let (systems, rest): (Vec<_>, Vec<_>) = session
            .messages
            .into_iter()
            .partition(|said| said.role == Role::System);
        for said in systems {
            match system {
                None => system = Some(said),
                Some(_) => *dropped_systems += 1,
            }
        }
        turns.push(by_user_turn(rest));
    }
    let interleaved = system
        .into_iter()
        .chain(interleave_turns(turns))
        .map(|said| Spoken {
            at_ms: None,
            ..said
        })
        .collect();
    recorder.begin(&file);
    let messages = settle::pair(interleaved, recorder)?.messages;
    let group = format!("block-{block}");
    let (stem, compactions) = (format!("{group}/"), Vec::new());
    Ok(ReadSession {
        file,
        source,
        stem,
        group,
        projects,
        directories,
        version: None,
        starts_inside: false,
        numbered: true,
        order: 0,
        compactions,
        notes: Notes::default(),
        questions: Vec::new(),
        messages,
    })
}

/// A session's user turns, each with the messages up to the next user turn.
fn by_user_turn(messages: Vec<Spoken>) -> VecDeque<Vec<Spoken>> {
    let mut turns: VecDeque<Vec<Spoken>> = VecDeque::new();
    for said in messages {
        match turns.back_mut() {
            Some(turn) if said.role != Role::User => turn.push(said),
            _ => turns.push_back(vec![said]),
        }
    }
    turns
}

/// Interleaves the sessions' turns, round robin.
fn interleave_turns(mut sessions: Vec<VecDeque<Vec<Spoken>>>) -> Vec<Spoken> {
    let mut interleaved = Vec::new();
    while sessions.iter().any(|turns| !turns.is_empty()) {
        for turns in &mut sessions {
            interleaved.extend(turns.pop_front().into_iter().flatten());
        }
    }
    interleaved
}

/// A name as a key to sort by: each run of digits with its length without leading zeros, so that
/// `task-2` comes before `task-10`, and every other run after all digits.
fn natural(name: &str) -> Vec<(usize, String)> {
    let letters = name.chars().collect::<Vec<_>>();
    let runs = letters.chunk_by(|one, next| one.is_ascii_digit() == next.is_ascii_digit());
    let key = |run: String| match run.starts_with(|first: char| first.is_ascii_digit()) {
        true => (run.trim_start_matches('0').len(), run),
        false => (usize::MAX, run),
    };
    runs.map(|run| key(run.iter().collect())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_by_the_value_of_their_numbers() {
        let mut names = ["task-10", "task-2", "b", "task-2x", "task-02", "9"];
        names.sort_by_key(|name| natural(name));
        assert_eq!(names, ["9", "b", "task-02", "task-2", "task-2x", "task-10"]);
    }
}
