//! One request, and the answer's bytes as they come: limits on time and size, no redirects.

use std::num::NonZeroU32;
use std::time::{Duration, Instant, SystemTime};

use reqwest::header::{
    CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER,
};
use reqwest::{Response, StatusCode, Url};
use secrecy::ExposeSecret;
use serde_json::Value;

use super::endpoint::{Endpoint, EndpointError, is_loopback};
use super::error::{CallError, again, by_status, shortened, stop, unsent, words_of};
use super::reply::Times;
use super::sse::Events;
use crate::providers::{AnswerSoFar, OwnCompaction};

/// How long a call may take and how large an answer may be.
#[derive(Clone, Copy, Debug)]
pub struct TransferLimits {
    /// Until the connection stands.
    pub connect: Duration,
    /// From one byte to the next; the first one comes after all of the request has been read, and
    /// some servers read slowly.
    pub silence: Duration,
    /// From the request to the last byte.
    pub whole: Duration,
    /// Bytes of an answer of any length, framing included.
    pub bytes: usize,
    /// How often a call is made again where its failure may pass.
    pub repeats: u32,
    /// The wait before the first repeat; it doubles with each.
    pub first_wait: Duration,
    /// The longest wait, also where the provider asks for one.
    pub longest_wait: Duration,
    /// Most requests a minute.
    pub requests_a_minute: Option<NonZeroU32>,
}

impl Default for TransferLimits {
    fn default() -> Self {
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        TransferLimits {
            connect: Duration::from_secs(15),
            silence: minutes(10),
            whole: minutes(30),
            bytes: 64 << 20,
            repeats: 5,
            first_wait: Duration::from_secs(1),
            longest_wait: minutes(2),
            requests_a_minute: None,
        }
    }
}

/// Bytes of an answer for each token that it may have, and beside them: a stream frames each token
/// in some hundred bytes, and a model may reason before it answers. Assumed.
const BYTES_A_TOKEN: usize = 1_000;
const BYTES_BESIDE: usize = 4 << 20;

impl TransferLimits {
    /// Most bytes of an answer of so many tokens.
    fn bytes_of(&self, most: u32) -> usize {
        let of_tokens = (most as usize).saturating_mul(BYTES_A_TOKEN);
        of_tokens.saturating_add(BYTES_BESIDE).min(self.bytes)
    }
}

/// Connections to one endpoint.
pub(super) struct Transfer {
    client: reqwest::Client,
    endpoint: Endpoint,
    limits: TransferLimits,
}

impl Transfer {
    pub(super) fn new(endpoint: &Endpoint, limits: TransferLimits) -> Result<Self, EndpointError> {
        // Another provider may be installed already; either serves.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = reqwest::Client::builder();
        // A proxy from the environment serves other hosts, and a new connection to this one costs
        // nothing, while some servers close one after each answer without saying so.
        let here = is_loopback(&endpoint.url);
        let builder = if here {
            builder.no_proxy().pool_max_idle_per_host(0)
        } else {
            builder
        };
        let client = builder
            // A key must not travel to where a redirect points.
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(limits.connect)
            // Some servers drop an idle connection after 5 s; a call that meets its end would have
            // to be made again.
            .pool_idle_timeout(Duration::from_secs(4))
            .default_headers(headers(endpoint)?)
            .build()
            .map_err(|error| EndpointError::client(&chain(&error)))?;
        Ok(Transfer {
            client,
            endpoint: endpoint.clone(),
            limits,
        })
    }

    /// Sends a request, to the provider's own compaction if it asks for that, and reads the whole
    /// answer, which has at most so many tokens.
    pub(super) async fn send(
        &self,
        body: &str,
        most: u32,
        own: Option<&OwnCompaction>,
    ) -> Result<(AnswerSoFar, Times), Failed> {
        let whole = self.limits.whole;
        let late = || again(format!("no whole answer within {} s", whole.as_secs()));
        tokio::time::timeout(whole, self.once(body, most, own))
            .await
            .unwrap_or_else(|_| Err(late().into()))
    }

    async fn once(
        &self,
        body: &str,
        most: u32,
        own: Option<&OwnCompaction>,
    ) -> Result<(AnswerSoFar, Times), Failed> {
        let (started, provider) = (Instant::now(), self.endpoint.provider);
        let mut url = self.endpoint.url.clone();
        url.set_path(&format!(
            "{}{}",
            url.path(),
            own.map_or("", |own| own.beside)
        ));
        let request = self
            .client
            .post(url)
            .header(CONTENT_TYPE, "application/json")
            .body(body.to_owned());
        let request = match own.and_then(|own| own.header) {
            Some((name, value)) => request.header(name, value),
            None => request,
        };
        let sent = self.in_time(request.send()).await?;
        let mut response = sent.map_err(|error| Failed {
            is_sent: !error.is_connect(),
            error: self.not_sent(&error),
        })?;
        if !response.status().is_success() {
            return Err(self.refusal(response).await.into());
        }
        let streams = header(&response, &CONTENT_TYPE)
            .is_some_and(|kind| kind.starts_with("text/event-stream"));
        let (mut answer, mut times, mut events, mut whole) = (
            AnswerSoFar::default(),
            Times::default(),
            Events::default(),
            Vec::new(),
        );
        let (mut size, mut heard) = (0, Instant::now());
        let largest = self.limits.bytes_of(most);
        while let Some(bytes) = self.chunk(&mut response).await? {
            size += bytes.len();
            if size > largest {
                let why = format!(
                    "the server's answer is over {largest} bytes, for {most} tokens that it may have"
                );
                return Err(CallError::TooLarge(why).into());
            }
            if !streams {
                whole.extend_from_slice(&bytes);
                continue;
            }
            for data in events.push(&bytes) {
                answer.take(provider, &data)?;
                heard = Instant::now();
            }
            // Comments that keep a connection open are no content.
            if heard.elapsed() > self.limits.silence {
                return Err(silent(self.limits.silence).into());
            }
            if answer.began && times.first_token_ms.is_none() {
                times.first_token_ms = Some(millis(started));
            }
        }
        times.last_byte_ms = millis(started);
        if !streams {
            answer.take(provider, &whole)?;
        }
        answer.check()?;
        Ok((answer, times))
    }

    /// Asks for something at the endpoint without sending anything: status, the server's clock, and
    /// the answer's JSON. That something is not there is an answer.
    pub(super) async fn get(
        &self,
        url: Url,
        patience: Duration,
    ) -> Result<(StatusCode, Option<SystemTime>, Value), CallError> {
        let late = |_| {
            again(format!(
                "`{}` says nothing within {} s",
                self.endpoint.host(),
                patience.as_secs()
            ))
        };
        let asked = tokio::time::timeout(patience, self.client.get(url).send())
            .await
            .map_err(late)?;
        let mut response = asked.map_err(|error| self.not_sent(&error))?;
        let status = response.status();
        let is_answer = status.is_success()
            || [StatusCode::NOT_FOUND, StatusCode::METHOD_NOT_ALLOWED].contains(&status);
        if !is_answer {
            return Err(self.refusal(response).await);
        }
        let date = header(&response, &DATE).and_then(|date| httpdate::parse_http_date(date).ok());
        let mut body = Vec::new();
        while let Some(bytes) = tokio::time::timeout(patience, self.chunk(&mut response))
            .await
            .map_err(late)??
        {
            body.extend_from_slice(&bytes);
            if body.len() > self.limits.bytes {
                return Err(stop(format!(
                    "the server's answer is over {} bytes",
                    self.limits.bytes
                )));
            }
        }
        Ok((
            status,
            date,
            serde_json::from_slice(&body).unwrap_or_default(),
        ))
    }

    async fn chunk(
        &self,
        response: &mut Response,
    ) -> Result<Option<impl AsRef<[u8]> + std::ops::Deref<Target = [u8]>>, CallError> {
        self.in_time(response.chunk())
            .await?
            .map_err(|error| again(format!("the answer broke off: {}", chain(&error))))
    }

    async fn in_time<T>(&self, doing: impl Future<Output = T>) -> Result<T, CallError> {
        let silence = self.limits.silence;
        let late = |_| silent(silence);
        tokio::time::timeout(silence, doing).await.map_err(late)
    }

    /// Why a request never got an answer.
    fn not_sent(&self, error: &reqwest::Error) -> CallError {
        unsent(
            &self.endpoint.host(),
            &self.endpoint.without_key_parts(&chain(error)),
            error.is_connect(),
        )
    }

    /// Why a server gave no answer.
    async fn refusal(&self, mut response: Response) -> CallError {
        const WORDS_READ: usize = 64 << 10;
        let status = response.status();
        if status.is_redirection() {
            let to = header(&response, &LOCATION).unwrap_or("nowhere").to_owned();
            return stop(format!(
                "`{}` redirects to `{to}`; redirects are not followed, since the key would travel; name that address",
                self.endpoint.host()
            ));
        }
        let after_ms = header(&response, &RETRY_AFTER).and_then(wait_asked_for);
        let mut words = Vec::new();
        while let Ok(Some(bytes)) = self.chunk(&mut response).await {
            words.extend_from_slice(&bytes);
            if words.len() > WORDS_READ {
                break;
            }
        }
        let body = serde_json::from_slice::<Value>(&words).unwrap_or_default();
        let error = body.get("error").cloned().unwrap_or(body);
        let said = words_of(&error).unwrap_or_else(|| String::from_utf8_lossy(&words).into_owned());
        // Masked first: shortening could cut a key into a part that masking does not find.
        let said = shortened(&self.endpoint.without_key(said));
        by_status(
            &self.endpoint,
            status,
            &error,
            self.endpoint.without_key_parts(&said),
            after_ms,
        )
    }
}

/// A failure, and whether the request may have come to the server.
pub(super) struct Failed {
    pub(super) error: CallError,
    pub(super) is_sent: bool,
}

impl From<CallError> for Failed {
    fn from(error: CallError) -> Self {
        Failed {
            error,
            is_sent: true,
        }
    }
}

fn silent(silence: Duration) -> CallError {
    again(format!("no content within {} s", silence.as_secs()))
}

fn headers(endpoint: &Endpoint) -> Result<HeaderMap, EndpointError> {
    let provider = endpoint.provider;
    let mut headers = HeaderMap::new();
    for (name, value) in provider.headers {
        headers.insert(*name, HeaderValue::from_static(value));
    }
    let Some(key) = &endpoint.key else {
        return Ok(headers);
    };
    let (name, before) = provider.key_header;
    let variable = endpoint.key_variable();
    let wrong = |_| {
        EndpointError(format!(
            "the key in `{variable}` holds characters that no key has; set it again"
        ))
    };
    let mut value =
        HeaderValue::from_str(&format!("{before}{}", key.expose_secret())).map_err(wrong)?;
    value.set_sensitive(true);
    headers.insert(name, value);
    Ok(headers)
}

fn header<'r>(response: &'r Response, name: &HeaderName) -> Option<&'r str> {
    response.headers().get(name)?.to_str().ok()
}

/// `Retry-After` in milliseconds: a number of seconds, or a date.
fn wait_asked_for(value: &str) -> Option<u64> {
    if let Ok(seconds) = value.trim().parse::<f64>() {
        return Some((seconds.max(0.0) * 1_000.0) as u64);
    }
    let until = httpdate::parse_http_date(value).ok()?;
    let wait = until.duration_since(SystemTime::now()).unwrap_or_default();
    u64::try_from(wait.as_millis()).ok()
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// An error with its causes, without the address, which is in the message already.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    let causes = causes.map(ToString::to_string).collect::<Vec<_>>();
    if causes.is_empty() {
        error.to_string()
    } else {
        causes.join(": ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_a_number_of_seconds_or_a_date() {
        assert_eq!(wait_asked_for("1.5"), Some(1_500));
        assert_eq!(
            wait_asked_for("Thu, 01 Jan 1970 00:00:00 GMT"),
            Some(0),
            "a date that has passed"
        );
        let later = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(100));
        assert!(wait_asked_for(&later).is_some_and(|ms| (90_000..=100_000).contains(&ms)));
        assert_eq!(wait_asked_for("soon"), None);
    }
}
