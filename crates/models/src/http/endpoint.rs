//! Where a model is served: format, model, address, name and key.

use std::fmt;
use std::net::IpAddr;

use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};

use crate::providers::{Provider, Service, forms};

/// What replaces a key.
const MASK: &str = "[key]";
/// The shortest part of a key that would help to guess it.
const SHORTEST_PART: usize = 8;

/// Where a model is served. Its `Debug` form shows no key.
#[derive(Clone)]
pub struct Endpoint {
    pub(super) provider: &'static Provider,
    pub(super) model: String,
    pub(super) url: Url,
    pub(super) key: Option<SecretString>,
    name: String,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Endpoint")
            .field("name", &self.name)
            .field("url", &self.url.as_str())
            .finish_non_exhaustive()
    }
}

impl Endpoint {
    /// Reads what follows a kind and `:`: a model at its provider's address, or `MODEL@URL` if the
    /// kind has other addresses. A model's name may contain `@`. The key comes from the
    /// environment.
    ///
    /// # Errors
    /// As [`Endpoint::keyless`], and if the key is missing.
    pub(super) fn with_key(provider: &'static Provider, spec: &str) -> Result<Self, EndpointError> {
        let mut endpoint = Endpoint::keyless(provider, spec)?;
        let variable = endpoint.key_variable();
        endpoint.key = key_in(variable);
        if endpoint.key.is_none() && endpoint.is_providers_own() {
            let model = endpoint.model;
            return Err(EndpointError(format!(
                "`{model}` needs a key; set the environment's variable `{variable}`"
            )));
        }
        endpoint.check_key()?;
        Ok(endpoint)
    }

    /// The same without its key.
    ///
    /// # Errors
    /// [`EndpointError`] if the model or the address cannot be used.
    pub(super) fn keyless(provider: &'static Provider, spec: &str) -> Result<Self, EndpointError> {
        let at_url = spec.rfind("@http").filter(|_| provider.takes_address);
        let (model, address) = match (at_url, &provider.service) {
            (Some(at), _) => (&spec[..at], &spec[at + 1..]),
            (None, Some(own)) => (spec, own.address),
            (None, None) => {
                let (provider, given) = (provider.name, crate::without_user(spec));
                return Err(EndpointError(format!(
                    "`{provider}:{given}` names no address; write `{provider}:MODEL@URL`, for example `{provider}:qwen@http://127.0.0.1:8080/v1`"
                )));
            }
        };
        Endpoint::new(provider, model, address, None)
    }

    /// A model at the address before `/chat/completions` or `/messages`; an address without a path
    /// means `/v1`.
    ///
    /// # Errors
    /// [`EndpointError`] where the model or the address cannot be used, or a key would travel in
    /// the clear.
    pub fn new(
        provider: &'static Provider,
        model: &str,
        address: &str,
        key: Option<SecretString>,
    ) -> Result<Self, EndpointError> {
        if model.is_empty() {
            return Err(EndpointError(format!(
                "no model is named; write one of {}",
                forms()
            )));
        }
        let wrong = |why: &str| {
            let example = "write one as `http://127.0.0.1:8080/v1`";
            EndpointError(format!(
                "the address of the model cannot be used: {why}; {example}"
            ))
        };
        let mut url = Url::parse(address).map_err(|error| wrong(&error.to_string()))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong(
                "it holds a user or password, which records would show",
            ));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(wrong("it holds a query or fragment"));
        }
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("it is neither `http` nor `https`"));
        }
        let path = url.path().trim_end_matches('/');
        let path = path
            .strip_suffix(provider.path)
            .unwrap_or(path)
            .trim_end_matches('/');
        let path = format!(
            "{}/{}",
            if path.is_empty() { "/v1" } else { path },
            provider.path
        );
        url.set_path(&path);
        let name = name(provider, model, &url);
        let endpoint = Endpoint {
            provider,
            model: model.to_owned(),
            url,
            key,
            name,
        };
        endpoint.check_key()?;
        Ok(endpoint)
    }

    /// A key is sent only to this machine or encrypted.
    fn check_key(&self) -> Result<(), EndpointError> {
        if self.key.is_none() || self.url.scheme() != "http" || is_loopback(&self.url) {
            return Ok(());
        }
        let variable = self.key_variable();
        Err(EndpointError(format!(
            "the key in `{variable}` would travel unencrypted; use an `https` address, or unset the variable"
        )))
    }

    /// Whether this is the service of the format's own provider.
    pub(super) fn is_providers_own(&self) -> bool {
        self.provider
            .service
            .as_ref()
            .is_some_and(|own| is_at(&self.url, own))
    }

    /// The environment variable with the key. A provider's own key is sent to that provider only.
    pub(super) fn key_variable(&self) -> &'static str {
        let own = self
            .provider
            .service
            .as_ref()
            .filter(|own| is_at(&self.url, own));
        own.map_or("COMPACTOMETER_API_KEY", |own| own.key_variable)
    }

    /// The name in records. A server on this machine has no address in it, another one its host: a
    /// record says where an answer came from, and no more of an address than that.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The address of something else that the server has, for example `models`.
    pub(super) fn beside(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        url.set_path(&format!(
            "{}{path}",
            url.path().trim_end_matches(self.provider.path)
        ));
        url
    }

    /// Host and port, for messages.
    pub(super) fn host(&self) -> String {
        host(&self.url)
    }

    /// The text with the key masked everywhere.
    pub(super) fn without_key(&self, text: String) -> String {
        match &self.key {
            Some(key) if text.contains(key.expose_secret()) => {
                text.replace(key.expose_secret(), MASK)
            }
            _ => text,
        }
    }

    /// The same for a server's short message, which may repeat a part of the key.
    pub(super) fn without_key_parts(&self, text: &str) -> String {
        let Some(key) = &self.key else {
            return text.to_owned();
        };
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

fn name(provider: &Provider, model: &str, url: &Url) -> String {
    let kind = provider.name;
    match &provider.service {
        Some(own) if is_at(url, own) => format!("{kind}:{model}"),
        None if is_loopback(url) => format!("{kind}:{model}"),
        // Without a host this would be the name of the provider's own model.
        Some(_) if is_loopback(url) => format!("{kind}:{model}@localhost"),
        _ => format!("{kind}:{model}@{}", host(url)),
    }
}

fn is_at(url: &Url, service: &Service) -> bool {
    Url::parse(service.address).is_ok_and(|own| own.origin() == url.origin())
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
    let address = host
        .trim_start_matches('[')
        .trim_end_matches(']')
        .parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

fn key_in(variable: &str) -> Option<SecretString> {
    let key = std::env::var(variable).ok()?;
    let key = key.trim();
    (!key.is_empty()).then(|| SecretString::from(key))
}

/// A model behind HTTP that cannot be asked. What is before an `@` and a wrong address are not
/// shown, since they may hold what is secret.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct EndpointError(pub(super) String);

impl EndpointError {
    pub(super) fn client(why: &impl fmt::Display) -> Self {
        EndpointError(format!("cannot set up the HTTP client: {why}"))
    }
}
