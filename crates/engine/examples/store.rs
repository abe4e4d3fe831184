//! A session that outlives its process: each decision is committed, and a later session goes on from
//! it: `cargo run -p compactometer-engine --example store`. The crate `compactometer-store` has
//! stores in a folder and in SQLite; this one shows what a store has to do.

mod support;

use std::sync::{Arc, Mutex, PoisonError};

use compactometer_engine::log::Log;
use compactometer_engine::meter::Metered;
use compactometer_engine::session::Session;
use compactometer_engine::store::{Commit, State, Store, StoreError};
use compactometer_engine::tokens::Encoding;

use support::{Failure, Model, chat, said, strategy};

/// Keeps the last state in memory.
#[derive(Clone, Default)]
struct InMemory(Arc<Mutex<State>>);

impl Store for InMemory {
    fn commit(&mut self, commit: &Commit<'_>) -> Result<(), StoreError> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.history.extend(commit.saved.iter().cloned());
        state.view = commit.view.to_vec();
        state.after = Some(commit.after);
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let (strategy, config) = strategy("chained")?;
    let metered = Metered::new(&Model("Builds 0 to 20 run."), 0);
    let store = InMemory::default();
    let session = Session::new(&*strategy, &metered, &Encoding::O200k, config);
    let mut session = session.stored_in(store.clone());
    // Whoever holds the conversation keeps what was said.
    let mut log = Log::default();
    for (id, role, text) in chat() {
        let message = said(id, role, &text, 0);
        log.push(Arc::clone(&message))?;
        session.push(message)?;
        session.before_call(None).await;
    }
    let before = session.view().to_wire();
    drop(session);

    let state = store
        .0
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    println!(
        "{} records, the last after message {:?}",
        state.history.len(),
        state.after
    );
    let session = Session::new(&*strategy, &metered, &Encoding::O200k, config);
    let session = session.restored(log, state)?;
    assert_eq!(
        session.view().to_wire(),
        before,
        "the next request is the same"
    );
    println!(
        "restored: {} tokens in the next request",
        session.request_tokens()
    );
    Ok(())
}
