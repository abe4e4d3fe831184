//! The agent's model: a server that tells its requests apart and passes them on to the play, and
//! that gives what the conversation's tools answered.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use compactometer_engine::message::Usage;
use compactometer_engine::model::{ChatError, ChatReply, Finish, ToolDefinition};
use compactometer_engine::tokens::{Encoding, TokenCounter};
use compactometer_models::server::{Called, ModelAnswer, Posted, Responder, ServerRefusal};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::definition::{Definition, Tools};
use crate::play_log::PlayLog;

/// Where an answer goes.
pub(crate) type AnswerSender = oneshot::Sender<Result<ModelAnswer, ServerRefusal>>;

/// What happens in a play.
#[derive(Debug)]
pub(crate) enum DeskEvent {
    /// The agent asks for its next turn.
    Turn(Box<Posted>, AnswerSender),
    /// The agent asks for a summary.
    Summary(Box<Posted>, AnswerSender),
    /// The agent has ended a turn of the user.
    Ended,
    /// The agent cannot go on.
    Trouble(String),
}

/// Shells by the names that agents give them.
const SHELLS: &[&str] = &[
    "exec_command",
    "shell_command",
    "shell",
    "bash",
    "run_shell_command",
    "execute",
    "terminal",
];

/// The agent's model.
pub(crate) struct ModelDesk {
    definition: Arc<Definition>,
    window: u32,
    events: mpsc::UnboundedSender<DeskEvent>,
    tools: Vec<ToolDefinition>,
    pub(crate) log: PlayLog,
    state: Mutex<DeskState>,
}

#[derive(Default)]
struct DeskState {
    /// The last request that was answered, and its answer: agents repeat requests.
    last: Option<(blake3::Hash, ModelAnswer)>,
    results: Vec<ToolAnswer>,
    refused: RefusedRequests,
}

/// Requests that were answered by no turn and no summary.
#[derive(Clone, Debug, Default)]
pub(crate) struct RefusedRequests {
    /// Longer than the window.
    pub(crate) over_window: u32,
    /// The same as the one before: it was answered as that was.
    pub(crate) repeated: u32,
    /// What nobody knew the use of, in words.
    pub(crate) others: Vec<String>,
}

/// What a tool of the conversation answered to a call.
#[derive(Clone, Debug)]
pub(crate) struct ToolAnswer {
    pub(crate) number: usize,
    pub(crate) name: String,
    pub(crate) arguments: Value,
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

impl ModelDesk {
    pub(crate) fn new(
        definition: Arc<Definition>,
        window: u32,
        tools: Vec<ToolDefinition>,
        events: mpsc::UnboundedSender<DeskEvent>,
        log: PlayLog,
    ) -> Self {
        ModelDesk {
            definition,
            window,
            events,
            tools,
            log,
            state: Mutex::default(),
        }
    }

    /// How the agent is offered the conversation's tools.
    pub(crate) fn tools_are(&self) -> Tools {
        self.definition.tools
    }

    /// What the tools will answer to the calls of the next answer.
    pub(crate) fn expect(&self, results: Vec<ToolAnswer>) {
        self.lock().results = results;
    }

    /// Requests that were answered by no turn and no summary.
    pub(crate) fn refused(&self) -> RefusedRequests {
        self.lock().refused.clone()
    }

    fn lock(&self) -> MutexGuard<'_, DeskState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tool by which the agent calls a tool of the conversation, if it was offered.
    pub(crate) fn tool(&self, posted: &Posted, name: &str) -> Option<ToolDefinition> {
        let mut tools = posted.request.tools.iter();
        let found = match self.definition.tools {
            Tools::Shell => tools.find(|tool| SHELLS.contains(&&*tool.name)),
            Tools::Program => tools.find(|tool| tool.name == name),
            Tools::Mcp => tools
                .clone()
                .find(|tool| is_of_suite(&tool.name, name))
                .or_else(|| tools.find(|tool| is_of_suite(&plain(&tool.name), &plain(name)))),
        };
        found.cloned()
    }

    /// Whether a request offers what the conversation's calls need.
    fn offers_tools(&self, posted: &Posted) -> bool {
        match self.definition.tools {
            Tools::Shell => self.tool(posted, "").is_some(),
            _ => {
                self.tools.is_empty()
                    || self
                        .tools
                        .iter()
                        .any(|tool| self.tool(posted, &tool.name).is_some())
            }
        }
    }

    async fn ask(
        &self,
        event: impl FnOnce(AnswerSender) -> DeskEvent,
    ) -> Result<ModelAnswer, ServerRefusal> {
        let (answer, answered) = oneshot::channel();
        let gone = || {
            ServerRefusal::Model(ChatError::Unavailable {
                why: "the play has ended".to_owned(),
                later: false,
            })
        };
        self.events.send(event(answer)).map_err(|_| gone())?;
        answered.await.unwrap_or_else(|_| Err(gone()))
    }

    /// The answer of a tool to a call, by its number, or by its name and arguments; of several
    /// equal calls the next.
    fn call(&self, asked: &Value) -> Option<Value> {
        let mut state = self.lock();
        let place = match asked["number"].as_u64() {
            Some(number) => state
                .results
                .iter()
                .position(|result| result.number as u64 == number),
            None => {
                let is_of = |result: &&ToolAnswer| asked["name"] == *result.name;
                let same =
                    |result: &ToolAnswer| is_of(&result) && result.arguments == asked["arguments"];
                let mut results = state.results.iter();
                let place = results.position(same);
                place.or_else(|| state.results.iter().position(|result| is_of(&result)))
            }
        }?;
        let result = state.results.remove(place);
        Some(json!({"text": result.text, "is_error": result.is_error}))
    }
}

#[async_trait]
impl Responder for ModelDesk {
    fn model(&self) -> &str {
        &self.definition.model
    }

    fn serves(&self, _: &str) -> bool {
        true
    }

    fn window(&self) -> Option<u32> {
        Some(self.window)
    }

    async fn answer(&self, posted: Posted) -> Result<ModelAnswer, ServerRefusal> {
        let body = posted.body.clone();
        let outcome = self.decide(posted).await;
        let became = match &outcome {
            Ok(said) => {
                json!({"text": said.reply.text, "calls": said.calls.iter().map(|call| json!([call.id, call.name, call.arguments])).collect::<Vec<_>>()})
            }
            Err(refusal) => json!({"refused": format!("{refusal:?}")}),
        };
        self.log.add(&body, &became);
        outcome
    }

    async fn other(&self, path: &str, body: &Value) -> Option<Value> {
        match path {
            "/play/tools" => Some(json!({"tools": self.tools})),
            "/play/call" => {
                Some(self.call(body).unwrap_or_else(
                    || json!({"text": "no such call was recorded", "is_error": true}),
                ))
            }
            _ => None,
        }
    }
}

impl ModelDesk {
    /// The answer to the last request, if it was the same.
    fn repeated(&self, hash: blake3::Hash) -> Option<ModelAnswer> {
        let mut state = self.lock();
        let (_, said) = state.last.as_ref().filter(|(last, _)| *last == hash)?;
        let said = said.clone();
        state.refused.repeated += 1;
        Some(said)
    }

    async fn decide(&self, posted: Posted) -> Result<ModelAnswer, ServerRefusal> {
        let tokens = posted.request.tokens(&Encoding::O200k);
        if tokens > self.window {
            self.lock().refused.over_window += 1;
            return Err(ServerRefusal::OverWindow {
                tokens,
                window: self.window,
            });
        }
        if self.definition.asks_for_summary(&posted) {
            return self
                .ask(|answer| DeskEvent::Summary(Box::new(posted), answer))
                .await;
        }
        if !self.offers_tools(&posted) {
            let last = posted.request.texts().last().unwrap_or_default();
            let why = format!(
                "a request with {} tools that is neither a turn nor a request for a summary: {}",
                posted.request.tools.len(),
                last.chars().take(80).collect::<String>()
            );
            self.lock().refused.others.push(why.clone());
            return Err(ServerRefusal::Unknown(why));
        }
        let hash = blake3::hash(posted.body.to_string().as_bytes());
        if let Some(said) = self.repeated(hash) {
            return Ok(said);
        }
        let said = self
            .ask(|answer| DeskEvent::Turn(Box::new(posted), answer))
            .await?;
        self.lock().last = Some((hash, said.clone()));
        Ok(said)
    }
}

/// Whether that is the name by which an agent knows a tool of the conversation's server.
fn is_of_suite(offered: &str, name: &str) -> bool {
    let before = offered.strip_suffix(name);
    before.is_some_and(|before| {
        before.is_empty() || (before.contains("suite") && !before.ends_with(char::is_alphanumeric))
    })
}

/// A name as some agents write it, whose providers take no other letters.
fn plain(name: &str) -> String {
    name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_")
}

/// An answer with what it used.
pub(crate) fn answer_saying(posted: &Posted, text: String, calls: Vec<Called>) -> ModelAnswer {
    let counter = &Encoding::O200k;
    let output = counter.count_text(&text)
        + calls
            .iter()
            .map(|call| counter.count_text(&call.name) + counter.count_text(&call.arguments))
            .sum::<u32>();
    ModelAnswer {
        reply: ChatReply {
            text,
            finish: Finish::Stop,
            usage: Usage {
                input: posted.request.tokens(counter).into(),
                output: output.into(),
                ..Usage::default()
            },
            latency_ms: 0,
            served: None,
        },
        calls,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_known_by_the_names_that_agents_give_it() {
        let is_it = |offered: &str, name: &str| {
            is_of_suite(offered, name) || is_of_suite(&plain(offered), &plain(name))
        };
        for offered in ["read", "mcp__suite__read", "suite.read", "suite_read"] {
            assert!(is_it(offered, "read"), "{offered}");
        }
        assert!(is_it(
            "mcp__suite__mcp__linear_server__create",
            "mcp__linear-server__create"
        ));
        for offered in ["spread", "mcp__other__read", "mcp__suiteread"] {
            assert!(!is_it(offered, "read"), "{offered}");
        }
    }
}
