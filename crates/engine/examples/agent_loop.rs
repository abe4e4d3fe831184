//! An agent that never outgrows its window: `cargo run -p compactometer-engine --example
//! agent_loop`.

use std::sync::Arc;

use async_trait::async_trait;
use compactometer_engine::budget::Budget;
use compactometer_engine::event::Outcome;
use compactometer_engine::memory;
use compactometer_engine::message::{Message, MessageId, Part, Role, Usage};
use compactometer_engine::meter::Metered;
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest, Finish};
use compactometer_engine::params::Settings;
use compactometer_engine::session::{Policy, Session, SessionConfig};
use compactometer_engine::strategies;
use compactometer_engine::tokens::CountedMessage;
use compactometer_engine::tokens::{Encoding, TokenCounter};

/// Stands in for your client of a language model.
struct Model;

#[async_trait]
impl ChatModel for Model {
    fn name(&self) -> &str {
        "example"
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let read: u32 = request
            .texts()
            .map(|text| Encoding::O200k.count_text(text))
            .sum();
        let usage = Usage {
            input: read.into(),
            output: 12,
            ..Usage::default()
        };
        let text = format!("The user asks for one report after another; {read} tokens were read.");
        Ok(ChatReply {
            text,
            finish: Finish::Stop,
            usage,
            latency_ms: 0,
            served: None,
        })
    }
}

fn message(id: u32, role: Role, text: &str) -> Arc<CountedMessage> {
    let parts = vec![Part::Text {
        text: text.to_owned(),
    }];
    let message = Message {
        id: MessageId(id),
        role,
        at_ms: None,
        parts,
        usage: None,
    };
    CountedMessage::new(message, &Encoding::O200k)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let spec = strategies::ALL
        .iter()
        .find(|spec| spec.name == "chained")
        .ok_or("no such strategy")?;
    let settings = Settings::defaults(spec);
    // A window of 4,000 tokens: compact at 3,200, keep at most 1,200.
    let budget = Budget::matched(4_000, 3_200, 1_200, (spec.limits)(&settings)?.tail_share())?;
    let strategy = (spec.build)(&settings);
    let metered = Metered::new(&Model, 0);
    let config = SessionConfig {
        budget,
        overhead: 0,
        summarizer_window: None,
        automatic: true,
        policy: Policy::Enforce,
    };
    let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, config);

    // What the agent knows of the project, and what it noted in earlier sessions, opens its prompt.
    let notes = session.history();
    let known = memory::built_context("Reports on one page each.", notes, "What is due?");
    let system = format!("You write reports.\n\n{known}");
    session.push(message(0, Role::System, &system))?;
    for turn in 0..40 {
        session.push(message(
            2 * turn + 1,
            Role::User,
            &format!("Report {turn}, please. {}", "More details. ".repeat(60)),
        ))?;
        if let Some(event) = session.before_call(None).await {
            println!(
                "turn {turn}: {:?}, {} -> {} tokens",
                event.outcome, event.tokens_before, event.tokens_after
            );
        }
        let messages = session.view().to_wire();
        let request = ChatRequest {
            messages,
            ..ChatRequest::prompt(String::new(), 500, None, 0)
        };
        let reply = Model.complete(&request).await?;
        session.report_usage(reply.usage);
        session.push(message(2 * turn + 2, Role::Assistant, &reply.text))?;
    }
    let compactions = session.events().len();
    // Several agents work on one request: all of them read this, and nothing is compacted meanwhile.
    let shared = session.snapshot();
    for agent in ["writer", "checker"] {
        println!("{agent} reads {} tokens", shared.tokens());
    }
    let event = session.compact(None).await;
    let is_compacted = event.is_some_and(|event| event.outcome == Outcome::Applied);
    println!("compacted while they read: {is_compacted}");
    drop(shared);
    println!(
        "{compactions} compactions, {} tokens in the view, {:?}",
        session.view().tokens(),
        metered.usage()
    );
    Ok(())
}
