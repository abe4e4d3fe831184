//! Checks that a replay can trust a scenario.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use compactometer_engine::log::Log;
use compactometer_engine::message::{MessageId, Part};
use compactometer_engine::tokens::CountedMessage;
use compactometer_engine::view::View;

use super::is_plain;
use crate::scenario::{Fact, Probe, Scenario};
use compactometer_engine::message::part_text;
use compactometer_text::matcher::Matcher;

/// Says what is wrong with a scenario, in words that follow its name. To save memory, its messages are moved out and back instead
/// of copied; a refused scenario has lost them.
pub(super) fn scenario(scenario: &mut Scenario) -> Result<(), String> {
    is_plain("scenario id", &scenario.id)?;
    is_plain("group id", &scenario.group_id)?;
    if scenario.messages.is_empty() {
        return Err("it has no messages".to_owned());
    }
    // `collect` would reuse the memory of the old list, which has entries ten times as large.
    let mut messages = Vec::with_capacity(scenario.messages.len());
    messages.extend(
        std::mem::take(&mut scenario.messages)
            .into_iter()
            .map(|message| Arc::new(CountedMessage { message, tokens: 0 })),
    );
    check_with(scenario, &messages)?;
    // Nothing else holds a message any more.
    scenario.messages = messages.into_iter().map(|counted| Arc::unwrap_or_clone(counted).message).collect();
    Ok(())
}

fn check_with(scenario: &Scenario, messages: &[Arc<CountedMessage>]) -> Result<(), String> {
    let log = check_messages(messages)?;
    let mut ids = HashSet::new();
    for fact in &scenario.facts {
        if !ids.insert(fact.id.as_str()) {
            return Err(format!("fact id `{}` repeats", fact.id));
        }
        check_fact(fact, &log).map_err(|what| format!("fact `{}` {what}", fact.id))?;
    }
    check_evidence(scenario, &log)?;
    for fact in &scenario.facts {
        let named = fact.decoy_of.iter().chain(&fact.supersedes);
        if let Some(unknown) = named.into_iter().find(|id| !ids.contains(id.as_str()) || **id == fact.id) {
            return Err(format!("fact `{}` names fact `{unknown}`, which is no other fact", fact.id));
        }
    }
    for probe in &scenario.probes {
        if log.get(probe.asked_after).is_none() {
            return Err(format!("probe `{}` names message `{}`, which is not there", probe.id, probe.asked_after.0));
        }
        if let Some(unknown) = probe.fact_ids.iter().find(|id| !ids.contains(id.as_str())) {
            return Err(format!("probe `{}` names fact `{unknown}`, which is not there", probe.id));
        }
        check_order(probe).map_err(|what| format!("probe `{}` {what}", probe.id))?;
    }
    Ok(())
}

/// Ids ascend, a provider would take the chat, and no medium claims more tokens than a window can have.
fn check_messages(messages: &[Arc<CountedMessage>]) -> Result<Log, String> {
    let mut log = Log::default();
    let mut view = View::default();
    for counted in messages {
        let message = &counted.message;
        for part in &message.parts {
            if let Part::Media { tokens, .. } = part
                && *tokens > MOST_MEDIA_TOKENS
            {
                return Err(format!(
                    "message `{}` has a medium of {tokens} tokens; at most {MOST_MEDIA_TOKENS}",
                    message.id.0
                ));
            }
        }
        view.push(counted);
        log.push(Arc::clone(counted)).map_err(|error| error.to_string())?;
    }
    match view.check().first() {
        Some(violation) => Err(violation.to_string()),
        None => Ok(log),
    }
}

/// Most tokens of one image, sound or document.
const MOST_MEDIA_TOKENS: u32 = 1_000_000;
/// Longest value or variant of a fact, in characters.
const LONGEST_VALUE: usize = 1_000;
/// Greatest weight of a fact.
const GREATEST_WEIGHT: f64 = 1e6;

fn check_fact(fact: &Fact, log: &Log) -> Result<(), String> {
    is_plain("id", &fact.id)?;
    if fact.forms().chain(fact.foil_values.iter().map(String::as_str)).any(|form| form.trim().is_empty()) {
        return Err("has an empty value, variant or foil".to_owned());
    }
    if fact.forms().any(|form| form.chars().count() > LONGEST_VALUE) {
        return Err(format!("has a value or variant of more than {LONGEST_VALUE} characters"));
    }
    if !(fact.weight > 0.0 && fact.weight <= GREATEST_WEIGHT) {
        return Err(format!("has the weight {}; it must be over 0 and at most {GREATEST_WEIGHT}", fact.weight));
    }
    if fact.evidence_message_ids.is_empty() {
        return Err("names no evidence message".to_owned());
    }
    let named = fact.evidence_message_ids.iter().chain(&fact.used_at).chain(&fact.valid_to);
    if let Some(unknown) = named.into_iter().find(|id| log.get(**id).is_none()) {
        return Err(format!("names message `{}`, which is not there", unknown.0));
    }
    Ok(())
}

/// Checks that every message named as evidence states its fact.
fn check_evidence(scenario: &Scenario, log: &Log) -> Result<(), String> {
    let values = scenario.facts.iter().map(|fact| (fact.value_kind, fact.forms()));
    let matcher = Matcher::new(values);
    let mut named = BTreeMap::<MessageId, Vec<usize>>::new();
    for (item, fact) in scenario.facts.iter().enumerate() {
        fact.evidence_message_ids.iter().for_each(|id| named.entry(*id).or_default().push(item));
    }
    for (id, items) in named {
        let parts = log.get(id).into_iter().flat_map(|counted| &counted.message.parts);
        let stated = parts.filter_map(part_text).flat_map(|text| matcher.find(text)).collect::<BTreeSet<_>>();
        if let Some(lying) = items.iter().find(|item| !stated.contains(item)) {
            let Fact { id: fact, value, .. } = &scenario.facts[*lying];
            return Err(format!("fact `{fact}` names message `{}` as evidence, which does not hold `{value}`", id.0));
        }
    }
    Ok(())
}

/// Checks that a list of labels can be read and gives the place of each fact.
fn check_order(probe: &Probe) -> Result<(), String> {
    let Probe { order, fact_ids, .. } = probe;
    if order.is_empty() {
        return Ok(());
    }
    if order.len() < 2 || order.len() != fact_ids.len() {
        return Err(format!(
            "has {} labels for {} facts; an order needs two facts or more, with one label each",
            order.len(),
            fact_ids.len()
        ));
    }
    if let Some(label) = order.iter().find(|label| label.is_empty() || !label.chars().all(char::is_alphanumeric)) {
        return Err(format!("has the label {label:?}; it must be letters and digits"));
    }
    if let Some(twice) = (1..order.len()).find(|at| order[..*at].contains(&order[*at])) {
        return Err(format!("has the label `{}` twice", order[twice]));
    }
    if probe.gold.is_some() || probe.abstain_expected {
        return Err("asks for an order, so it can have no `gold` and not expect to abstain".to_owned());
    }
    Ok(())
}
