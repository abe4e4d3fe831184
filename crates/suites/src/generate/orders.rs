//! Questions about the order in which facts were stated. Each lists the questions that ask for the
//! facts under letters, and the answer is a sequence of those letters.
//!
//! Absent on purpose: values, since a list of them would reveal the answers to other questions.

use compactometer_engine::message::MessageId;
use compactometer_formats::scenario::{Fact, Probe};

use crate::dice::{SeededDice, Stream};
use crate::generate::spec::Spec;

/// Labels of the listed facts. None is an English word, so that an answer is read unambiguously.
const LABELS: [&str; 4] = ["P", "Q", "R", "S"];

/// A fact with the question that asks for it.
pub(crate) struct OrderedFact<'f> {
    pub(crate) fact: &'f Fact,
    pub(crate) question: String,
}

/// As many questions as the spec asks for, each at one of the points, about facts that `lasting`
/// returns for that point. Fewer if it returns too few facts.
pub(crate) fn build<'f>(
    spec: &Spec,
    conversation: usize,
    points: &[MessageId],
    lasting: impl Fn(MessageId) -> Vec<OrderedFact<'f>>,
) -> Vec<Probe> {
    let mut dice = SeededDice::new(spec.seed, conversation, Stream::Orders);
    let mut probes: Vec<Probe> = Vec::new();
    for _ in 0..spec.orders {
        let mut points = points.to_vec();
        dice.shuffle(&mut points);
        let mut drawn = points
            .into_iter()
            .filter_map(|point| Some((point, draw(lasting(point), &mut dice)?)));
        probes.extend(
            drawn
                .next()
                .map(|(point, items)| probe(point, &items, &mut dice)),
        );
    }
    probes
}

/// Facts of as many different messages as there are labels, in the order in which they were stated.
fn draw<'f>(
    mut items: Vec<OrderedFact<'f>>,
    dice: &mut SeededDice,
) -> Option<Vec<OrderedFact<'f>>> {
    dice.shuffle(&mut items);
    let mut drawn: Vec<OrderedFact<'f>> = Vec::new();
    for item in items {
        let is_apart = drawn
            .iter()
            .all(|other| stated(other) != stated(&item) && other.question != item.question);
        if is_apart && drawn.len() < LABELS.len() {
            drawn.push(item);
        }
    }
    drawn.sort_by_key(stated);
    (drawn.len() == LABELS.len()).then_some(drawn)
}

fn stated(item: &OrderedFact) -> Option<MessageId> {
    item.fact.evidence_message_ids.first().copied()
}

fn probe(asked_after: MessageId, items: &[OrderedFact], dice: &mut SeededDice) -> Probe {
    let mut labels = LABELS;
    dice.shuffle(&mut labels);
    let mut listed: Vec<(&str, &OrderedFact)> = labels.into_iter().zip(items).collect();
    listed.sort_by_key(|(label, _)| *label);
    let listed: Vec<String> = listed
        .iter()
        .map(|(label, item)| format!("({label}) {}", item.question))
        .collect();
    Probe {
        fact_ids: items.iter().map(|item| item.fact.id.clone()).collect(),
        question: format!(
            "In which order were these answered above, the earliest first, by their letters: {}",
            listed.join(" ")
        ),
        asked_after,
        order: labels.map(str::to_owned).to_vec(),
        ..Probe::default()
    }
}
