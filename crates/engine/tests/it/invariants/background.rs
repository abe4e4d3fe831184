//! Compactions that are prepared beside the conversation, with every invariant that one such moment
//! shows.

use compactometer_engine::event::Outcome;
use compactometer_engine::meter::Call;
use compactometer_engine::session::Prepared;
use proptest::prelude::*;

use crate::invariants::conversation::Said;
use crate::invariants::play::{Check, Counts, Moment, Play, Tally, answered};
use crate::invariants::{checks, evidence};

/// Checks after each adoption. Not among them: 16 and 22, whose event is of the last message; here
/// it is of the snapshot's.
const AFTER_ADOPTING: &[Check] = &[
    checks::invariant_01_pairing,
    evidence::invariant_02_evidence,
    checks::invariant_05_the_summarizers_window,
    checks::invariant_06_failure_changes_nothing,
    checks::invariant_07_system_prompt,
    checks::invariant_08_last_user_message,
    checks::invariant_10_no_nesting,
    checks::invariant_11_thinking,
    checks::invariant_12_grammar,
    checks::invariant_13_media,
    checks::invariant_18_one_break,
    checks::invariant_21_text_stays_data,
];

/// Plays a conversation of which every so many messages are said while a compaction of those before
/// is prepared.
pub(crate) fn background(
    mut play: Play<'_>,
    said: &[Said],
    meanwhile: usize,
) -> Result<Tally, TestCaseError> {
    let mut prepared: Option<(Prepared, Vec<Call>)> = None;
    for (number, said) in said.iter().enumerate() {
        play.say(said)?;
        if number % (meanwhile + 1) > 0 {
            continue;
        }
        if let Some((prepared, calls)) = prepared.take() {
            play.adopt(prepared, &calls)?;
        }
        prepared = play.prepare();
    }
    drop(prepared);
    play.metered.take_calls();
    play.invariant_19()?;
    Ok(play.tally)
}

impl Play<'_> {
    /// A compaction of what was said so far, and its calls; nothing where nobody spoke, or the
    /// model hangs.
    fn prepare(&mut self) -> Option<(Prepared, Vec<Call>)> {
        let prepared = answered(self.session.prepare()?.run());
        self.tally.cancelled += usize::from(prepared.is_none());
        let calls = self.metered.take_calls();
        prepared.map(|prepared| (prepared, calls))
    }

    /// 17: what was said meanwhile is at the end as it was said; and whatever holds of any
    /// compaction.
    fn adopt(&mut self, prepared: Prepared, calls: &[Call]) -> Result<(), TestCaseError> {
        let (before, counts) = (self.session.view().clone(), Counts::new(&self.session));
        let event = answered(self.session.adopt(prepared, None))
            .flatten()
            .cloned();
        prop_assert!(event.is_some(), "what was prepared was not adopted");
        let moment = Moment {
            session: &self.session,
            config: self.config,
            counter: self.counter,
            before: &before,
            counts,
            was_due: true,
            event: event.as_ref(),
            calls,
        };
        AFTER_ADOPTING.iter().try_for_each(|check| check(&moment))?;
        if event
            .as_ref()
            .is_some_and(|event| event.outcome == Outcome::Applied)
        {
            checks::invariant_03_progress(&moment)?;
            self.tally.adopted += 1;
        }
        if let Some(event) = &event {
            let after = |id| id > event.after;
            let since = before
                .entries()
                .iter()
                .skip_while(|entry| !entry.message_id().is_some_and(after));
            let tail = since.cloned().collect::<Vec<_>>();
            let now = self.session.view().entries();
            prop_assert!(now.len() >= tail.len(), "what was said meanwhile is gone");
            checks::same_entries(&tail, &now[now.len() - tail.len()..])?;
        }
        self.invariant_19()?;
        self.count(event.as_ref(), calls);
        Ok(())
    }
}
