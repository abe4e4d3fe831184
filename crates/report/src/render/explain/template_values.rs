//! What pages show of a case, as values for their templates.

use compactometer_engine::message::{Message, Part, part_text};
use compactometer_formats::fate::Fate;
use compactometer_formats::record::answer::AnswerRow;
use compactometer_formats::record::{Observation, ObservationKind};
use compactometer_formats::scenario::Fact;
use plotters::style::RGBColor;
use serde_json::{Value, json};

use super::marked::{FactMarks, MarkedText};
use super::timeline::TimelineStep;
use super::{ExplainedChange, Story, left, memory_name, unread};
use crate::render::plots::{FATE_COLOURS, readable_on};
use crate::vocabulary::of_fate;

/// The page on which parts are shown: where its links lead, and how much of a text it has room for.
pub(in crate::render) struct PagePlace<'p> {
    /// The address of a message, by id.
    pub(in crate::render) message: &'p dyn Fn(u32) -> String,
    /// The address of a fact, by index.
    pub(in crate::render) fact: &'p dyn Fn(usize) -> String,
    /// The address of a decision, by the message before it.
    pub(in crate::render) step: &'p dyn Fn(u32) -> String,
    /// Bytes of HTML that the texts of one message, decision or answer may take; longer ones are
    /// cut.
    pub(in crate::render) room: usize,
    /// The same for one value, subject or question.
    pub(in crate::render) short: usize,
    /// Changes of one decision that are listed.
    pub(in crate::render) changes: usize,
}

/// Bytes of markup around a piece of text.
const MARKUP: usize = 48;

/// The lists of a case's page, each item in the order in which the page shows it.
pub(in crate::render) struct CaseLists {
    pub(in crate::render) lost: Vec<Value>,
    pub(in crate::render) facts: Vec<Value>,
    pub(in crate::render) steps: Vec<Value>,
    pub(in crate::render) answers: Vec<Value>,
}

impl CaseLists {
    pub(in crate::render) fn new(story: &Story<'_>, place: &PagePlace<'_>) -> Self {
        let marks = story.marks();
        CaseLists {
            lost: story
                .facts()
                .filter_map(|(index, fact)| lost(story, index, fact, place))
                .collect(),
            facts: story
                .facts()
                .map(|(index, fact)| fact_line(story, index, fact, place))
                .collect(),
            steps: story
                .timeline()
                .iter()
                .map(|decision| step(story, &marks, decision, place))
                .collect(),
            answers: story
                .record
                .answers
                .iter()
                .filter_map(|answer| told(story, &marks, answer, place))
                .collect(),
        }
    }

    pub(in crate::render) fn all(&self) -> impl Iterator<Item = &Value> {
        self.lost
            .iter()
            .chain(&self.facts)
            .chain(&self.steps)
            .chain(&self.answers)
    }
}

/// The number of facts that were said.
pub(in crate::render) fn stated(story: &Story<'_>) -> usize {
    let Some(last) = story.record.observations.last() else {
        return 0;
    };
    story
        .facts()
        .filter(|(index, _)| last.fates.0[*index] != Fate::Unstated)
        .count()
}

/// Each fate with the colours of its ground and letter as CSS writes them.
pub(in crate::render) fn legend() -> Value {
    let css = |RGBColor(red, green, blue): RGBColor| format!("#{red:02x}{green:02x}{blue:02x}");
    let shown = |(fate, colour): (&Fate, RGBColor)| {
        let letter = fate.letter();
        // As a selector of CSS names it.
        let class = if letter.is_alphanumeric() {
            letter.to_string()
        } else {
            format!("\\{letter}")
        };
        let (ground, ink) = (css(colour), css(readable_on(colour)));
        json!({"letter": letter, "class": class, "name": of_fate(*fate), "ground": ground, "ink": ink})
    };
    Value::from_iter(Fate::STATED.iter().zip(FATE_COLOURS).map(shown))
}

/// The moments at which the facts were looked for.
pub(in crate::render) fn points(story: &Story<'_>) -> Value {
    let point = |observation: &Observation| json!({"after": observation.after.0, "is_compaction": observation.kind == ObservationKind::Compaction});
    Value::from_iter(story.record.observations.iter().map(point))
}

/// A fact that is out of the context at the end: how it was lost, after which message, and which
/// said it; else nothing.
fn lost(story: &Story<'_>, index: usize, fact: &Fact, place: &PagePlace<'_>) -> Option<Value> {
    let observations = &story.record.observations;
    let fate = observations.last()?.fates.0[index];
    if !fate.is_lost() {
        return None;
    }
    // The first point from which on it stays lost.
    let since = observations
        .iter()
        .rev()
        .take_while(|seen| seen.fates.0[index].is_lost())
        .last()?;
    let mut steps = story.record.compactions.iter();
    let is_step = steps.any(|row| row.event.after == since.after);
    Some(json!({
        "value": cut(&fact.value, place.short),
        "subject": cut(&fact.subject, place.short),
        "address": (place.fact)(index),
        "said": fact.evidence_message_ids.first().map(|message| linked((place.message)(message.0), message.0)),
        "after": is_step.then(|| linked((place.step)(since.after.0), since.after.0)),
        "fate": of_fate(fate),
        "letter": fate.letter(),
    }))
}

fn linked(address: String, number: u32) -> Value {
    json!({"address": address, "number": number})
}

/// A fact, and by point its fate's letter.
fn fact_line(story: &Story<'_>, index: usize, fact: &Fact, place: &PagePlace<'_>) -> Value {
    let fates = story
        .record
        .observations
        .iter()
        .map(|observation| observation.fates.0[index].letter());
    json!({
        "index": index,
        "id": fact.id,
        "value": cut(&fact.value, place.short),
        "subject": cut(&fact.subject, place.short),
        "fates": fates.collect::<Vec<_>>(),
    })
}

/// A decision; of each change, the fact, its value, and its fates before and after.
fn step(
    story: &Story<'_>,
    marks: &FactMarks<'_>,
    decision: &TimelineStep<'_>,
    place: &PagePlace<'_>,
) -> Value {
    let fate = |fate: Fate| json!({"name": of_fate(fate), "letter": fate.letter()});
    let change = |ExplainedChange { fact, from, to }: &ExplainedChange<'_>| json!({"id": fact.id, "value": cut(&fact.value, place.short), "from": fate(*from), "to": fate(*to)});
    let (row, round, shown) = match decision {
        TimelineStep::Compaction(row, round, shown) => (Some(*row), *round, shown.as_slice()),
        TimelineStep::Checkpoint(_) | TimelineStep::Recovery(_) => (None, None, &[][..]),
    };
    let changes = round.map(|round| story.changes(round)).unwrap_or_default();
    let mut room = place.room;
    let written: Vec<_> = match decision {
        TimelineStep::Compaction(row, ..) => story.texts_added(row).collect(),
        TimelineStep::Checkpoint(row) => story.answers(row).collect(),
        TimelineStep::Recovery(_) => Vec::new(),
    };
    json!({
        "after": decision.after().0,
        "message": (place.message)(decision.after().0),
        "is_compaction": row.is_some(),
        "decision": decision.words(),
        "left": row.and_then(left),
        "unread": row.and_then(unread),
        "shown": shown,
        "written": written.into_iter().map(|text| marked(text, marks, &mut room)).collect::<Vec<_>>(),
        "changes": changes.iter().take(place.changes).map(change).collect::<Vec<_>>(),
        "changes_left_out": changes.len().saturating_sub(place.changes),
        "failures": decision.calls().iter().filter_map(|call| call.error.as_deref()).map(|error| cut(error, place.short)).collect::<Vec<_>>(),
    })
}

/// An answer; nothing if it is about another fact than the one followed.
fn told(
    story: &Story<'_>,
    marks: &FactMarks<'_>,
    answer: &AnswerRow,
    place: &PagePlace<'_>,
) -> Option<Value> {
    let row = story.record.probes.get(answer.probe as usize)?;
    let probe = story
        .scenario
        .probes
        .iter()
        .find(|probe| probe.id == row.id)?;
    if story
        .only
        .is_some_and(|id| !probe.fact_ids.iter().any(|asked| asked == id))
    {
        return None;
    }
    let values = story
        .scenario
        .facts
        .iter()
        .filter(|fact| probe.fact_ids.contains(&fact.id));
    let values = values
        .map(|fact| fact.value.as_str())
        .collect::<Vec<_>>()
        .join(", ");
    let expected = if probe.abstain_expected {
        "not to know".to_owned()
    } else {
        probe.gold.clone().unwrap_or(values)
    };
    let reply = answer
        .call
        .as_ref()
        .and_then(|call| story.texts.get(call.reply.as_ref()?));
    Some(json!({
        "after": answer.after.0,
        "question": cut(&probe.question, place.short),
        "expected": cut(&expected, place.short),
        "grade": answer.grade,
        "is_right": row.is_right(answer.grade),
        // Nothing holds what is not known.
        "only_in": probe.memory.map(memory_name),
        "present": (!probe.abstain_expected).then_some(answer.present),
        "prompted": answer.prompted,
        "reply": reply.map_or_else(Vec::new, |text| marked(text, marks, &mut place.room.clone())),
    }))
}

/// A message, each part after its tool's name or kind.
pub(in crate::render) fn message_parts(
    message: &Message,
    marks: &FactMarks<'_>,
    mut room: usize,
) -> Value {
    let mut part = |part: &Part| {
        let kind = match part {
            Part::Text { .. } => "",
            Part::Thinking { .. } => "thinking",
            Part::ToolCall { name, .. } => name.as_str(),
            Part::ToolResult { .. } => "result",
            Part::Media { .. } => "media",
            Part::Sealed { .. } => "sealed summary",
        };
        let text = part_text(part).unwrap_or_default();
        json!({"kind": cut(kind, 200), "text": marked(text, marks, &mut room)})
    };
    let parts = message.parts.iter().map(&mut part).collect::<Vec<_>>();
    json!({"id": message.id.0, "role": message.role.name(), "parts": parts})
}

/// The text with its values marked, up to the room that is left; what is cut is counted.
fn marked(text: &str, marks: &FactMarks<'_>, room: &mut usize) -> Vec<Value> {
    let mut shown = Vec::new();
    let mut done = 0;
    for MarkedText { text: piece, fact } in marks.pieces(text) {
        let markup = MARKUP + fact.map_or(0, escaped);
        let part = fitting(piece, room.saturating_sub(markup));
        *room = room.saturating_sub(markup + escaped(part));
        if part.len() < piece.len() {
            // A mark on half a value would show another value.
            let part = if fact.is_some() { "" } else { part };
            let left_out = text[done + part.len()..].chars().count();
            shown.push(json!({"text": format!("{part} (cut here: {left_out} more characters)"), "fact": None::<&str>}));
            *room = 0;
            return shown;
        }
        done += piece.len();
        shown.push(json!({"text": part, "fact": fact}));
    }
    shown
}

/// The text, cut to the room.
pub(in crate::render) fn cut(text: &str, room: usize) -> String {
    let part = fitting(text, room);
    if part.len() == text.len() {
        text.to_owned()
    } else {
        format!("{part}...")
    }
}

/// As much of the text's beginning as takes no more bytes of HTML.
fn fitting(text: &str, room: usize) -> &str {
    // An escape is at most six bytes for one.
    if text.len() <= room / 6 {
        return text;
    }
    let mut used = 0;
    let end = text.char_indices().find(|(at, letter)| {
        used += escaped(&text[*at..at + letter.len_utf8()]);
        used > room
    });
    end.map_or(text, |(at, _)| &text[..at])
}

/// Bytes of the text in HTML.
pub(in crate::render) fn escaped(text: &str) -> usize {
    text.bytes()
        .map(|byte| if b"<>&\"'/".contains(&byte) { 6 } else { 1 })
        .sum()
}
