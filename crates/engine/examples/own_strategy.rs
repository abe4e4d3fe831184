//! A strategy of your own, which keeps the newest messages and asks no model: `cargo run -p
//! compactometer-engine --example own_strategy`.

mod support;

use async_trait::async_trait;
use compactometer_engine::message::Role;
use compactometer_engine::meter::Metered;
use compactometer_engine::selection::Selection;
use compactometer_engine::session::Session;
use compactometer_engine::strategy::{Compacted, Context, Declined, SkipReason, Strategy};
use compactometer_engine::tokens::Encoding;
use compactometer_engine::view::{Edit, Origin, WrittenPart};

use support::{Failure, Model, chat, config, said};

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
        let edits = [Edit::Insert(Role::User, vec![notice])];
        let edits = edits.into_iter().chain(selection.keep_edits());
        Ok(Compacted::without_reading(cx, edits.collect()))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let metered = Metered::new(&Model("never asked"), 0);
    // All that is retained goes to the newest messages.
    let mut session = Session::new(&Newest, &metered, &Encoding::O200k, config(1.0)?);
    for (id, role, text) in chat() {
        session.push(said(id, role, &text, 0))?;
        if let Some(event) = session.before_call(None).await {
            let (before, after) = (event.tokens_before, event.tokens_after);
            println!(
                "message {id}: {:?}, {before} -> {after} tokens",
                event.outcome
            );
        }
    }
    assert!(!session.events().is_empty() && session.request_tokens() < 3_200);
    assert_eq!(metered.usage().input, 0, "no model was asked");
    Ok(())
}
