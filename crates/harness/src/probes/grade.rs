//! Grades an answer by matching its text. The grade is deterministic.
//!
//! Absent on purpose: a judge. An answer that gives a value in other words than its accepted forms
//! counts as missing.

use compactometer_engine::model::{ChatReply, Finish};
use compactometer_formats::answer::{Grade, Signs};

use super::{invented, read_order};
use crate::prepare::PreparedScenario;

/// What an answer says.
pub(crate) struct Graded {
    pub(crate) grade: Grade,
    /// The order that it gives, if one was asked for.
    pub(crate) order: Vec<u32>,
    /// What else it does, if values were asked for.
    pub(crate) signs: Option<Signs>,
}

impl Graded {
    /// There is no answer.
    pub(crate) const FAILED: Graded = Graded {
        grade: Grade::Failed,
        order: Vec::new(),
        signs: None,
    };
}

/// Grades the answer to that probe.
pub(crate) fn grade(prepared: &PreparedScenario, probe: usize, reply: &ChatReply) -> Graded {
    let (answer, labels) = (reply.text.as_str(), &prepared.scenario.probes[probe].order);
    if labels.is_empty() {
        let said = StatedValues::read(prepared, probe, answer);
        let signs = Signs {
            contradicts: said.denied || (said.asked && (said.replaced || said.forbidden)),
            invents: said.foil || invented::states(prepared, probe, &said.held, whole_words(reply)),
        };
        return Graded {
            grade: of_values(prepared, probe, &said, answer),
            order: Vec::new(),
            signs: Some(signs),
        };
    }
    let order = read_order::read(labels, answer);
    let grade = of_order(&order, labels.len() as u32, answer);
    Graded {
        grade,
        order,
        signs: None,
    }
}

fn of_order(order: &[u32], labels: u32, answer: &str) -> Grade {
    match () {
        () if (0..labels).eq(order.iter().copied()) => Grade::Right,
        () if order.is_empty() && abstains(answer) => Grade::Abstained,
        () => Grade::Missing,
    }
}

/// The answer; if it was cut off, without its last word, which may be incomplete.
fn whole_words(reply: &ChatReply) -> &str {
    let is_cut = reply.finish == Finish::Length;
    if is_cut {
        reply
            .text
            .rsplit_once(char::is_whitespace)
            .map_or("", |(head, _)| head)
    } else {
        &reply.text
    }
}

/// The grade of an answer that should state values. A value that was replaced, forbidden or never
/// said spoils an otherwise right answer. Another fact's value does not, since an answer may quote
/// a whole sentence.
fn of_values(
    prepared: &PreparedScenario,
    probe: usize,
    said: &StatedValues,
    answer: &str,
) -> Grade {
    let key = &prepared.checks().keys.probes[probe];
    let never_said = said.foil || (said.forbidden && !key.row.updated);
    if key.row.abstain_expected {
        return match () {
            () if said.foil || said.forbidden || said.another => Grade::WrongValue,
            () if abstains(answer) => Grade::Abstained,
            () => Grade::Missing,
        };
    }
    match () {
        () if said.replaced || (said.forbidden && key.row.updated) => Grade::Stale,
        () if never_said => Grade::WrongValue,
        () if said.asked => Grade::Right,
        () if said.another => Grade::WrongValue,
        () if abstains(answer) => Grade::Abstained,
        () => Grade::Missing,
    }
}

/// The word that the prompt asks for.
const UNKNOWN: &str = "unknown";

/// Other ways to say it, since models seldom keep to one word.
const NOT_KNOWN: &[&str] = &[
    "don't know",
    "do not know",
    "not known",
    "doesn't say",
    "does not say",
    "not mentioned",
    "not stated",
    "not specified",
    "not provided",
    "no information",
    "cannot be determined",
    "can't be determined",
];

fn abstains(answer: &str) -> bool {
    let lower = answer.to_lowercase().replace('’', "'");
    lower
        .split(|letter: char| !letter.is_alphanumeric())
        .any(|word| word == UNKNOWN)
        || NOT_KNOWN.iter().any(|phrase| lower.contains(phrase))
}

/// Which values an answer states.
struct StatedValues {
    /// Every fact and decoy.
    held: Vec<u32>,
    /// Every fact that is asked for, or the right answer in the probe's own words.
    asked: bool,
    /// A denial of an affirmed fact that is asked for.
    denied: bool,
    /// A value that the asked fact replaced.
    replaced: bool,
    /// An answer that the probe forbids.
    forbidden: bool,
    /// A value of the asked facts' form that the conversation never states.
    foil: bool,
    /// The value of another fact or decoy of the same kind, which the question does not name.
    another: bool,
}

impl StatedValues {
    fn read(prepared: &PreparedScenario, probe: usize, answer: &str) -> Self {
        let (keys, key) = (
            &prepared.checks().keys,
            &prepared.checks().keys.probes[probe],
        );
        let held = prepared
            .facts
            .find(answer)
            .map(|fact| fact as u32)
            .collect::<Vec<_>>();
        let own = keys
            .answers
            .find(answer)
            .filter(|item| keys.owners[*item].0 as usize == probe);
        let (forbidden, gold): (Vec<_>, Vec<_>) = own.partition(|item| keys.owners[*item].1);
        let foils = || {
            prepared
                .checks()
                .foils
                .find(answer)
                .map(|foil| keys.foil_of[foil])
        };
        let is_asked = |fact: &u32| key.row.facts.contains(fact);
        let is_another = |fact: &u32| {
            !is_asked(fact) && key.like.contains(fact) && !key.in_question.contains(fact)
        };
        let asks = !key.row.facts.is_empty();
        StatedValues {
            denied: keys
                .denials
                .find(answer)
                .any(|fact| is_asked(&(fact as u32))),
            asked: !gold.is_empty()
                || (asks && key.row.facts.iter().all(|fact| held.contains(fact))),
            replaced: key.replaced.iter().any(|fact| held.contains(fact)),
            forbidden: !forbidden.is_empty(),
            foil: if asks {
                foils().any(|fact| is_asked(&fact))
            } else {
                foils().next().is_some()
            },
            another: held.iter().any(is_another),
            held,
        }
    }
}
