//! Any strategy with a ledger beside what it leaves.
//!
//! The strategy gets what the ledger leaves of the retained budget, and never sees the ledger of an
//! earlier compaction: each page is made again from the log, so that no summarizer rewrites it.

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;

use crate::budget::{Budget, Tail};
use crate::conversation::log::Log;
use crate::conversation::record::NewRecord;
use crate::conversation::view::{Edit, Entry, Origin, View, WrittenPart};
use crate::ledger::Ledger;
use crate::message::{MessageId, Role};
use crate::recovery::Showing;
use crate::strategy::declined::{Declined, FailReason};
use crate::strategy::{Compacted, Context, Strategy};
use crate::tokens::MESSAGE_OVERHEAD;

/// A strategy with a [`Ledger`] beside what it leaves.
pub struct WithLedger {
    /// The strategy.
    pub strategy: Arc<dyn Strategy>,
    /// Most tokens of the ledger, its message included.
    pub tokens: u32,
    /// Where its tokens come from.
    pub room: LedgerRoom,
    /// The directories that the conversation works in, as [`Ledger::in_directories`] takes them.
    pub directories: Vec<String>,
    /// The messages of role user that no person wrote, ascending. None of them is quoted.
    pub by_program: Vec<MessageId>,
}

/// Where the tokens of a ledger come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LedgerRoom {
    /// Out of the retained budget, of which a ledger takes at most half. Where a strategy's own
    /// limits rule, it is added.
    Within,
    /// They are added to what the strategy may leave.
    Added,
}

impl WithLedger {
    /// Most tokens of the ledger under that budget.
    fn most(&self, budget: Budget) -> u32 {
        match (self.room, budget.retained) {
            (LedgerRoom::Within, Some(retained)) => self.tokens.min(retained / 2),
            _ => self.tokens,
        }
    }

    /// The message of the ledger beside a view that the edits describe, if there is something to
    /// list.
    fn entry(&self, edits: &[Edit], cx: &Context<'_>) -> Result<Option<Edit>, FailReason> {
        let view = View::from_edits(edits.to_vec(), cx.log, cx.counter);
        let view = view.map_err(|error| FailReason::InvalidView(error.to_string()))?;
        let mut ledger = Ledger::in_directories(&self.directories);
        for message in cx.log.messages().iter().map(|counted| &counted.message) {
            match self.by_program.binary_search(&message.id) {
                Ok(_) => ledger.add_by_program(message),
                Err(_) => ledger.add(message),
            }
        }
        let page = ledger.page(
            self.most(cx.budget).saturating_sub(MESSAGE_OVERHEAD),
            view.texts(),
            cx.counter,
        );
        Ok((page.tokens > 0).then(|| Edit::turn(page.text, Origin::Ledger)))
    }

    /// The session as the strategy sees it.
    fn without_ledger<'c>(&self, cx: &Context<'c>, view: &'c View) -> Context<'c> {
        let budget = match self.room {
            LedgerRoom::Within => less(cx.budget, self.most(cx.budget)),
            LedgerRoom::Added => cx.budget,
        };
        Context {
            view,
            request_tokens: cx
                .request_tokens
                .saturating_sub(cx.view.tokens() - view.tokens()),
            budget,
            ..*cx
        }
    }
}

#[async_trait]
impl Strategy for WithLedger {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let view = before(cx.view);
        let mut compacted = self
            .strategy
            .compact(&self.without_ledger(cx, &view))
            .await?;
        if let Some(entry) = self.entry(&compacted.edits, cx)? {
            compacted
                .edits
                .insert(place(&compacted.edits, cx.log), entry);
        }
        Ok(compacted)
    }

    fn follows_turns(&self) -> bool {
        self.strategy.follows_turns()
    }

    fn is_due(&self) -> Option<bool> {
        self.strategy.is_due()
    }

    fn counted(&self) -> Vec<(&'static str, u64)> {
        self.strategy.counted()
    }

    async fn before_turn(&self, cx: &Context<'_>) {
        self.strategy
            .before_turn(&self.without_ledger(cx, &before(cx.view)))
            .await;
    }

    fn checkpoint_is_due(&self, cx: &Context<'_>) -> bool {
        self.strategy
            .checkpoint_is_due(&self.without_ledger(cx, &before(cx.view)))
    }

    async fn checkpoint(&self, cx: &Context<'_>) -> Result<NewRecord, FailReason> {
        let view = before(cx.view);
        self.strategy
            .checkpoint(&self.without_ledger(cx, &view))
            .await
    }

    fn writes_beside(&self) -> bool {
        self.strategy.writes_beside()
    }

    fn showing(&self) -> Showing {
        self.strategy.showing()
    }

    async fn retrieve(
        &self,
        cx: &Context<'_>,
        questions: &[&str],
        room: u32,
    ) -> Vec<Vec<WrittenPart>> {
        let view = before(cx.view);
        self.strategy
            .retrieve(&self.without_ledger(cx, &view), questions, room)
            .await
    }
}

/// The view without the ledger of an earlier compaction.
fn before(view: &View) -> Cow<'_, View> {
    let is_ledger = |entry: &Entry| entry.written_parts().is_some_and(is_of_ledger);
    if view.entries().iter().any(is_ledger) {
        Cow::Owned(view.without(is_ledger))
    } else {
        Cow::Borrowed(view)
    }
}

fn is_of_ledger(parts: &[WrittenPart]) -> bool {
    !parts.is_empty() && parts.iter().all(|written| written.origin == Origin::Ledger)
}

/// The index of the first edit behind the system prompt and what the strategy inserted at the
/// beginning.
fn place(edits: &[Edit], log: &Log) -> usize {
    let system = log.system().map(|system| system.message.id);
    let is_in_front = |edit: &Edit| match edit {
        Edit::Keep(id) | Edit::Replace(id, _) => Some(*id) == system,
        Edit::Insert(role, _) => *role != Role::Tool,
    };
    edits.iter().take_while(|edit| is_in_front(edit)).count()
}

/// The budget without so many tokens of what a compaction may leave. Tail and written part lose in
/// proportion. Where a strategy's own limits rule, they stay.
fn less(budget: Budget, tokens: u32) -> Budget {
    let Some(retained) = budget.retained else {
        return budget;
    };
    let left = retained.saturating_sub(tokens);
    let scaled =
        |tokens: u32| (u64::from(tokens) * u64::from(left) / u64::from(retained).max(1)) as u32;
    let (tail, of_written) = match budget.tail {
        Tail::Tokens(tail) => (
            Tail::Tokens(scaled(tail)),
            (retained - left).saturating_sub(tail - scaled(tail)),
        ),
        messages @ Tail::Messages(_) => (messages, retained - left),
    };
    Budget {
        retained: Some(left),
        tail,
        written: budget.written.saturating_sub(of_written).max(1),
        ..budget
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tail_and_written_part_lose_in_proportion() {
        let budget = Budget::matched(12_000, 9_600, 4_000, 0.25).expect("a budget");
        let (Tail::Tokens(tail), written) = (budget.tail, budget.written) else {
            panic!("a tail in tokens")
        };
        let found = less(budget, 1_000);
        assert_eq!(found.retained, Some(3_000));
        assert_eq!(found.tail, Tail::Tokens(tail * 3 / 4));
        assert_eq!(found.written, written - (1_000 - (tail - tail * 3 / 4)));
    }
}
