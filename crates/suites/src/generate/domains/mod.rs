//! What conversations are about. A domain is one folder and one line in [`ALL`]; it is text alone.
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
    /// Rules of the system prompt; each conversation has a selection.
    pub(crate) rules: &'static [&'static str],
    /// What claims are about.
    pub(crate) subjects: &'static [&'static str],
    /// Words for slots.
    pub(crate) pools: &'static [Pool],
    /// How the user asks for something.
    pub(crate) requests: &'static [&'static str],
    /// What else the user says.
    pub(crate) remarks: &'static [&'static str],
    /// What the agent says before it calls tools.
    pub(crate) steps: &'static [&'static str],
    /// What the agent says when it is done.
    pub(crate) findings: &'static [&'static str],
    /// What the agent can call.
    pub(crate) tools: &'static [Tool],
    /// What can be stated.
    pub(crate) claims: &'static [Claim],
}

/// Words for a slot.
#[derive(Debug)]
pub(crate) struct Pool {
    /// The slot's name.
    pub(crate) slot: &'static str,
    /// The words; each conversation keeps to some of them.
    pub(crate) words: &'static [&'static str],
}

/// A tool of the agent.
#[derive(Debug)]
pub(crate) struct Tool {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it does.
    pub(crate) about: &'static str,
    /// Names of the arguments and what they hold.
    pub(crate) arguments: &'static [(&'static str, &'static str)],
    /// What its results look like.
    pub(crate) style: Style,
    /// Lines of its results.
    pub(crate) items: &'static [&'static str],
    /// What it says when it fails.
    pub(crate) failures: &'static [&'static str],
}

/// What a tool's results look like. Each takes lines of text and dresses them.
#[derive(Debug)]
pub(crate) enum Style {
    /// Lines with time, level and component.
    Log,
    /// A JSON array of objects: these fields, then the line as `detail`.
    Json(&'static [(&'static str, &'static str)]),
    /// A table: these columns, then the line as `note`.
    Table(&'static [(&'static str, &'static str)]),
    /// Source code: these blocks, with lines as comments between them.
    Code(&'static [&'static str]),
    /// Headed sections with paragraphs.
    Page(&'static [&'static str]),
}

/// Something that can be stated of a subject.
#[derive(Debug)]
pub(crate) struct Claim {
    /// What kind of statement it is; stands in no text.
    pub(crate) category: Category,
    /// Who states it.
    pub(crate) speaker: Speaker,
    /// What its value looks like.
    pub(crate) form: Form,
    /// Ways to state it.
    pub(crate) says: &'static [&'static str],
    /// Ways to state that it has another value from now on; empty where it never has.
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

/// People of every domain.
pub(crate) const PEOPLE: Pool = Pool {
    slot: "person",
    words: &[
        "Annika", "Bartek", "Chidi", "Dolores", "Emeka", "Farid", "Greta", "Hiroko", "Ines", "Jorma", "Katya", "Luca",
        "Marit", "Nadia", "Oskar", "Pilar", "Rashid", "Sanna", "Tomasz", "Ulla", "Viktor", "Wanjiru", "Yusuf", "Zofia",
    ],
};
