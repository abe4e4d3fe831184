//! Which facts a context gives to their own subjects, and which to wrong ones.

use std::collections::BTreeSet;

use compactometer_engine::message::part_text;
use compactometer_engine::view::View;
use compactometer_formats::fate::Fates;
use compactometer_formats::record::Misbound;

use super::written::WrittenText;
use crate::prepare::PreparedScenario;

/// What a context binds.
#[derive(Default)]
pub(crate) struct BoundFacts {
    /// The facts that it holds and gives to their own subjects.
    pub(crate) own: Vec<u32>,
    pub(crate) misbound: Vec<Misbound>,
}

/// Searches a view for the subjects of these facts, after so many messages. Fates say which of the
/// facts it holds.
pub(crate) fn bound_facts(
    prepared: &PreparedScenario,
    view: &View,
    facts: &[u32],
    fates: &Fates,
    length: usize,
) -> BoundFacts {
    let bindings = prepared.checks().bindings.as_ref();
    let Some(bindings) = bindings.filter(|_| !facts.is_empty()) else {
        return BoundFacts::default();
    };
    let mut found = BTreeSet::new();
    for entry in view.entries() {
        if let Some(message) = entry.log_message() {
            let of_message = bindings
                .in_message
                .get(prepared.index_of(message.id))
                .iter();
            found.extend(of_message.map(|place| bindings.all[*place as usize]));
            continue;
        }
        for text in entry.parts().filter_map(|(part, _)| part_text(part)) {
            found.extend(WrittenText::new(prepared, text).bindings());
        }
    }
    let is_own = |fact: &&u32| {
        let is_present = fates
            .0
            .get(**fact as usize)
            .is_some_and(|fate| fate.is_present());
        is_present
            && bindings
                .subject(**fact)
                .is_some_and(|subject| found.contains(&(**fact, subject)))
    };
    let misbound = |fact: &u32| {
        let own = bindings.subject(*fact);
        let others = found
            .range((*fact, 0)..=(*fact, u32::MAX))
            .filter(|(_, subject)| Some(*subject) != own);
        let others = others.map(|(_, subject)| *subject).collect::<Vec<_>>();
        if others.is_empty() {
            return None;
        }
        let rivals = bindings.rivals(*fact, length);
        let wrong = others
            .iter()
            .filter(|subject| rivals.subjects.contains(subject))
            .count() as u32;
        (wrong > 0).then_some(Misbound(*fact, wrong, rivals.weight))
    };
    let own = facts.iter().filter(is_own).copied().collect();
    BoundFacts {
        own,
        misbound: facts.iter().filter_map(misbound).collect(),
    }
}
