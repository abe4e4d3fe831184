//! Writes the requested JSON object: each statement under the key that fits best, with names
//! extracted into lists of names. Nothing is invented. What the material does not support is left
//! empty, or omitted if the prompt asks for that.

use compactometer_engine::tokens::TokenCounter;
use serde_json::{Map, Value};

use crate::reading::cues::{Cue, Cues, is_subject, split_name};
use crate::reading::json_shape::{ShapeField, ShapeNode};
use crate::reading::pieces::Voice;
use crate::reading::statements::Statement;
use crate::reading::terms::number;
use crate::reading::terms::{ReadTerm, stem, terms};
use crate::writing::{ChosenStatement, Room, WritingSource, choose};

/// The object as one line of JSON within the room.
pub(crate) fn write(
    source: &WritingSource<'_, '_>,
    node: &ShapeNode,
    omit_empty: bool,
    room: Room,
) -> String {
    let slots = slots(node);
    let mut left = room;
    left.tokens = left.tokens.saturating_sub(source.counts.count_text(&render(
        source,
        node,
        &slots,
        &[],
        omit_empty,
    )));
    let mut taken = vec![false; slots.len()];
    let mut chosen = choose(source, &mut left, |statement, text| {
        let at = best_slot(statement, &slots, &taken)?;
        taken[at] |= slots[at].takes_one();
        Some((at, text.to_owned()))
    });
    // Quotes, keys and names cost more than the texts, so the least valuable statements are removed
    // until everything fits.
    loop {
        let json = render(source, node, &slots, &chosen, omit_empty);
        let excess = source.counts.count_text(&json).saturating_sub(room.tokens);
        if chosen.is_empty() || excess == 0 {
            return json;
        }
        // A text and its key have at most about 40 tokens; the last statements are removed one by
        // one.
        chosen.truncate(chosen.len().saturating_sub(1 + excess as usize / 40));
    }
}

/// A place for texts: a leaf of the shape.
struct JsonSlot {
    cues: Cues,
    kind: SlotKind,
}

#[derive(Clone, Debug, PartialEq)]
enum SlotKind {
    Text,
    Texts,
    Map,
    /// A list of objects, with the keys that hold texts.
    Records(Vec<String>),
    /// A list of names of this kind, given as a stem.
    Names(String),
    /// A shape into which nothing is written.
    Closed,
}

impl JsonSlot {
    /// Whether it takes goals, decisions, preferences or constraints.
    fn is_of_people(&self) -> bool {
        let cues = [Cue::Goal, Cue::Decision, Cue::Preference, Cue::Constraint];
        cues.iter().any(|cue| self.cues.is_mostly(*cue))
    }

    /// Whether one statement fills it.
    fn takes_one(&self) -> bool {
        self.kind == SlotKind::Text
            || self.cues.is_mostly(Cue::Goal) && self.kind == SlotKind::Texts
    }
}

/// The slots of a shape, in the order in which [`build`] visits them.
fn slots(node: &ShapeNode) -> Vec<JsonSlot> {
    let mut slots = Vec::new();
    collect(node, "", "", &Cues::default(), &mut slots);
    slots
}

fn collect(node: &ShapeNode, key: &str, note: &str, outer: &Cues, slots: &mut Vec<JsonSlot>) {
    let cues = Cues::of_place(key, note, outer);
    let kind = match node {
        ShapeNode::Object(fields) => {
            return fields
                .iter()
                .for_each(|field| collect(&field.node, &field.key, &field.note, &cues, slots));
        }
        ShapeNode::Map => SlotKind::Map,
        ShapeNode::Text => SlotKind::Text,
        ShapeNode::List(inner) => match &**inner {
            ShapeNode::Text if cues.is_mostly(Cue::Reference) => SlotKind::Names(noun(key)),
            ShapeNode::Text => SlotKind::Texts,
            ShapeNode::Object(fields) => SlotKind::Records(text_keys(fields)),
            ShapeNode::Map | ShapeNode::List(_) => SlotKind::Closed,
        },
    };
    slots.push(JsonSlot { cues, kind });
}

fn text_keys(fields: &[ShapeField]) -> Vec<String> {
    fields
        .iter()
        .filter(|field| field.node == ShapeNode::Text)
        .map(|field| field.key.clone())
        .collect()
}

/// The kind of names in a list: the last word of its key.
fn noun(key: &str) -> String {
    let words = terms(key);
    words
        .iter()
        .flat_map(split_name)
        .last()
        .map(|word| stem(word).into_owned())
        .unwrap_or_default()
}

/// The least fit of a statement with a place for it. A field says what it wants, so one word that its
/// description shares with a statement is chance.
const LEAST_FIT: f64 = 0.6;

/// The open slot that fits a statement best. A binding statement may also go under a general key. A goal
/// is what a user says, and what tools say is no decision or wish of anybody.
fn best_slot(statement: &Statement<'_>, slots: &[JsonSlot], taken: &[bool]) -> Option<usize> {
    let is_tool = matches!(statement.piece.speaker, Voice::Tool | Voice::Call);
    let is_agents = statement.piece.speaker == Voice::Assistant;
    let is_open = |at: &usize| match &slots[*at].kind {
        SlotKind::Closed => false,
        SlotKind::Names(noun) => names(statement, noun).next().is_some(),
        // A file goes nowhere but into a place for files.
        _ if statement.touch.is_some() => false,
        _ if is_tool && slots[*at].is_of_people() => false,
        _ if is_agents && slots[*at].cues.is_mostly(Cue::Goal) => false,
        SlotKind::Records(keys) => !keys.is_empty(),
        _ => !taken[*at],
    };
    let best = |cues: &Cues, is_place: &dyn Fn(&usize) -> bool| {
        let places = (0..slots.len()).rev().filter(is_place);
        let fits = places.map(|at| (cues.fit(&slots[at].cues), at));
        fits.max_by(|one, other| one.0.total_cmp(&other.0))
    };
    // The only place takes all.
    if slots.len() == 1 && !matches!(slots[0].kind, SlotKind::Names(_)) {
        return is_open(&0).then_some(0);
    }
    let fitting = best(&statement.cues, &is_open);
    if let Some((_, at)) = fitting.filter(|(fit, _)| *fit >= LEAST_FIT || statement.touch.is_some())
    {
        return Some(at);
    }
    let binds = [Cue::Decision, Cue::Preference, Cue::Constraint];
    let is_binding = binds.iter().any(|cue| statement.cues.get(*cue) > 0.0);
    let is_general =
        |at: &usize| is_open(at) && matches!(slots[*at].kind, SlotKind::Map | SlotKind::Texts);
    best(&Cues::general(), &is_general)
        .filter(|_| is_binding && !statement.piece.structured)
        .map(|(_, at)| at)
}

/// The names of a kind in a statement: paths, or the values next to the kind's word.
fn names<'m>(statement: &Statement<'m>, noun: &str) -> impl Iterator<Item = &'m str> {
    let (words, noun_number) = (&statement.piece.words, number(noun));
    let beside = move |at: usize| {
        let near = &words[at.saturating_sub(2)..words.len().min(at + 3)];
        near.iter().any(|word| word.stem == noun_number)
    };
    let is_files = ["fil", "path", "document", "script"].contains(&noun);
    let is_name = move |at: usize, term: &ReadTerm<'_>| {
        if is_files {
            term.is_path()
        } else {
            term.is_value() && beside(at) && !term.is_path()
        }
    };
    statement
        .terms()
        .enumerate()
        .filter(move |(at, term)| is_name(*at, term))
        .map(|(_, term)| term.text)
}

fn render(
    source: &WritingSource<'_, '_>,
    node: &ShapeNode,
    slots: &[JsonSlot],
    chosen: &[ChosenStatement<usize>],
    omit_empty: bool,
) -> String {
    let mut written: Vec<_> = chosen
        .iter()
        .map(|chosen| (chosen, &source.statements[chosen.index]))
        .collect();
    written.sort_by_key(|(chosen, _)| chosen.index);
    let mut builder = JsonBuilder {
        slots,
        written: &written,
        omit_empty,
        next: 0,
    };
    let value = builder.build(node).unwrap_or(Value::Object(Map::new()));
    // The keys are strings, so serialization cannot fail.
    serde_json::to_string(&value).unwrap_or_default()
}

struct JsonBuilder<'b> {
    slots: &'b [JsonSlot],
    /// The statements with what is written of them, in the order of the material.
    written: &'b [(&'b ChosenStatement<usize>, &'b Statement<'b>)],
    omit_empty: bool,
    next: usize,
}

impl<'b> JsonBuilder<'b> {
    /// The value of a node, or `None` if it is empty and may be omitted.
    fn build(&mut self, node: &ShapeNode) -> Option<Value> {
        let ShapeNode::Object(fields) = node else {
            return self.leaf();
        };
        let mut object = Map::new();
        for field in fields {
            if let Some(value) = self.build(&field.node) {
                object.insert(field.key.clone(), value);
            }
        }
        (!object.is_empty() || !self.omit_empty).then_some(Value::Object(object))
    }

    fn leaf(&mut self) -> Option<Value> {
        let at = self.next;
        self.next += 1;
        let kind = &self.slots[at].kind;
        let texts = || self.at(at).map(|(chosen, _)| chosen.line.as_str());
        let value = match kind {
            SlotKind::Text => Value::from(texts().next().unwrap_or_default()),
            SlotKind::Texts => texts().map(Value::from).collect(),
            SlotKind::Records(keys) => texts()
                .map(|text| record(keys, text, self.omit_empty))
                .collect(),
            SlotKind::Map => Value::Object(self.map(at)),
            SlotKind::Names(noun) => self.names(noun),
            SlotKind::Closed => Value::Array(Vec::new()),
        };
        let is_empty = match &value {
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(fields) => fields.is_empty(),
            _ => false,
        };
        (!is_empty || !self.omit_empty).then_some(value)
    }

    /// The statements written at a place.
    fn at(
        &self,
        place: usize,
    ) -> impl Iterator<Item = &'b (&'b ChosenStatement<usize>, &'b Statement<'b>)> {
        self.written
            .iter()
            .filter(move |(chosen, _)| chosen.place == place)
    }

    /// Texts by topic. A repeated topic gets a number.
    fn map(&self, at: usize) -> Map<String, Value> {
        let mut map = Map::new();
        for (chosen, statement) in self.at(at) {
            let topic = topic(statement);
            let free = |number: &usize| !map.contains_key(&numbered(&topic, *number));
            let number = (1..).find(free).unwrap_or(1);
            map.insert(numbered(&topic, number), Value::from(chosen.line.as_str()));
        }
        map
    }

    /// The distinct names of a kind in all that is written.
    fn names(&self, noun: &str) -> Value {
        let mut found: Vec<&str> = Vec::new();
        for name in self
            .written
            .iter()
            .flat_map(|(_, statement)| names(statement, noun))
        {
            if !found.contains(&name) {
                found.push(name);
            }
        }
        found.into_iter().map(Value::from).collect()
    }
}

fn numbered(topic: &str, number: usize) -> String {
    if number == 1 {
        topic.to_owned()
    } else {
        format!("{topic}_{number}")
    }
}

/// The topic of a statement: its first two content words.
fn topic(statement: &Statement<'_>) -> String {
    let is_word = |text: &str| text.chars().all(char::is_alphabetic);
    let subjects = statement
        .terms()
        .filter(|term| is_word(term.text) && is_subject(&stem(term.text)));
    let subjects = subjects.map(|term| term.text.to_lowercase());
    let topic = subjects.take(2).collect::<Vec<_>>().join("_");
    if topic.is_empty() {
        "note".to_owned()
    } else {
        topic
    }
}

/// An object whose first key has the statement's first clause and whose second key has the rest.
fn record(keys: &[String], text: &str, omit_empty: bool) -> Value {
    let joints = [" because ", "; ", " - ", " — ", ", so ", ", "];
    let split = joints
        .iter()
        .find_map(|joint| text.split_once(joint))
        .filter(|_| keys.len() > 1);
    let (head, tail) = split.unwrap_or((text, ""));
    let mut object = Map::new();
    for (key, value) in keys
        .iter()
        .zip([head, tail].into_iter().chain(std::iter::repeat("")))
    {
        if !value.is_empty() || !omit_empty {
            object.insert(key.clone(), Value::from(value));
        }
    }
    Value::Object(object)
}
