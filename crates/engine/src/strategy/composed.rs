//! Strategies one after the other: one evicts, and the next one summarizes what is still too much.
//!
//! Each strategy reads the records that it wrote itself, so that none takes another's summary for
//! its own. What another one wrote is in the view like any other text.

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;

use crate::conversation::outside::retained_tokens;
use crate::conversation::record::{History, NewRecord};
use crate::conversation::view::{Edit, Origin, View, WrittenPart};
use crate::recovery::Showing;
use crate::strategy::declined::{Declined, FailReason, SkipReason};
use crate::strategy::{Compacted, Context, Strategy};

/// Strategies of which each is asked only if what the ones before it left is over the retained
/// budget, or, where a source's limits rule, at the trigger. One that skips is passed over; one
/// that fails fails the compaction. Only the last one writes checkpoints before turns.
pub struct Composed {
    /// The strategies, in the order in which they are asked; at most the first 256.
    pub stages: Vec<Arc<dyn Strategy>>,
}

/// The session as one of the strategies sees it.
struct SessionOfStage<'v> {
    view: Cow<'v, View>,
    history: Cow<'v, History>,
    /// Where the parts come from that another strategy wrote. In the view they have the origin of a
    /// note, whose number is the place here after [`MASKED`].
    masked: Vec<Origin>,
    request_tokens: u32,
}

/// No session has as many notes.
const MASKED: u32 = u32::MAX / 2;

impl Composed {
    /// The strategies with their numbers, which records hold in a byte.
    fn stages(&self) -> impl DoubleEndedIterator<Item = (u8, &Arc<dyn Strategy>)> {
        let stages = self.stages.iter().take(1 + usize::from(u8::MAX));
        stages
            .enumerate()
            .map(|(stage, strategy)| (stage as u8, strategy))
    }
}

impl<'v> SessionOfStage<'v> {
    /// The session as it is.
    fn now(stage: u8, cx: &Context<'v>) -> Self {
        SessionOfStage::new(stage, cx, Cow::Borrowed(cx.view), &[])
    }

    /// `new` are the records that the compaction under way has made.
    fn new(stage: u8, cx: &Context<'v>, view: Cow<'v, View>, new: &[NewRecord]) -> Self {
        let request_tokens = request_tokens(cx, &view);
        let is_alone = new.is_empty() && cx.history.iter().all(|saved| saved.stage == stage);
        let history = if is_alone {
            Cow::Borrowed(cx.history)
        } else {
            Cow::Owned(cx.history.of_stage(stage, new.len()))
        };
        let writer = |number: u32| {
            let earlier = cx
                .history
                .iter()
                .find(|saved| saved.number == number)
                .map(|saved| saved.stage);
            earlier.or_else(|| {
                new.get(number.checked_sub(cx.history.next_number())? as usize)
                    .map(|new| new.stage)
            })
        };
        let is_foreign = |written: &WrittenPart| match written.origin {
            Origin::Summary(number) | Origin::Checkpoint(number) => {
                writer(number).is_some_and(|writer| writer != stage)
            }
            Origin::Spoken(_) | Origin::Memory(_) | Origin::Ledger | Origin::Filler => false,
        };
        let mut masked = Vec::new();
        if !view
            .entries()
            .iter()
            .filter_map(|entry| entry.written_parts())
            .flatten()
            .any(is_foreign)
        {
            return SessionOfStage {
                view,
                history,
                masked,
                request_tokens,
            };
        }
        let mut edits = view.to_edits();
        for written in edits
            .iter_mut()
            .flat_map(parts)
            .filter(|written| is_foreign(written))
        {
            let origin = Origin::Memory(MASKED + masked.len() as u32);
            masked.push(std::mem::replace(&mut written.origin, origin));
        }
        // The same messages are in the log.
        let view = View::from_edits(edits, cx.log, cx.counter).map_or(view, Cow::Owned);
        SessionOfStage {
            view,
            history,
            masked,
            request_tokens,
        }
    }

    fn context<'c>(&'c self, cx: &Context<'c>) -> Context<'c> {
        Context {
            view: &self.view,
            history: &self.history,
            request_tokens: self.request_tokens,
            ..*cx
        }
    }

    /// The edits, with the true origin of what another strategy wrote.
    fn unmasked(&self, mut edits: Vec<Edit>) -> Vec<Edit> {
        for written in edits.iter_mut().flat_map(parts) {
            if let Origin::Memory(number) = written.origin
                && let Some(origin) = number
                    .checked_sub(MASKED)
                    .and_then(|place| self.masked.get(place as usize))
            {
                written.origin = *origin;
            }
        }
        edits
    }
}

fn parts(edit: &mut Edit) -> &mut [WrittenPart] {
    match edit {
        Edit::Keep(_) => &mut [],
        Edit::Replace(_, parts) | Edit::Insert(_, parts) => parts,
    }
}

/// Size of the next request with that view.
fn request_tokens(cx: &Context<'_>, view: &View) -> u32 {
    cx.request_tokens
        .saturating_sub(cx.view.tokens())
        .saturating_add(view.tokens())
}

/// Whether nothing more has to leave.
fn fits(cx: &Context<'_>, view: &View) -> bool {
    match cx.budget.retained {
        Some(most) => retained_tokens(view, cx.log) <= most,
        None => request_tokens(cx, view) < cx.budget.trigger,
    }
}

#[async_trait]
impl Strategy for Composed {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let mut made: Option<Compacted> = None;
        let (mut view, mut skipped) = (Cow::Borrowed(cx.view), None);
        for (stage, strategy) in self.stages() {
            if made.is_some() && fits(cx, &view) {
                break;
            }
            let new = made.as_ref().map_or(&[][..], |made| &made.saved);
            let seen = SessionOfStage::new(stage, cx, view.clone(), new);
            let next = match strategy.compact(&seen.context(cx)).await {
                Ok(next) => next,
                Err(Declined::Skip(reason)) => {
                    skipped = skipped.or(Some(reason));
                    continue;
                }
                Err(failed) => return Err(failed),
            };
            let edits = seen.unmasked(next.edits);
            let now = View::from_edits(edits.clone(), cx.log, cx.counter);
            view = Cow::Owned(now.map_err(|error| FailReason::InvalidView(error.to_string()))?);
            let before = made.unwrap_or_default();
            let own = next.saved.into_iter().map(|new| NewRecord { stage, ..new });
            made = Some(Compacted {
                edits,
                saved: before.saved.into_iter().chain(own).collect(),
                fallback: before.fallback.or(next.fallback),
                unread: before.unread.into_iter().chain(next.unread).collect(),
                journey: next.journey.or(before.journey),
            });
        }
        made.ok_or_else(|| skipped.unwrap_or(SkipReason::NothingToCompact).into())
    }

    fn follows_turns(&self) -> bool {
        self.stages.iter().any(|strategy| strategy.follows_turns())
    }

    async fn before_turn(&self, cx: &Context<'_>) {
        for (stage, strategy) in self
            .stages()
            .filter(|(_, strategy)| strategy.follows_turns())
        {
            strategy
                .before_turn(&SessionOfStage::now(stage, cx).context(cx))
                .await;
        }
    }

    fn checkpoint_is_due(&self, cx: &Context<'_>) -> bool {
        let last = self.stages().next_back();
        last.is_some_and(|(stage, strategy)| {
            strategy.checkpoint_is_due(&SessionOfStage::now(stage, cx).context(cx))
        })
    }

    async fn checkpoint(&self, cx: &Context<'_>) -> Result<NewRecord, FailReason> {
        let Some((stage, strategy)) = self.stages().next_back() else {
            return Err(FailReason::NoCheckpoint);
        };
        strategy
            .checkpoint(&SessionOfStage::now(stage, cx).context(cx))
            .await
            .map(|new| NewRecord { stage, ..new })
    }

    fn writes_beside(&self) -> bool {
        self.stages
            .last()
            .is_some_and(|strategy| strategy.writes_beside())
    }

    fn showing(&self) -> Showing {
        self.stages
            .last()
            .map_or_else(Showing::default, |strategy| strategy.showing())
    }

    async fn retrieve(
        &self,
        cx: &Context<'_>,
        questions: &[&str],
        room: u32,
    ) -> Vec<Vec<WrittenPart>> {
        for (stage, strategy) in self.stages() {
            let found = strategy
                .retrieve(&SessionOfStage::now(stage, cx).context(cx), questions, room)
                .await;
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }
}
