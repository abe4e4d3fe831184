//! The losses of parts of the sessions: by program, by its version, or by project.

use std::collections::{BTreeMap, BTreeSet};

use compactometer_formats::added_text::AddedText;
use compactometer_formats::losses::{CompactionLosses, SessionLosses, UseSeen};
use compactometer_text::code::code;
use serde::{Deserialize, Serialize};

use super::losses_screen::{percent, thousands};
use super::pooled::PooledGroup;
use super::sentences_left::{SaidShares, SentenceRow};
use super::typical::Typical;
use super::{Losses, UsesByKind};
use crate::version::{VersionOrder, in_order};

/// What sessions are divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartBy {
    /// The program.
    Program,
    /// The program and its version at the compaction.
    Version,
    /// The project. A session of several projects is a part of each.
    Project,
}

impl PartBy {
    /// All, with their names on the command line.
    pub const ALL: [(&'static str, PartBy); 3] = [
        ("program", PartBy::Program),
        ("version", PartBy::Version),
        ("project", PartBy::Project),
    ];

    fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, by)| *by == self)
            .map_or("", |(name, _)| name)
    }

    /// The parts that a compaction of a session belongs to.
    fn parts(self, session: &SessionLosses, compaction: &CompactionLosses) -> Vec<String> {
        match self {
            PartBy::Program => vec![session.program.clone()],
            PartBy::Version => {
                vec![format!(
                    "{} {}",
                    session.program,
                    compaction
                        .version
                        .as_deref()
                        .unwrap_or("of unknown version")
                )]
            }
            PartBy::Project if session.projects.is_empty() => vec!["unknown".to_owned()],
            PartBy::Project => session.projects.clone(),
        }
    }
}

/// The losses of a part.
#[derive(Clone, Debug, Serialize)]
pub struct LossesPart {
    /// What it is a part by.
    pub by: PartBy,
    /// Its name.
    pub name: String,
    /// The number of sessions with a compaction that is measured.
    pub sessions: usize,
    /// The number of such compactions.
    pub compactions: usize,
    /// Later uses of values that were last said before one of them.
    pub uses: UsesByKind,
    /// What is left of what persons said.
    pub said: SaidShares,
    /// What they cost beside values.
    pub typical: Typical,
}

#[derive(Default)]
struct Selected<'s> {
    compactions: Vec<&'s CompactionLosses>,
    sessions: BTreeSet<&'s str>,
    uses: Vec<(&'s SessionLosses, &'s UseSeen)>,
    said: Vec<SentenceRow<'s>>,
}

impl LossesPart {
    /// The parts of these sessions, versions in their order.
    pub(super) fn all(by: PartBy, sessions: &[SessionLosses]) -> Vec<LossesPart> {
        let mut parts = BTreeMap::<VersionOrder, (String, Selected<'_>)>::new();
        for session in sessions {
            for compaction in &session.compactions {
                for name in by.parts(session, compaction) {
                    let (_, selected) = parts
                        .entry(in_order(&name))
                        .or_insert_with(|| (name, Selected::default()));
                    selected.compactions.push(compaction);
                    let said = session.said.iter();
                    let said = said.filter(|seen| seen.compaction == compaction.place);
                    selected.said.extend(said.map(|seen| (session, seen)));
                    let uses = session
                        .uses
                        .iter()
                        .filter(|seen| seen.compaction == compaction.place);
                    selected.sessions.insert(&session.group);
                    selected.uses.extend(uses.map(|seen| (session, seen)));
                }
            }
        }
        let part = |(name, selected): (String, Selected<'_>)| LossesPart {
            by,
            name,
            sessions: selected.sessions.len(),
            compactions: selected.compactions.len(),
            said: SaidShares::of(&selected.said),
            typical: Typical::new(&selected.compactions),
            uses: UsesByKind::new(&PooledGroup::all(selected.uses)),
        };
        parts.into_values().map(part).collect()
    }
}

impl Losses {
    /// A table of each kind of parts.
    pub(super) fn part_lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (_, by) in PartBy::ALL {
            let parts = self
                .parts
                .iter()
                .filter(|part| part.by == by)
                .collect::<Vec<_>>();
            if parts.is_empty() {
                continue;
            }
            let names = parts
                .iter()
                .map(|part| code(&part.name))
                .collect::<Vec<_>>();
            let width = names
                .iter()
                .map(|name| name.chars().count())
                .max()
                .unwrap_or_default()
                .max(by.name().len());
            lines.push(String::new());
            lines.push(format!(
                "{:width$}  sessions  needed  held  with ledger  your words  read again  waited",
                by.name()
            ));
            for (name, part) in names.iter().zip(parts) {
                let address = &part.uses.address;
                let held = address.held_at_most.or(address.held_in_log);
                let share = |share: Option<f64>| share.map_or("-".to_owned(), percent);
                let said = part.said.after.first().and_then(|left| left.all.share());
                let waited = part
                    .typical
                    .waited_ms
                    .map_or("-".to_owned(), |pair| format!("{} s", pair.first / 1_000));
                lines.push(format!(
                    "{name:width$}  {:>8}  {:>6}  {:>4}  {:>11}  {:>10}  {:>10}  {waited:>6}",
                    part.sessions,
                    address.uses,
                    share(held),
                    share(address.with(AddedText::Ledger)),
                    share(said),
                    thousands(part.typical.read_again as u64),
                ));
            }
        }
        lines
    }
}
