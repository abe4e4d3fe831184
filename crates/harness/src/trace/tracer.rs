//! Follows every fact of one case to the point where it is lost.

use std::collections::BTreeSet;

use compactometer_engine::memory::Note;
use compactometer_engine::message::{Part, part_text};
use compactometer_engine::meter::Call;
use compactometer_engine::record::{History, RecordKind, SessionRecord};
use compactometer_engine::view::{Entry, Origin, View};
use compactometer_formats::fate::{Fate, Fates};
use compactometer_formats::record::Stages;
use compactometer_text::matcher::Matcher;
use serde::{Deserialize, Serialize};

use super::state::{FactState, LossStage, Sighting};
use super::written::WrittenText;
use crate::prepare::PreparedScenario;

/// The fates of one case's facts, kept up to date message by message and compaction by compaction.
pub(crate) struct Tracer<'l> {
    prepared: &'l PreparedScenario,
    traced: Traced,
    length: usize,
    records: Records,
    /// Whether the requests to a summarizer are known. See [`crate::plan::Entrant::has_requests`].
    has_requests: bool,
}

/// What must outlive a process.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Traced {
    /// Of each fact.
    states: Vec<FactState>,
    /// Facts that were in the view before any message stated them, with nothing that explains how
    /// they got there.
    unexplained: BTreeSet<usize>,
    /// Facts that a request to a summarizer held, by any name of theirs.
    #[serde(default)]
    shown: BTreeSet<u32>,
    /// Whether the view holds a summary that only its provider's models read.
    #[serde(default)]
    is_sealed: bool,
}

impl<'l> Tracer<'l> {
    pub(crate) fn new(prepared: &'l PreparedScenario, has_requests: bool) -> Self {
        let states = vec![FactState::Unstated; prepared.mentions.len()];
        Tracer::resumed(
            prepared,
            has_requests,
            Traced {
                states,
                unexplained: BTreeSet::new(),
                shown: BTreeSet::new(),
                is_sealed: false,
            },
            0,
        )
    }

    /// What is known of the facts, for [`Tracer::resumed`].
    pub(crate) fn traced(&self) -> &Traced {
        &self.traced
    }

    /// The tracer of a case that goes on after `length` messages.
    pub(crate) fn resumed(
        prepared: &'l PreparedScenario,
        has_requests: bool,
        traced: Traced,
        length: usize,
    ) -> Self {
        let facts = prepared.mentions.len();
        let records = Records {
            read: 0,
            any: vec![false; facts],
            noted: vec![false; facts],
        };
        Tracer {
            prepared,
            traced,
            length,
            records,
            has_requests,
        }
    }

    /// The next message of the log was pushed: what it mentions is in the view.
    pub(crate) fn pushed(&mut self) {
        for fact in self.prepared.stated_in.get(self.length) {
            let state = &mut self.traced.states[*fact as usize];
            *state = state.mentioned();
        }
        self.length += 1;
    }

    /// A compaction was applied: the view, what was saved, and the calls that it made. Gives the
    /// stages that facts passed.
    pub(crate) fn compacted(&mut self, view: &View, history: &History, calls: &[Call]) -> Stages {
        self.records.read(self.prepared, history);
        let found = WhereFound::new(self.prepared, view, history, calls);
        self.traced.shown.extend(&found.shown);
        self.traced.is_sealed = view
            .entries()
            .iter()
            .flat_map(Entry::parts)
            .any(|(part, _)| matches!(part, Part::Sealed { .. }));
        let mut stages = Stages::default();
        for fact in 0..self.traced.states.len() {
            let before = self.traced.states[fact];
            let after = before.compacted(found.sighting(fact, &self.records));
            // A view cannot hold what nobody said and no model wrote.
            if before == FactState::Unstated
                && found.written[fact]
                && !found.replies[fact]
                && !self.records.any[fact]
            {
                self.traced.unexplained.insert(fact);
            }
            if before.is_verbatim() && !after.is_verbatim() {
                self.count_stages(&mut stages, fact, after);
            }
            self.traced.states[fact] = after;
        }
        stages
    }

    /// The fates now.
    pub(crate) fn fates(&self) -> Fates {
        let fate = |(fact, state): (usize, &FactState)| match state {
            _ if self.traced.unexplained.contains(&fact) => Fate::Unexplained,
            FactState::Unstated => Fate::Unstated,
            _ if self.is_superseded(fact) => Fate::Superseded,
            stated => match stated.fate() {
                fate if fate.is_lost() && !self.has_requests => Fate::Lost,
                Fate::Unwritten | Fate::Eroded if self.traced.is_sealed => Fate::Sealed,
                fate => fate,
            },
        };
        Fates(self.traced.states.iter().enumerate().map(fate).collect())
    }

    /// Whether a request to a summarizer held the fact, by any name; nothing if requests are not
    /// known.
    pub(crate) fn was_shown(&self, fact: u32) -> Option<bool> {
        self.has_requests.then(|| self.traced.shown.contains(&fact))
    }

    /// The facts out of the view that storage holds, ascending, given the fates now.
    pub(crate) fn stored(&self, fates: &Fates) -> Vec<u32> {
        let states = self.traced.states.iter().zip(&fates.0).enumerate();
        let stored = states.filter(|(_, (state, fate))| fate.is_lost() && state.is_stored());
        stored.map(|(fact, _)| fact as u32).collect()
    }

    fn is_superseded(&self, fact: usize) -> bool {
        self.prepared.valid_to[fact].is_some_and(|until| until < self.length)
    }

    /// Counts a fact whose last original message has just left the view.
    fn count_stages(&self, stages: &mut Stages, fact: usize, after: FactState) {
        let row = &self.prepared.scenario.facts[fact];
        if row.generic || self.is_superseded(fact) {
            return;
        }
        let reached = after.stage() >= LossStage::Read;
        let written = after.stage() == LossStage::Written;
        if row.decoy_of.is_some() {
            stages.decoys_left += 1;
            stages.decoys_reached += u32::from(reached);
            stages.decoys_written += u32::from(written);
        } else {
            stages.left += 1;
            stages.reached += u32::from(reached);
            stages.written += u32::from(written);
            let is_paired = self.prepared.has_decoy[fact];
            stages.paired_reached += u32::from(reached && is_paired);
            stages.paired_written += u32::from(written && is_paired);
            stages.kept += u32::from(written && after.is_carried());
        }
    }
}

/// Which facts' values the session's records hold. Records are only added.
struct Records {
    /// How many of them were read.
    read: usize,
    /// One holds it: a value guessed then may come back without a reply now.
    any: Vec<bool>,
    /// A note of a message that states it holds it.
    noted: Vec<bool>,
}

impl Records {
    fn read(&mut self, prepared: &PreparedScenario, history: &[SessionRecord]) {
        let index = |id| prepared.index_of(id);
        for saved in &history[self.read..] {
            mark(prepared, &saved.body, &mut self.any);
            if let (Some(note), Some((first, last))) = (Note::from_record(saved), saved.covers) {
                let stated = prepared.stated_in.between(index(first)..index(last) + 1);
                mark_stated(&prepared.facts, &note.text, stated, &mut self.noted);
            }
        }
        self.read = history.len();
    }
}

/// Where each fact's value is after a compaction.
struct WhereFound {
    originals: Vec<bool>,
    written: Vec<bool>,
    /// By rule, out of the log.
    copied: Vec<bool>,
    stored: Vec<bool>,
    requests: Vec<bool>,
    /// Those that a request held, by any name.
    shown: BTreeSet<u32>,
    replies: Vec<bool>,
}

impl WhereFound {
    fn new(prepared: &PreparedScenario, view: &View, history: &History, calls: &[Call]) -> Self {
        let none = || vec![false; prepared.mentions.len()];
        let mut found = WhereFound {
            originals: none(),
            written: none(),
            copied: none(),
            stored: none(),
            requests: none(),
            shown: BTreeSet::new(),
            replies: none(),
        };
        found.search_view(prepared, view);
        // No model has read a request that failed.
        let answered = calls
            .iter()
            .filter_map(|call| Some((call, call.outcome.as_ref().ok()?)));
        for (call, reply) in answered {
            let texts = call.request.texts();
            for held in texts.flat_map(|text| prepared.in_request(text)) {
                for fact in &held.facts {
                    found.requests[*fact as usize] = true;
                }
                found.shown.extend(held.facts.iter().chain(&held.named));
            }
            mark(prepared, &reply.text, &mut found.replies);
        }
        for kind in [RecordKind::Checkpoint, RecordKind::Pinned] {
            if let Some(saved) = history.latest(kind) {
                mark(prepared, &saved.body, &mut found.stored);
            }
        }
        found
    }

    fn sighting(&self, fact: usize, records: &Records) -> Sighting {
        Sighting {
            original: self.originals[fact],
            written: self.written[fact],
            copied: self.copied[fact],
            stored: self.stored[fact],
            noted: records.noted[fact],
            requested: self.requests[fact],
            replied: self.replies[fact],
        }
    }

    fn search_view(&mut self, prepared: &PreparedScenario, view: &View) {
        let index = |id| prepared.index_of(id);
        for entry in view.entries() {
            match entry {
                Entry::Kept(counted) => {
                    for fact in prepared.stated_in.get(index(counted.message.id)) {
                        self.originals[*fact as usize] = true;
                    }
                }
                Entry::Written(written) => {
                    for written in &written.parts {
                        let Some(text) = part_text(&written.part) else {
                            continue;
                        };
                        match written.origin {
                            Origin::Spoken(id) => {
                                mark_stated(
                                    &prepared.facts,
                                    text,
                                    prepared.stated_in.get(index(id)),
                                    &mut self.originals,
                                );
                            }
                            Origin::Summary(_) | Origin::Checkpoint(_) | Origin::Memory(_) => {
                                mark(prepared, text, &mut self.written);
                            }
                            Origin::Ledger => mark(prepared, text, &mut self.copied),
                            Origin::Filler => {}
                        }
                    }
                }
            }
        }
    }
}

/// Marks the facts that a written text holds.
fn mark(prepared: &PreparedScenario, text: &str, present: &mut [bool]) {
    for fact in WrittenText::new(prepared, text).facts() {
        present[*fact as usize] = true;
    }
}

/// Marks the facts that the text holds, among those that its message states: any other match is a
/// chance match.
fn mark_stated(matcher: &Matcher, text: &str, stated: &[u32], present: &mut [bool]) {
    if stated.iter().all(|fact| present[*fact as usize]) {
        return;
    }
    for fact in matcher.find(text) {
        if stated.contains(&(fact as u32)) {
            present[fact] = true;
        }
    }
}
