//! Formats whose rows name speaker and kind in fields. A table says where each field is, as
//! pointers in the form of RFC 6901.

use compactometer_engine::message::{Part, Role, Usage};
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::importer::Importer;
use crate::import::input::Input;
use crate::import::place::Place;
use crate::import::readers::blocks::{media, misplaced};
use crate::import::readers::{json_lines, json_value};
use crate::import::report::Recorder;
use crate::import::session::{Compaction, Left, ReadSession, Spoken, unreadable};

/// Where the fields of a format are.
pub(in crate::import) struct FieldTable {
    /// The lists of rows; the empty pointer is the file itself.
    pub(in crate::import) rows: &'static [&'static str],
    /// Who says a row.
    pub(in crate::import) role: &'static str,
    pub(in crate::import) roles: &'static [(&'static str, Role)],
    /// A text or a list of blocks: the first that a row has. The empty pointer makes the row a
    /// block.
    pub(in crate::import) content: &'static [&'static str],
    /// What kind of block it is.
    pub(in crate::import) kind: &'static str,
    /// Kinds of blocks; one that ends with `*` is the beginning of kinds.
    pub(in crate::import) blocks: &'static [(&'static str, TableBlock)],
    /// The time of a row.
    pub(in crate::import) at: &'static str,
    pub(in crate::import) usage: fn(&Value) -> Option<Usage>,
    /// Whether rows of one speaker that follow each other are one message.
    pub(in crate::import) joins: bool,
}

/// What a kind of block is. Of several pointers, the first that leads to a value counts.
pub(in crate::import) enum TableBlock {
    Text(&'static [&'static str]),
    /// Words of another speaker than the row's.
    TextOf(Role, &'static [&'static str]),
    Thinking(&'static [&'static str]),
    Call(CallFields),
    Result(ResultFields),
    /// A call with its result.
    Done(CallFields, ResultFields),
    /// A type and bytes or a link.
    Media(&'static str, &'static [&'static str]),
    /// A message among blocks: its speaker and its content.
    Message(&'static str, &'static str),
    /// The place of a compaction, and its summary if it can be read.
    Compaction(&'static [&'static str]),
    /// What has no words.
    Aside,
}

/// The id, the name and the arguments of a call. The name `*` is the end of the kind, and a name
/// that is no pointer is meant literally.
pub(in crate::import) struct CallFields(
    pub(in crate::import) &'static str,
    pub(in crate::import) &'static str,
    pub(in crate::import) &'static [&'static str],
);

/// The id of the call, the text, and whether the call failed.
pub(in crate::import) struct ResultFields(
    pub(in crate::import) &'static str,
    pub(in crate::import) &'static [&'static str],
    pub(in crate::import) fn(&Value) -> bool,
);

/// What was read of a file by its table.
pub(in crate::import) struct ReadByTable<'t, 'r> {
    pub(in crate::import) table: &'t FieldTable,
    pub(in crate::import) recorder: &'r mut Recorder,
    pub(in crate::import) messages: Vec<Spoken>,
    pub(in crate::import) compactions: Vec<Compaction>,
}

/// The rows of a file with their places: those of its lists, or its lines.
pub(in crate::import) fn rows(
    input: &Input,
    about: &str,
    lists: &[&str],
    recorder: &mut Recorder,
) -> Result<Vec<(Place, Value)>, ImportError> {
    if !is_json(&input.text) && input.lines().nth(1).is_some() {
        return json_lines::read(input, recorder);
    }
    let value = json_value::read(input, about, recorder)?;
    Ok((1..)
        .map(Place::Element)
        .zip(listed(&value, lists))
        .collect())
}

/// The rows of a file that names all these keys, for recognising its format. Of lines, the first.
pub(in crate::import) fn beginning(text: &str, keys: &[&str], lists: &[&str]) -> Vec<Value> {
    if !keys.iter().all(|key| text.contains(&format!("\"{key}\""))) {
        return Vec::new();
    }
    let whole = ['[', '{']
        .iter()
        .find_map(|bracket| json_value::with_keys(text, *bracket, keys));
    match whole {
        Some(value) => listed(&value, lists),
        None => json_lines::beginning(text).collect(),
    }
}

/// The one session of a file whose format is a table.
pub(in crate::import) fn session(
    importer: &Importer,
    table: &FieldTable,
    input: &Input,
    recorder: &mut Recorder,
) -> Result<Vec<ReadSession>, ImportError> {
    let mut read = ReadByTable::new(table, recorder);
    for (place, row) in rows(input, importer.about, table.rows, read.recorder)? {
        read.row(place, &row)?;
    }
    Ok(vec![ReadSession {
        messages: read.messages,
        compactions: read.compactions,
        ..ReadSession::new(input, importer.name, &input.stem)
    }])
}

fn listed(value: &Value, lists: &[&str]) -> Vec<Value> {
    let lists = lists
        .iter()
        .filter_map(|list| value.pointer(list)?.as_array());
    lists.flatten().cloned().collect()
}

impl<'t, 'r> ReadByTable<'t, 'r> {
    pub(in crate::import) fn new(table: &'t FieldTable, recorder: &'r mut Recorder) -> Self {
        ReadByTable {
            table,
            recorder,
            messages: Vec::new(),
            compactions: Vec::new(),
        }
    }

    /// Reads a row.
    pub(in crate::import) fn row(&mut self, place: Place, row: &Value) -> Result<(), ImportError> {
        let at_ms = match row.pointer(self.table.at) {
            Some(stamp) => json_lines::at_ms(stamp, place, self.recorder)?,
            None => None,
        };
        let role = self.role(row.pointer(self.table.role));
        let content = first_value(row, self.table.content)
            .cloned()
            .unwrap_or_default();
        let mut said = Vec::new();
        self.content(place, role, &content, &mut said)?;
        // Results of calls come before what a user says beside them.
        if role == Some(Role::User) {
            said.sort_by_key(|(role, _)| *role != Role::Tool);
        }
        for (role, part) in said {
            self.say(place, at_ms, role, part);
        }
        let usage = (self.table.usage)(row);
        if let Some(last) = self.messages.last_mut()
            && last.role == Role::Assistant
            && usage.is_some()
        {
            last.usage = usage;
        }
        Ok(())
    }

    /// Adds a part to the last message, if it is of the same speaker and the same row.
    pub(in crate::import) fn say(
        &mut self,
        place: Place,
        at_ms: Option<i64>,
        role: Role,
        part: Part,
    ) {
        let joins = self.table.joins && role != Role::User;
        let is_cut = self.compactions.last().map(|compaction| compaction.place);
        let fits = |last: &&mut Spoken| {
            last.role == role && (last.place == place || joins && is_cut < Some(last.place))
        };
        match self.messages.last_mut().filter(fits) {
            Some(last) => last.parts.push(part),
            None => self.messages.push(Spoken {
                place,
                role,
                at_ms,
                parts: vec![part],
                usage: None,
            }),
        }
    }

    fn role(&self, name: Option<&Value>) -> Option<Role> {
        let name = name?.as_str()?;
        let mut roles = self.table.roles.iter();
        roles
            .find(|(known, _)| *known == name)
            .map(|(_, role)| *role)
    }

    fn content(
        &mut self,
        place: Place,
        role: Option<Role>,
        content: &Value,
        said: &mut Vec<(Role, Part)>,
    ) -> Result<(), ImportError> {
        match content {
            Value::Null => Ok(()),
            Value::Array(blocks) => blocks
                .iter()
                .try_for_each(|block| self.block(place, role, block, said)),
            block @ Value::Object(_) => self.block(place, role, block, said),
            text => self.words(place, role, words(text), said),
        }
    }

    /// Adds words, or reports that nobody known says them.
    fn words(
        &mut self,
        place: Place,
        role: Option<Role>,
        text: String,
        said: &mut Vec<(Role, Part)>,
    ) -> Result<(), ImportError> {
        match role {
            Some(role) => said.push((role, Part::Text { text })),
            None => self
                .recorder
                .repair(place, "message whose role is not known: dropped".to_owned())?,
        }
        Ok(())
    }

    fn block(
        &mut self,
        place: Place,
        role: Option<Role>,
        block: &Value,
        said: &mut Vec<(Role, Part)>,
    ) -> Result<(), ImportError> {
        if block.is_string() {
            return self.words(place, role, words(block), said);
        }
        let kind = block.pointer(self.table.kind).and_then(Value::as_str);
        let kind = kind.unwrap_or("untyped");
        let Some((name, known)) = self.known(kind) else {
            let what = format!("block of type `{kind}`, which is not known: dropped");
            return self.recorder.repair(place, what);
        };
        let rest = kind.strip_prefix(name.trim_end_matches('*')).unwrap_or("");
        match known {
            TableBlock::Aside => self.recorder.ignore(kind),
            TableBlock::Text(at) | TableBlock::TextOf(_, at) | TableBlock::Thinking(at)
                if first_value(block, at).is_none() =>
            {
                self.recorder
                    .ignore(&format!("block `{kind}` without words"));
            }
            TableBlock::Text(at) => self.words(place, role, at_first(block, at), said)?,
            TableBlock::TextOf(role, at) => {
                self.words(place, Some(*role), at_first(block, at), said)?
            }
            TableBlock::Message(role, content) => {
                let role = self.role(block.pointer(role));
                let content = block.pointer(content).unwrap_or(&Value::Null);
                self.content(place, role, content, said)?;
            }
            TableBlock::Compaction(summary) => self.compaction(place, &at_first(block, summary)),
            TableBlock::Thinking(_) | TableBlock::Call(_) if matches!(role, Some(Role::User)) => {
                self.recorder.repair(place, misplaced(kind, Role::User))?;
            }
            TableBlock::Thinking(at) => said.push((Role::Assistant, thinking(at_first(block, at)))),
            TableBlock::Call(fields) => said.push((Role::Assistant, fields.part(block, rest))),
            TableBlock::Result(fields) => said.push(fields.part(block, role)),
            TableBlock::Done(call, answer) => {
                said.push((Role::Assistant, call.part(block, rest)));
                // A call that is not finished has none.
                if first_value(block, answer.1).is_some() {
                    said.push((Role::Tool, answer.result(block)));
                }
            }
            TableBlock::Media(kind, data) => {
                let kind = block.pointer(kind).unwrap_or(&Value::Null);
                let data = first_value(block, data).unwrap_or(&Value::Null);
                let is_encoded = data.as_str().is_some_and(|data| !data.contains(':'));
                said.push((role.unwrap_or(Role::User), media(kind, data, is_encoded)));
            }
        }
        Ok(())
    }

    fn known(&self, kind: &str) -> Option<(&'static str, &'t TableBlock)> {
        let is = |name: &str| match name.strip_suffix('*') {
            Some(start) => kind.starts_with(start),
            None => kind == name,
        };
        let mut blocks = self.table.blocks.iter();
        blocks
            .find(|(name, _)| is(name))
            .map(|(name, block)| (*name, block))
    }

    /// A compaction at a place: what was said before it is gone.
    fn compaction(&mut self, place: Place, summary: &str) {
        self.compactions.push(Compaction {
            unmeasured: unreadable(summary),
            context: vec![Left::Written(Role::Assistant, summary.to_owned())],
            ..Compaction::at(place)
        });
    }
}

impl CallFields {
    fn part(&self, block: &Value, rest: &str) -> Part {
        let CallFields(id, name, arguments) = self;
        let name = match (*name, block.pointer(name)) {
            ("*", _) => rest.to_owned(),
            (_, Some(name)) => words(name),
            (name, None) => name.trim_start_matches('/').to_owned(),
        };
        Part::ToolCall {
            id: at_first(block, &[id]),
            name,
            arguments: self::arguments(block, arguments),
        }
    }
}

impl ResultFields {
    /// The result; words of the row's speaker if it names no call.
    fn part(&self, block: &Value, role: Option<Role>) -> (Role, Part) {
        let text = at_first(block, self.1);
        match block.pointer(self.0).is_some_and(Value::is_string) {
            true => (Role::Tool, self.result(block)),
            false => (role.unwrap_or(Role::User), Part::Text { text }),
        }
    }

    fn result(&self, block: &Value) -> Part {
        let ResultFields(id, text, is_error) = self;
        Part::ToolResult {
            call_id: at_first(block, &[id]),
            text: at_first(block, text),
            is_error: is_error(block),
        }
    }
}

fn thinking(text: String) -> Part {
    Part::Thinking {
        text,
        signature: None,
    }
}

fn first_value<'v>(value: &'v Value, pointers: &[&str]) -> Option<&'v Value> {
    let mut values = pointers.iter().filter_map(|at| value.pointer(at));
    values.find(|found| !found.is_null())
}

fn at_first(value: &Value, pointers: &[&str]) -> String {
    first_value(value, pointers).map(words).unwrap_or_default()
}

/// The arguments of a call as JSON: a text that is JSON as it is, another text under the name of its
/// field.
fn arguments(block: &Value, pointers: &[&str]) -> String {
    let mut fields = pointers.iter().map(|at| (*at, first_value(block, &[at])));
    match fields.find_map(|(at, value)| Some((at, value?))) {
        Some((at, value)) => as_arguments(at.rsplit('/').next().unwrap_or_default(), value),
        None => "{}".to_owned(),
    }
}

/// Arguments as JSON. A text that is none is the argument of that name.
pub(in crate::import) fn as_arguments(name: &str, value: &Value) -> String {
    match value {
        Value::String(text) if is_json(text) => text.clone(),
        Value::String(text) => serde_json::json!({ name: text }).to_string(),
        value => value.to_string(),
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// A value as text: a string as it is, the texts of a list one a line, anything else as JSON.
pub(in crate::import) fn words(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(words).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => {
            let texts = ["text", "value", "content", "content_items"];
            let text = texts.iter().find_map(|key| fields.get(*key));
            match text.filter(|text| !text.is_number() && !text.is_boolean()) {
                Some(text) => words(text),
                None => value.to_string(),
            }
        }
        other => other.to_string(),
    }
}
