//! Asking a summarizer: in pieces that fit its window, and once more where its answer is not a
//! summary.

use std::sync::Arc;

use crate::conversation::render::{self, Material};
use crate::message::{Part, Role};
use crate::model::meter::Purpose;
use crate::model::{ChatReply, ChatRequest, WireMessage};
use crate::strategy::declined::FailReason;
use crate::strategy::summary::{self, NotASummary};
use crate::strategy::{Context, pieces};
use crate::tokens::{MESSAGE_OVERHEAD, total};

/// How a summarizer is asked; by default in pieces, and with a look at its answers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AskOptions<'s> {
    /// The system message before the prompt, empty if there is none.
    pub(crate) system: &'s str,
    /// Whether any answer is taken for a summary.
    pub(crate) unchecked: bool,
    /// Whether all is asked for at once, whatever the summarizer's window.
    pub(crate) one_piece: bool,
}

impl AskOptions<'_> {
    /// Neither a window nor an answer is looked at, or both are.
    pub(crate) fn unguarded(is_so: bool) -> Self {
        AskOptions {
            unchecked: is_so,
            one_piece: is_so,
            ..AskOptions::default()
        }
    }

    fn system_message(self) -> Option<WireMessage> {
        let text = self.system.to_owned();
        (!text.is_empty()).then(|| WireMessage {
            role: Role::System,
            parts: vec![Part::Text { text }].into(),
        })
    }

    fn system_tokens(self, cx: &Context<'_>) -> u32 {
        if self.system.is_empty() {
            0
        } else {
            total([MESSAGE_OVERHEAD, cx.counter.count_text(self.system)])
        }
    }

    /// The material in as many pieces as there are requests.
    pub(crate) fn pieces(
        self,
        cx: &Context<'_>,
        material: Material,
        fixed: impl FnOnce() -> u32,
        most: u32,
    ) -> Result<Vec<String>, FailReason> {
        if self.one_piece {
            Ok(vec![material.text])
        } else {
            pieces::pieces(cx, material, fixed, most)
        }
    }
}

/// Asks for a summary of `material` with the prompt that it makes. Material that does not fit the
/// summarizer's window is read in pieces, the answer to each among what the next one reads. The
/// text of the last answer is trimmed.
pub(crate) async fn ask(
    cx: &Context<'_>,
    material: Material,
    prompt: impl Fn(String) -> String + Send + Sync,
    most: u32,
    temperature: Option<f32>,
    options: AskOptions<'_>,
) -> Result<ChatReply, FailReason> {
    let fixed = || {
        total([
            cx.counter.count_text(&prompt(String::new())),
            options.system_tokens(cx),
        ])
    };
    let mut reply: Option<ChatReply> = None;
    for piece in options.pieces(cx, material, fixed, most)? {
        let earlier = reply.map_or(String::new(), |reply| render::neutralize(&reply.text));
        let earlier = pieces::shortened(cx, &earlier, most);
        let read = if earlier.is_empty() {
            piece
        } else {
            format!("(earlier summary) {earlier}\n\n{piece}")
        };
        let length = read.len();
        let mut request =
            ChatRequest::prompt(prompt(read), most, temperature, cx.summarizer.seed());
        request.messages.splice(0..0, options.system_message());
        reply = Some(ask_twice(cx, request, length, options).await?);
    }
    reply.ok_or(FailReason::NoSummary(NotASummary::Empty))
}

/// If the answer is not a summary of `material` bytes, asks once more, in other words.
async fn ask_twice(
    cx: &Context<'_>,
    request: ChatRequest,
    material: usize,
    options: AskOptions<'_>,
) -> Result<ChatReply, FailReason> {
    let request = Arc::new(request);
    let first = send(cx, Arc::clone(&request)).await?;
    if options.unchecked {
        return Ok(first);
    }
    let Err(problem) = summary::check(&first.text, material) else {
        return Ok(first);
    };
    let mut again = ChatRequest::clone(&request);
    if let Some(message) = again.messages.last_mut() {
        let why = format!(
            "Your answer before was refused: {problem}. Answer in the form asked for and nothing else."
        );
        let mut parts = message.parts.to_vec();
        if let Some(Part::Text { text }) = parts.last_mut() {
            text.extend(["\n\n", &why]);
        }
        message.parts = parts.into();
    }
    let second = send(cx, Arc::new(again)).await?;
    match summary::check(&second.text, material) {
        Ok(()) => Ok(second),
        Err(problem) => Err(FailReason::NoSummary(problem)),
    }
}

async fn send(cx: &Context<'_>, request: Arc<ChatRequest>) -> Result<ChatReply, FailReason> {
    let reply = cx.summarizer.complete(Purpose::Compaction, request).await?;
    Ok(ChatReply {
        text: reply.text.trim().to_owned(),
        ..reply
    })
}
