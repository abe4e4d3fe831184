//! Strategies that write nothing: a tail, and no compaction at all.

use std::sync::Arc;

use async_trait::async_trait;
use compactometer_engine::budget::Tail;
use compactometer_engine::event::SkipReason;
use compactometer_engine::message::{Part, Role};
use compactometer_engine::selection::Selection;
use compactometer_engine::strategy::{Compacted, Context, Declined, Strategy, StrategySpec};
use compactometer_engine::view::{Edit, Origin, WrittenPart};
use compactometer_harness::plan::Entrant;
use compactometer_testing::model::says;

use super::half;
use crate::honesty::plugins::spec;
use crate::honesty::stage::{foreign, mock, named, run};

static TAIL: StrategySpec = spec("tail", |_| Arc::new(KeepTail { divisor: 1 }));
static HALF_A_TAIL: StrategySpec = spec("half-a-tail", |_| Arc::new(KeepTail { divisor: 2 }));
static NEVER: StrategySpec = spec("never", |_| Arc::new(Never));

/// Keeps the newest messages in a part of the room.
struct KeepTail {
    divisor: u32,
}

#[async_trait]
impl Strategy for KeepTail {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let room = cx.budget.retained.unwrap_or_default().saturating_sub(20) / self.divisor;
        let selection = Selection::recent(cx.log, cx.view, Tail::Tokens(room));
        if !selection.takes_messages() {
            return Err(SkipReason::NothingToCompact.into());
        }
        let system = cx.log.system().map(|system| Edit::Keep(system.message.id));
        // A chat opens with the user.
        let part = Part::Text {
            text: "Go on.".to_owned(),
        };
        let opening = Edit::Insert(
            Role::User,
            vec![WrittenPart {
                part,
                origin: Origin::Filler,
            }],
        );
        let edits = system
            .into_iter()
            .chain([opening])
            .chain(selection.keep_edits());
        Ok(Compacted::without_reading(cx, edits.collect()))
    }
}

struct Never;

#[async_trait]
impl Strategy for Never {
    async fn compact(&self, _: &Context<'_>) -> Result<Compacted, Declined> {
        Err(SkipReason::NothingToCompact.into())
    }
}

/// The strategy that never compacts.
pub fn never() -> Entrant {
    foreign(&NEVER)
}

#[test]
fn a_pure_tail_of_any_length_lifts_nothing() {
    let staged = run(
        half(),
        vec![foreign(&TAIL), foreign(&HALF_A_TAIL)],
        &says(""),
        None,
    );
    for tail in ["tail", "half-a-tail"] {
        let lift = staged.value(tail, "lift");
        assert!(lift.abs() <= 0.02, "{tail}: {lift}");
    }
}

/// Whoever never compacts is over the window most of the time, and a provider takes no such
/// request.
#[test]
fn a_strategy_that_never_compacts_holds_nothing() {
    let entrants = named(&["summarize", "full"])
        .into_iter()
        .chain([never()])
        .collect();
    let staged = run(half(), entrants, &*mock("mock:strong"), None);
    let never = staged.value("never", "bound_recall_corrected");
    assert_eq!(
        staged.value("full", "context_recall"),
        1.0,
        "it has no window"
    );
    assert!(
        never <= staged.value("summarize", "bound_recall_corrected"),
        "{never}"
    );
    assert!(staged.value("never", "over_window_share") > 0.05);
}
