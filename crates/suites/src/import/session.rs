//! The output of an importer: sessions whose messages still have their place in the file.

use std::collections::{BTreeSet, HashSet};

use compactometer_engine::message::{MessageId, Part, Role, Usage};
use compactometer_formats::scenario::{ClearedResults, LogNotes, ModelFrom, Unmeasured};
use compactometer_formats::suite::MOST_REPORTED_TOKENS;

use serde_json::Value;

use super::input::Input;
use super::place::Place;

/// One conversation as it was read.
#[derive(Clone, Debug)]
pub(super) struct ReadSession {
    /// The file's name, as repairs show it.
    pub(super) file: String,
    /// The scenario's source.
    pub(super) source: String,
    /// The group that it shares with other sessions, which is the unit of statistics.
    pub(super) group: String,
    /// The directories of the projects that it belongs to.
    pub(super) projects: BTreeSet<String>,
    /// The directories that its program worked in, in the order of their first use.
    pub(super) directories: Vec<String>,
    /// The version of the program that wrote the file.
    pub(super) version: Option<String>,
    /// Whether its first row follows one that the file does not have.
    pub(super) starts_inside: bool,
    /// The scenario's id, or the part of it before a number.
    pub(super) stem: String,
    /// Whether a number is always appended to the stem.
    pub(super) numbered: bool,
    /// Rank within the group.
    pub(super) order: u64,
    /// The compactions that the recorded program made, in the order of the file.
    pub(super) compactions: Vec<Compaction>,
    /// What the log says beside the chat.
    pub(super) notes: Notes,
    /// The questions about it that the file has.
    pub(super) questions: Vec<ImportedQuestion>,
    /// The messages.
    pub(super) messages: Vec<Spoken>,
}

/// What a log says beside the chat, by places of the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    /// Rows of role user that no person wrote.
    pub(super) by_program: Vec<Place>,
    /// The models that answered, each from a place on.
    pub(super) models: Vec<(Place, String)>,
    /// Where results of tools were taken out of the context.
    pub(super) cleared: Vec<Cleared>,
    /// Messages behind compactions that the conversation left behind.
    pub(super) left_behind: usize,
}

/// Results of tools that were taken out of the context.
#[derive(Clone, Debug)]
pub(super) struct Cleared {
    /// Where; messages with an earlier place come before it.
    pub(super) place: Place,
    /// How many.
    pub(super) results: usize,
    /// The ids of their calls, as far as the log names them.
    pub(super) calls: Vec<String>,
}

impl Notes {
    /// The notes of a log whose rows name the model that answered.
    pub(super) fn of_models<'r>(rows: impl Iterator<Item = (Place, &'r Value)>) -> Self {
        let mut notes = Notes::default();
        rows.for_each(|(place, model)| notes.answered(place, model.as_str()));
        notes
    }

    /// Notes that a model wrote what is at a place.
    pub(super) fn answered(&mut self, place: Place, model: Option<&str>) {
        if let Some(model) = model
            && self.models.last().is_none_or(|(_, last)| last != model)
        {
            self.models.push((place, model.to_owned()));
        }
    }

    /// The same by the messages that were read, which have the ids 1, 2 and so on.
    pub(super) fn of_messages(&self, messages: &[Spoken]) -> LogNotes {
        let id = |index: usize| MessageId(index as u32 + 1);
        let from = |place: Place| messages.iter().position(|said| said.place >= place).map(id);
        let places = self.by_program.iter().collect::<HashSet<_>>();
        let is_by_program = |said: &Spoken| said.role == Role::User && places.contains(&said.place);
        let by_program = (0..).zip(messages).filter(|(_, said)| is_by_program(said));
        let models = self.models.iter().filter_map(|(place, model)| {
            Some(ModelFrom {
                from: from(*place)?,
                model: model.clone(),
            })
        });
        let cleared = self.cleared.iter().map(|cleared| {
            let is_before = |said: &&Spoken| said.place < cleared.place;
            ClearedResults {
                after: MessageId(messages.iter().take_while(is_before).count() as u32),
                results: cleared.results,
                calls: cleared.calls.clone(),
            }
        });
        LogNotes {
            by_program: by_program.map(|(index, _)| id(index)).collect(),
            models: models.collect(),
            cleared: cleared.collect(),
            left_behind: self.left_behind,
        }
    }
}

/// Why a compaction with that summary cannot be measured.
pub(super) fn unreadable(summary: &str) -> Option<Unmeasured> {
    summary
        .trim()
        .is_empty()
        .then_some(Unmeasured::UnreadableSummary)
}

/// A compaction that the recorded program made.
#[derive(Clone, Debug)]
pub(super) struct Compaction {
    /// Its place in the file. Messages with an earlier place come before it.
    pub(super) place: Place,
    pub(super) at_ms: Option<i64>,
    /// What started it, in the program's own word.
    pub(super) trigger: Option<String>,
    /// Tokens of the request before it, as the program reported them.
    pub(super) reported_tokens: Option<u64>,
    /// What the provider reported for the call that wrote it.
    pub(super) usage: Option<Usage>,
    /// Milliseconds that it took, as the program reported them.
    pub(super) took_ms: Option<u64>,
    /// The version of the program then, if it is not the session's.
    pub(super) version: Option<String>,
    /// The extension or hook that wrote it in place of the program.
    pub(super) compactor: Option<String>,
    /// Whether the log shows that nothing took the place of the messages before it.
    pub(super) left_nothing: bool,
    /// Why it cannot be measured, as far as its format knows.
    pub(super) unmeasured: Option<Unmeasured>,
    /// What the next request began with after the system prompt, in order.
    pub(super) context: Vec<Left>,
}

impl Compaction {
    /// One that cannot be measured.
    pub(super) fn unmeasured(place: Place, reason: Unmeasured) -> Self {
        Compaction {
            unmeasured: Some(reason),
            ..Compaction::at(place)
        }
    }

    /// A compaction of which only the place is known.
    pub(super) fn at(place: Place) -> Self {
        Compaction {
            place,
            at_ms: None,
            trigger: None,
            reported_tokens: None,
            usage: None,
            took_ms: None,
            version: None,
            compactor: None,
            left_nothing: false,
            unmeasured: None,
            context: Vec::new(),
        }
    }
}

/// A message that a recorded compaction left.
#[derive(Clone, Debug)]
pub(super) enum Left {
    /// The message that was read at that place, whole.
    Kept(Place),
    /// A message that the program wrote.
    Written(Role, String),
}

/// A question that the file has about the conversation.
#[derive(Clone, Debug)]
pub(super) struct ImportedQuestion {
    pub(super) text: String,
    /// The right answer.
    pub(super) gold: Option<String>,
    /// Answers that are wrong in a way that matters.
    pub(super) forbidden: Vec<String>,
    /// Whether the right answer is that it is not known.
    pub(super) abstains: bool,
    /// The places of the messages that it can be answered from.
    pub(super) evidence: Vec<Place>,
}

impl ImportedQuestion {
    /// Its texts, which may contain what the conversation contains.
    pub(super) fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        std::iter::once(&mut self.text)
            .chain(&mut self.gold)
            .chain(&mut self.forbidden)
    }
}

impl ReadSession {
    /// An empty session of a file, which is its own group.
    pub(super) fn new(input: &Input, format: &str, group: impl Into<String>) -> Self {
        let group = group.into();
        ReadSession {
            file: input.file.clone(),
            source: format!("{format}: {}", input.name),
            group: group.clone(),
            projects: BTreeSet::new(),
            directories: Vec::new(),
            version: None,
            starts_inside: false,
            stem: group,
            numbered: false,
            order: 0,
            compactions: Vec::new(),
            notes: Notes::default(),
            questions: Vec::new(),
            messages: Vec::new(),
        }
    }

    /// The session with control characters in its names escaped, since names reach terminals and
    /// file names. `stem` names what the file leaves without a name.
    pub(super) fn with_plain_names(self, stem: &str) -> Self {
        let escaped = |letter: char| match letter.is_control() {
            true => letter.escape_default().collect(),
            false => letter.to_string(),
        };
        let plain = |name: String| name.chars().map(escaped).collect();
        let named = |name: String| {
            plain(if name.trim().is_empty() {
                stem.to_owned()
            } else {
                name
            })
        };
        ReadSession {
            source: plain(self.source),
            group: named(self.group),
            stem: named(self.stem),
            ..self
        }
    }
}

/// One message as it was read. Results are in messages of role [`Role::Tool`]; a result without a
/// call's id has an empty id.
#[derive(Clone, Debug)]
pub(super) struct Spoken {
    pub(super) place: Place,
    pub(super) role: Role,
    pub(super) at_ms: Option<i64>,
    pub(super) parts: Vec<Part>,
    pub(super) usage: Option<Usage>,
}

/// What a provider reported, or `None` if all counts are zero, as in messages that a program made
/// itself, or one is impossible.
pub(super) fn reported(usage: Usage) -> Option<Usage> {
    let is_possible = usage.total_input().max(usage.output) <= MOST_REPORTED_TOKENS;
    (usage != Usage::default() && is_possible).then_some(usage)
}

/// The type of a JSON value, for error messages.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
