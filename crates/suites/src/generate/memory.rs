//! An agent's memory: a document that is part of the system prompt of both conversations of a
//! person, and daily notes of the first conversation that the second one starts with. Only memory
//! states what they hold.

use compactometer_engine::message::MessageId;
use compactometer_formats::scenario::{MemoryPart, Probe};

use crate::dice::{SeededDice, Stream};
use crate::generate::asides::AsideWording;
use crate::generate::domains::SubjectClaim;
use crate::generate::forms::Reserved;
use crate::generate::plan::{ConversationPlan, StatementPair, StatementSide};
use crate::generate::spec::{Spec, THREADS};
use crate::generate::writer::ConversationWriter;

/// Facts and decoys of one daily note.
const NOTED_A_DAY: usize = 2;

/// The text of one conversation's memory.
#[derive(Default)]
pub(crate) struct MemoryTexts {
    pub(crate) document: Option<String>,
    pub(crate) notes: Vec<String>,
}

/// Writes what the plan of conversation `number` remembers. The document is the same in both
/// conversations of a person.
pub(crate) fn write(
    spec: &Spec,
    number: usize,
    plan: &ConversationPlan,
    reserved: &Reserved,
) -> MemoryTexts {
    if spec.memory.is_none() {
        return MemoryTexts::default();
    }
    let writer = |number: usize, stream: Stream| {
        let dice = SeededDice::new(spec.seed, number, stream);
        ConversationWriter::new(plan.domain, plan.part, &plan.subjects, dice, reserved)
    };
    let first = number - number % THREADS;
    let items = bullet_list(
        &plan.remembered.document,
        &mut writer(first, Stream::Document),
    );
    let mut diarist = writer(number, Stream::Notes);
    let notes = plan.remembered.noted.chunks(NOTED_A_DAY).map(|of_day| {
        diarist.next_day();
        format!(
            "{}\n\n{}",
            diarist.fill("# {date}"),
            bullet_list(of_day, &mut diarist)
        )
    });
    MemoryTexts {
        document: Some(format!("# What is known of this work\n\n{items}")),
        notes: notes.collect(),
    }
}

/// Both statements of each pair, one on each line, in random order.
fn bullet_list(pairs: &[StatementPair], writer: &mut ConversationWriter) -> String {
    let both = pairs
        .iter()
        .flat_map(|pair| pair.sides.iter().map(move |side| (pair.claim, side)));
    let mut both = both.collect::<Vec<_>>();
    writer.dice.shuffle(&mut both);
    let state = |(claim, side): (&'static SubjectClaim, &StatementSide)| {
        let (subject, value, by) = (side.subject, side.value.as_str(), claim.speaker);
        format!(
            "- {}",
            AsideWording {
                claim,
                is_change: false,
                subject,
                value,
                by
            }
            .write(writer)
        )
    };
    both.into_iter().map(state).collect::<Vec<_>>().join("\n")
}

/// A question for each fact of memory, at one of the points.
pub(crate) fn probes(
    spec: &Spec,
    number: usize,
    plan: &ConversationPlan,
    points: &[MessageId],
) -> Vec<Probe> {
    if spec.memory.is_none() || points.is_empty() {
        return Vec::new();
    }
    let mut dice = SeededDice::new(spec.seed, number, Stream::MemoryProbes);
    let of_document = plan
        .remembered
        .document
        .iter()
        .map(|pair| (pair, MemoryPart::Document));
    let of_notes = plan
        .remembered
        .noted
        .iter()
        .map(|pair| (pair, MemoryPart::Notes));
    let probe = |(pair, part): (&StatementPair, MemoryPart)| {
        let side = &pair.sides[pair.fact];
        Probe {
            question: pair.claim.asks.replace("{s}", side.subject),
            asked_after: dice.pick(points),
            gold: Some(side.value.clone()),
            memory: Some(part),
            ..Probe::default()
        }
    };
    of_document.chain(of_notes).map(probe).collect()
}
