//! Generated suites: conversations whose facts are known, from a spec and a seed.
//!
//! Statements are drawn in pairs from one template, said by the same speaker at the same place; a coin makes one of the
//! two the fact and the other its decoy, so that no text tells them apart. The suite is made anew from its spec at each
//! start: the same spec gives the same bytes everywhere. Absent on purpose: models, files, the clock.

mod dice;
mod documents;
mod domains;
mod facts;
mod forms;
mod plan;
mod probes;
mod spec;
mod talk;
mod writer;

use std::path::Path;

use compactometer_engine::model::ToolDefinition;
use compactometer_schema::scenario::{Scenario, Split};
use compactometer_schema::suite::{Header, Suite};
use serde_json::{Map, Value, json};

use crate::dice::{Dice, Stream};
#[cfg(test)]
use crate::domains::Domain;
use crate::domains::Tool;
use crate::forms::Reserved;
use crate::plan::Plan;
pub use crate::spec::{Spec, SpecError};
use crate::writer::Writer;

/// The spec of the suite that runs when none is named.
const SMOKE: &str = include_str!("../../../datasets/smoke.toml");

/// The suite that runs when none is named.
///
/// # Errors
/// [`SpecError`] where the embedded spec is wrong; a test holds that it is not.
pub fn smoke() -> Result<Suite, SpecError> {
    Spec::parse(SMOKE, Path::new("datasets/smoke.toml")).map(|spec| generate(&spec))
}

/// The suite that a spec describes.
pub fn generate(spec: &Spec) -> Suite {
    let mut reserved = Reserved::default();
    // All values are drawn before any text, so that no filler of any conversation repeats one by chance.
    let plans: Vec<Plan> = (0..spec.lengths.len()).map(|number| plan::draw(spec, number, &mut reserved)).collect();
    let scenarios = plans.iter().enumerate().map(|(number, plan)| scenario(spec, number, plan, &reserved)).collect();
    let note = format!(
        "generated conversations (spec `{}`, seed {}): text from templates, no agent wrote it",
        spec.name, spec.seed
    );
    Suite { header: Header::new(&spec.name, Some(spec.window), vec![note]), scenarios }
}

fn scenario(spec: &Spec, number: usize, plan: &Plan, reserved: &Reserved) -> Scenario {
    let text = Dice::new(spec.seed, number, Stream::Text);
    let writer = Writer::new(plan.domain, &plan.subjects, text, reserved);
    let talk = talk::write(plan, writer);
    let facts = facts::build(plan, &talk);
    let probes = probes::build(spec, plan, &talk, &facts, Dice::new(spec.seed, number, Stream::Probes));
    Scenario {
        id: format!("{}-{}-{number:02}", spec.name, plan.domain.name),
        group_id: format!("{}-{number:02}", spec.name),
        version: 1,
        seed: Some(spec.seed),
        source: format!("generated from spec `{}`", spec.name),
        licence: Some("MIT OR Apache-2.0".to_owned()),
        split: Split::Dev,
        tools: plan.domain.tools.iter().map(definition).collect(),
        messages: talk.messages,
        facts,
        probes,
    }
}

fn definition(tool: &Tool) -> ToolDefinition {
    let names: Vec<&str> = tool.arguments.iter().map(|(name, _)| *name).collect();
    let properties: Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), json!({ "type": "string" }))).collect();
    ToolDefinition {
        name: tool.name.to_owned(),
        description: tool.about.to_owned(),
        parameters: json!({ "type": "object", "properties": properties, "required": names }),
    }
}

/// Every text of a domain, for tests over all of them.
#[cfg(test)]
fn template_texts(domain: &Domain) -> Vec<&'static str> {
    use crate::domains::Style;
    let lists = [domain.rules, domain.subjects, domain.requests, domain.remarks, domain.steps, domain.findings];
    let mut texts: Vec<&'static str> = lists.concat();
    texts.push(domain.role);
    texts.extend(domain.pools.iter().flat_map(|pool| pool.words));
    for tool in domain.tools {
        texts.extend([tool.items, tool.failures].concat());
        texts.extend(tool.arguments.iter().map(|(_, template)| *template));
        texts.push(tool.about);
        match &tool.style {
            Style::Json(fields) | Style::Table(fields) => texts.extend(fields.iter().map(|(_, template)| *template)),
            Style::Code(blocks) => texts.extend(*blocks),
            Style::Page(heads) => texts.extend(*heads),
            Style::Log => {}
        }
    }
    for claim in domain.claims {
        texts.extend([claim.says, claim.changes, &[claim.asks]].concat());
    }
    texts
}
