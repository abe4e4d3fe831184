//! Scenarios made ready for replay: everything that depends on no strategy.

mod answer_keys;
mod bindings;
mod checkers;
pub(crate) mod cleared;
mod fact_sentences;
mod foreign;
mod kept_texts;
mod lists;
mod memo;
pub(crate) mod recorded_context;
mod references;
mod requests;
pub(crate) mod said_in_messages;
mod scenario;
mod segments;
mod surroundings;
pub(crate) mod uses;
mod written;

pub use bindings::Bindings;
pub use checkers::Checks;
pub(crate) use fact_sentences::{Evidence, Given, sentences};
pub use kept_texts::KeptTexts;
pub use lists::Lists;
pub use scenario::PreparedScenario;
pub use segments::Segments;
pub(crate) use segments::pieces;
pub use surroundings::Surroundings;
pub use uses::{UsedBy, Uses};
pub(crate) use written::InWritten;
