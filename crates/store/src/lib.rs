//! Stores that keep what a [session](compactometer_engine::session) saved: a folder of files after
//! the strategic plan, or a SQLite database after the threshold plan.
//!
//! A session commits each decision, its records and the view after it, through the engine's
//! [`Store`](compactometer_engine::store::Store), which a [`Thread`] implements. Whoever holds the
//! conversation gives its log back after a restart; the store has the rest.
//!
//! ```
//! use std::sync::Arc;
//!
//! use compactometer_engine::budget::Budget;
//! use compactometer_engine::log::Log;
//! use compactometer_engine::message::{Message, MessageId, Part, Role};
//! use compactometer_engine::meter::Metered;
//! use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest, Finish};
//! use compactometer_engine::params::Settings;
//! use compactometer_engine::session::{Policy, Session, SessionConfig};
//! use compactometer_engine::strategies;
//! use compactometer_engine::tokens::{CountedMessage, Encoding};
//! use compactometer_store::{Checkpoints, KEEP, Which};
//! # /// Your client.
//! # struct Model;
//! # #[async_trait::async_trait]
//! # impl ChatModel for Model {
//! #     fn name(&self) -> &str {
//! #         "example"
//! #     }
//! #     async fn complete(&self, _: &ChatRequest) -> Result<ChatReply, ChatError> {
//! #         let text = "The user asked for reports and got them.".into();
//! #         Ok(ChatReply { text, finish: Finish::Stop, usage: Default::default(), latency_ms: 0, served: None })
//! #     }
//! # }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! # let spec = strategies::ALL.iter().find(|spec| spec.name == "summarize").ok_or("no such strategy")?;
//! # let settings = Settings::defaults(spec);
//! # let budget = Budget::matched(4_000, 3_200, 1_200, (spec.limits)(&settings)?.tail_share())?;
//! # let strategy = (spec.build)(&settings);
//! # let metered = Metered::new(&Model, 0);
//! # let config = SessionConfig { budget, overhead: 0, summarizer_window: None, automatic: true, policy: Policy::Enforce };
//! // The strategy, the model and the budget are those of the engine's own front page.
//! let store = Checkpoints::in_directory(folder, KEEP)?;
//! let session = Session::new(&*strategy, &metered, &Encoding::O200k, config);
//! let mut session = session.stored_in(store.thread("telegram:123456")?);
//! let mut log = Log::default();
//! for id in 0..40 {
//!     let role = if id % 2 == 0 { Role::User } else { Role::Assistant };
//!     let parts = vec![Part::Text { text: "Another report, with all its details. ".repeat(20) }];
//!     let message = Message { id: MessageId(id), role, at_ms: None, parts, usage: None };
//!     let message = CountedMessage::new(message, &Encoding::O200k);
//!     log.push(Arc::clone(&message))?;
//!     session.push(message)?;
//!     session.before_call(None).await;
//! }
//! let request = session.view().to_wire();
//! drop(session); // or the process is killed
//!
//! let mut thread = store.thread("telegram:123456")?;
//! println!("{} tokens", thread.show(Which::Latest)?.tokens_after);
//! let state = thread.load()?;
//! let session = Session::new(&*strategy, &metered, &Encoding::O200k, config);
//! let session = session.stored_in(thread).restored(log, state)?;
//! assert_eq!(session.view().to_wire(), request, "the next request is the same");
//! # Ok(())
//! # }
//! ```
//!
//! # What there is
//!
//! - [`Checkpoints`]: all threads of a folder or a database; how large it is, and how to clear one.
//! - [`Thread`]: what one conversation saved. It loads, lists its [versions](Version), shows a
//!   record, goes back to an earlier view, and keeps a document of the agent's own.
//! - [`Error`]: each says what was done, where, and what to do.
//!
//! # What holds
//!
//! - What was committed last is what loads, whatever was killed in between. A commit that failed left
//!   everything as it was.
//! - Processes take turns. A commit that does not follow what is there is a conflict, so two sessions
//!   of one thread never mix.
//! - A file or a table that this crate cannot read is named and left as it is; only
//!   [`Checkpoints::clear`] deletes one.
//! - With prices ([`Thread::priced`]), costs are in US dollars. Sizes of records are in tokens, sizes
//!   on disk in bytes, times in milliseconds since 1970.
//!
//! The feature `sqlite`, on by default, compiles SQLite in.
//!
//! Absent on purpose: the log of what was said, which stays with whoever holds the conversation;
//! facts; a clock, since times come with the records; a cache, since the next reader may be another
//! process.

mod backend;
mod checkpoints;
mod contents;
mod directory;
mod error;
mod metadata;
mod packing;
#[cfg(feature = "sqlite")]
mod sqlite;
mod thread_id;

pub use checkpoints::{Checkpoints, KEEP, Thread, Which};
pub use contents::{Size, Version};
pub use error::Error;
