//! One conversation through one strategy, with every invariant checked at every message.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use compactometer_engine::event::{Event, Outcome, SkipReason};
use compactometer_engine::meter::{Call, Metered};
use compactometer_engine::session::{Session, SessionConfig};
use compactometer_engine::strategies;
use compactometer_engine::strategy::composed::Composed;
use compactometer_engine::strategy::with_ledger::{LedgerRoom, WithLedger};
use compactometer_engine::strategy::{Strategy, StrategySpec};
use compactometer_engine::tokens::{Encoding, TokenCounter};
use compactometer_engine::view::{Entry, Origin, View};
use proptest::prelude::*;

use crate::invariants::background::background;
use crate::invariants::case::{Case, Setting, limits};
use crate::invariants::checks;
use crate::invariants::conversation::{Said, conversation};
use crate::invariants::evidence;
use crate::invariants::model::{Answer, Quarters, Scripted};
use crate::invariants::reload::{Shelf, invariant_19_a_reload_is_the_same};

/// What runs showed together, so that a run that shows nothing is noticed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) applied: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
    pub(crate) cancelled: usize,
    pub(crate) refused: usize,
    pub(crate) filled: usize,
    pub(crate) unread: usize,
    pub(crate) in_pieces: usize,
    pub(crate) adopted: usize,
    pub(crate) listed: usize,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Tally) {
        self.applied += other.applied;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.cancelled += other.cancelled;
        self.refused += other.refused;
        self.filled += other.filled;
        self.unread += other.unread;
        self.in_pieces += other.in_pieces;
        self.adopted += other.adopted;
        self.listed += other.listed;
    }
}

/// A moment right after the session was asked.
pub(crate) struct Moment<'m> {
    pub(crate) session: &'m Session<'m>,
    pub(crate) config: SessionConfig,
    pub(crate) counter: &'m dyn TokenCounter,
    /// The view before.
    pub(crate) before: &'m View,
    /// Numbers of messages, decisions, checkpoint decisions and records before.
    pub(crate) counts: Counts,
    /// Whether a compaction was due.
    pub(crate) was_due: bool,
    /// What was decided.
    pub(crate) event: Option<&'m Event>,
    /// The calls of it.
    pub(crate) calls: &'m [Call],
}

/// Lengths of a session's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) log: usize,
    pub(crate) events: usize,
    pub(crate) checkpoint_events: usize,
    pub(crate) history: usize,
}

impl Counts {
    pub(crate) fn new(session: &Session<'_>) -> Self {
        Counts {
            log: session.log().messages().len(),
            events: session.events().len(),
            checkpoint_events: session.checkpoint_events().len(),
            history: session.history().len(),
        }
    }
}

pub(crate) type Check = fn(&Moment<'_>) -> Result<(), TestCaseError>;

/// Checks after each time that a session was asked; those that compare two moments are in [`Play`].
const AFTER_ASKING: &[Check] = &[
    checks::invariant_01_pairing,
    evidence::invariant_02_evidence,
    checks::invariant_03_progress,
    checks::invariant_05_the_summarizers_window,
    checks::invariant_06_failure_changes_nothing,
    checks::invariant_07_system_prompt,
    checks::invariant_08_last_user_message,
    checks::invariant_10_no_nesting,
    checks::invariant_11_thinking,
    checks::invariant_12_grammar,
    checks::invariant_13_media,
    checks::invariant_16_asked_is_answered,
    checks::invariant_18_one_break,
    checks::invariant_21_text_stays_data,
    checks::invariant_22_every_decision_is_an_event,
];

/// Plays a conversation through a strategy.
pub(crate) fn play(spec: &StrategySpec, case: &Case) -> Result<Tally, TestCaseError> {
    let counter: &dyn TokenCounter = if case.setting.exact {
        &Encoding::O200k
    } else {
        &Quarters
    };
    let said = conversation(&case.opening, &case.steps, counter);
    play_said(spec, &said, &case.answers, case.setting, counter)
}

fn play_said(
    spec: &StrategySpec,
    said: &[Said],
    answers: &[Answer],
    setting: Setting,
    counter: &dyn TokenCounter,
) -> Result<Tally, TestCaseError> {
    let model = Scripted::new(answers);
    let metered = Metered::new(&model, 0);
    let (settings, config) = limits(spec, setting);
    let strategy = (spec.build)(&settings);
    let strategy = match setting.first.map(|place| strategies::ALL[place]) {
        None => strategy,
        Some(first) => {
            let stages = vec![(first.build)(&limits(first, setting).0), strategy];
            Arc::new(Composed { stages })
        }
    };
    let strategy = match setting.ledger {
        0 => strategy,
        tokens => Arc::new(WithLedger {
            by_program: Vec::new(),
            strategy,
            tokens,
            room: LedgerRoom::Within,
            directories: Vec::new(),
        }),
    };
    let shelf = Shelf::default();
    let session = Session::new(&*strategy, &metered, counter, config).stored_in(shelf.clone());
    let tally = Tally::default();
    let mut play = Play {
        session,
        strategy: &*strategy,
        shelf,
        config,
        counter,
        model: &model,
        metered: &metered,
        tally,
    };
    if setting.meanwhile > 0 {
        return background(play, said, setting.meanwhile);
    }
    for said in said {
        play.say(said)?;
        let answered = play.ask()?;
        // A decision that was cancelled left everything to do.
        if answered {
            play.invariant_09_asking_again_changes_nothing()?;
        }
        if answered && setting.insists {
            play.invariant_09_insisting_changes_nothing()?;
        }
    }
    checks::invariant_04_termination(play.session.events(), config)?;
    play.invariant_19()?;
    play.invariant_20_usage_is_in_the_totals()?;
    Ok(play.tally)
}

pub(crate) struct Play<'p> {
    pub(crate) session: Session<'p>,
    strategy: &'p dyn Strategy,
    shelf: Shelf,
    pub(crate) config: SessionConfig,
    pub(crate) counter: &'p dyn TokenCounter,
    model: &'p Scripted,
    pub(crate) metered: &'p Metered<'p>,
    pub(crate) tally: Tally,
}

impl Play<'_> {
    /// A message is said; one that no provider takes is refused and changes nothing.
    pub(crate) fn say(&mut self, said: &Said) -> Result<(), TestCaseError> {
        let before = self.session.view().clone();
        let length = self.session.log().messages().len();
        let result = self.session.push(said.counted.clone());
        prop_assert_eq!(
            result.is_err(),
            said.refused,
            "{:?}: {:?}",
            result,
            said.counted.message
        );
        let taken = usize::from(!said.refused);
        prop_assert_eq!(self.session.log().messages().len(), length + taken);
        checks::invariant_17_what_is_said_survives(&before, self.session.view(), said)?;
        self.tally.refused += 1 - taken;
        Ok(())
    }

    /// Asks the session, and checks what came of it; false where it was given up, or nothing was
    /// said so far.
    fn ask(&mut self) -> Result<bool, TestCaseError> {
        if self.session.log().messages().is_empty() {
            return Ok(false);
        }
        let before = self.session.view().clone();
        let counts = Counts::new(&self.session);
        let was_due = self.session.is_due();
        let event = match answered(self.session.before_call(None)) {
            Some(event) => event.cloned(),
            None => {
                self.tally.cancelled += 1;
                let calls = self.metered.take_calls();
                checks::invariant_06_cancelled_changes_nothing(
                    &self.session,
                    &before,
                    counts,
                    &calls,
                )?;
                return Ok(false);
            }
        };
        let calls = self.metered.take_calls();
        let moment = Moment {
            session: &self.session,
            config: self.config,
            counter: self.counter,
            before: &before,
            counts,
            was_due,
            event: event.as_ref(),
            calls: &calls,
        };
        AFTER_ASKING.iter().try_for_each(|check| check(&moment))?;
        if Counts::new(&self.session) != counts {
            self.invariant_19()?;
        }
        let rewrites = |call: &Call| {
            call.request
                .texts()
                .any(|text| text.contains("Exact values said earlier"))
        };
        prop_assert!(
            !calls.iter().any(rewrites),
            "a summarizer reads the ledger of an earlier compaction"
        );
        self.count(event.as_ref(), &calls);
        Ok(true)
    }

    /// 9, and 4 where nothing could be done: until somebody speaks, nothing is decided and nobody
    /// is called.
    fn invariant_09_asking_again_changes_nothing(&mut self) -> Result<(), TestCaseError> {
        let (before, counts, asked) = (
            self.session.view().clone(),
            Counts::new(&self.session),
            self.model.asked(),
        );
        prop_assert_eq!(
            answered(self.session.before_call(None)),
            Some(None),
            "asked again"
        );
        prop_assert_eq!(
            (Counts::new(&self.session), self.model.asked()),
            (counts, asked),
            "asked again"
        );
        checks::same_view(&before, self.session.view())
    }

    /// 9: also where a compaction is asked for outright.
    fn invariant_09_insisting_changes_nothing(&mut self) -> Result<(), TestCaseError> {
        let after = self
            .session
            .log()
            .messages()
            .last()
            .map(|last| last.message.id);
        let last = self.session.events().last();
        if last.is_none_or(|event| Some(event.after) != after || event.outcome != Outcome::Applied)
        {
            return Ok(());
        }
        let (before, asked) = (self.session.view().clone(), self.model.asked());
        let event = answered(self.session.compact(None)).flatten().cloned();
        let outcome = event.map(|event| event.outcome);
        prop_assert_eq!(
            outcome,
            Some(Outcome::Skipped(SkipReason::NothingToCompact)),
            "insisted"
        );
        prop_assert_eq!(self.model.asked(), asked, "insisted");
        checks::same_view(&before, self.session.view())
    }

    /// 19: now, and after what was said since the last commit.
    pub(crate) fn invariant_19(&self) -> Result<(), TestCaseError> {
        let fresh = Session::new(self.strategy, self.metered, self.counter, self.config);
        invariant_19_a_reload_is_the_same(&self.session, fresh, self.shelf.state())
    }

    /// 20: what the meter saw is in the session's records, but for what was cancelled half way.
    pub(crate) fn invariant_20_usage_is_in_the_totals(&self) -> Result<(), TestCaseError> {
        let recorded = self
            .session
            .history()
            .iter()
            .map(|saved| saved.usage.total_input())
            .sum::<u64>();
        let used = self.metered.usage().total_input();
        if self.tally.cancelled == 0 {
            prop_assert_eq!(recorded, used, "usage in the records, usage at the meter");
        }
        prop_assert!(recorded <= used);
        Ok(())
    }

    pub(crate) fn count(&mut self, event: Option<&Event>, calls: &[Call]) {
        self.tally.filled = self
            .tally
            .filled
            .max(super::filled_calls(self.session.view()));
        let pieces = calls.iter().any(|call| {
            call.request
                .texts()
                .any(|text| text.contains("<messages>\n(earlier summary) "))
        });
        self.tally.in_pieces += usize::from(pieces);
        let parts = self.session.view().entries().iter().flat_map(Entry::parts);
        self.tally.listed += parts
            .filter(|(_, origin)| *origin == Origin::Ledger)
            .count();
        let Some(event) = event else { return };
        self.tally.unread += event.unread.len();
        match event.outcome {
            Outcome::Applied => self.tally.applied += 1,
            Outcome::Skipped(_) => self.tally.skipped += 1,
            Outcome::Failed(_) => self.tally.failed += 1,
        }
    }
}

/// What a future answers; nothing where it waits for a model that hangs, and is dropped.
pub(crate) fn answered<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}
