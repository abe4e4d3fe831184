//! A provider for tests: it is named only in the registry, and must be found in every list and
//! message.

use super::openai::{body, read, usage};
use super::{ModelLookup, Provider, Service};

pub(super) static DUMMY: Provider = Provider {
    name: "dummy-provider",
    about: "answers nobody, in tests",
    form: "MODEL",
    service: Some(Service {
        address: "https://dummy.invalid/v1",
        key_variable: "DUMMY_API_KEY",
    }),
    takes_address: false,
    path: "chat/completions",
    headers: &[],
    key_header: ("authorization", "Bearer "),
    write_body: |request, model| body(request, model, "max_tokens"),
    read,
    usage,
    lookup: ModelLookup::ByName,
    compaction: None,
};
