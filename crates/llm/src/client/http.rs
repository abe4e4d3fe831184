//! One request, and the answer's bytes as they come: limits on time and size, no redirects.

use std::num::NonZeroU32;
use std::time::{Duration, Instant, SystemTime};

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use secrecy::ExposeSecret;
use serde_json::Value;

use super::answer::{Answer, Times};
use super::place::{Api, Place, PlaceError, is_loopback};
use super::sse::Events;
use super::trouble::Trouble;

/// How long a call may take and how large an answer may be.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Until the connection stands.
    pub connect: Duration,
    /// From one byte to the next; the first one comes after all of the request has been read, and some servers read slowly.
    pub silence: Duration,
    /// From the request to the last byte.
    pub whole: Duration,
    /// Bytes of an answer, framing included.
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

impl Default for Limits {
    fn default() -> Self {
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        Limits {
            connect: Duration::from_secs(15),
            silence: minutes(5),
            whole: minutes(20),
            bytes: 64 << 20,
            repeats: 5,
            first_wait: Duration::from_secs(1),
            longest_wait: minutes(2),
            requests_a_minute: None,
        }
    }
}

/// A connection to one place.
pub(super) struct Http {
    client: reqwest::Client,
    place: Place,
    limits: Limits,
}

impl Http {
    pub(super) fn new(place: &Place, limits: Limits) -> Result<Self, PlaceError> {
        let failed = |error: reqwest::Error| PlaceError::Client(chain(&error));
        // Another provider may be installed already; either serves.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = reqwest::Client::builder();
        // A proxy from the environment serves other hosts; of this one it knows nothing.
        let builder = if is_loopback(&place.url) { builder.no_proxy() } else { builder };
        let client = builder
            // A key must not travel to where a redirect points.
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(limits.connect)
            // Some servers drop an idle connection after 5 s; a call that meets its end would have to be made again.
            .pool_idle_timeout(Duration::from_secs(4))
            .default_headers(headers(place)?)
            .build()
            .map_err(failed)?;
        Ok(Http { client, place: place.clone(), limits })
    }

    /// Sends a request and reads the whole answer.
    pub(super) async fn send(&self, api: Api, body: &str) -> Result<(Answer, Times), Trouble> {
        let whole = self.limits.whole;
        let late = || again(format!("no whole answer within {} s", whole.as_secs()));
        tokio::time::timeout(whole, self.once(api, body)).await.unwrap_or_else(|_| Err(late()))
    }

    async fn once(&self, api: Api, body: &str) -> Result<(Answer, Times), Trouble> {
        let started = Instant::now();
        let request =
            self.client.post(self.place.url.clone()).header(CONTENT_TYPE, "application/json").body(body.to_owned());
        let sent = self.in_time(request.send()).await?;
        let mut response = sent.map_err(|error| self.not_sent(&error))?;
        if !response.status().is_success() {
            return Err(self.refusal(response).await);
        }
        let streams = header(&response, &CONTENT_TYPE).is_some_and(|kind| kind.starts_with("text/event-stream"));
        let (mut answer, mut times, mut events, mut whole) =
            (Answer::default(), Times::default(), Events::default(), Vec::new());
        let mut size = 0;
        while let Some(bytes) = self.chunk(&mut response).await? {
            size += bytes.len();
            if size > self.limits.bytes {
                return Err(stop(format!("the server's answer is over {} bytes", self.limits.bytes)));
            }
            if !streams {
                whole.extend_from_slice(&bytes);
                continue;
            }
            for data in events.push(&bytes) {
                answer.take(api, &data)?;
            }
            if answer.began && times.first_token_ms.is_none() {
                times.first_token_ms = Some(millis(started));
            }
        }
        times.last_byte_ms = millis(started);
        if !streams {
            answer.take(api, &whole)?;
        }
        answer.check()?;
        Ok((answer, times))
    }

    async fn chunk(
        &self,
        response: &mut Response,
    ) -> Result<Option<impl AsRef<[u8]> + std::ops::Deref<Target = [u8]>>, Trouble> {
        self.in_time(response.chunk()).await?.map_err(|error| again(format!("the answer broke off: {}", chain(&error))))
    }

    async fn in_time<T>(&self, doing: impl Future<Output = T>) -> Result<T, Trouble> {
        let silence = self.limits.silence;
        let late = |_| again(format!("no byte within {} s", silence.as_secs()));
        tokio::time::timeout(silence, doing).await.map_err(late)
    }

    /// Why a request never got an answer.
    fn not_sent(&self, error: &reqwest::Error) -> Trouble {
        let (host, why) = (self.host(), self.place.without_key(&chain(error)));
        let lower = why.to_lowercase();
        if lower.contains("not valid yet") || lower.contains("expired") {
            return stop(format!(
                "the certificate of `{host}` is not valid at this time: {why}; check this machine's clock"
            ));
        }
        if lower.contains("certificate") {
            return stop(format!("the certificate of `{host}` is not trusted: {why}"));
        }
        if error.is_connect() {
            let why = format!("cannot reach `{host}`: {why}; is the server running, and the address right?");
            return Trouble::Stop { why, later: true };
        }
        again(format!("the request to `{host}` failed: {why}"))
    }

    fn host(&self) -> String {
        let url = &self.place.url;
        let port = url.port().map_or(String::new(), |port| format!(":{port}"));
        format!("{}{port}", url.host_str().unwrap_or_default())
    }

    /// Why a server gave no answer.
    async fn refusal(&self, mut response: Response) -> Trouble {
        const WORDS_READ: usize = 64 << 10;
        let status = response.status();
        if status.is_redirection() {
            let to = header(&response, &LOCATION).unwrap_or("nowhere").to_owned();
            return stop(format!(
                "`{}` redirects to `{to}`; redirects are not followed, since the key would travel; name that address",
                self.host()
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
        let said =
            self.place.without_key(&words_of(&error).unwrap_or_else(|| String::from_utf8_lossy(&words).into_owned()));
        self.by_status(status, &error, shortened(&said), after_ms)
    }

    fn by_status(&self, status: StatusCode, error: &Value, said: String, after_ms: Option<u64>) -> Trouble {
        let model = &self.place.model;
        match status.as_u16() {
            // Providers repeat parts of a key in their words.
            401 | 403 => stop(format!(
                "`{}` answered {status}: set a key that may use `{model}` in `{}`",
                self.host(),
                self.place.api.key_variable()
            )),
            402 => stop(format!("`{}` wants to be paid first: {said}", self.host())),
            404 => stop(format!("`{}` knows no model `{model}`, or no such address: {said}", self.place.url)),
            408 | 409 | 425 | 429 | 500..=599 => {
                Trouble::Again { why: format!("the server answered {status}: {said}"), after_ms }
            }
            413 => Trouble::Refused(said),
            _ if is_about_the_text(error) => Trouble::Refused(said),
            _ => stop(format!("`{}` answered {status}: {said}", self.host())),
        }
    }
}

/// An error in the middle of a stream.
pub(super) fn classify_in_stream(error: &Value) -> Trouble {
    let said = shortened(&words_of(error).unwrap_or_else(|| error.to_string()));
    if is_about_the_text(error) { Trouble::Refused(said) } else { again(format!("the server broke off: {said}")) }
}

/// Whether the provider refuses what was written, not how or by whom it was sent.
fn is_about_the_text(error: &Value) -> bool {
    const CODES: [&str; 5] = [
        "context_length_exceeded",
        "exceed_context_size_error",
        "content_filter",
        "content_policy_violation",
        "string_above_max_length",
    ];
    const WORDS: [&str; 5] =
        ["context length", "context size", "context window", "prompt is too long", "maximum context"];
    let coded = ["code", "type"].iter().filter_map(|key| error.get(key)?.as_str()).any(|code| CODES.contains(&code));
    let words = words_of(error).unwrap_or_default().to_lowercase();
    coded || WORDS.iter().any(|said| words.contains(said))
}

fn words_of(error: &Value) -> Option<String> {
    error.get("message").unwrap_or(error).as_str().map(str::to_owned)
}

fn shortened(words: &str) -> String {
    const MOST: usize = 400;
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{} ...", &line[..end]),
        None => line,
    }
}

fn headers(place: &Place) -> Result<HeaderMap, PlaceError> {
    let mut headers = HeaderMap::new();
    if place.api == Api::Anthropic {
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    }
    let Some(key) = &place.key else { return Ok(headers) };
    let (name, value) = match place.api {
        Api::Anthropic => (HeaderName::from_static("x-api-key"), key.expose_secret().to_owned()),
        Api::OpenAi | Api::Compatible => (AUTHORIZATION, format!("Bearer {}", key.expose_secret())),
    };
    let wrong = |_| PlaceError::Key { variable: place.api.key_variable() };
    let mut value = HeaderValue::from_str(&value).map_err(wrong)?;
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

fn again(why: String) -> Trouble {
    Trouble::Again { why, after_ms: None }
}

fn stop(why: String) -> Trouble {
    Trouble::Stop { why, later: false }
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// An error with its causes, without the address, which stands in the message already.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    let causes = causes.map(ToString::to_string).collect::<Vec<_>>();
    if causes.is_empty() { error.to_string() } else { causes.join(": ") }
}
