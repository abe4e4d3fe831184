//! Paths and methods: who answers what.

use compactometer_engine::tokens::Encoding;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CONNECTION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::http::uri::Authority;
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};

use super::answering::{ServerAnswer, answer_of};
use super::apis::{self, Api, ApiReply};
use super::trouble::ServerTrouble;
use super::{Responder, ServerLimits};
use crate::http::endpoint::is_loopback_host;

/// The answer to a request, whatever it is.
pub(super) async fn respond(
    responder: &dyn Responder,
    limits: &ServerLimits,
    request: Request<Incoming>,
) -> Response<Full<Bytes>> {
    let path = request.uri().path().trim_end_matches('/').to_owned();
    let api = apis::ALL
        .into_iter()
        .find(|api| (api.serves)(&path) || api.counted_at(&path).is_some());
    let allowed = if api.is_some() {
        Method::POST
    } else {
        Method::GET
    };
    let refuse = |trouble: &ServerTrouble| of_trouble(trouble, api, &allowed);
    if let Err(trouble) = came_to_this_machine(&request) {
        return refuse(&trouble);
    }
    let is_known = api.is_some() || ["/v1/models", "/health"].contains(&path.as_str());
    if is_known && *request.method() != allowed {
        let message = format!("`{}` is not answered here; use {allowed}", request.method());
        return refuse(&ServerTrouble::new(StatusCode::METHOD_NOT_ALLOWED, message));
    }
    if let Some(api) = api {
        return complete(api, responder, limits, request)
            .await
            .unwrap_or_else(|trouble| refuse(&trouble));
    }
    if *request.method() == Method::POST && says_json(&request).is_ok() {
        return other(&path, responder, limits, request)
            .await
            .unwrap_or_else(|trouble| refuse(&trouble));
    }
    let found = match path.as_str() {
        "/v1/models" => Ok(json_response(
            &json!({"object": "list", "data": [described(responder)]}),
        )),
        "/health" => Ok(json_response(&json!({"status": "ok"}))),
        _ => match path.strip_prefix("/v1/models/") {
            Some(name) if responder.serves(name) => Ok(json_response(&described(responder))),
            Some(name) => Err(ServerTrouble::unknown_model(name, responder.model())),
            None => Err(not_served(&path)),
        },
    };
    found.unwrap_or_else(|trouble| refuse(&trouble))
}

/// What is posted to a path of no interface.
async fn other(
    path: &str,
    responder: &dyn Responder,
    limits: &ServerLimits,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, ServerTrouble> {
    let body = body(limits, request).await?;
    let value = serde_json::from_slice(&body).unwrap_or_default();
    let answer = responder.other(path, &value).await;
    answer
        .map(|answer| json_response(&answer))
        .ok_or_else(|| not_served(path))
}

fn not_served(path: &str) -> ServerTrouble {
    let paths = apis::ALL
        .iter()
        .map(|api| format!("`{}`", api.path))
        .collect::<Vec<_>>()
        .join(", ");
    ServerTrouble::new(
        StatusCode::NOT_FOUND,
        format!("`{path}` is not served; choose {paths}, `/v1/models` or `/health`"),
    )
}

/// Whether the client meant this machine. A page in a browser can make a name of its own point here
/// (DNS rebinding), and then read what is answered.
fn came_to_this_machine(request: &Request<Incoming>) -> Result<(), ServerTrouble> {
    let is_one = request.headers().get_all(HOST).iter().count() == 1;
    let host = header(request, &HOST).and_then(|host| host.parse::<Authority>().ok());
    // A target may name a host too, and what is between may go by either.
    let named = host.iter().chain(request.uri().authority());
    if is_one && host.is_some() && named.into_iter().all(|host| is_loopback_host(host.host())) {
        return Ok(());
    }
    let message = "the header `host` or the target names another machine, or there is not one header; use `127.0.0.1` or \
                   `localhost`";
    Err(ServerTrouble::new(StatusCode::FORBIDDEN, message))
}

/// Whether the body says that it is JSON. Pages of other sites can post forms and plain text here,
/// but no JSON.
fn says_json(request: &Request<Incoming>) -> Result<(), ServerTrouble> {
    let kind = header(request, &CONTENT_TYPE).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let message = format!("the header `content-type` is `{kind}`; send `application/json`");
    Err(ServerTrouble::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        message,
    ))
}

fn header<'r>(request: &'r Request<Incoming>, name: &HeaderName) -> Option<&'r str> {
    request.headers().get(name)?.to_str().ok()
}

async fn complete(
    api: &Api,
    responder: &dyn Responder,
    limits: &ServerLimits,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, ServerTrouble> {
    says_json(&request)?;
    let path = request.uri().path().trim_end_matches('/').to_owned();
    let body = body(limits, request).await?;
    let asked = api.read(&body, &path)?;
    if !responder.serves(&asked.model) {
        return Err(ServerTrouble::unknown_model(
            &asked.model,
            responder.model(),
        ));
    }
    if let Some(counted) = api.counted_at(&path) {
        let tokens = asked.request.tokens(&Encoding::O200k);
        return Ok(json_response(&counted(tokens)));
    }
    let posted: Value = serde_json::from_slice(&body).unwrap_or_default();
    let answered = match answer_of(responder, &asked, &posted).await {
        Ok(answered) => answered,
        Err(refusal) => {
            let trouble = ServerTrouble::of_refusal(&refusal);
            return match api
                .refused
                .filter(|_| asked.stream && trouble.is_over_window())
            {
                Some(refused) => Ok(typed("text/event-stream", refused(&trouble))),
                None => Err(trouble),
            };
        }
    };
    let ServerAnswer {
        summary,
        mut said,
        is_paused,
    } = answered;
    let stopped_at = apis::stop_at(&mut said.reply, &asked.stop);
    let answer = ApiReply {
        asked: &posted,
        model: responder.model(),
        applied: &asked.edited.applied,
        summary: summary.as_ref(),
        is_paused,
        reply: &said.reply,
        calls: &said.calls,
        stopped_at,
        with_usage: asked.with_usage,
    };
    let (kind, body) = match api.events.filter(|_| asked.stream) {
        Some(events) => ("text/event-stream", events(&answer)),
        None => ("application/json", (api.whole)(&answer).to_string()),
    };
    let mut response = typed(kind, body);
    response
        .headers_mut()
        .insert("openai-processing-ms", said.reply.latency_ms.into());
    Ok(response)
}

/// The whole body, within its limits.
async fn body(limits: &ServerLimits, request: Request<Incoming>) -> Result<Bytes, ServerTrouble> {
    let whole = Limited::new(request.into_body(), limits.body_bytes).collect();
    match tokio::time::timeout(limits.read, whole).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(ServerTrouble::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the body has more than {} bytes", limits.body_bytes),
        )),
        Ok(Err(error)) => Err(ServerTrouble::new(
            StatusCode::BAD_REQUEST,
            format!("the body cannot be read: {error}"),
        )),
        Err(_) => Err(ServerTrouble::new(
            StatusCode::REQUEST_TIMEOUT,
            format!(
                "the body did not arrive within {} ms",
                limits.read.as_millis()
            ),
        )),
    }
}

fn described(responder: &dyn Responder) -> Value {
    let name = responder.model();
    let mut model =
        json!({"id": name, "object": "model", "created": 0, "owned_by": "compactometer"});
    if let Some(window) = responder.window() {
        model["context_length"] = window.into();
    }
    model
}

fn json_response(value: &Value) -> Response<Full<Bytes>> {
    typed("application/json", value.to_string())
}

fn typed(kind: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

fn of_trouble(
    trouble: &ServerTrouble,
    api: Option<&Api>,
    allowed: &Method,
) -> Response<Full<Bytes>> {
    let body = api.map_or_else(|| trouble.body(), |api| (api.refusal)(trouble));
    let mut response = json_response(&body);
    *response.status_mut() = trouble.status;
    let headers = response.headers_mut();
    if trouble.status == StatusCode::METHOD_NOT_ALLOWED {
        headers.insert(
            ALLOW,
            HeaderValue::from_str(allowed.as_str()).unwrap_or(HeaderValue::from_static("GET")),
        );
    }
    // What is left of a body that was not read would pass for the next request.
    if trouble.leaves_body() {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    if let Some(ms) = trouble.retry_after_ms {
        headers.insert(RETRY_AFTER, ms.div_ceil(1_000).into());
        headers.insert("retry-after-ms", ms.into());
    }
    response
}
