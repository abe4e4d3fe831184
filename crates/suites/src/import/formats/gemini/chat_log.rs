//! The log of a Gemini CLI chat: which messages it holds, and what its lists of messages did to
//! them.
//!
//! `$set` with `messages` replaces what the next request begins with. A list with messages that
//! nobody said before, and without some that were there, is a compaction: its new messages are the
//! program's. A list without new messages takes back a turn, and the first list after a repeated
//! head only prepares the resumed session. The calls that write a summary, the reason and the token
//! counts are not in the file.

use std::collections::{HashMap, HashSet};

use compactometer_engine::message::Role;
use compactometer_formats::scenario::Unmeasured;
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::formats::gemini::is_context;
use crate::import::place::Place;
use crate::import::readers::google_parts;
use crate::import::readers::json_lines;
use crate::import::report::Recorder;
use crate::import::session::{Compaction, Left};

/// A message of the log.
pub(in crate::import) struct GeminiMessage {
    /// Where it was first written.
    pub(in crate::import) place: Place,
    /// Its last form.
    pub(in crate::import) row: Value,
    /// Whether the user took it back.
    pub(in crate::import) is_gone: bool,
}

/// The messages of a chat in the order of the file, and the compactions of them.
#[derive(Default)]
pub(in crate::import) struct GeminiLog {
    pub(in crate::import) entries: Vec<GeminiMessage>,
    pub(in crate::import) compactions: Vec<Compaction>,
    by_id: HashMap<String, usize>,
    /// The ids of what the next request begins with.
    view: Vec<String>,
    /// What compactions wrote, by id, with the number of the compaction.
    written: HashMap<String, usize>,
    /// The compactions that the user took back, by number.
    undone: HashSet<usize>,
    is_resumed: bool,
}

impl GeminiLog {
    /// The messages of a whole-file chat.
    pub(in crate::import) fn of_messages(messages: &Value, recorder: &mut Recorder) -> Self {
        let mut log = GeminiLog::default();
        for (number, row) in (1..).zip(messages.as_array().into_iter().flatten()) {
            log.say(Place::Element(number), row, recorder);
        }
        log
    }

    pub(in crate::import) fn of_rows(
        rows: &[(Place, Value)],
        recorder: &mut Recorder,
    ) -> Result<Self, ImportError> {
        let mut log = GeminiLog::default();
        for (place, row) in rows {
            log.row(*place, row, recorder)?;
        }
        for number in &log.undone {
            let undone = &mut log.compactions[*number];
            *undone = Compaction::unmeasured(undone.place, Unmeasured::LeftBehind);
        }
        Ok(log)
    }

    fn row(
        &mut self,
        place: Place,
        row: &Value,
        recorder: &mut Recorder,
    ) -> Result<(), ImportError> {
        if let Some(target) = row["$rewindTo"].as_str() {
            self.rewind(target);
            recorder.ignore("$rewindTo");
            return Ok(());
        }
        if row["id"].is_string() || row["type"].is_string() {
            self.say(place, row, recorder);
            return Ok(());
        }
        let is_head = row["sessionId"].is_string();
        let patch = if row["$set"].is_object() {
            &row["$set"]
        } else {
            row
        };
        match patch["messages"].as_array() {
            Some(list) => self.set(place, list, &patch["lastUpdated"], recorder)?,
            None if is_head => self.is_resumed = !self.entries.is_empty(),
            None => recorder.ignore("metadata"),
        }
        Ok(())
    }

    /// A message, or a later form of it. A message without an id cannot be written again.
    fn say(&mut self, place: Place, row: &Value, recorder: &mut Recorder) {
        let id = row["id"].as_str().unwrap_or_default();
        if let Some(known) = self.by_id.get(id) {
            self.entries[*known].row = row.clone();
            recorder.ignore("earlier form of a message");
            return;
        }
        if !id.is_empty() {
            self.by_id.insert(id.to_owned(), self.entries.len());
            self.view.push(id.to_owned());
        }
        self.entries.push(GeminiMessage {
            place,
            row: row.clone(),
            is_gone: false,
        });
    }

    fn is_known(&self, id: &str) -> bool {
        // A resumed session has each result again, under the id of its call's message.
        let call = id.strip_suffix("_response").unwrap_or(id);
        [id, call]
            .iter()
            .any(|id| self.by_id.contains_key(*id) || self.written.contains_key(*id))
    }

    /// Replaces what the next request begins with.
    fn set(
        &mut self,
        place: Place,
        list: &[Value],
        stamp: &Value,
        recorder: &mut Recorder,
    ) -> Result<(), ImportError> {
        let ids = list
            .iter()
            .map(|row| row["id"].as_str().unwrap_or_default())
            .collect::<Vec<_>>();
        let listed = ids.iter().copied().collect::<HashSet<_>>();
        let lacks_some = self.view.iter().any(|id| !listed.contains(id.as_str()));
        let has_new = ids.iter().any(|id| !self.is_known(id));
        let prepares = std::mem::take(&mut self.is_resumed) && lacks_some && !has_new;
        match (lacks_some, has_new) {
            _ if prepares => {}
            (true, true) => self.compact(place, list, stamp, recorder)?,
            (false, true) => {
                for row in list
                    .iter()
                    .filter(|row| !self.is_known(row["id"].as_str().unwrap_or_default()))
                    .collect::<Vec<_>>()
                {
                    self.say(place, row, recorder);
                }
            }
            (_, false) => self.restrict(&listed),
        }
        if !prepares {
            self.view = ids
                .into_iter()
                .filter(|id| !id.is_empty())
                .map(str::to_owned)
                .collect();
        }
        recorder.ignore("list of the messages of the next request");
        Ok(())
    }

    /// Takes back the messages that a list lacks, and brings back those that it has.
    fn restrict(&mut self, listed: &HashSet<&str>) {
        let taken = self
            .view
            .iter()
            .filter(|id| !listed.contains(id.as_str()))
            .cloned()
            .collect::<Vec<_>>();
        self.take_back(&taken);
        for id in listed {
            if let Some(at) = self.by_id.get(*id) {
                self.entries[*at].is_gone = false;
            }
        }
    }

    /// Goes back to before a message. Without that message nothing is left.
    fn rewind(&mut self, target: &str) {
        let from = self.view.iter().position(|id| id == target).unwrap_or(0);
        let taken = self.view.split_off(from);
        self.take_back(&taken);
    }

    /// If a summary is taken back, the messages that it replaced are too.
    fn take_back(&mut self, ids: &[String]) {
        let summaries = ids
            .iter()
            .filter_map(|id| self.written.get(id).copied())
            .collect::<Vec<_>>();
        let entries = ids
            .iter()
            .filter_map(|id| self.by_id.get(id).copied())
            .collect::<Vec<_>>();
        for at in entries {
            self.entries[at].is_gone = true;
        }
        for number in summaries {
            let (before, undone) = (self.compactions[number].place, number);
            self.entries
                .iter_mut()
                .filter(|entry| entry.place < before)
                .for_each(|entry| entry.is_gone = true);
            self.undone.extend(0..=undone);
        }
    }

    fn compact(
        &mut self,
        place: Place,
        list: &[Value],
        stamp: &Value,
        recorder: &mut Recorder,
    ) -> Result<(), ImportError> {
        let number = self.compactions.len();
        let mut context = Vec::new();
        for row in list {
            let id = row["id"].as_str().unwrap_or_default();
            match self.by_id.get(id) {
                Some(at) if is_context(&self.entries[*at].row) => {}
                Some(at) => context.push(Left::Kept(self.entries[*at].place)),
                None if id.ends_with("_response") && self.is_known(id) => {}
                None => {
                    self.written.insert(id.to_owned(), number);
                    context.push(left_by(place, row, recorder)?);
                }
            }
        }
        let at_ms = json_lines::at_ms(stamp, place, recorder)?;
        self.compactions.push(Compaction {
            at_ms,
            context,
            ..Compaction::at(place)
        });
        Ok(())
    }
}

fn left_by(place: Place, row: &Value, recorder: &mut Recorder) -> Result<Left, ImportError> {
    let role = if row["type"] == "gemini" {
        Role::Assistant
    } else {
        Role::User
    };
    let parts = google_parts::read(&row["content"], role, place, recorder)?;
    Ok(Left::Written(role, google_parts::texts(&parts.said)))
}
