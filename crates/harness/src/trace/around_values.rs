//! Which facts without a subject a context says something about, and whether the words around them
//! are their own.

use std::collections::{BTreeMap, BTreeSet};

use compactometer_engine::message::part_text;
use compactometer_engine::view::{Origin, View};
use compactometer_formats::fate::Fates;
use compactometer_formats::record::Fit;
use compactometer_text::binding::around;

use crate::prepare::PreparedScenario;

/// What one context says around the values that it holds.
#[derive(Default)]
pub(crate) struct SaidAround {
    /// The facts that a clause says something about.
    pub(crate) stated: Vec<u32>,
    /// How well the words around the values in written text fit.
    pub(crate) fits: Vec<Fit>,
}

/// Searches a view for what it says about these facts, after so many messages. Fates say which of
/// the facts it holds.
pub(crate) fn said_about(
    prepared: &PreparedScenario,
    view: &View,
    facts: &[u32],
    fates: &Fates,
    length: usize,
) -> SaidAround {
    let surroundings = prepared.checks().surroundings.as_ref();
    let Some(surroundings) = surroundings.filter(|_| !facts.is_empty()) else {
        return SaidAround::default();
    };
    let mut stated = BTreeSet::new();
    let mut words = BTreeMap::<u32, BTreeSet<String>>::new();
    for entry in view.entries() {
        if let Some(message) = entry.log_message() {
            stated.extend(surroundings.stated_in.get(prepared.index_of(message.id)));
            continue;
        }
        for (part, origin) in entry.parts() {
            let is_written = matches!(
                origin,
                Origin::Summary(_) | Origin::Checkpoint(_) | Origin::Memory(_) | Origin::Ledger
            );
            for found in part_text(part)
                .into_iter()
                .flat_map(|text| around(&prepared.facts, text))
            {
                stated.extend(found.is_stated.then_some(found.item));
                if is_written {
                    words.entry(found.item).or_default().extend(found.words);
                }
            }
        }
    }
    let is_held = |fact: &&u32| {
        fates
            .0
            .get(**fact as usize)
            .is_some_and(|fate| fate.is_present())
    };
    let held = || facts.iter().filter(is_held);
    let fit = |fact: &u32| {
        let kind = prepared.scenario.facts[*fact as usize].value_kind;
        let (points, rivals) = surroundings.fit(*fact, kind, words.get(fact)?, length);
        (rivals > 0).then_some(Fit(*fact, points, rivals))
    };
    SaidAround {
        stated: held()
            .filter(|fact| stated.contains(fact))
            .copied()
            .collect(),
        fits: held().filter_map(fit).collect(),
    }
}
