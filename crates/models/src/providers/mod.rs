//! Providers of models behind HTTP. Each is one file with everything that a client must know of it,
//! and one line in [`ALL`].
//!
//! Absent on purpose: sending, waiting and trying again, which are the same for all.

mod answer_so_far;
mod anthropic;
#[cfg(test)]
mod dummy;
mod openai;
mod openai_compatible;
mod openai_responses;
mod portable;

use std::fmt;

use compactometer_engine::message::Usage;
use compactometer_engine::model::ChatRequest;
use serde_json::Value;

pub(crate) use answer_so_far::AnswerSoFar;
pub use anthropic::ANTHROPIC;
pub use openai::OPENAI;
pub use openai_compatible::OPENAI_COMPATIBLE;
pub use openai_responses::OPENAI_RESPONSES;

/// Every provider.
pub static ALL: &[&Provider] = &[
    &OPENAI,
    &OPENAI_RESPONSES,
    &ANTHROPIC,
    &OPENAI_COMPATIBLE,
    #[cfg(test)]
    &dummy::DUMMY,
];

/// A provider, or a wire format that many servers speak.
pub struct Provider {
    /// What users type before the first `:` of a model's name; it ends in `-compatible` if there is
    /// no service of its own.
    pub name: &'static str,
    /// One line for help and lists.
    pub about: &'static str,
    /// What follows the name and `:`, for help.
    pub form: &'static str,
    /// The provider's own service, if there is one.
    pub(crate) service: Option<Service>,
    /// Whether a model's name may carry the address of another server.
    pub(crate) takes_address: bool,
    /// The end of the address that requests go to.
    pub(crate) path: &'static str,
    /// Headers of every request.
    pub(crate) headers: &'static [(&'static str, &'static str)],
    /// The header with the key, and what precedes the key in it.
    pub(crate) key_header: (&'static str, &'static str),
    /// The JSON body that asks a model for a request's completion.
    pub(crate) write_body: fn(&ChatRequest, &str) -> Value,
    /// Adds what an event of a stream, or a whole answer, says.
    pub(crate) read: fn(&mut AnswerSoFar, &Value),
    /// Reads a usage.
    pub(crate) usage: fn(&Value) -> Option<ReportedUsage>,
    /// How a server is asked whether it has a model.
    pub(crate) lookup: ModelLookup,
    /// The provider's own compaction, if [`Provider::body`] can ask for it.
    pub(crate) compaction: Option<OwnCompaction>,
}

/// A compaction that a provider does itself.
pub(crate) struct OwnCompaction {
    /// A header of requests for it.
    pub(crate) header: Option<(&'static str, &'static str)>,
    /// What follows [`Provider::path`] in the address of requests for it.
    pub(crate) beside: &'static str,
    /// Fewest tokens of a chat that is compacted.
    pub(crate) from_tokens: u32,
    /// Whether its summaries are sealed, and this provider's models read them.
    pub(crate) is_sealed: bool,
}

/// A usage as a provider reports it.
pub(crate) struct ReportedUsage {
    /// Each token once.
    pub(crate) tokens: Usage,
    /// Output tokens that are reasoning, if the provider says so.
    pub(crate) reasoning: Option<u64>,
}

/// A provider's own service.
pub(crate) struct Service {
    pub(crate) address: &'static str,
    /// The environment variable with its key, which is sent to this service only.
    pub(crate) key_variable: &'static str,
}

/// How a server is asked whether it has a model.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelLookup {
    /// By the model's name, since the server may know aliases that it does not list.
    ByName,
    /// By its list of models.
    List,
}

impl Provider {
    /// The JSON body that asks a model for the request's completion.
    pub fn body(&self, request: &ChatRequest, model: &str) -> Value {
        (self.write_body)(request, model)
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name)
    }
}

/// The provider of that name.
pub(crate) fn by_name(name: &str) -> Option<&'static Provider> {
    ALL.iter().copied().find(|provider| provider.name == name)
}

/// How models of every provider are named, for messages.
pub(crate) fn forms() -> String {
    ALL.iter()
        .map(|provider| format!("`{}:{}`", provider.name, provider.form))
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_services_have_addresses_and_keys() {
        for (at, provider) in ALL.iter().enumerate() {
            assert!(
                ALL[..at].iter().all(|before| before.name != provider.name),
                "{}",
                provider.name
            );
            assert!(
                provider.service.is_some() || provider.takes_address,
                "{} has no server",
                provider.name
            );
            assert_eq!(
                provider.takes_address,
                provider.form.contains("URL"),
                "{}",
                provider.name
            );
            // The price of a server on this machine depends on it.
            assert_eq!(
                provider.service.is_none(),
                provider.name.ends_with("-compatible"),
                "{}",
                provider.name
            );
            if let Some(service) = &provider.service {
                assert!(
                    service.address.starts_with("https://")
                        && service.key_variable.ends_with("_API_KEY")
                );
            }
        }
    }
}
