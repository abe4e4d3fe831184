//! Generated suites: conversations with known facts, made from a spec and a seed.
//!
//! Statements are drawn in pairs from one template and are said by the same speaker at the same
//! place. A random choice makes one of the two the fact and the other its decoy, so that no text
//! distinguishes them. The suite is generated from its spec at each start, and the same spec gives
//! the same bytes on every platform. Absent on purpose: models, files, the clock.

mod additions;
mod agent;
mod asides;
mod calls;
mod documents;
mod domains;
mod facts;
mod forms;
mod manner;
mod memory;
mod orders;
mod part;
mod plan;
mod planted;
mod probes;
mod range;
mod session;
mod spec;
mod statements;
mod talk;
#[cfg(test)]
mod tests;
mod times;
mod wishes;
mod writer;

use std::collections::BTreeSet;

use compactometer_engine::model::ToolDefinition;
use compactometer_formats::scenario::Scenario;
use compactometer_formats::suite::{Header, Suite};
use serde_json::{Map, Value, json};

use crate::dice::{SeededDice, Stream};
use crate::generate::domains::Tool;
use crate::generate::forms::Reserved;
use crate::generate::manner::Manner;
use crate::generate::plan::ConversationPlan;
pub(crate) use crate::generate::planted::plant;
pub(crate) use crate::generate::spec::check_suite;
pub use crate::generate::spec::{Spec, SpecError};
pub(crate) use crate::generate::statements::Statements;
use crate::generate::writer::ConversationWriter;

/// The suite that a spec describes.
pub fn generate(spec: &Spec) -> Suite {
    generate_telling(spec, &mut |_| ())
}

/// Like [`generate`]. Calls `tell` with the number of tokens (o200k_base) of each conversation as
/// it is written, in order.
pub fn generate_telling(spec: &Spec, tell: &mut dyn FnMut(usize)) -> Suite {
    let (plans, reserved) = plans(spec);
    let write = |(number, plan)| {
        let (scenario, tokens) = scenario(spec, number, plan, &reserved);
        tell(tokens);
        scenario
    };
    let scenarios = plans.iter().enumerate().map(write).collect();
    Suite {
        header: Header {
            headline_metrics: spec.headline_metrics.clone(),
            ..Header::new(&spec.name, Some(spec.window), notes(spec))
        },
        scenarios,
    }
}

/// Draws all values before any text, so that no filler of any conversation repeats one by chance.
fn plans(spec: &Spec) -> (Vec<ConversationPlan>, Reserved) {
    let mut reserved = Reserved::default();
    let mut plans = Vec::<ConversationPlan>::with_capacity(spec.lengths.len());
    for number in 0..spec.lengths.len() {
        let is_same_person = number > 0 && spec.person(number) == spec.person(number - 1);
        let earlier = plans.last().filter(|_| is_same_person);
        let plan = plan::draw(spec, number, &mut reserved, earlier);
        plans.push(plan);
    }
    (plans, reserved)
}

fn notes(spec: &Spec) -> Vec<String> {
    let made = format!(
        "generated conversations (spec `{}`, seed {}): text from templates, no agent wrote it",
        spec.name, spec.seed
    );
    let splits = spec.splits.map(|splits| {
        format!(
            "splits: {} conversations for development, {} for test, {} for calibration; `test` has subjects, words and \
             templates of its own",
            splits.dev, splits.test, splits.calibration
        )
    });
    [Some(made), splits].into_iter().flatten().collect()
}

/// A conversation and its number of tokens.
fn scenario(
    spec: &Spec,
    number: usize,
    plan: &ConversationPlan,
    reserved: &Reserved,
) -> (Scenario, usize) {
    let text = SeededDice::new(spec.seed, number, Stream::Text);
    let writer = ConversationWriter::new(plan.domain, plan.part, &plan.subjects, text, reserved);
    let memory = memory::write(spec, number, plan, reserved);
    let talk = talk::write(
        Manner {
            session: &spec.session,
            agent: spec.agent,
        },
        plan,
        memory.document.as_deref(),
        writer,
    );
    let facts = facts::build(plan, &talk);
    let probes = probes::build(spec, number, plan, &talk, &facts);
    let mut messages = talk.messages;
    let pauses = times::Pauses {
        before_points: spec.pauses,
        share: spec.agent.map_or(0, |agent| agent.pauses),
    };
    if pauses.are_wanted() {
        let points = probes
            .iter()
            .map(|probe| probe.asked_after)
            .collect::<BTreeSet<_>>();
        pauses.set_times(
            &mut messages,
            &points,
            &mut SeededDice::new(spec.seed, number, Stream::Times),
        );
    }
    let tokens = talk.ends.last().copied().unwrap_or(0);
    let mut scenario = Scenario {
        id: format!("{}-{}-{number:02}", spec.name, plan.domain.name),
        group_id: format!("{}-{:02}", spec.name, spec.person(number)),
        projects: Vec::new(),
        version: 1,
        seed: Some(spec.seed),
        source: format!("generated from spec `{}`", spec.name),
        licence: Some("MIT OR Apache-2.0".to_owned()),
        split: spec.split(number),
        tools: plan
            .domain
            .tools
            .iter()
            .map(|tool| definition(tool, spec.agent.is_some()))
            .collect(),
        messages,
        compactions: Vec::new(),
        shaped_after: None,
        log: Default::default(),
        unmeasured: Vec::new(),
        directories: Vec::new(),
        reattached: None,
        memory_notes: memory.notes,
        said: Vec::new(),
        facts,
        probes,
    };
    let dice = SeededDice::new(spec.seed, number, Stream::Said);
    let added = wishes::say(dice, spec.part(number), spec.said, &mut scenario);
    (scenario, tokens + added)
}

/// The definition of a tool. An agent that works as a spec says also gives the purpose of each
/// call, and may write a text.
fn definition(tool: &Tool, is_agent: bool) -> ToolDefinition {
    let names: Vec<&str> = tool
        .arguments
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    let others = [calls::PURPOSE, calls::TEXT]
        .into_iter()
        .filter(|_| is_agent);
    let properties: Map<String, Value> = names
        .iter()
        .copied()
        .chain(others)
        .map(|name| (name.to_owned(), json!({ "type": "string" })))
        .collect();
    ToolDefinition {
        name: tool.name.to_owned(),
        description: tool.about.to_owned(),
        parameters: json!({ "type": "object", "properties": properties, "required": names }),
    }
}
