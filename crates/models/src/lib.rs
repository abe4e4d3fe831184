//! Models behind the engine's [`ChatModel`], and the registry of their kinds.
//!
//! Absent on purpose: scenarios, facts, and why a model is called. A model sees wire content alone.

pub mod cassette;
pub mod cost_limit;
pub mod http;
mod mock_kind;
pub mod providers;
pub mod sealed_summary;
pub mod server;
pub mod tries;

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use cassette::{Cassette, CassetteError};
use compactometer_engine::model::ChatModel;
use compactometer_simulator::faults::{self, FaultError, Faulty};
use compactometer_text::suggest::hint;
use cost_limit::{CostLimit, CostLimited};
use http::EndpointError;
pub use http::{client_of, receiver};
use providers::Provider;
use tries::TryJournal;

/// Every kind of model: the mock, each provider, and recordings.
pub fn all() -> Vec<ModelKind> {
    let served = providers::ALL.iter().map(|provider| ModelKind {
        name: provider.name,
        about: provider.about,
        form: KindForm::Served(provider),
    });
    [mock_kind::KIND]
        .into_iter()
        .chain(served)
        .chain([cassette::KIND])
        .collect()
}

/// A kind of model: what is before the first `:` of a model's name. Any model takes faults
/// ([`compactometer_simulator::faults::SYNTAX`]).
pub struct ModelKind {
    /// The name users type.
    pub name: &'static str,
    /// One line for help and lists.
    pub about: &'static str,
    /// What may follow `:`.
    form: KindForm,
}

/// What follows a kind's name and `:`, and the model that it makes.
enum KindForm {
    /// One of a list; the first is the default.
    Listed {
        variants: fn() -> Vec<&'static str>,
        build: fn(&str) -> Option<Box<dyn ChatModel>>,
    },
    /// Something of the form shown.
    Free {
        form: &'static str,
        build: BuildFree,
    },
    /// A model of a provider.
    Served(&'static Provider),
}

type BuildFree = fn(&str, &Opening<'_>) -> Result<Box<dyn ChatModel>, ModelError>;

impl ModelKind {
    /// The names of this kind's models, or their form.
    pub fn forms(&self) -> Vec<String> {
        match self.form {
            KindForm::Listed { variants, .. } => variants()
                .into_iter()
                .map(|variant| format!("{}:{variant}", self.name))
                .collect(),
            KindForm::Free { form, .. } => vec![format!("{}:{form}", self.name)],
            KindForm::Served(provider) => vec![format!("{}:{}", self.name, provider.form)],
        }
    }
}

/// The model of that name: `KIND` or `KIND:VARIANT`, for example `mock` or `mock:strong`, and after
/// a `+` its faults, for example `mock:strong+empty=0.1,timeout=0.05`
/// ([`compactometer_simulator::faults::ALL`]).
///
/// # Errors
/// [`ModelError`] naming the value, the valid choices and the nearest of them.
pub fn by_name(spec: &str) -> Result<Box<dyn ChatModel>, ModelError> {
    open(spec, &Opening::default())
}

/// How a model is opened, beside its name.
#[derive(Clone, Debug, Default)]
pub struct Opening<'o> {
    /// The folder that its calls are kept in; what is there already is not called again.
    pub record: Option<&'o Path>,
    /// Further folders of its calls that are not called again; nothing is written to them. Those
    /// that do not exist are left out.
    pub earlier: &'o [PathBuf],
    /// Most requests a minute to a model behind HTTP.
    pub requests_a_minute: Option<NonZeroU32>,
    /// How long a call to a model behind HTTP may take.
    pub call_timeout: Option<Duration>,
    /// What its calls may cost; what a recording holds costs nothing.
    pub cost_limit: Option<Arc<CostLimit>>,
    /// Where each request to a model behind HTTP is written down. It may be set later, before the
    /// first call.
    pub journal: Arc<OnceLock<TryJournal>>,
}

/// The model of that name, opened so.
///
/// # Errors
/// As [`by_name`], and where the folder cannot be used.
pub fn open(spec: &str, opening: &Opening<'_>) -> Result<Box<dyn ChatModel>, ModelError> {
    // Faults stand outside of a recording, which holds what the model said.
    let model = |spec| {
        let model = without_faults(spec, opening)?;
        let limit = opening.cost_limit.as_ref();
        let model = match limit.filter(|_| !http::is_served(spec)) {
            Some(limit) => {
                Box::new(CostLimited::new(model, Arc::clone(limit))) as Box<dyn ChatModel>
            }
            None => model,
        };
        Ok(match opening.record {
            Some(folder) => {
                Box::new(Cassette::recording(folder, opening.earlier, model)?) as Box<dyn ChatModel>
            }
            None => model,
        })
    };
    // A name may hold a `+` of its own.
    match split(spec) {
        (plain, Some(faults)) => Ok(Box::new(Faulty::new(model(plain)?, faults.parse()?))),
        (plain, None) => model(plain),
    }
}

/// A model's plain name, and its faults.
fn split(spec: &str) -> (&str, Option<&str>) {
    let faults = spec
        .rsplit_once('+')
        .filter(|(_, faults)| faults.is_empty() || faults::are_meant(faults));
    faults.map_or((spec, None), |(plain, faults)| (plain, Some(faults)))
}

fn without_faults(spec: &str, opening: &Opening<'_>) -> Result<Box<dyn ChatModel>, ModelError> {
    let (name, variant) = match spec.split_once(':') {
        Some((name, variant)) => (name, Some(variant)),
        None => (spec, None),
    };
    let all = all();
    let unknown = |given: &str, choices: &[String], hint: String| {
        ModelError::Unknown(format!(
            "model `{given}` is unknown; choose one of: {}{hint}",
            choices.join(", ")
        ))
    };
    let kind = all.iter().find(|kind| kind.name == name).ok_or_else(|| {
        let kinds = all
            .iter()
            .map(|kind| kind.name.to_owned())
            .collect::<Vec<_>>();
        let hint =
            of_provider(spec).unwrap_or_else(|| hint(name, kinds.iter().map(String::as_str)));
        unknown(&without_user(spec), &kinds, hint)
    })?;
    let (variants, build) = match kind.form {
        KindForm::Listed { variants, build } => (variants(), build),
        KindForm::Free { build, .. } => return build(variant.unwrap_or_default(), opening),
        KindForm::Served(provider) => {
            return http::open(provider, variant.unwrap_or_default(), opening);
        }
    };
    let variant = variant.or(variants.first().copied()).unwrap_or_default();
    build(variant).ok_or_else(|| {
        unknown(
            &format!("{name}:{variant}"),
            &kind.forms(),
            hint(variant, variants.iter().copied()),
        )
    })
}

/// A clause for a name that a provider gives to its models.
fn of_provider(spec: &str) -> Option<String> {
    const BEGINNINGS: [(&str, &str); 5] = [
        ("gpt-", "openai"),
        ("chatgpt-", "openai"),
        ("o1", "openai"),
        ("o3", "openai"),
        ("claude-", "anthropic"),
    ];
    let (_, provider) = BEGINNINGS
        .into_iter()
        .find(|(beginning, _)| spec.starts_with(beginning))?;
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
    spec.chars()
        .all(is_name)
        .then(|| format!("; a model follows its provider: `{provider}:{spec}`"))
}

/// A name that names no model.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// No such kind or variant.
    #[error("{0}")]
    Unknown(String),
    /// The faults after the model's name cannot be read.
    #[error(transparent)]
    Fault(#[from] FaultError),
    /// A model behind HTTP cannot be asked.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// A cassette cannot be used.
    #[error(transparent)]
    Cassette(#[from] CassetteError),
}

/// A model's name for messages: of an address what follows the last `@`, since a user and password
/// may be before it.
fn without_user(spec: &str) -> String {
    spec.rsplit_once('@')
        .map_or_else(|| spec.to_owned(), |(_, host)| format!("...@{host}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(spec: &str) -> String {
        by_name(spec)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    }

    #[test]
    fn names_resolve() {
        for spec in ["mock", "mock:claude-code"] {
            assert_eq!(by_name(spec).expect("a model").name(), "mock:claude-code");
        }
    }

    /// The dummy provider is one file and one line of the registry.
    #[test]
    fn a_new_provider_is_in_every_list_and_message() {
        let kind = all()
            .into_iter()
            .find(|kind| kind.name == "dummy-provider")
            .expect("in the list of models");
        assert_eq!(
            (kind.about, kind.forms()),
            (
                "answers nobody, in tests",
                vec!["dummy-provider:MODEL".to_owned()]
            )
        );
        assert!(error("nobody").contains("dummy-provider"));
        assert!(error("openai:").contains("`dummy-provider:MODEL`"));
        assert_eq!(
            error("dummy-provider:x"),
            "`x` needs a key; set the environment's variable `DUMMY_API_KEY`"
        );
        let receiver = receiver("dummy-provider:x")
            .expect("the address is right")
            .expect("a server");
        assert_eq!(
            (receiver.host.as_str(), receiver.is_provider),
            ("dummy.invalid", true)
        );
    }

    #[test]
    fn no_error_shows_a_password() {
        for spec in [
            "http://me:hush@host/v1",
            "openai-compatible:small@me:hush@host",
            "openai-compatible:me:hush@host",
        ] {
            let told = error(spec);
            assert!(!told.is_empty() && !told.contains("hush"), "{told}");
        }
        assert!(
            error("openai-compatible:small@http://me:hush@host")
                .contains("holds a user or password")
        );
    }

    #[test]
    fn errors_name_value_choices_and_suggestion() {
        insta::assert_snapshot!(error("mok"), @"model `mok` is unknown; choose one of: mock, openai, openai-responses, anthropic, openai-compatible, dummy-provider, cassette; did you mean `mock`?");
        insta::assert_snapshot!(error("mock:stron"), @"model `mock:stron` is unknown; choose one of: mock:claude-code, mock:strong, mock:perfect-reader, mock:weak, mock:lost-in-compaction-length; did you mean `strong`?");
        assert!(error("gpt-4o").ends_with("; a model follows its provider: `openai:gpt-4o`"));
        insta::assert_snapshot!(error("gpt:5"), @"model `gpt:5` is unknown; choose one of: mock, openai, openai-responses, anthropic, openai-compatible, dummy-provider, cassette");
        insta::assert_snapshot!(error("mock:"), @"model `mock:` is unknown; choose one of: mock:claude-code, mock:strong, mock:perfect-reader, mock:weak, mock:lost-in-compaction-length");
    }
}
