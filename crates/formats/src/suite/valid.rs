//! Checks that a replay can trust a scenario.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use compactometer_engine::log::Log;
use compactometer_engine::message::{MessageId, Part, Role};
use compactometer_engine::tokens::CountedMessage;
use compactometer_engine::view::View;

use super::is_plain;
use super::valid_sentences::check_said;
use crate::scenario::{Fact, MemoryPart, Probe, RecordedCompaction, Retained, Scenario, ValueKind};
use compactometer_engine::message::part_text;
use compactometer_text::matcher::Matcher;

/// Everything that is wrong with a scenario, in words that follow its name. To save memory, its
/// messages are moved out and back instead of copied.
pub(super) fn scenario(scenario: &mut Scenario) -> Vec<String> {
    let mut faults = Vec::new();
    faults.extend(is_plain("scenario id", &scenario.id).err());
    faults.extend(is_plain("group id", &scenario.group_id).err());
    faults.extend(
        scenario
            .projects
            .iter()
            .filter_map(|project| is_plain("project", project).err()),
    );
    if scenario.messages.is_empty() {
        faults.push(
            "it has no messages; a conversation has at least one turn of the user".to_owned(),
        );
        return faults;
    }
    // `collect` would reuse the memory of the old list, which has entries ten times as large.
    let mut messages = Vec::with_capacity(scenario.messages.len());
    messages.extend(
        std::mem::take(&mut scenario.messages)
            .into_iter()
            .map(|message| Arc::new(CountedMessage { message, tokens: 0 })),
    );
    // Facts and questions name messages, so they are judged only once the messages are right.
    match check_messages(&messages) {
        Ok(log) => check_with(scenario, &log, &mut faults),
        Err(found) => faults.extend(found),
    }
    // Nothing else holds a message any more.
    scenario.messages = messages
        .into_iter()
        .map(|counted| Arc::unwrap_or_clone(counted).message)
        .collect();
    faults
}

fn check_with(scenario: &Scenario, log: &Log, faults: &mut Vec<String>) {
    let mut ids = HashSet::new();
    let mut sound = Vec::new();
    for fact in &scenario.facts {
        let before = faults.len();
        if !ids.insert(fact.id.as_str()) {
            faults.push(format!(
                "fact id `{}` repeats; give each fact an id of its own",
                fact.id
            ));
        }
        faults.extend(
            check_fact(fact, log)
                .into_iter()
                .map(|what| format!("fact `{}` {what}", fact.id)),
        );
        sound.extend((faults.len() == before).then_some(fact));
    }
    check_evidence(&sound, log, faults);
    for fact in &scenario.facts {
        let named = fact.decoy_of.iter().chain(&fact.supersedes);
        for unknown in named.filter(|id| !ids.contains(id.as_str()) || **id == fact.id) {
            faults.push(format!(
                "fact `{}` names fact `{unknown}`, which is no other fact; name one of the scenario",
                fact.id
            ));
        }
    }
    faults.extend(check_compactions(&scenario.compactions, log));
    faults.extend(check_said(&scenario.said, log));
    for probe in &scenario.probes {
        let found = check_probe(probe, &ids, log);
        faults.extend(
            found
                .into_iter()
                .map(|what| format!("probe `{}` {what}", probe.id)),
        );
    }
    faults.extend(check_memory(scenario, log));
}

/// The answer of a question to memory is in the part of memory that it names, and in no message of
/// the conversation.
fn check_memory(scenario: &Scenario, log: &Log) -> Vec<String> {
    let mut faults = Vec::new();
    if scenario
        .memory_notes
        .iter()
        .any(|note| note.trim().is_empty())
    {
        faults.push("has an empty note of memory; leave it out or fill it in".to_owned());
    }
    let asked = scenario
        .probes
        .iter()
        .filter_map(|probe| Some((probe, probe.memory?, probe.gold.as_deref()?)));
    let asked = asked.collect::<Vec<_>>();
    let matcher = Matcher::new(asked.iter().map(|(_, _, gold)| (ValueKind::Free, [*gold])));
    let mut held = vec![[false; 3]; asked.len()];
    let mut mark =
        |text: &str, place: usize| matcher.find(text).for_each(|item| held[item][place] = true);
    for counted in log.messages() {
        let place = if counted.message.role == Role::System {
            0
        } else {
            2
        };
        counted
            .message
            .parts
            .iter()
            .filter_map(part_text)
            .for_each(|text| mark(text, place));
    }
    scenario.memory_notes.iter().for_each(|note| mark(note, 1));
    for ((probe, part, gold), [in_prompt, in_notes, in_talk]) in asked.into_iter().zip(held) {
        let (is_right, name) = match part {
            MemoryPart::Document => (in_prompt && !in_notes && !in_talk, "the system prompt"),
            MemoryPart::Notes => (in_notes && !in_prompt && !in_talk, "`memory_notes`"),
        };
        if !is_right {
            let id = &probe.id;
            faults.push(format!(
                "probe `{id}` asks memory for `{gold}`; state it in {name} and nowhere else"
            ));
        }
    }
    faults
}

/// Each recorded compaction follows the one before it, and keeps messages that came before it.
fn check_compactions(compactions: &[RecordedCompaction], log: &Log) -> Vec<String> {
    let mut faults = Vec::new();
    let mut last = None;
    for compaction in compactions {
        let after = compaction.after;
        let name = format!("the recorded compaction after message `{}`", after.0);
        if log.get(after).is_none() {
            faults.push(format!(
                "{name} follows no message of the scenario; name one that it follows"
            ));
        }
        if last.is_some_and(|last| last >= after) {
            faults.push(format!(
                "{name} does not come after the one before it; list them in order"
            ));
        }
        last = Some(after);
        for retained in &compaction.context {
            if let Retained::Kept(id) = retained
                && (*id > after
                    || log
                        .get(*id)
                        .is_none_or(|counted| counted.message.role == Role::System))
            {
                faults.push(format!(
                    "{name} keeps message `{}`, which does not precede it; name an earlier message",
                    id.0
                ));
            }
        }
    }
    faults
}

fn check_probe(probe: &Probe, facts: &HashSet<&str>, log: &Log) -> Vec<String> {
    let mut faults = Vec::new();
    if log.get(probe.asked_after).is_none() {
        let at = probe.asked_after.0;
        faults.push(format!(
            "names message `{at}`, which is not there; ask after a message of the scenario"
        ));
    }
    for unknown in probe
        .fact_ids
        .iter()
        .filter(|id| !facts.contains(id.as_str()))
    {
        faults.push(format!(
            "names fact `{unknown}`, which is not there; name one of the scenario"
        ));
    }
    faults.extend(check_order(probe).err());
    faults.extend(check_answer(probe).err());
    faults
}

/// Ids ascend, a provider would take the chat, and no medium claims more tokens than a window can
/// have.
fn check_messages(messages: &[Arc<CountedMessage>]) -> Result<Log, Vec<String>> {
    let mut log = Log::default();
    let mut view = View::default();
    let mut faults = Vec::new();
    for counted in messages {
        let message = &counted.message;
        for part in &message.parts {
            if matches!(part, Part::Sealed { .. }) {
                faults.push(format!(
                    "message `{}` has a sealed summary; nobody says one, so give its text or leave it out",
                    message.id.0
                ));
            }
            if let Part::Media { tokens, .. } = part
                && *tokens > MOST_MEDIA_TOKENS
            {
                let id = message.id.0;
                faults.push(format!(
                    "message `{id}` has a medium of {tokens} tokens; at most {MOST_MEDIA_TOKENS}"
                ));
            }
        }
        let reported = message
            .usage
            .as_ref()
            .map_or(0, |usage| usage.total_input().max(usage.output));
        if reported > MOST_REPORTED_TOKENS {
            let id = message.id.0;
            faults
                .push(format!("message `{id}` reports {reported} tokens; at most {MOST_REPORTED_TOKENS} are possible"));
        }
        view.push(counted);
        faults.extend(
            log.push(Arc::clone(counted))
                .err()
                .map(|error| error.to_string()),
        );
    }
    faults.extend(view.check().iter().map(ToString::to_string));
    if faults.is_empty() {
        Ok(log)
    } else {
        Err(faults)
    }
}

/// Most tokens of one image, sound or document.
const MOST_MEDIA_TOKENS: u32 = 1_000_000;
/// Most tokens that a call may report, which is more than any request or reply has.
pub const MOST_REPORTED_TOKENS: u64 = 1 << 27;
/// Longest value or variant of a fact, in characters.
const LONGEST_VALUE: usize = 1_000;
/// Greatest weight of a fact.
const GREATEST_WEIGHT: f64 = 1e6;

fn check_fact(fact: &Fact, log: &Log) -> Vec<String> {
    let mut faults = Vec::new();
    faults.extend(is_plain("id", &fact.id).err());
    if fact
        .forms()
        .chain(fact.foil_values.iter().map(String::as_str))
        .any(|form| form.trim().is_empty())
    {
        faults.push("has an empty value, variant or foil; leave it out or fill it in".to_owned());
    }
    if fact
        .forms()
        .any(|form| form.chars().count() > LONGEST_VALUE)
    {
        faults.push(format!(
            "has a value or variant of more than {LONGEST_VALUE} characters; state a shorter one"
        ));
    }
    if !(fact.weight > 0.0 && fact.weight <= GREATEST_WEIGHT) {
        faults.push(format!(
            "has the weight {}; it must be over 0 and at most {GREATEST_WEIGHT}",
            fact.weight
        ));
    }
    if fact.evidence_message_ids.is_empty() {
        faults
            .push("names no evidence message; name each message that states its value".to_owned());
    }
    let named = fact
        .evidence_message_ids
        .iter()
        .chain(&fact.used_at)
        .chain(&fact.valid_to);
    for unknown in named.filter(|id| log.get(**id).is_none()) {
        faults.push(format!(
            "names message `{}`, which is not there; name one of the scenario",
            unknown.0
        ));
    }
    faults
}

/// Checks that every message named as evidence states its fact.
fn check_evidence(facts: &[&Fact], log: &Log, faults: &mut Vec<String>) {
    let matcher = Matcher::new(facts.iter().map(|fact| (fact.value_kind, fact.forms())));
    let mut named = BTreeMap::<MessageId, Vec<usize>>::new();
    for (item, fact) in facts.iter().enumerate() {
        fact.evidence_message_ids
            .iter()
            .for_each(|id| named.entry(*id).or_default().push(item));
    }
    for (id, items) in named {
        let parts = log
            .get(id)
            .into_iter()
            .flat_map(|counted| &counted.message.parts);
        let stated = parts
            .filter_map(part_text)
            .flat_map(|text| matcher.find(text))
            .collect::<BTreeSet<_>>();
        for lying in items.iter().filter(|item| !stated.contains(item)) {
            faults.push(without_evidence(facts[*lying], id));
        }
    }
}

fn without_evidence(fact: &Fact, message: MessageId) -> String {
    let Fact { id, value, .. } = fact;
    let message = message.0;
    format!(
        "fact `{id}` names message `{message}` as evidence, which does not hold `{value}`; name \
         the messages that do"
    )
}

/// Checks that an answer can be graded.
fn check_answer(probe: &Probe) -> Result<(), String> {
    if probe.fact_ids.is_empty() && probe.gold.is_none() && !probe.abstain_expected {
        return Err(
            "has nothing to be graded by; give it `fact_ids`, `gold` or `abstain_expected`"
                .to_owned(),
        );
    }
    if probe
        .gold
        .as_ref()
        .is_some_and(|gold| gold.trim().is_empty())
    {
        return Err("has an empty `gold`; leave it out or fill it in".to_owned());
    }
    if probe.memory.is_some()
        && (probe.gold.is_none() || !probe.fact_ids.is_empty() || probe.abstain_expected)
    {
        return Err(
            "asks memory, so it needs `gold` and can have no `fact_ids` and not expect to abstain"
                .to_owned(),
        );
    }
    Ok(())
}

/// Checks that a list of labels can be read and gives the place of each fact.
fn check_order(probe: &Probe) -> Result<(), String> {
    let Probe {
        order, fact_ids, ..
    } = probe;
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
    if let Some(label) = order.iter().find(|label| !is_label(label)) {
        return Err(format!(
            "has the label {label:?}; it must be letters and digits"
        ));
    }
    if let Some(twice) = (1..order.len()).find(|at| order[..*at].contains(&order[*at])) {
        return Err(format!("has the label `{}` twice", order[twice]));
    }
    if probe.gold.is_some() || probe.abstain_expected {
        return Err(
            "asks for an order, so it can have no `gold` and not expect to abstain".to_owned(),
        );
    }
    Ok(())
}

fn is_label(text: &str) -> bool {
    !text.is_empty() && text.chars().all(char::is_alphanumeric)
}
