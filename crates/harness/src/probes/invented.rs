//! Whether an answer states an exact value that the conversation had not stated by then.
//!
//! An exact value is an identifier, path or number that a reader must have letter for letter;
//! importers use the same definition. Absent on purpose: invented words and phrases, which only a
//! foil distinguishes from other words.

use compactometer_engine::message::part_text;
use compactometer_formats::scenario::{Fact, Probe, Scenario, ValueKind};
use compactometer_text::exact::{self, Exact};
use compactometer_text::matcher::Matcher;

use crate::prepare::PreparedScenario;

/// Whether the answer to that probe invents a value of the form that is asked for. `held` are the
/// facts that it states. A number may be written in another unit, so an answer that states a number
/// of a fact invents none.
pub(crate) fn states(
    prepared: &PreparedScenario,
    probe: usize,
    held: &[u32],
    answer: &str,
) -> bool {
    let asked = &prepared.scenario.probes[probe];
    let form = InventedForm::new(&prepared.scenario, asked);
    let is_number =
        |fact: &u32| prepared.scenario.facts[*fact as usize].value_kind == ValueKind::Number;
    let holds_number = held.iter().any(is_number);
    let found = exact::within(answer).filter(|exact| form.admits(exact));
    let mut open = found.filter(|exact| exact.kind != ValueKind::Number || !holds_number);
    open.any(|exact| !is_stated(prepared, asked, &exact))
}

/// Whether the question or a message up to its point holds the value, in any form that the matcher
/// takes for it.
fn is_stated(prepared: &PreparedScenario, asked: &Probe, Exact { value, kind }: &Exact) -> bool {
    let messages = &prepared.messages;
    let end = messages.partition_point(|counted| counted.message.id <= asked.asked_after);
    if prepared.states_before(end, value) {
        return true;
    }
    let matcher = Matcher::new([(*kind, [value.as_str()])]);
    let said = messages[..end]
        .iter()
        .flat_map(|counted| counted.message.parts.iter().filter_map(part_text));
    said.chain([asked.question.as_str()])
        .any(|text| matcher.find(text).next().is_some())
}

/// The form of values that would answer a question.
struct InventedForm<'s> {
    facts: Vec<&'s Fact>,
}

impl<'s> InventedForm<'s> {
    /// The form of the facts that are asked for; if nothing answers the question, of all facts.
    fn new(scenario: &'s Scenario, probe: &Probe) -> Self {
        let is_asked =
            |fact: &&Fact| probe.fact_ids.is_empty() || probe.fact_ids.contains(&fact.id);
        InventedForm {
            facts: scenario.facts.iter().filter(is_asked).collect(),
        }
    }

    /// Whether the value is of the same kind. An identifier may also be a date or a version, so it
    /// must have the same shape too.
    fn admits(&self, Exact { value, kind }: &Exact) -> bool {
        let mut alike = self.facts.iter().filter(|fact| fact.value_kind == *kind);
        if *kind != ValueKind::Id {
            return alike.next().is_some();
        }
        let own = shape(value);
        alike.any(|fact| {
            fact.forms()
                .chain(fact.foil_values.iter().map(String::as_str))
                .any(|form| shape(form) == own)
        })
    }
}

/// A value with each run of letters as `a`, of digits as `0`, of both as `x`.
fn shape(value: &str) -> String {
    let mut shape = String::new();
    for letter in value.chars() {
        let class = match letter {
            _ if letter.is_numeric() => '0',
            _ if letter.is_alphabetic() => 'a',
            // Every sign is its own class. No sign is mistaken for a run, since runs are marked by
            // letters and digits.
            _ => letter,
        };
        match (shape.chars().next_back(), class) {
            (Some('x'), 'a' | '0') => {}
            (Some(last), _) if last == class && letter.is_alphanumeric() => {}
            (Some('a' | '0'), 'a' | '0') => {
                shape.pop();
                shape.push('x');
            }
            _ => shape.push(class),
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_one_form_have_one_shape() {
        for (value, expected) in [
            ("QRM-48213", "a-0"),
            ("7F3K-92QD", "x-x"),
            ("9f3c2e71ab", "x"),
            ("2024-05-20", "0-0-0"),
            ("v1.10", "x.0"),
            ("kx_4711/b", "a_0/a"),
            ("a--b", "a--a"),
            ("", ""),
        ] {
            assert_eq!(shape(value), expected, "{value}");
        }
    }
}
