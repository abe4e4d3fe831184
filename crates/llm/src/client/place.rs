//! Where a model is served: format, model, address, name and key.

use std::net::IpAddr;

use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};

/// The address of OpenAI's own service.
pub(super) const AT_OPENAI: &str = "https://api.openai.com/v1";
/// The address of Anthropic's own service.
pub(super) const AT_ANTHROPIC: &str = "https://api.anthropic.com/v1";

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// Chat completions, at OpenAI.
    OpenAi,
    /// Chat completions, elsewhere.
    Compatible,
    /// Anthropic's messages.
    Anthropic,
}

impl Api {
    /// The environment's variable with the key.
    pub(super) fn key_variable(self) -> &'static str {
        match self {
            Api::OpenAi => "OPENAI_API_KEY",
            Api::Compatible => "COMPACTOMETER_API_KEY",
            Api::Anthropic => "ANTHROPIC_API_KEY",
        }
    }

    fn path(self) -> &'static str {
        if self == Api::Anthropic { "messages" } else { "chat/completions" }
    }
}

/// Where a model is served. Its `Debug` form shows no key.
#[derive(Clone, Debug)]
pub struct Place {
    pub(super) api: Api,
    pub(super) model: String,
    pub(super) url: Url,
    pub(super) key: Option<SecretString>,
    name: String,
}

impl Place {
    pub(super) fn openai(model: &str) -> Result<Self, PlaceError> {
        let key = needed_key(Api::OpenAi, model)?;
        Place::new(Api::OpenAi, model, AT_OPENAI, Some(key))
    }

    pub(super) fn anthropic(model: &str) -> Result<Self, PlaceError> {
        let key = needed_key(Api::Anthropic, model)?;
        Place::new(Api::Anthropic, model, AT_ANTHROPIC, Some(key))
    }

    /// `MODEL@URL`; a model's name may hold an `@` of its own.
    pub(super) fn compatible(spec: &str) -> Result<Self, PlaceError> {
        let at = spec.rfind("@http").ok_or_else(|| PlaceError::NoUrl(crate::without_user(spec)))?;
        Place::new(Api::Compatible, &spec[..at], &spec[at + 1..], key_of(Api::Compatible))
    }

    /// A model at the address before `/chat/completions` or `/messages`; an address without a path means `/v1`.
    ///
    /// # Errors
    /// [`PlaceError`] where the model or the address cannot be used, or a key would travel in the clear.
    pub fn new(api: Api, model: &str, address: &str, key: Option<SecretString>) -> Result<Self, PlaceError> {
        if model.is_empty() {
            return Err(PlaceError::NoModel);
        }
        let wrong = |why: &str| PlaceError::Url { why: why.to_owned() };
        let mut url = Url::parse(address).map_err(|error| wrong(&error.to_string()))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("it holds a user or password, which would stand in records"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(wrong("it holds a query or fragment"));
        }
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("it is neither `http` nor `https`"));
        }
        if key.is_some() && url.scheme() == "http" && !is_loopback(&url) {
            return Err(PlaceError::ClearKey { variable: api.key_variable() });
        }
        let path = url.path().trim_end_matches('/');
        let path = path.strip_suffix(api.path()).unwrap_or(path).trim_end_matches('/');
        let path = format!("{}/{}", if path.is_empty() { "/v1" } else { path }, api.path());
        url.set_path(&path);
        let name = name(api, model, &url);
        Ok(Place { api, model: model.to_owned(), url, key, name })
    }

    /// The name in records. A server on this machine has no address in it, another one its host: a record says where an
    /// answer came from, and no more of an address than that.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The address of something else that the server has, for example `models`.
    pub(super) fn beside(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        url.set_path(&format!("{}{path}", url.path().trim_end_matches(self.api.path())));
        url
    }

    /// Host and port, for messages.
    pub(super) fn host(&self) -> String {
        host(&self.url)
    }

    /// The text without the key, wherever it stands.
    pub(super) fn without_key(&self, text: &str) -> String {
        match &self.key {
            Some(key) => text.replace(key.expose_secret(), "[key]"),
            None => text.to_owned(),
        }
    }
}

fn name(api: Api, model: &str, url: &Url) -> String {
    match api {
        Api::OpenAi => format!("openai:{model}"),
        Api::Anthropic => format!("anthropic:{model}"),
        Api::Compatible if is_loopback(url) => format!("openai-compatible:{model}"),
        Api::Compatible => format!("openai-compatible:{model}@{}", host(url)),
    }
}

fn host(url: &Url) -> String {
    let port = url.port().map_or(String::new(), |port| format!(":{port}"));
    format!("{}{port}", url.host_str().unwrap_or_default())
}

/// Whether the host is this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    is_loopback_host(url.host_str().unwrap_or_default())
}

/// The same of a host's name or address, an IPv6 one in brackets.
pub(crate) fn is_loopback_host(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

fn needed_key(api: Api, model: &str) -> Result<SecretString, PlaceError> {
    key_of(api).ok_or_else(|| PlaceError::NoKey { model: model.to_owned(), variable: api.key_variable() })
}

fn key_of(api: Api) -> Option<SecretString> {
    let key = std::env::var(api.key_variable()).ok()?;
    let key = key.trim();
    (!key.is_empty()).then(|| SecretString::from(key))
}

/// A model behind HTTP that cannot be asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlaceError {
    /// No model is named.
    #[error("no model is named; write `openai:MODEL`, `anthropic:MODEL` or `openai-compatible:MODEL@URL`")]
    NoModel,
    /// No address is named. What stands before an `@` is not shown, since it may be a user's password.
    #[error(
        "`openai-compatible:{0}` names no address; write `openai-compatible:MODEL@URL`, for example `openai-compatible:qwen@http://127.0.0.1:8080/v1`"
    )]
    NoUrl(String),
    /// The address cannot be used. It is not shown, since it may hold what is secret.
    #[error("the address of the model cannot be used: {why}; write one as `http://127.0.0.1:8080/v1`")]
    Url {
        /// Why.
        why: String,
    },
    /// The key is missing.
    #[error("`{model}` needs a key; set the environment's variable `{variable}`")]
    NoKey {
        /// The model.
        model: String,
        /// The variable.
        variable: &'static str,
    },
    /// The key would be sent where others can read it.
    #[error("the key in `{variable}` would travel unencrypted; use an `https` address, or unset the variable")]
    ClearKey {
        /// The variable.
        variable: &'static str,
    },
    /// The key holds what a header cannot.
    #[error("the key in `{variable}` holds characters that no key has; set it anew")]
    Key {
        /// The variable.
        variable: &'static str,
    },
    /// The client cannot be set up.
    #[error("cannot set up the HTTP client: {0}")]
    Client(String),
}
