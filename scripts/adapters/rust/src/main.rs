//! The whole program with one more strategy, which keeps the newest messages and writes nothing.

use std::process::ExitCode;
use std::sync::Arc;

use async_trait::async_trait;
use compactometer_engine::budget::{Limits, Tail};
use compactometer_engine::estimate::Estimator;
use compactometer_engine::message::Role;
use compactometer_engine::selection::Selection;
use compactometer_engine::strategy::{
    Compacted, Context, Declined, SkipReason, Strategy, StrategySpec,
};
use compactometer_engine::view::{Edit, Origin, WrittenPart};

struct Newest;

#[async_trait]
impl Strategy for Newest {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let selection = Selection::recent(cx.log, cx.view, cx.budget.tail);
        if !selection.takes_messages() {
            return Err(SkipReason::NothingToCompact.into());
        }
        // A chat opens with the user, and what stays may open with the agent.
        let notice = WrittenPart::text("(Earlier messages were left out.)", Origin::Filler);
        let system = cx.log.system().map(|system| Edit::Keep(system.message.id));
        let edits = system
            .into_iter()
            .chain([Edit::Insert(Role::User, vec![notice])])
            .chain(selection.keep_edits());
        Ok(Compacted::without_reading(cx, edits.collect()))
    }
}

static NEWEST: StrategySpec = StrategySpec {
    name: "newest",
    about: "keeps the newest messages",
    approach: None,
    // A changed version runs the cases again.
    source: "my-strategies 0.1.0",
    prompt: "",
    placeholders: &[],
    params: &[],
    limits: |_| {
        let (window, trigger, written) = (100_000, 80_000, 0);
        Ok(Limits {
            window,
            assumed_window: false,
            trigger,
            tail: Tail::Tokens(30_000),
            written,
            estimator: Estimator::Exact,
        })
    },
    build: |_| Arc::new(Newest),
    published: None,
};

fn main() -> ExitCode {
    static OWN: [&StrategySpec; 1] = [&NEWEST];
    compactometer::run_with(&OWN)
}
