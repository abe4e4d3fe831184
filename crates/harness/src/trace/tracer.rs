//! Follows every fact of one case to the point where it is lost (DESIGN section 1, MEASUREMENT section 3).

use compactometer_engine::memory::Note;
use compactometer_engine::message::part_text;
use compactometer_engine::meter::Call;
use compactometer_engine::record::{History, RecordKind, SessionRecord};
use compactometer_engine::view::{Entry, Origin, View};
use compactometer_formats::fate::{Fate, Fates};
use compactometer_formats::record::Stages;
use compactometer_text::matcher::Matcher;
use serde::{Deserialize, Serialize};

use crate::prepare::PreparedScenario;

/// The fates of one case's facts, kept up to date message by message and compaction by compaction.
pub(crate) struct Tracer<'l> {
    prepared: &'l PreparedScenario,
    states: Vec<State>,
    length: usize,
    records: Records,
}

/// What is known of one fact.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct State {
    stated: bool,
    /// An original message in the view holds it.
    original: bool,
    /// A written part in the view holds it.
    carried: bool,
    /// The latest checkpoint, or the latest record of what is pinned, holds it.
    stored: bool,
    /// A note of a message that states it holds it. No summarizer reads notes, so none explains what one writes.
    noted: bool,
    /// It stood in a request to a summarizer since its latest mention.
    reached: bool,
    /// A reply held it since its latest mention, its request did too, and what was written of it is not lost again.
    written: bool,
    /// A reply named it without having read it: what is written of it is luck until its next mention.
    guessed: bool,
    /// What ended the latest episode.
    lost: Option<Fate>,
    /// It is in the view and nothing explains how it got there.
    unexplained: bool,
}

impl State {
    fn present(self) -> bool {
        self.original || self.carried
    }
}

impl<'l> Tracer<'l> {
    pub(crate) fn new(prepared: &'l PreparedScenario) -> Self {
        Tracer::going_on(prepared, vec![State::default(); prepared.mentions.len()], 0)
    }

    /// What is known of each fact, for [`Tracer::going_on`].
    pub(crate) fn states(&self) -> &[State] {
        &self.states
    }

    /// The tracer of a case that goes on after `length` messages.
    pub(crate) fn going_on(prepared: &'l PreparedScenario, states: Vec<State>, length: usize) -> Self {
        let facts = prepared.mentions.len();
        let records = Records { read: 0, any: vec![false; facts], noted: vec![false; facts] };
        Tracer { prepared, states, length, records }
    }

    /// The next message of the log was pushed: what it mentions is in the view.
    pub(crate) fn pushed(&mut self) {
        let index = self.length;
        self.length += 1;
        for fact in self.prepared.stated_in.of(index) {
            let state = &mut self.states[*fact as usize];
            // Nobody has read or written this mention yet.
            *state = State { stated: true, original: true, reached: false, written: false, guessed: false, ..*state };
        }
    }

    /// A compaction was applied: the view, what was saved, and the calls that it made. Gives the stages that facts passed.
    pub(crate) fn compacted(&mut self, view: &View, history: &History, calls: &[Call]) -> Stages {
        self.records.read(self.prepared, history);
        let found = Found::new(self.prepared, view, history, calls);
        let mut stages = Stages::default();
        for fact in 0..self.states.len() {
            let before = self.states[fact];
            let after = before.after_compaction(&found, &self.records, fact);
            self.count_stages(&mut stages, fact, before, after);
            self.states[fact] = after;
        }
        stages
    }

    /// The fates now.
    pub(crate) fn fates(&self) -> Fates {
        let fate = |(fact, state): (usize, &State)| {
            if state.unexplained {
                Fate::Unexplained
            } else if !state.stated {
                Fate::Unstated
            } else if self.is_superseded(fact) {
                Fate::Superseded
            } else if state.original {
                Fate::Verbatim
            } else if state.carried {
                Fate::Carried
            } else if state.stored || state.noted {
                Fate::StoredOnly
            } else {
                state.lost.unwrap_or(Fate::Unexplained)
            }
        };
        Fates(self.states.iter().enumerate().map(fate).collect())
    }

    fn is_superseded(&self, fact: usize) -> bool {
        self.prepared.valid_to[fact].is_some_and(|until| until < self.length)
    }

    fn count_stages(&self, stages: &mut Stages, fact: usize, before: State, after: State) {
        let left = before.original && !after.original;
        let row = &self.prepared.scenario.facts[fact];
        if !left || row.generic || self.is_superseded(fact) {
            return;
        }
        let reached = after.reached;
        let written = reached && after.written;
        if row.decoy_of.is_some() {
            stages.decoys_left += 1;
            stages.decoys_reached += u32::from(reached);
            stages.decoys_written += u32::from(written);
        } else {
            stages.left += 1;
            stages.reached += u32::from(reached);
            stages.written += u32::from(written);
            stages.kept += u32::from(written && after.carried);
        }
    }
}

impl State {
    fn after_compaction(self, found: &Found, records: &Records, fact: usize) -> State {
        // A match of what has no carrier is luck: it opens none.
        let alive = self.present() || self.stored;
        let read = alive && found.requests[fact];
        let guessed = (self.guessed && !read) || (found.replies[fact] && !read && !self.carried && !self.stored);
        let carried = alive && found.written[fact] && !guessed;
        let copy_lost = self.carried && !carried;
        let mut after = State {
            original: found.originals[fact],
            carried,
            stored: alive && found.stored[fact] && !guessed,
            noted: records.noted[fact],
            reached: self.reached || read,
            written: (self.written && !copy_lost) || (read && found.replies[fact]),
            guessed,
            // What nobody said and no model wrote cannot stand in the view.
            unexplained: self.unexplained
                || (!self.stated && found.written[fact] && !found.replies[fact] && !records.any[fact]),
            ..self
        };
        if self.present() && !after.present() {
            after.lost = Some(match (self.carried || after.written, after.reached) {
                (true, _) => Fate::Eroded,
                (false, true) => Fate::Unwritten,
                (false, false) => Fate::DroppedUnseen,
            });
        }
        after
    }
}

/// Which facts' values stand in the session's records, which only become more.
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
            prepared.facts.mark(&saved.body, &mut self.any);
            if let (Some(note), Some((first, last))) = (Note::of(saved), saved.covers) {
                let stated = prepared.stated_in.between(index(first)..index(last) + 1);
                mark_stated(&prepared.facts, &note.text, stated, &mut self.noted);
            }
        }
        self.read = history.len();
    }
}

/// Where each fact's value stands after a compaction.
struct Found {
    originals: Vec<bool>,
    written: Vec<bool>,
    stored: Vec<bool>,
    requests: Vec<bool>,
    replies: Vec<bool>,
}

impl Found {
    fn new(prepared: &PreparedScenario, view: &View, history: &History, calls: &[Call]) -> Self {
        let none = || vec![false; prepared.mentions.len()];
        let mut found = Found { originals: none(), written: none(), stored: none(), requests: none(), replies: none() };
        found.search_view(prepared, view);
        let matcher = &prepared.facts;
        for call in calls {
            call.request.texts().for_each(|text| matcher.mark(text, &mut found.requests));
            if let Ok(reply) = &call.outcome {
                matcher.mark(&reply.text, &mut found.replies);
            }
        }
        for kind in [RecordKind::Checkpoint, RecordKind::Pinned] {
            if let Some(saved) = history.latest(kind) {
                matcher.mark(&saved.body, &mut found.stored);
            }
        }
        found
    }

    fn search_view(&mut self, prepared: &PreparedScenario, view: &View) {
        let index = |id| prepared.index_of(id);
        for entry in view.entries() {
            match entry {
                Entry::Kept(counted) => {
                    for fact in prepared.stated_in.of(index(counted.message.id)) {
                        self.originals[*fact as usize] = true;
                    }
                }
                Entry::Written(written) => {
                    for written in &written.parts {
                        let Some(text) = part_text(&written.part) else { continue };
                        match written.origin {
                            Origin::Spoken(id) => {
                                mark_stated(
                                    &prepared.facts,
                                    text,
                                    prepared.stated_in.of(index(id)),
                                    &mut self.originals,
                                );
                            }
                            Origin::Summary(_) | Origin::Checkpoint(_) | Origin::Memory(_) => {
                                prepared.facts.mark(text, &mut self.written);
                            }
                            Origin::Filler => {}
                        }
                    }
                }
            }
        }
    }
}

/// Marks the facts that the text holds, among those that its message states: any other match is luck.
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
