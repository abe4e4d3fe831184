//! The invariants that the crate's README lists, over random conversations, for every registered
//! strategy: a new one is tested without a line of test code. Absent on purpose: how far an
//! estimate errs (15), which goes by real kinds of text and not by random ones, and files (19),
//! which the stores test.

mod background;
mod case;
mod checks;
mod conversation;
mod evidence;
mod model;
mod play;
mod regressions;
mod reload;
mod texts;

use compactometer_engine::estimate::Estimator;
use compactometer_engine::message::Role;
use compactometer_engine::render;
use compactometer_engine::strategies::ALL;
use compactometer_engine::view::{Entry, Origin, View};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::invariants::case::case;
use crate::invariants::play::{Tally, play};

/// How many calls a filler of the view answers.
fn filled_calls(view: &View) -> usize {
    let results = view
        .entries()
        .iter()
        .filter(|entry| entry.role() == Role::Tool)
        .flat_map(Entry::parts);
    results
        .filter(|(_, origin)| *origin == Origin::Filler)
        .count()
}

/// Conversations that an ordinary test run tries with every strategy; `PROPTEST_CASES` asks for
/// another number, as `scripts/check-invariants` does.
const CONVERSATIONS: u32 = 100;

fn config() -> ProptestConfig {
    let given = std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok());
    let cases = ProptestConfig::with_cases(given.unwrap_or(CONVERSATIONS));
    // A long run would look for a smaller case for hours before it says that anything failed.
    ProptestConfig {
        failure_persistence: None,
        max_shrink_time: 120_000,
        ..cases
    }
}

#[test]
fn every_strategy_holds_the_invariants() {
    let mut tally = Tally::default();
    let cell = std::cell::RefCell::new(&mut tally);
    let result = TestRunner::new(config()).run(&case(), |case| {
        for spec in ALL {
            let shown = play(spec, &case)
                .map_err(|error| TestCaseError::fail(format!("{}: {error}", spec.name)))?;
            cell.borrow_mut().add(shown);
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    println!(
        "{} conversations, {} strategies: {tally:?}",
        config().cases,
        ALL.len()
    );
    let Tally {
        applied,
        failed,
        skipped,
        cancelled,
        refused,
        filled,
        unread,
        in_pieces,
        adopted,
        listed,
    } = tally;
    let shown = [
        applied, failed, skipped, cancelled, refused, filled, unread, in_pieces, adopted, listed,
    ];
    assert!(
        shown.iter().all(|count| *count > 0),
        "something never happened: {tally:?}"
    );
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn invariant_15_estimates_never_fall_when_text_is_added(text in texts::text(), more in texts::text()) {
        for estimator in [Estimator::Characters, Estimator::Classes] {
            let (least, most) = (estimator.of_text(&text), estimator.of_text(&format!("{text}{more}")));
            prop_assert!(least <= most, "{estimator:?}: {least} tokens, and {most} with {more:?} behind");
            prop_assert!(most as usize <= text.len() + more.len(), "{estimator:?}: more tokens than bytes");
        }
    }

    #[test]
    fn invariant_14_truncation_is_valid_at_every_index(text in texts::text()) {
        let letters = text.chars().count();
        for most in (0..=letters + 1).step_by(1 + letters / 200) {
            let cut = render::cut(&text, most);
            let start = text.chars().take(most).collect::<String>();
            prop_assert_eq!(cut, if most < letters { format!("{start}\n[...truncated...]") } else { text.clone() });
        }
    }
}
