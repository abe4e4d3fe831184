//! A story as a page.

use compactometer_engine::message::part_text;
use compactometer_engine::message::{Message, Part};
use compactometer_formats::answer::{AnswerRow, Grade};
use compactometer_formats::fate::Fate;
use compactometer_formats::record::{CompactionRow, Observation, ObservationKind};
use compactometer_formats::scenario::Fact;
use plotters::style::RGBColor;
use serde::Serialize;

use super::marked::{MarkedText, pieces};
use super::{FactsAround, Story, decision, left, unread};
use crate::render::plots::{FATE_COLOURS, readable_on};
use crate::render::render_template;

/// Everything that the page shows.
#[derive(Serialize)]
struct StoryPage<'s> {
    title: String,
    limits: String,
    legend: Vec<FateLegend>,
    points: Vec<ObservedAt>,
    facts: Vec<FactLine<'s>>,
    steps: Vec<DecisionStep<'s>>,
    answers: Vec<ShownAnswer<'s>>,
    messages: Vec<ShownMessage<'s>>,
}

/// A fate as the page shows it.
#[derive(Serialize)]
struct FateLegend {
    letter: char,
    name: &'static str,
    /// Colours of the ground and of the letter, as CSS writes them.
    ground: String,
    ink: String,
}

/// A moment at which the facts were looked at.
#[derive(Serialize)]
struct ObservedAt {
    after: u32,
    is_compaction: bool,
}

#[derive(Serialize)]
struct FactLine<'s> {
    id: &'s str,
    value: &'s str,
    subject: &'s str,
    /// By point, the fate's name and letter.
    fates: Vec<(&'static str, char)>,
}

/// One decision.
#[derive(Serialize)]
struct DecisionStep<'s> {
    after: u32,
    decision: String,
    left: Option<String>,
    unread: Option<String>,
    written: Vec<Vec<MarkedText<'s>>>,
    /// Fact, value, and the fates before and after.
    changes: Vec<(&'s str, &'s str, &'static str, &'static str)>,
    failures: Vec<&'s str>,
}

#[derive(Serialize)]
struct ShownAnswer<'s> {
    after: u32,
    question: &'s str,
    expected: String,
    grade: Grade,
    is_right: bool,
    /// Whether the context held what was asked for; absent where nothing does.
    present: Option<bool>,
    prompted: bool,
    reply: Vec<MarkedText<'s>>,
}

/// A message, and the decision right after it, if there is one.
#[derive(Serialize)]
struct ShownMessage<'s> {
    id: u32,
    role: &'static str,
    /// A tool's name, or what kind of part it is; nothing for plain text.
    parts: Vec<(&'s str, Vec<MarkedText<'s>>)>,
    decision: Option<String>,
}

pub(super) fn render(story: &Story<'_>) -> Result<String, minijinja::Error> {
    let facts = story.facts().map(|(_, fact)| fact).collect::<Vec<_>>();
    let page = StoryPage {
        title: story.title(),
        limits: story.limits(),
        legend: Fate::STATED.iter().zip(FATE_COLOURS).map(|(fate, colour)| shown(*fate, colour)).collect(),
        points: story.record.observations.iter().map(point).collect(),
        facts: story.facts().map(|(index, fact)| fact_line(story, index, fact)).collect(),
        steps: story.rounds().into_iter().map(|(row, round)| step(story, &facts, row, round)).collect(),
        answers: story.record.answers.iter().filter_map(|answer| told(story, &facts, answer)).collect(),
        messages: story.messages.iter().map(|counted| said(story, &facts, &counted.message)).collect(),
    };
    render_template("explain.html", include_str!("page.html"), &page)
}

fn shown(fate: Fate, colour: RGBColor) -> FateLegend {
    let css = |RGBColor(red, green, blue): RGBColor| format!("#{red:02x}{green:02x}{blue:02x}");
    FateLegend { letter: fate.letter(), name: fate.name(), ground: css(colour), ink: css(readable_on(colour)) }
}

fn point(observation: &Observation) -> ObservedAt {
    ObservedAt { after: observation.after.0, is_compaction: observation.kind == ObservationKind::Compaction }
}

fn fact_line<'s>(story: &Story<'s>, index: usize, fact: &'s Fact) -> FactLine<'s> {
    let fates = story.record.observations.iter().map(|observation| observation.fates.0[index]);
    let fates = fates.map(|fate| (fate.name(), fate.letter())).collect();
    FactLine { id: &fact.id, value: &fact.value, subject: &fact.subject, fates }
}

fn step<'s>(
    story: &Story<'s>,
    facts: &[&'s Fact],
    row: &'s CompactionRow,
    round: Option<FactsAround<'s>>,
) -> DecisionStep<'s> {
    let changes = round.map(|round| story.changes(round)).unwrap_or_default();
    let change = |change: super::FateChange<'s>| {
        (change.fact.id.as_str(), change.fact.value.as_str(), change.from.name(), change.to.name())
    };
    DecisionStep {
        after: row.event.after.0,
        decision: decision(row),
        left: left(row),
        unread: unread(row),
        written: story.written(row).map(|text| pieces(text, facts)).collect(),
        changes: changes.into_iter().map(change).collect(),
        failures: row.calls.iter().filter_map(|call| call.error.as_deref()).collect(),
    }
}

/// An answer; nothing if it is about another fact than the one followed.
fn told<'s>(story: &Story<'s>, facts: &[&'s Fact], answer: &'s AnswerRow) -> Option<ShownAnswer<'s>> {
    let row = story.record.probes.get(answer.probe as usize)?;
    let probe = story.scenario.probes.iter().find(|probe| probe.id == row.id)?;
    if story.only.is_some_and(|id| !probe.fact_ids.iter().any(|asked| asked == id)) {
        return None;
    }
    let values = story.scenario.facts.iter().filter(|fact| probe.fact_ids.contains(&fact.id));
    let values = values.map(|fact| fact.value.as_str()).collect::<Vec<_>>().join(", ");
    let expected = if probe.abstain_expected { "not to know".to_owned() } else { probe.gold.clone().unwrap_or(values) };
    let reply = answer.call.as_ref().and_then(|call| story.texts.get(call.reply.as_ref()?));
    Some(ShownAnswer {
        after: answer.after.0,
        question: &probe.question,
        expected,
        grade: answer.grade,
        is_right: row.is_right(answer.grade),
        present: (!probe.abstain_expected).then_some(answer.present),
        prompted: answer.prompted,
        reply: reply.map_or(Vec::new(), |text| pieces(text, facts)),
    })
}

fn said<'s>(story: &Story<'s>, facts: &[&'s Fact], message: &'s Message) -> ShownMessage<'s> {
    let part = |part: &'s Part| {
        let kind = match part {
            Part::Text { .. } => "",
            Part::Thinking { .. } => "thinking",
            Part::ToolCall { name, .. } => return (name.as_str(), pieces(part_text(part).unwrap_or_default(), facts)),
            Part::ToolResult { .. } => "result",
            Part::Media { .. } => "media",
        };
        (kind, pieces(part_text(part).unwrap_or_default(), facts))
    };
    let row = story.record.compactions.iter().find(|row| row.event.after == message.id);
    ShownMessage {
        id: message.id.0,
        role: message.role.name(),
        parts: message.parts.iter().map(part).collect(),
        decision: row.map(decision),
    }
}
