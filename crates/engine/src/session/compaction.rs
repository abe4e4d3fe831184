//! One compaction over a snapshot: asks the strategy, checks its answer, asks again where it breaks
//! the budget.

use crate::conversation::outside::{retained_tokens, tokens_outside};
use crate::conversation::record::{NewRecord, RecordKind};
use crate::conversation::view::View;
use crate::message::{MessageId, Usage};
use crate::session::Policy;
use crate::session::event::{Event, Outcome};
use crate::strategy::declined::Declined;
use crate::strategy::declined::{FailReason, SkipReason};
use crate::strategy::journey::Journey;
use crate::strategy::{Compacted, Context, Strategy};
use crate::tokens::total;

/// What a compaction came to; nothing is applied yet.
pub(crate) struct Decision {
    /// The decision as it is reported.
    pub(crate) event: Event,
    /// What the session should remember.
    pub(crate) saved: Vec<NewRecord>,
    /// The next view, where there is one.
    pub(crate) view: Option<View>,
}

/// A strategy's answer that passed every check but the budget.
struct CheckedAnswer {
    compacted: View,
    saved: Vec<NewRecord>,
    fallback: Option<FailReason>,
    unread: Vec<MessageId>,
    journey: Option<Journey>,
    retained: u32,
}

/// A budget-breaking answer is asked for once more.
const ATTEMPTS: u32 = 2;

/// Compacts the snapshot. `after` is the last message of its log.
pub(crate) async fn decide(
    strategy: &dyn Strategy,
    cx: Context<'_>,
    policy: Policy,
    after: MessageId,
) -> Decision {
    let tally = cx.summarizer;
    let mut decision = within_budget(strategy, cx, policy, after).await;
    decision.event.extractions = tally.extractions();
    decision
}

async fn within_budget(
    strategy: &dyn Strategy,
    mut cx: Context<'_>,
    policy: Policy,
    after: MessageId,
) -> Decision {
    let (allowed, outside) = (cx.budget.retained, tokens_outside(cx.log));
    let mut event = unchanged(cx.view, after, outside);
    let mut best: Option<CheckedAnswer> = None;
    while event.attempts < ATTEMPTS {
        event.attempts += 1;
        let answer = match attempt(strategy, &cx, policy).await {
            Ok(answer) => answer,
            // An answer over the budget is better than none.
            Err(_) if best.is_some() => break,
            Err(declined) => return declined_as(event, declined, cx.summarizer.usage()),
        };
        // A fallback wrote nothing that a smaller limit would shorten.
        let shortens = answer.fallback.is_none();
        let excess = allowed
            .filter(|_| shortens)
            .map_or(0, |most| answer.retained.saturating_sub(most));
        if best
            .as_ref()
            .is_none_or(|best| answer.retained < best.retained)
        {
            best = Some(answer);
        }
        if excess == 0 {
            break;
        }
        // A tenth beyond the excess, since a model keeps to a limit only roughly.
        cx.budget.written = cx
            .budget
            .written
            .saturating_sub(total([excess, excess / 10, 1]))
            .max(1);
    }
    let Some(CheckedAnswer {
        compacted,
        saved,
        fallback,
        unread,
        journey,
        retained,
    }) = best
    else {
        return Decision {
            event,
            saved: Vec::new(),
            view: None,
        };
    };
    event.outcome = Outcome::Applied;
    event.tokens_after = compacted.tokens();
    event.tokens_retained = retained;
    event.over_budget = allowed.is_some_and(|most| retained > most);
    event.fallback = fallback;
    event.unread = unread;
    event.journey = journey;
    Decision {
        event,
        saved,
        view: Some(compacted),
    }
}

async fn attempt(
    strategy: &dyn Strategy,
    cx: &Context<'_>,
    policy: Policy,
) -> Result<CheckedAnswer, Declined> {
    let Compacted {
        edits,
        saved,
        fallback,
        unread,
        journey,
    } = strategy.compact(cx).await?;
    let compacted = View::from_edits(edits, cx.log, cx.counter)
        .map_err(|error| FailReason::InvalidView(error.to_string()))?;
    if policy == Policy::Enforce {
        if let Some(violation) = compacted.check_against(cx.log).first() {
            return Err(FailReason::InvalidView(violation.to_string()).into());
        }
        if compacted.tokens() >= cx.view.tokens() {
            return Err(SkipReason::NoProgress.into());
        }
    }
    let retained = retained_tokens(&compacted, cx.log);
    Ok(CheckedAnswer {
        compacted,
        saved,
        fallback,
        unread,
        journey,
        retained,
    })
}

/// The view stays. What failed, or was paid for, is remembered.
pub(crate) fn declined_as(event: Event, declined: Declined, used: Usage) -> Decision {
    let is_kept = matches!(declined, Declined::Fail(_)) || used != Usage::default();
    let saved = is_kept.then(|| failed_attempt(&declined, event.after));
    let outcome = match declined {
        Declined::Skip(reason) => Outcome::Skipped(reason),
        Declined::Fail(reason) => Outcome::Failed(reason),
    };
    Decision {
        event: Event { outcome, ..event },
        saved: saved.into_iter().collect(),
        view: None,
    }
}

/// The record of an attempt that failed.
pub(crate) fn failed_attempt(reason: &dyn std::fmt::Display, after: MessageId) -> NewRecord {
    NewRecord::new(RecordKind::Failed, Some((after, after)), reason.to_string())
}

/// The event of a view that stays as it is.
pub(crate) fn unchanged(view: &View, after: MessageId, outside: u32) -> Event {
    Event {
        after,
        outcome: Outcome::Skipped(SkipReason::NoProgress),
        tokens_before: view.tokens(),
        tokens_after: view.tokens(),
        tokens_retained: view.tokens().saturating_sub(outside),
        over_budget: false,
        attempts: 0,
        fallback: None,
        extractions: Vec::new(),
        unread: Vec::new(),
        journey: None,
    }
}
