//! Rows of any program, by a map that the user gives: which field is the speaker, the text, a call
//! and its result.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use compactometer_engine::message::{Part, Role};
use serde_json::Value;

use super::error::ImportError;
use super::importer::Importer;
use super::input::Input;
use super::place::Place;
use super::readers::{json_lines, tabled};
use super::report::Recorder;
use super::session::{Compaction, Left, ReadSession, Spoken, unreadable};

const ABOUT: &str = "one JSON object a line, or a list of objects";

/// The format of files that are read by a map.
pub const MAPPED: Importer = Importer {
    name: "mapped",
    about: ABOUT,
    source: "any program, by `import --map`",
    compactions: "A row with the field that `summary` names.",
    particulars: "Rows are read in the order of the file.",
    sessions: None,
    reattaches: None,
    by_line: false,
    recognises: |_| true,
    read: |_, _| Err(ImportError::Other("this format needs a map".to_owned())),
};

/// What a map may name, and what it is.
const KEYS: [(&str, &str); 8] = [
    ("role", "who speaks: user, assistant, system or tool"),
    ("text", "what is said"),
    ("call", "the name of the tool that is called"),
    ("arguments", "the arguments of the call"),
    ("result", "what the tool returned"),
    ("id", "the call that a result belongs to"),
    ("time", "when, in the format of RFC 3339 or in milliseconds"),
    (
        "summary",
        "the summary of a compaction, which begins the next request",
    ),
];

/// Where the fields of a conversation are, each as a pointer in the form of RFC 6901.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map(BTreeMap<&'static str, String>);

impl FromStr for Map {
    type Err = String;

    /// Reads `role=speaker,text=body.text`: a name, and the field with a dot before each that is
    /// inside of another.
    fn from_str(text: &str) -> Result<Self, String> {
        let known = known();
        let mut fields = BTreeMap::new();
        for pair in text.split(',') {
            let (name, field) = pair.split_once('=').unwrap_or((pair, ""));
            let Some((key, _)) = KEYS.iter().find(|(key, _)| *key == name.trim()) else {
                return Err(format!(
                    "`{pair}` names nothing that is read; a map has:{known}"
                ));
            };
            let pointer = pointer(field.trim());
            if pointer.len() < 2 {
                return Err(format!(
                    "`{key}` needs a field, such as `{key}=message.{key}`"
                ));
            }
            if fields.insert(*key, pointer).is_some() {
                return Err(format!("`{key}` is named twice"));
            }
        }
        match fields.contains_key("role") && fields.contains_key("text") {
            true => Ok(Map(fields)),
            false => Err(format!(
                "a map needs `role` and `text`; it may have:{known}"
            )),
        }
    }
}

/// What a map may have, a line each.
fn known() -> String {
    KEYS.map(|(key, about)| format!("\n  {key}: {about}"))
        .concat()
}

fn pointer(field: &str) -> String {
    match field.starts_with('/') {
        true => field.to_owned(),
        false => format!(
            "/{}",
            field
                .replace('~', "~0")
                .replace('/', "~1")
                .replace('.', "/")
        ),
    }
}

impl Map {
    fn of<'v>(&self, row: &'v Value, key: &str) -> Option<&'v Value> {
        let found = row.pointer(self.0.get(key)?)?;
        Some(found).filter(|found| !found.is_null())
    }

    /// The conversation of a file.
    pub(super) fn read(
        &self,
        input: &Input,
        recorder: &mut Recorder,
    ) -> Result<Vec<ReadSession>, ImportError> {
        let rows = tabled::rows(input, ABOUT, &[""], recorder)?;
        self.are_there(input, &rows, recorder)?;
        let mut session = ReadSession::new(input, MAPPED.name, &input.stem);
        let mut last_call = String::new();
        for (place, row) in &rows {
            self.row(*place, row, &mut last_call, (&mut session, recorder))?;
        }
        Ok(vec![session])
    }

    /// Reports the fields of the map that no row has. Without speakers or texts nothing can be read.
    fn are_there(
        &self,
        input: &Input,
        rows: &[(Place, Value)],
        recorder: &mut Recorder,
    ) -> Result<(), ImportError> {
        let is_there = |key: &str| rows.iter().any(|(_, row)| self.of(row, key).is_some());
        for (key, absent) in self.0.iter().filter(|(key, _)| !is_there(key)) {
            let absent = absent[1..].replace('/', ".");
            let what = format!("no row has the field `{absent}` that `--map` names for `{key}`");
            if !matches!(*key, "role" | "text") {
                recorder.repair(Place::Line(1), what)?;
                continue;
            }
            let file = &input.file;
            return Err(ImportError::Other(format!(
                "`{file}`: {what}; rows have {}",
                fields(rows)
            )));
        }
        Ok(())
    }

    fn row(
        &self,
        place: Place,
        row: &Value,
        last_call: &mut String,
        (session, recorder): (&mut ReadSession, &mut Recorder),
    ) -> Result<(), ImportError> {
        let words = |key: &str| self.of(row, key).map(tabled::words);
        let at_ms = match self.of(row, "time") {
            Some(stamp) => json_lines::at_ms(stamp, place, recorder)?,
            None => None,
        };
        if let Some(summary) = words("summary") {
            session.compactions.push(compaction(place, at_ms, summary));
            return Ok(());
        }
        let mut said = Vec::new();
        if let Some(text) = words("text").filter(|text| !text.is_empty()) {
            match self.of(row, "role").and_then(Value::as_str).and_then(role) {
                Some(Role::Tool) if words("result").is_none() => {
                    said.push((Role::Tool, answer(words("id"), last_call, text)));
                }
                Some(role) => said.push((role, Part::Text { text })),
                None => {
                    let what = "message whose role is not known: dropped".to_owned();
                    recorder.repair(place, what)?;
                }
            }
        }
        if let Some(name) = words("call") {
            *last_call = words("id").unwrap_or_else(|| place.to_string());
            let given = self.of(row, "arguments");
            let arguments = given.map_or("{}".to_owned(), |given| {
                tabled::as_arguments("input", given)
            });
            said.push((
                Role::Assistant,
                Part::ToolCall {
                    id: last_call.clone(),
                    name,
                    arguments,
                },
            ));
        }
        if let Some(text) = words("result") {
            said.push((Role::Tool, answer(words("id"), last_call, text)));
        }
        for (role, part) in said {
            match session.messages.last_mut() {
                Some(last) if last.place == place && last.role == role => last.parts.push(part),
                _ => session.messages.push(Spoken {
                    place,
                    role,
                    at_ms,
                    parts: vec![part],
                    usage: None,
                }),
            }
        }
        Ok(())
    }
}

/// The fields of the first rows, at most twenty.
fn fields(rows: &[(Place, Value)]) -> String {
    let rows = rows.iter().take(1000);
    let fields = rows.filter_map(|(_, row)| row.as_object());
    let fields = fields.flat_map(|row| row.keys()).collect::<BTreeSet<_>>();
    let fields = fields.iter().take(20).map(|field| format!("`{field}`"));
    fields.collect::<Vec<_>>().join(", ")
}

fn compaction(place: Place, at_ms: Option<i64>, summary: String) -> Compaction {
    Compaction {
        at_ms,
        unmeasured: unreadable(&summary),
        context: vec![Left::Written(Role::User, summary)],
        ..Compaction::at(place)
    }
}

fn answer(id: Option<String>, last_call: &str, text: String) -> Part {
    Part::ToolResult {
        call_id: id.unwrap_or_else(|| last_call.to_owned()),
        text,
        is_error: false,
    }
}

/// The speaker by the usual names of it.
fn role(name: &str) -> Option<Role> {
    match name.to_ascii_lowercase().as_str() {
        "user" | "human" | "customer" | "person" => Some(Role::User),
        "assistant" | "ai" | "agent" | "bot" | "model" | "gpt" => Some(Role::Assistant),
        "system" | "developer" => Some(Role::System),
        "tool" | "function" | "observation" | "environment" => Some(Role::Tool),
        _ => None,
    }
}
