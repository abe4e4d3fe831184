//! One conversation with a scripted summarizer, the same for both forms of a strategy.

use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use async_trait::async_trait;
use compactometer_engine::budget::Budget;
use compactometer_engine::event::{Event, RecoveryEvent};
use compactometer_engine::message::{Message, MessageId, Part, Role, Usage};
use compactometer_engine::meter::{Call, Metered};
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest, Finish};
use compactometer_engine::params::Settings;
use compactometer_engine::record::SessionRecord;
use compactometer_engine::session::{Policy, Session, SessionConfig};
use compactometer_engine::strategies::ALL;
use compactometer_engine::tokens::CountedMessage;
use compactometer_engine::tokens::{Encoding, TokenCounter};

/// Both forms of a strategy with a few parameters changed, and what their session showed.
pub(crate) struct Stage {
    pub(crate) name: &'static str,
    pub(crate) changes: &'static [(&'static str, &'static str)],
    /// Under the matched protocol; else the strategy's own limits.
    pub(crate) budget: Option<Budget>,
    pub(crate) summarizer_window: Option<u32>,
    pub(crate) answers: Vec<Result<&'static str, ChatError>>,
}

/// What a session showed.
pub(crate) struct Shown {
    /// Each message of the view as `role: text`.
    pub(crate) view: Vec<String>,
    /// The messages that the view still holds, by number.
    pub(crate) kept: Vec<u32>,
    pub(crate) events: Vec<Event>,
    pub(crate) recoveries: Vec<RecoveryEvent>,
    pub(crate) history: Vec<SessionRecord>,
    pub(crate) calls: Vec<Call>,
    /// What a provider would refuse in the view.
    pub(crate) violations: usize,
}

/// One step of the conversation.
#[derive(Clone)]
pub(crate) enum Step {
    Say(Role, String),
    Call(&'static str),
    Result(&'static str, String),
    /// Before a call of the agent, as [`Session::before_call`].
    Ask,
    /// A compaction by hand.
    Compact,
    /// Ids that no message of this conversation has.
    Gap(u32),
}

impl Stage {
    /// A conversation of the named strategy. The summarizer gives these answers in turn, and the
    /// last one for ever.
    pub(crate) fn new(name: &'static str, answers: &[Result<&'static str, ChatError>]) -> Self {
        let budget = Some(Budget::matched(1_000, 800, 300, 0.5).unwrap());
        Stage {
            name,
            changes: &[],
            budget,
            summarizer_window: None,
            answers: answers.to_vec(),
        }
    }

    pub(crate) fn with(self, changes: &'static [(&'static str, &'static str)]) -> Self {
        Stage { changes, ..self }
    }

    pub(crate) fn plain(&self, steps: &[Step]) -> Shown {
        let spec = ALL.iter().find(|spec| spec.name == self.name).unwrap();
        self.play(Settings::defaults(spec), Policy::Enforce, steps)
    }

    pub(crate) fn faithful(&self, steps: &[Step]) -> Shown {
        let spec = ALL.iter().find(|spec| spec.name == self.name).unwrap();
        self.play(
            Settings::published(spec).unwrap().unwrap(),
            Policy::Observe,
            steps,
        )
    }

    fn play(&self, mut settings: Settings, policy: Policy, steps: &[Step]) -> Shown {
        let spec = ALL.iter().find(|spec| spec.name == self.name).unwrap();
        for (name, value) in self.changes {
            settings.set(spec, name, value).unwrap();
        }
        let strategy = (spec.build)(&settings);
        let own = || Budget::published((spec.limits)(&settings).unwrap(), 1.0).unwrap();
        let budget = self.budget.unwrap_or_else(own);
        let model = Scripted(Mutex::new(self.answers.clone()));
        let metered = Metered::new(&model, 0);
        let config = SessionConfig {
            budget,
            overhead: 0,
            summarizer_window: self.summarizer_window,
            automatic: true,
            policy,
        };
        let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, config);
        let mut skipped = 0;
        for (id, step) in steps.iter().enumerate() {
            let id = id as u32 + skipped;
            let (role, part) = match step {
                Step::Say(role, text) => (*role, Part::Text { text: text.clone() }),
                Step::Call(call) => (
                    Role::Assistant,
                    Part::ToolCall {
                        id: (*call).into(),
                        name: "run".into(),
                        arguments: "{}".into(),
                    },
                ),
                Step::Result(call, text) => (
                    Role::Tool,
                    Part::ToolResult {
                        call_id: (*call).into(),
                        text: text.clone(),
                        is_error: false,
                    },
                ),
                Step::Ask => {
                    ready(session.before_call(Some(id.into())));
                    continue;
                }
                Step::Compact => {
                    ready(session.compact(Some(id.into())));
                    continue;
                }
                Step::Gap(ids) => {
                    skipped += ids;
                    continue;
                }
            };
            let message = Message {
                id: MessageId(id),
                role,
                at_ms: None,
                parts: vec![part],
                usage: None,
            };
            let tokens = Encoding::O200k.count_message(&message);
            session.push(CountedMessage { tokens, message }).unwrap();
        }
        Shown {
            view: session.view().entries().iter().map(entry_text).collect(),
            kept: session
                .view()
                .entries()
                .iter()
                .filter_map(|entry| Some(entry.message_id()?.0))
                .collect(),
            events: session.events().to_vec(),
            recoveries: session.recovery_events().to_vec(),
            history: session.history().to_vec(),
            violations: session.view().check().len(),
            calls: metered.take_calls(),
        }
    }
}

/// A user's turn.
pub(crate) fn user(text: &str) -> Step {
    Step::Say(Role::User, text.to_owned())
}

/// An assistant's turn.
pub(crate) fn assistant(text: &str) -> Step {
    Step::Say(Role::Assistant, text.to_owned())
}

/// A system prompt.
pub(crate) fn system(text: &str) -> Step {
    Step::Say(Role::System, text.to_owned())
}

/// Pairs of a question of about 100 tokens and its answer; `name` is in each.
pub(crate) fn turns(name: &str, pairs: usize) -> Vec<Step> {
    let pair = |number| {
        [
            user(&format!("{name} {number}: {}", "look again ".repeat(45))),
            assistant("Done."),
        ]
    };
    (0..pairs).flat_map(pair).collect()
}

/// The texts of a request, role by role.
pub(crate) fn request(call: &Call) -> String {
    call.request.texts().collect::<Vec<_>>().join("\n")
}

fn entry_text(entry: &compactometer_engine::view::Entry) -> String {
    let part = |part: &Part| match part {
        Part::Text { text } | Part::Thinking { text, .. } | Part::ToolResult { text, .. } => {
            text.clone()
        }
        Part::ToolCall { id, .. } => format!("calls {id}"),
        Part::Media { .. } | Part::Sealed { .. } => String::new(),
    };
    format!(
        "{}: {}",
        entry.role().name(),
        entry.parts().map(|(it, _)| part(it)).collect::<String>()
    )
}

struct Scripted(Mutex<Vec<Result<&'static str, ChatError>>>);

#[async_trait]
impl ChatModel for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn complete(&self, _: &ChatRequest) -> Result<ChatReply, ChatError> {
        let mut answers = self.0.lock().unwrap();
        let answer = if answers.len() > 1 {
            answers.remove(0)
        } else {
            answers[0].clone()
        };
        let usage = Usage {
            input: 1,
            output: 1,
            ..Usage::default()
        };
        answer.map(|text| ChatReply {
            text: text.to_owned(),
            finish: Finish::Stop,
            usage,
            latency_ms: 1,
            served: None,
        })
    }
}

/// Polls a future that never waits for anything outside.
fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("nothing in the engine waits"),
    }
}
