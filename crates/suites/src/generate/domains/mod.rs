//! The domains of conversations. A domain is one file of text and one line in [`ALL`].
//!
//! Templates hold slots in braces: a form of [`crate::generate::forms::GeneratedForm::by_slot`], a pool of
//! the domain, or one of the general slots of [`crate::generate::writer::ConversationWriter::fill`]. Claims
//! also hold `{s}`, the subject, and `{v}`, the value.

use std::sync::LazyLock;

use compactometer_formats::scenario::{Category, Speaker};
use serde::Deserialize;

use crate::generate::forms::GeneratedForm;

/// Every domain.
pub(crate) static ALL: LazyLock<Vec<Domain>> = LazyLock::new(|| {
    let texts = [
        include_str!("software.toml"),
        include_str!("operations.toml"),
        include_str!("service.toml"),
        include_str!("research.toml"),
    ];
    // A test reads each file, so none fails here.
    texts
        .into_iter()
        .filter_map(|text| toml::from_str(text).ok())
        .collect()
});

/// A kind of work that a user and an agent do together.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Domain {
    /// The name that specs use.
    pub(crate) name: String,
    /// The opening of the system prompt.
    pub(crate) role: String,
    /// Rules of the system prompt. Each conversation uses a selection.
    pub(crate) rules: Vec<String>,
    /// The subjects of claims.
    pub(crate) subjects: Vec<String>,
    /// Words that fill slots.
    pub(crate) pools: Vec<WordPool>,
    /// Requests of the user.
    pub(crate) requests: Vec<String>,
    /// Other sentences of the user.
    pub(crate) remarks: Vec<String>,
    /// Sentences of the agent before it calls tools.
    pub(crate) steps: Vec<String>,
    /// Sentences of the agent when it is done.
    pub(crate) findings: Vec<String>,
    /// The agent's tools.
    pub(crate) tools: Vec<Tool>,
    /// Claims that can be stated.
    pub(crate) claims: Vec<SubjectClaim>,
    /// Further claims of tools: what an agent needs for later calls. Only conversations of such an
    /// agent make them.
    pub(crate) addresses: Vec<SubjectClaim>,
}

/// Words that fill a slot.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WordPool {
    /// The slot's name.
    pub(crate) slot: String,
    /// The words. Each conversation uses some of them.
    pub(crate) words: Vec<String>,
}

/// A tool of the agent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tool {
    /// The tool's name.
    pub(crate) name: String,
    /// A description of the tool.
    pub(crate) about: String,
    /// The arguments: each name and a description.
    pub(crate) arguments: Vec<(String, String)>,
    /// The format of its results.
    pub(crate) style: ResultStyle,
    /// Lines of its results.
    pub(crate) items: Vec<String>,
    /// Its error messages.
    pub(crate) failures: Vec<String>,
}

impl Tool {
    /// The argument that takes values of the form.
    pub(crate) fn takes(&self, form: GeneratedForm) -> Option<usize> {
        let takes = |template: &str| {
            let slot = template
                .strip_prefix('{')
                .and_then(|rest| rest.strip_suffix('}'));
            slot.and_then(GeneratedForm::by_slot) == Some(form)
        };
        self.arguments.iter().position(|(_, holds)| takes(holds))
    }
}

/// The format of a tool's results, into which lines of text are put.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ResultStyle {
    /// Lines with a time, a level and a component.
    Log,
    /// A JSON array of objects with these fields and the line as `detail`.
    Json(Vec<(String, String)>),
    /// A table with these columns and the line as `note`.
    Table(Vec<(String, String)>),
    /// Source code: these blocks, with the lines as comments between them.
    Code(Vec<String>),
    /// Sections of paragraphs under headings.
    Page(Vec<String>),
}

/// A claim that can be stated about a subject.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SubjectClaim {
    /// The category of the statement. No text mentions it.
    pub(crate) category: Category,
    /// Who states it.
    pub(crate) speaker: Speaker,
    /// The form of its value.
    pub(crate) form: GeneratedForm,
    /// Ways to state it.
    pub(crate) says: Vec<String>,
    /// Ways to state that the value has changed; empty if it never does.
    #[serde(default)]
    pub(crate) changes: Vec<String>,
    /// The question that asks for the value.
    pub(crate) asks: String,
}

/// Names of people, for every domain.
pub(crate) static PEOPLE: LazyLock<WordPool> = LazyLock::new(|| {
    let words = [
        "Annika", "Bartek", "Chidi", "Dolores", "Emeka", "Farid", "Greta", "Hiroko", "Ines",
        "Jorma", "Katya", "Luca", "Marit", "Nadia", "Oskar", "Pilar", "Rashid", "Sanna", "Tomasz",
        "Ulla", "Viktor", "Wanjiru", "Yusuf", "Zofia",
    ];
    WordPool {
        slot: "person".to_owned(),
        words: words.map(str::to_owned).into(),
    }
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_domain_is_read() {
        let names = ALL
            .iter()
            .map(|domain| domain.name.as_str())
            .collect::<Vec<_>>();
        assert_eq!(names, ["software", "operations", "service", "research"]);
    }
}
