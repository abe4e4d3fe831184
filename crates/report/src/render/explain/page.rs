//! A story as a page.

use compactometer_engine::message::part_text;
use compactometer_engine::message::{Message, Part};
use compactometer_formats::answer::AnswerRow;
use compactometer_formats::fate::Fate;
use compactometer_formats::record::{CompactionRow, Observation, ObservationKind};
use compactometer_formats::scenario::Fact;
use plotters::style::RGBColor;
use serde_json::{Value, json};

use super::marked::pieces;
use super::{FactsAround, Story, decision, left, unread};
use crate::render::plots::{FATE_COLOURS, readable_on};
use crate::render::render_template;

/// Lost facts that are shown unfolded.
const SHOWN: usize = 20;
/// So few messages or facts are shown unfolded.
const SHORT: usize = 12;

impl Story<'_> {
    /// The story as a page of HTML that needs no other file.
    ///
    /// # Errors
    /// Where the page's template does not render.
    pub fn page(&self) -> Result<String, minijinja::Error> {
        let facts = self.facts().map(|(_, fact)| fact).collect::<Vec<_>>();
        let last = self.record.observations.last();
        let stated =
            last.map_or(0, |last| self.facts().filter(|(index, _)| last.fates.0[*index] != Fate::Unstated).count());
        let page = json!({
            "title": self.title(),
            "stated": stated,
            "lost": Value::from_iter(self.facts().filter_map(|(index, fact)| lost(self, index, fact))),
            "shown": SHOWN,
            "is_short": self.messages.len() <= SHORT,
            "has_few": facts.len() <= SHORT,
            "limits": self.limits(),
            "legend": Value::from_iter(Fate::STATED.iter().zip(FATE_COLOURS).map(|(fate, colour)| shown(*fate, colour))),
            "points": Value::from_iter(self.record.observations.iter().map(point)),
            "facts": Value::from_iter(self.facts().map(|(index, fact)| fact_line(self, index, fact))),
            "steps": Value::from_iter(self.rounds().into_iter().map(|(row, round)| step(self, &facts, row, round))),
            "answers": Value::from_iter(self.record.answers.iter().filter_map(|answer| told(self, &facts, answer))),
            "messages": Value::from_iter(self.messages.iter().map(|counted| said(self, &facts, &counted.message))),
        });
        render_template("explain.html", include_str!("page.html"), &page)
    }
}

/// A fate, and the colours of its ground and letter as CSS writes them.
fn shown(fate: Fate, colour: RGBColor) -> Value {
    let css = |RGBColor(red, green, blue): RGBColor| format!("#{red:02x}{green:02x}{blue:02x}");
    json!({"letter": fate.letter(), "name": fate.name(), "ground": css(colour), "ink": css(readable_on(colour))})
}

/// A moment at which the facts were looked at.
fn point(observation: &Observation) -> Value {
    json!({"after": observation.after.0, "is_compaction": observation.kind == ObservationKind::Compaction})
}

/// A fact that is out of the context at the end: how it was lost, after which message, and which said it; else nothing.
fn lost(story: &Story<'_>, index: usize, fact: &Fact) -> Option<Value> {
    let observations = &story.record.observations;
    let fate = observations.last()?.fates.0[index];
    if !fate.is_lost() {
        return None;
    }
    // The first point from which on it stays lost.
    let since = observations.iter().rev().take_while(|seen| seen.fates.0[index].is_lost()).last()?;
    let is_step = story.record.compactions.iter().any(|row| row.event.after == since.after);
    Some(json!({
        "index": index,
        "value": fact.value,
        "subject": fact.subject,
        "said": fact.evidence_message_ids.first().map(|message| message.0),
        "after": is_step.then_some(since.after.0),
        "fate": fate.name(),
    }))
}

/// A fact, and by point its fate's name and letter.
fn fact_line(story: &Story<'_>, index: usize, fact: &Fact) -> Value {
    let fates = story.record.observations.iter().map(|observation| observation.fates.0[index]);
    let fates: Vec<_> = fates.map(|fate| (fate.name(), fate.letter())).collect();
    json!({"index": index, "id": fact.id, "value": fact.value, "subject": fact.subject, "fates": fates})
}

/// A decision; of each change, the fact, its value, and its fates before and after.
fn step(story: &Story<'_>, facts: &[&Fact], row: &CompactionRow, round: Option<FactsAround<'_>>) -> Value {
    let changes = round.map(|round| story.changes(round)).unwrap_or_default().into_iter();
    let change =
        |change: super::FateChange| json!([change.fact.id, change.fact.value, change.from.name(), change.to.name()]);
    json!({
        "after": row.event.after.0,
        "decision": decision(row),
        "left": left(row),
        "unread": unread(row),
        "written": story.written(row).map(|text| pieces(text, facts)).collect::<Vec<_>>(),
        "changes": changes.map(change).collect::<Vec<_>>(),
        "failures": row.calls.iter().filter_map(|call| call.error.as_deref()).collect::<Vec<_>>(),
    })
}

/// An answer; nothing if it is about another fact than the one followed.
fn told(story: &Story<'_>, facts: &[&Fact], answer: &AnswerRow) -> Option<Value> {
    let row = story.record.probes.get(answer.probe as usize)?;
    let probe = story.scenario.probes.iter().find(|probe| probe.id == row.id)?;
    if story.only.is_some_and(|id| !probe.fact_ids.iter().any(|asked| asked == id)) {
        return None;
    }
    let values = story.scenario.facts.iter().filter(|fact| probe.fact_ids.contains(&fact.id));
    let values = values.map(|fact| fact.value.as_str()).collect::<Vec<_>>().join(", ");
    let expected = if probe.abstain_expected { "not to know".to_owned() } else { probe.gold.clone().unwrap_or(values) };
    let reply = answer.call.as_ref().and_then(|call| story.texts.get(call.reply.as_ref()?));
    Some(json!({
        "after": answer.after.0,
        "question": probe.question,
        "expected": expected,
        "grade": answer.grade,
        "is_right": row.is_right(answer.grade),
        // Nothing holds what is not known.
        "present": (!probe.abstain_expected).then_some(answer.present),
        "prompted": answer.prompted,
        "reply": reply.map_or(Vec::new(), |text| pieces(text, facts)),
    }))
}

/// A message, each part after its tool's name or kind, and the decision right after it, if there is one.
fn said(story: &Story<'_>, facts: &[&Fact], message: &Message) -> Value {
    let part = |part: &Part| {
        let kind = match part {
            Part::Text { .. } => "",
            Part::Thinking { .. } => "thinking",
            Part::ToolCall { name, .. } => name.as_str(),
            Part::ToolResult { .. } => "result",
            Part::Media { .. } => "media",
        };
        json!([kind, pieces(part_text(part).unwrap_or_default(), facts)])
    };
    let row = story.record.compactions.iter().find(|row| row.event.after == message.id);
    json!({
        "id": message.id.0,
        "role": message.role.name(),
        "parts": message.parts.iter().map(part).collect::<Vec<_>>(),
        "decision": row.map(decision),
    })
}
