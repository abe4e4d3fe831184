//! The domains of conversations. A domain is one folder and one line in [`ALL`], and it holds text only.
//!
//! Templates hold slots in braces: a form of [`crate::generate::forms::Form::by_slot`], a pool of the domain, or one of the
//! general slots of [`crate::generate::writer::Writer::fill`]. Claims also hold `{s}`, the subject, and `{v}`, the value.

mod operations;
mod research;
mod service;
mod software;

use compactometer_formats::scenario::{Category, Speaker};

use crate::generate::forms::Form;

/// Every domain.
pub(crate) static ALL: &[&Domain] = &[&software::DOMAIN, &operations::DOMAIN, &service::DOMAIN, &research::DOMAIN];

/// A kind of work that a user and an agent do together.
#[derive(Debug)]
pub(crate) struct Domain {
    /// The name that specs use.
    pub(crate) name: &'static str,
    /// The opening of the system prompt.
    pub(crate) role: &'static str,
    /// Rules of the system prompt. Each conversation uses a selection.
    pub(crate) rules: &'static [&'static str],
    /// The subjects of claims.
    pub(crate) subjects: &'static [&'static str],
    /// Words that fill slots.
    pub(crate) pools: &'static [Pool],
    /// Requests of the user.
    pub(crate) requests: &'static [&'static str],
    /// Other sentences of the user.
    pub(crate) remarks: &'static [&'static str],
    /// Sentences of the agent before it calls tools.
    pub(crate) steps: &'static [&'static str],
    /// Sentences of the agent when it is done.
    pub(crate) findings: &'static [&'static str],
    /// The agent's tools.
    pub(crate) tools: &'static [Tool],
    /// Claims that can be stated.
    pub(crate) claims: &'static [Claim],
}

/// Words that fill a slot.
#[derive(Debug)]
pub(crate) struct Pool {
    /// The slot's name.
    pub(crate) slot: &'static str,
    /// The words. Each conversation uses some of them.
    pub(crate) words: &'static [&'static str],
}

/// A tool of the agent.
#[derive(Debug)]
pub(crate) struct Tool {
    /// The tool's name.
    pub(crate) name: &'static str,
    /// A description of the tool.
    pub(crate) about: &'static str,
    /// The arguments: each name and a description.
    pub(crate) arguments: &'static [(&'static str, &'static str)],
    /// The format of its results.
    pub(crate) style: Style,
    /// Lines of its results.
    pub(crate) items: &'static [&'static str],
    /// Its error messages.
    pub(crate) failures: &'static [&'static str],
}

/// The format of a tool's results, into which lines of text are put.
#[derive(Debug)]
pub(crate) enum Style {
    /// Lines with a time, a level and a component.
    Log,
    /// A JSON array of objects with these fields and the line as `detail`.
    Json(&'static [(&'static str, &'static str)]),
    /// A table with these columns and the line as `note`.
    Table(&'static [(&'static str, &'static str)]),
    /// Source code: these blocks, with the lines as comments between them.
    Code(&'static [&'static str]),
    /// Sections of paragraphs under headings.
    Page(&'static [&'static str]),
}

/// A claim that can be stated about a subject.
#[derive(Debug)]
pub(crate) struct Claim {
    /// The category of the statement. No text mentions it.
    pub(crate) category: Category,
    /// Who states it.
    pub(crate) speaker: Speaker,
    /// The form of its value.
    pub(crate) form: Form,
    /// Ways to state it.
    pub(crate) says: &'static [&'static str],
    /// Ways to state that the value has changed; empty if it never does.
    pub(crate) changes: &'static [&'static str],
    /// The question that asks for the value.
    pub(crate) asks: &'static str,
}

const fn claim(
    category: Category,
    speaker: Speaker,
    form: Form,
    says: &'static [&'static str],
    asks: &'static str,
) -> Claim {
    Claim { category, speaker, form, says, changes: &[], asks }
}

impl Claim {
    const fn changing(self, changes: &'static [&'static str]) -> Claim {
        Claim { changes, ..self }
    }
}

/// Names of people, for every domain.
pub(crate) const PEOPLE: Pool = Pool {
    slot: "person",
    words: &[
        "Annika", "Bartek", "Chidi", "Dolores", "Emeka", "Farid", "Greta", "Hiroko", "Ines", "Jorma", "Katya", "Luca",
        "Marit", "Nadia", "Oskar", "Pilar", "Rashid", "Sanna", "Tomasz", "Ulla", "Viktor", "Wanjiru", "Yusuf", "Zofia",
    ],
};
