//! Tests of the generator as a whole, and what several of its tests need.

mod standard;
mod wording;

use super::domains::{Domain, ResultStyle};

/// Every text of a domain, for tests that check all of them.
pub(super) fn template_texts(domain: &'static Domain) -> Vec<&'static str> {
    let mut texts = Vec::new();
    let mut add = |list: &'static [String]| texts.extend(list.iter().map(String::as_str));
    for list in [
        &domain.rules,
        &domain.subjects,
        &domain.requests,
        &domain.remarks,
        &domain.steps,
        &domain.findings,
    ] {
        add(list);
    }
    domain.pools.iter().for_each(|pool| add(&pool.words));
    domain
        .tools
        .iter()
        .flat_map(|tool| [&tool.items, &tool.failures])
        .for_each(|list| add(list));
    let claims = || domain.claims.iter().chain(&domain.addresses);
    claims()
        .flat_map(|claim| [&claim.says, &claim.changes])
        .for_each(|list| add(list));
    texts.push(&domain.role);
    texts.extend(claims().map(|claim| claim.asks.as_str()));
    for tool in &domain.tools {
        texts.push(&tool.about);
        texts.extend(tool.arguments.iter().map(|(_, template)| template.as_str()));
        match &tool.style {
            ResultStyle::Json(fields) | ResultStyle::Table(fields) => {
                texts.extend(fields.iter().map(|(_, template)| template.as_str()));
            }
            ResultStyle::Code(texts_of) | ResultStyle::Page(texts_of) => {
                texts.extend(texts_of.iter().map(String::as_str))
            }
            ResultStyle::Log => {}
        }
    }
    texts
}
