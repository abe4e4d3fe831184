//! The reference compaction engine of Compactometer: it keeps a conversation within a model's
//! context window.
//!
//! An agent pushes every message into a [`Session`](session::Session). Before each call of its
//! model it asks the session, which compacts when the next request has grown to its trigger, and
//! then sends the session's [view](view::View). A [strategy](strategies) writes what takes the
//! place of older messages; the session checks it, and keeps the old view if it would not do.
//!
//! ```
//! use compactometer_engine::budget::Budget;
//! use compactometer_engine::message::{Message, MessageId, Part, Role};
//! use compactometer_engine::meter::Metered;
//! use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest, Finish};
//! use compactometer_engine::params::Settings;
//! use compactometer_engine::session::{Policy, Session, SessionConfig};
//! use compactometer_engine::strategies;
//! use compactometer_engine::tokens::{CountedMessage, Encoding};
//!
//! /// Your client.
//! struct Model;
//!
//! #[async_trait::async_trait]
//! impl ChatModel for Model {
//!     fn name(&self) -> &str {
//!         "example"
//!     }
//!     async fn complete(&self, _: &ChatRequest) -> Result<ChatReply, ChatError> {
//!         let text = "The user asked for reports and got them.".into();
//!         Ok(ChatReply { text, finish: Finish::Stop, usage: Default::default(), latency_ms: 0, served: None })
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let spec = strategies::ALL.iter().find(|spec| spec.name == "summarize").ok_or("no such strategy")?;
//! let settings = Settings::defaults(spec);
//! // A window of 4,000 tokens: compact at 3,200, leave at most 1,200.
//! let budget = Budget::matched(4_000, 3_200, 1_200, (spec.limits)(&settings)?.tail_share())?;
//! let strategy = (spec.build)(&settings);
//! let metered = Metered::new(&Model, 0);
//! let config = SessionConfig { budget, overhead: 0, summarizer_window: None, automatic: true, policy: Policy::Enforce };
//! let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, config);
//!
//! for id in 0..40 {
//!     let role = if id % 2 == 0 { Role::User } else { Role::Assistant };
//!     let parts = vec![Part::Text { text: "Another report, with all its details. ".repeat(20) }];
//!     let message = Message { id: MessageId(id), role, at_ms: None, parts, usage: None };
//!     session.push(CountedMessage::new(message, &Encoding::O200k))?;
//!     session.before_call(None).await;
//!     assert!(session.request_tokens() < 3_200);
//!     let _request = session.view().to_wire();
//! }
//! assert!(!session.events().is_empty(), "every decision is an event");
//! # Ok(())
//! # }
//! ```
//!
//! # What there is
//!
//! - [`session`]: when and whether to compact, in the foreground or beside the agent;
//!   [events](event), [stores](store), [health].
//! - [`strategies`]: eight strategies from five published designs, each with its
//!   [parameters](params); [`strategy`] to write your own.
//! - [`ledger`]: a list of the exact values that a summary dropped, for any strategy
//!   ([`WithLedger`](strategy::with_ledger::WithLedger)).
//! - [`checkpoint`] and [`recovery`]: structured state, how it is read from an answer, and when it
//!   is shown again.
//! - [`memory`]: notes of what left, and a search that an agent can call.
//! - [`tokens`] and [`budget`]: exact counts, and limits.
//!
//! # What it leaves to you
//!
//! The engine opens no file, uses no network, starts no thread and reads no clock; time and models
//! come in from outside. The crate `compactometer-store` keeps sessions in a folder or in SQLite.
//! Each folder imports only folders that come before it in this list: `message`, `tokens`,
//! `ledger`, `model`, `conversation`, `budget`, `checkpoint`, `memory`, `recovery`, `strategy`,
//! `strategies`, `session`.

pub mod budget;
pub mod checkpoint;
mod conversation;
pub mod ledger;
pub mod memory;
pub mod message;
pub mod model;
pub mod recovery;
pub mod session;
pub mod strategies;
pub mod strategy;
pub mod tokens;

pub use budget::estimate;
pub use conversation::{log, record, render, view};
pub use model::{embed, meter};
pub use session::{event, health, store};
pub use strategy::{journey, params, selection, summary};
