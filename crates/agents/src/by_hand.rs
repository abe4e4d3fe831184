//! A play to an agent that somebody starts by hand, such as one that has no definition yet.

use std::sync::Arc;

use compactometer_engine::message::{Message, Role};
use compactometer_engine::model::{ChatModel, ToolDefinition};
use compactometer_models::server::{Posted, Server, ServerLimits, ServerRefusal};
use tokio::sync::mpsc;

use crate::definition::Definition;
use crate::desk::{AnswerSender, DeskEvent, ModelDesk, answer_saying};
use crate::mask;
use crate::play_log::PlayLog;
use crate::turn::{PlayedTurn, count_calls};

/// What is played, and to what.
pub struct ByHand {
    /// The signs of the agent's requests, and how it is offered tools.
    pub definition: Definition,
    /// The conversation's tools.
    pub tools: Vec<ToolDefinition>,
    /// The conversation.
    pub messages: Vec<Message>,
    /// Tokens of the window, over which a request is refused.
    pub window: u32,
    /// Where requests are logged, if they are.
    pub log: Option<std::path::PathBuf>,
}

impl ByHand {
    /// Serves the agent's model at a port, until the conversation ends. `tell` is given what the user
    /// is to do next.
    ///
    /// # Errors
    /// Where the port is taken, or the agent does not offer a tool.
    pub async fn serve(
        self,
        port: u16,
        summarizer: &dyn ChatModel,
        tell: &mut dyn FnMut(String),
    ) -> Result<(), String> {
        let (sender, mut events) = mpsc::unbounded_channel();
        let definition = Arc::new(self.definition);
        let desk = Arc::new(ModelDesk::new(
            Arc::clone(&definition),
            self.window,
            self.tools,
            sender,
            PlayLog::new(self.log),
        ));
        let server = Server::answering(Arc::clone(&desk) as _, port, ServerLimits::default())
            .await
            .map_err(|error| format!("cannot listen on 127.0.0.1:{port}: {error}"))?;
        let address = server.address();
        tell(format!(
            "the agent's model is at http://{address}/v1; the conversation's tools are \
             `compactometer play --at {address} --mcp`"
        ));
        tokio::spawn(server.run(std::future::pending()));
        for turn in turns(self.messages) {
            if !turn.own().parts.is_empty() || turn.has_calls() {
                let (posted, answer) = next(&mut events, &definition, summarizer).await?;
                let (said, _) = turn.answer(&desk, &posted)?;
                let _ = answer.send(Ok(said));
            }
            if let Some(user) = turn.user() {
                tell(format!("say to the agent:\n\n{}", user.text));
            }
        }
        tell("the conversation has ended".to_owned());
        Ok(())
    }
}

/// The agent's next request for a turn; its requests for summaries are answered.
async fn next(
    events: &mut mpsc::UnboundedReceiver<DeskEvent>,
    definition: &Definition,
    summarizer: &dyn ChatModel,
) -> Result<(Box<Posted>, AnswerSender), String> {
    loop {
        match events.recv().await.ok_or("the server has ended")? {
            DeskEvent::Turn(posted, answer) => return Ok((posted, answer)),
            DeskEvent::Summary(posted, answer) => {
                summarize(definition, summarizer, &posted, answer).await;
            }
            DeskEvent::Ended | DeskEvent::Trouble(_) => {}
        }
    }
}

async fn summarize(
    definition: &Definition,
    summarizer: &dyn ChatModel,
    posted: &Posted,
    answer: AnswerSender,
) {
    let reply = summarizer.complete(&mask::masked(&posted.request, 0)).await;
    let said = reply
        .map(|reply| answer_saying(posted, definition.enveloped(&reply.text), Vec::new()))
        .map_err(ServerRefusal::Model);
    let _ = answer.send(said);
}

/// A conversation in turns: each begins where the agent speaks after somebody else.
fn turns(messages: Vec<Message>) -> Vec<PlayedTurn> {
    let (mut turns, mut open, mut calls) = (Vec::new(), Vec::<Message>::new(), 0);
    let messages = messages
        .into_iter()
        .filter(|message| message.role != Role::System);
    for message in messages {
        let goes_on = open
            .last()
            .is_none_or(|last| message.role != Role::Assistant || last.role == Role::Assistant);
        if !goes_on {
            let messages = std::mem::take(&mut open);
            let number = count_calls(&messages);
            turns.push(PlayedTurn::new(messages, calls));
            calls += number;
        }
        open.push(message);
    }
    turns.push(PlayedTurn::new(open, calls));
    turns
}
