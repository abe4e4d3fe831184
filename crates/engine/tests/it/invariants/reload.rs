//! Invariant 19: a session that another process reloads has the same view, and no removal is stored
//! without its summary.

use std::sync::{Arc, Mutex};

use compactometer_engine::message::Role;
use compactometer_engine::meter::Metered;
use compactometer_engine::session::Session;
use compactometer_engine::store::{Commit, State, Store, StoreError};
use compactometer_engine::view::{Edit, Origin};
use proptest::prelude::*;

use crate::invariants::checks::same_view;
use crate::invariants::model::{Answer, Quarters, Scripted};
use crate::invariants::play::answered;
use crate::invariants::regressions::{calls, config, result, said, strategy};

/// What a store keeps, in memory.
#[derive(Clone, Default)]
pub(crate) struct Shelf(Arc<Mutex<State>>);

impl Shelf {
    pub(crate) fn state(&self) -> State {
        self.0.lock().unwrap().clone()
    }
}

impl Store for Shelf {
    fn commit(&mut self, commit: &Commit<'_>) -> Result<(), StoreError> {
        let mut state = self.0.lock().unwrap();
        state.history.extend_from_slice(commit.saved);
        state.view = commit.view.to_vec();
        state.after = Some(commit.after);
        Ok(())
    }
}

/// 19: `fresh`, a session of the same kind, holds after a reload what this one holds.
pub(crate) fn invariant_19_a_reload_is_the_same(
    session: &Session<'_>,
    fresh: Session<'_>,
    state: State,
) -> Result<(), TestCaseError> {
    prop_assert_eq!(
        &state.history[..],
        &session.history()[..],
        "records in the store, records in the session"
    );
    for number in summaries(&state.view) {
        let is_kept = state.history.iter().any(|saved| saved.number == number);
        prop_assert!(
            is_kept,
            "summary {} stands in the stored view and in no stored record",
            number
        );
    }
    let again = fresh.restored(session.log().clone(), state);
    let again = again.map_err(|error| {
        TestCaseError::fail(format!("what was stored does not reload: {error}"))
    })?;
    prop_assert_eq!(again.history(), session.history(), "records after a reload");
    same_view(session.view(), again.view())
}

fn summaries(view: &[Edit]) -> impl Iterator<Item = u32> {
    let parts = view.iter().flat_map(|edit| match edit {
        Edit::Keep(_) => &[][..],
        Edit::Replace(_, parts) | Edit::Insert(_, parts) => parts,
    });
    parts.filter_map(|written| {
        if let Origin::Summary(number) = written.origin {
            Some(number)
        } else {
            None
        }
    })
}

/// What came after the last commit, or while a compaction was prepared, follows as it was said: a
/// call of a batch that nobody answered is answered behind the results that came.
#[test]
fn invariant_19_results_stand_before_the_answer_to_a_call_that_got_none() {
    let model = Scripted::new(&[Answer::Text("A summary.".into())]);
    let (metered, strategy, shelf) = (
        Metered::new(&model, 0),
        strategy("summarize"),
        Shelf::default(),
    );
    let fresh = || Session::new(&*strategy, &metered, &Quarters, config(200, None));
    let batch = |first: u32| {
        let (one, two) = (format!("a{first}"), format!("b{first}"));
        let came = result(first + 1, &one, "done");
        [
            calls(first, &[&one, &two]),
            came,
            said(first + 2, Role::User, "Stop, do something else."),
        ]
    };
    let mut session = fresh().stored_in(shelf.clone());
    session
        .push(said(0, Role::User, &"Begin. ".repeat(500)))
        .unwrap();
    session.push(said(1, Role::Assistant, "I begin.")).unwrap();
    session.push(said(2, Role::User, "Go on.")).unwrap();
    assert!(answered(session.before_call(None)).flatten().is_some());
    batch(3)
        .into_iter()
        .for_each(|counted| session.push(counted).unwrap());
    assert_eq!(
        (
            super::filled_calls(session.view()),
            shelf.state().after.map(|id| id.0)
        ),
        (1, Some(2))
    );
    invariant_19_a_reload_is_the_same(&session, fresh(), shelf.state()).unwrap();

    session
        .push(said(6, Role::Assistant, &"I stop. ".repeat(400)))
        .unwrap();
    let prepared = answered(session.prepare().unwrap().run()).unwrap();
    batch(7)
        .into_iter()
        .for_each(|counted| session.push(counted).unwrap());
    let said_last = session
        .view()
        .to_wire()
        .split_off(session.view().entries().len() - 4);
    assert!(answered(session.adopt(prepared, None)).flatten().is_some());
    assert!(
        session.view().to_wire().ends_with(&said_last),
        "{:?}",
        session.view().to_wire()
    );
    invariant_19_a_reload_is_the_same(&session, fresh(), shelf.state()).unwrap();
}
