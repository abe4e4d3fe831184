//! Prints what the mock sees of the exact values of imported sessions, for `studies/fit`.
//!
//! For each recorded compaction of a suite it prints each value that was said since the one before:
//! its features, whether a later call takes it, and which contexts hold it. A second file has the
//! contexts, in lines with `scenario`, `number` (of the compaction), `name` and `text`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use compactometer_engine::message::{Message, MessageId};
use compactometer_engine::model::{ChatRequest, WireMessage};
use compactometer_formats::scenario::{Fact, Scenario};
use compactometer_formats::suite::Suite;
use compactometer_simulator::features::of_values;
use compactometer_suites::import::all_facts;
use compactometer_text::matcher::Matcher;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Left {
    scenario: String,
    number: usize,
    name: String,
    text: String,
}

fn main() -> anyhow::Result<()> {
    let mut paths = std::env::args().skip(1);
    let mut next = || paths.next().context("usage: value-features SUITE CONTEXTS");
    let mut suite = Suite::read(Path::new(&next()?))?;
    let contexts = std::fs::read_to_string(next()?)?;
    let contexts = contexts.lines().map(serde_json::from_str);
    let contexts = contexts.collect::<Result<Vec<Left>, _>>()?;
    suite
        .scenarios
        .retain(|scenario| !scenario.compactions.is_empty());
    all_facts(&mut suite);
    for scenario in &suite.scenarios {
        print(scenario, &contexts);
    }
    Ok(())
}

/// A line for each recorded compaction.
fn print(scenario: &Scenario, contexts: &[Left]) {
    let mut since = MessageId(0);
    for (compaction, number) in scenario.compactions.iter().zip(1..) {
        let of_it = |left: &&Left| left.scenario == scenario.id && left.number == number;
        let left = contexts.iter().filter(of_it).collect::<Vec<_>>();
        let values = values(scenario, since, compaction.after, &left);
        let id = &scenario.id;
        println!(
            "{}",
            json!({"scenario": id, "number": number, "values": values})
        );
        since = compaction.after;
    }
}

fn values(scenario: &Scenario, since: MessageId, after: MessageId, left: &[&Left]) -> Vec<Value> {
    let is_in = |id: MessageId| since < id && id <= after;
    let wire = |message: &Message| WireMessage {
        role: message.role,
        parts: message.parts.clone().into(),
    };
    let said = scenario.messages.iter().filter(|message| is_in(message.id));
    let prompt = ChatRequest::prompt("Summarize the conversation.".to_owned(), 4_000, None, 0);
    let messages = said.map(wire).chain(prompt.messages.clone()).collect();
    let is_said = |fact: &&Fact| fact.evidence_message_ids.iter().any(|id| is_in(*id));
    let facts = scenario.facts.iter().filter(|fact| !fact.generic);
    let facts = facts.filter(is_said).collect::<Vec<_>>();
    let names = facts
        .iter()
        .map(|fact| fact.value.clone())
        .collect::<Vec<_>>();
    let features = of_values(&ChatRequest { messages, ..prompt }, &names);
    let held = held_by_name(&facts, left);
    let row = |((fact, features), held): ((&Fact, _), BTreeMap<&String, bool>)| {
        let used = fact.used_at.iter().any(|id| *id > after);
        json!({"value": fact.value, "kind": fact.value_kind, "features": features, "used": used, "held": held})
    };
    facts.into_iter().zip(features).zip(held).map(row).collect()
}

/// Of each fact, which contexts hold its value.
fn held_by_name<'l>(facts: &[&Fact], left: &[&'l Left]) -> Vec<BTreeMap<&'l String, bool>> {
    let sought = facts
        .iter()
        .map(|fact| (fact.value_kind, [fact.value.as_str()]));
    let matcher = Matcher::new(sought);
    let mut held = vec![BTreeMap::new(); facts.len()];
    for Left { name, text, .. } in left {
        let mut found = vec![false; facts.len()];
        matcher.mark(text, &mut found);
        for (held, found) in held.iter_mut().zip(found) {
            held.insert(name, found);
        }
    }
    held
}
