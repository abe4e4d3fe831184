//! Where a model is served: format, model, address, name and key.

use std::net::IpAddr;

use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};

/// What replaces a key.
const MASK: &str = "[key]";
/// The shortest part of a key that would help to guess it.
const SHORTEST_PART: usize = 8;

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// Chat completions, at OpenAI.
    OpenAi,
    /// Chat completions, elsewhere.
    Compatible,
    /// Anthropic's messages, at Anthropic or elsewhere.
    Anthropic,
}

impl Api {
    /// The address of the format's own provider, if there is one.
    fn own_address(self) -> Option<&'static str> {
        match self {
            Api::OpenAi => Some("https://api.openai.com/v1"),
            Api::Compatible => None,
            Api::Anthropic => Some("https://api.anthropic.com/v1"),
        }
    }

    /// The kind of model before the first `:` of a name.
    fn kind(self) -> &'static str {
        match self {
            Api::OpenAi => "openai",
            Api::Compatible => "openai-compatible",
            Api::Anthropic => "anthropic",
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
    /// Reads what follows a kind and `:`: a model at its provider's address, or `MODEL@URL` if the kind has other addresses. A
    /// model's name may contain `@`. The key comes from the environment.
    ///
    /// # Errors
    /// As [`Place::keyless`], and if the key is missing.
    pub(super) fn named(api: Api, spec: &str) -> Result<Self, PlaceError> {
        let mut place = Place::keyless(api, spec)?;
        let variable = place.key_variable();
        place.key = key_in(variable);
        if place.key.is_none() && place.is_providers_own() {
            return Err(PlaceError::NoKey { model: place.model, variable });
        }
        place.check_key()?;
        Ok(place)
    }

    /// The same without its key.
    ///
    /// # Errors
    /// [`PlaceError`] if the model or the address cannot be used.
    pub(super) fn keyless(api: Api, spec: &str) -> Result<Self, PlaceError> {
        let at_url = spec.rfind("@http").filter(|_| api != Api::OpenAi);
        let (model, address) = match (at_url, api.own_address()) {
            (Some(at), _) => (&spec[..at], &spec[at + 1..]),
            (None, Some(own)) => (spec, own),
            (None, None) => return Err(PlaceError::NoUrl(crate::without_user(spec))),
        };
        Place::new(api, model, address, None)
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
        let path = url.path().trim_end_matches('/');
        let path = path.strip_suffix(api.path()).unwrap_or(path).trim_end_matches('/');
        let path = format!("{}/{}", if path.is_empty() { "/v1" } else { path }, api.path());
        url.set_path(&path);
        let name = name(api, model, &url);
        let place = Place { api, model: model.to_owned(), url, key, name };
        place.check_key()?;
        Ok(place)
    }

    /// A key is sent only to this machine or encrypted.
    fn check_key(&self) -> Result<(), PlaceError> {
        match self.key.is_some() && self.url.scheme() == "http" && !is_loopback(&self.url) {
            true => Err(PlaceError::ClearKey { variable: self.key_variable() }),
            false => Ok(()),
        }
    }

    /// Whether this is the service of the format's own provider.
    pub(super) fn is_providers_own(&self) -> bool {
        let own = self.api.own_address().and_then(|address| Url::parse(address).ok());
        own.is_some_and(|own| own.origin() == self.url.origin())
    }

    /// The environment variable with the key. A provider's own key is sent to that provider only.
    pub(super) fn key_variable(&self) -> &'static str {
        match self.api {
            Api::OpenAi if self.is_providers_own() => "OPENAI_API_KEY",
            Api::Anthropic if self.is_providers_own() => "ANTHROPIC_API_KEY",
            _ => "COMPACTOMETER_API_KEY",
        }
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

    /// The text with the key masked everywhere.
    pub(super) fn without_key(&self, text: String) -> String {
        match &self.key {
            Some(key) if text.contains(key.expose_secret()) => text.replace(key.expose_secret(), MASK),
            _ => text,
        }
    }

    /// The same for a server's short message, which may repeat a part of the key.
    pub(super) fn without_key_parts(&self, text: &str) -> String {
        let Some(key) = &self.key else { return text.to_owned() };
        let (key, mut text) = (key.expose_secret(), text.to_owned());
        for length in (SHORTEST_PART.min(key.len())..=key.len()).rev() {
            let starts = (0..=key.len() - length).filter(|start| key.is_char_boundary(*start));
            let parts = starts.filter_map(|start| key.get(start..start + length));
            for part in parts {
                if text.contains(part) {
                    text = text.replace(part, MASK);
                }
            }
        }
        text
    }
}

fn name(api: Api, model: &str, url: &Url) -> String {
    let kind = api.kind();
    let is_own = api.own_address().and_then(|own| Url::parse(own).ok()).is_some_and(|own| own.origin() == url.origin());
    match api {
        _ if is_own => format!("{kind}:{model}"),
        Api::Compatible if is_loopback(url) => format!("{kind}:{model}"),
        // Without a host this would be the name of the provider's own model.
        _ if is_loopback(url) => format!("{kind}:{model}@localhost"),
        _ => format!("{kind}:{model}@{}", host(url)),
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

fn key_in(variable: &str) -> Option<SecretString> {
    let key = std::env::var(variable).ok()?;
    let key = key.trim();
    (!key.is_empty()).then(|| SecretString::from(key))
}

/// A model behind HTTP that cannot be asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlaceError {
    /// No model is named.
    #[error(
        "no model is named; write `openai:MODEL`, `anthropic:MODEL`, `anthropic:MODEL@URL` or `openai-compatible:MODEL@URL`"
    )]
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
