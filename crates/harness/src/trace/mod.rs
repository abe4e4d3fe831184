//! What became of every fact, and what a record holds of views, calls and chance matches.

mod around_values;
mod bindings;
mod carriers;
mod chance;
mod contexts;
mod random_contexts;
mod sentences_in_view;
mod state;
mod storage;
mod traced_calls;
mod tracer;
mod uses;
mod views;
mod written;

pub(crate) use around_values::said_about;
pub(crate) use bindings::bound_facts;
pub(crate) use carriers::{Carriers, search_carriers};
pub(crate) use chance::ChanceCounts;
pub(crate) use contexts::{entries_of, saved_rows};
pub(crate) use random_contexts::{DrawnContexts, RandomContexts};
pub(crate) use sentences_in_view::said_counts;
pub(crate) use storage::storage;
pub use traced_calls::CaseResult;
pub(crate) use traced_calls::{call_row, session_call_row, waited_ms};
pub(crate) use tracer::{Traced, Tracer};
pub(crate) use uses::{seen_needed, seen_uses};
pub use views::shared_tokens;
pub(crate) use views::{holds_request, inserted_texts, left_messages, parts_of, tail_start};
