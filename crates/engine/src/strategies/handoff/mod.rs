//! `handoff`: source 003. The model that speaks summarizes its own chat in seven sections; the system prompt, the summary and
//! the pending part are all that stays.
//!
//! Mended against the source: the last user message is the last one that a user said, never a summary, and stays a message of
//! its own; an unfinished tool batch stays whole; a failed call leaves nothing behind; a chat that does not
//! fit the summarizer's window beside its answer is read as a transcript, in pieces.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Faithful, ask, characters, defect, estimator, fill, recent_or_skip, tokens, with_summary};
use crate::budget::estimate::Estimator;
use crate::budget::{Limits, Tail};
use crate::conversation::record::{NewRecord, RecordKind};
use crate::conversation::render::{Material, RenderLimits};
use crate::conversation::view::{Edit, Entry, Origin, WrittenPart, no_response};
use crate::memory;
use crate::message::{Part, Role};
use crate::model::meter::Purpose;
use crate::model::{ChatRequest, WireMessage};
use crate::strategy::declined::Declined;
use crate::strategy::declined::FailReason;
use crate::strategy::params::{Param, ParamError, Settings, Unit};
use crate::strategy::pieces;
use crate::strategy::retrieve;
use crate::strategy::selection::Selection;
use crate::strategy::summary::{self, NotASummary};
use crate::strategy::{Compacted, Context, Strategy, StrategySpec};
use crate::tokens::total;

/// Registry entry. The source fixes the threshold alone; a window of 250,000 makes it 0.8 of it, and the length is assumed.
pub(super) const SPEC: StrategySpec = StrategySpec {
    name: "handoff",
    about: "a seven-section summary of the whole chat; only the pending part stays beside it",
    source: "003",
    prompt: include_str!("prompt.md"),
    placeholders: &[],
    params: &[
        tokens("window", "context window that the threshold is meant for (assumed)", 250_000),
        Param {
            range: (0.0, 10_000_000.0),
            ..tokens("threshold", "size at which a compaction starts; 0 is never", 200_000)
        },
        tokens("written", "most that the summary may have (assumed)", 4_000),
        estimator(Estimator::Recount),
        Param {
            name: "memory",
            about: "whether what leaves is noted, to be found again when asked for",
            unit: Unit::Choice(&["off", "on"]),
            default: 1.0,
            range: (0.0, 1.0),
        },
        characters("note", "most of one message or call batch that is noted (assumed)", 2_000),
        defect("off", "threshold 0 compacts at every call instead of never"),
        defect(
            "intent",
            "nothing pending stays; the last user turn, be it a summary, is quoted behind the new summary",
        ),
        defect(
            "full_context",
            "the prompt joins a context that it may no longer fit, and no room is kept for the answer",
        ),
        defect("residue", "the prompt of a failed call stays in the history"),
        defect("unchecked", "any answer is taken for a summary"),
    ],
    limits,
    build: |settings| Arc::new(Handoff { settings: settings.clone() }),
};

/// As the document has it.
pub(super) const FAITHFUL: Faithful = Faithful {
    spec: &SPEC,
    values: &[
        ("off", "faithful"),
        ("intent", "faithful"),
        ("full_context", "faithful"),
        ("residue", "faithful"),
        ("unchecked", "faithful"),
    ],
    breaks: &[3, 5, 6, 8, 10],
};

fn limits(settings: &Settings) -> Result<Limits, ParamError> {
    let window = settings.count("window");
    let trigger = match settings.count("threshold") {
        0 if settings.is_faithful("off") => 1,
        trigger => trigger,
    };
    if trigger > window {
        return Err(ParamError::Contradiction(format!("`threshold` is {trigger} tokens; the window has {window}")));
    }
    Ok(Limits { window, trigger, tail: Tail::Tokens(0), written: settings.count("written") })
}

struct Handoff {
    settings: Settings,
}

#[async_trait]
impl Strategy for Handoff {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let selection = recent_or_skip(cx)?;
        let prompt = fill(self.settings.prompt(), &[("tokens", &cx.budget.written.to_string())]);
        match self.summarize(cx, &prompt).await {
            Ok(summary) if self.settings.is_faithful("intent") => {
                Ok(self.with_notes(cx, with_intent(cx, &selection, summary)))
            }
            Ok(summary) => Ok(self.with_notes(cx, with_summary(cx, &selection, summary))),
            Err(reason) if self.settings.is_faithful("residue") => Ok(with_residue(cx, prompt, reason)),
            Err(reason) => Err(reason.into()),
        }
    }

    async fn retrieve(&self, cx: &Context<'_>, questions: &[&str], room: u32) -> Vec<Vec<WrittenPart>> {
        retrieve::notes(cx, questions, room)
    }
}

impl Handoff {
    /// 003, section 8: what leaves stays searchable.
    fn with_notes(&self, cx: &Context<'_>, mut compacted: Compacted) -> Compacted {
        if self.settings.count("memory") > 0 {
            let most_characters = self.settings.count("note") as usize;
            compacted.saved.extend(memory::of_leaving(cx.view, &compacted.edits, most_characters));
        }
        compacted
    }

    async fn summarize(&self, cx: &Context<'_>, prompt: &str) -> Result<String, FailReason> {
        let answers = total(cx.view.open_calls().into_iter().map(|id| cx.counter.count_part(&no_response(id))));
        let needed = total([cx.view.tokens(), answers, cx.counter.count_text(prompt), cx.budget.written, CLEANED]);
        let fits =
            self.settings.is_faithful("full_context") || cx.summarizer_window.is_none_or(|window| needed <= window);
        if fits {
            return self.ask_in_chat(cx, prompt).await;
        }
        let with =
            |messages: String| format!("{prompt}\nThe conversation so far:\n\n<messages>\n{messages}\n</messages>");
        ask(cx, material(cx), with, cx.budget.written, None).await
    }

    /// Asks the model that holds the chat; the second request says what was wrong with the answer to the first.
    async fn ask_in_chat(&self, cx: &Context<'_>, prompt: &str) -> Result<String, FailReason> {
        let mut refused = String::new();
        let mut problem = NotASummary::Empty;
        for _ in 0..2 {
            let mut request = chat_and_prompt(cx, format!("{prompt}{refused}"));
            if self.settings.is_faithful("full_context") {
                request.max_output_tokens = None;
            }
            let answer = cx.summarizer.complete(Purpose::Compaction, request).await?.text;
            match summary::check(&answer, bytes_of_chat(cx, answer.len())) {
                Err(found) if !self.settings.is_faithful("unchecked") => problem = found,
                _ => return Ok(answer.trim().to_owned()),
            }
            refused = format!("\n\nYour answer before was refused: {problem}.");
        }
        Err(FailReason::NoSummary(problem))
    }
}

/// 003, `Compact`: the first message, and one user turn of the summary and the text of the last user turn.
fn with_intent(cx: &Context<'_>, selection: &Selection<'_>, summary: String) -> Compacted {
    let number = cx.number_of_new(0);
    let first = cx.log.messages().first().map(|counted| Edit::Keep(counted.message.id));
    let last_user = cx.view.entries().iter().rfind(|entry| entry.role() == Role::User);
    let intent = last_user.map(|entry| {
        let texts = entry.parts().filter_map(|(part, _)| match part {
            Part::Text { text } => Some(text.as_str()),
            _ => None,
        });
        let text = format!("\n\nLast request from user was: {}", texts.collect::<String>());
        let origin = entry.parts().next().map_or(Origin::Summary(number), |(_, origin)| origin);
        WrittenPart { part: Part::Text { text }, origin }
    });
    let covers = selection.covers();
    let written = WrittenPart { part: Part::Text { text: summary.clone() }, origin: Origin::Summary(number) };
    let turn = Edit::Insert(Role::User, [written].into_iter().chain(intent).collect());
    let saved = NewRecord { kind: RecordKind::Summary, covers, body: summary };
    Compacted {
        edits: first.into_iter().chain([turn]).collect(),
        saved: vec![saved],
        fallback: None,
        unread: Vec::new(),
    }
}

/// The view as it is, and the prompt that nobody answered.
fn with_residue(cx: &Context<'_>, prompt: String, reason: FailReason) -> Compacted {
    let residue = WrittenPart { part: Part::Text { text: prompt }, origin: Origin::Summary(cx.number_of_new(0)) };
    let mut edits = cx.view.to_edits();
    edits.push(Edit::Insert(Role::User, vec![residue]));
    let saved = NewRecord {
        kind: RecordKind::Failed,
        covers: cx.log.last().map(|last| (last, last)),
        body: reason.to_string(),
    };
    Compacted { edits, saved: vec![saved], fallback: Some(reason), unread: Vec::new() }
}

/// Tokens that a request costs beside its texts: what pieces cost too, and the turn after a tool's message.
const CLEANED: u32 = pieces::FRAME + 8;

fn is_chat(entry: &&Entry) -> bool {
    entry.role() != Role::System
}

fn material(cx: &Context<'_>) -> Material {
    Material::new(cx.view.entries().iter().filter(is_chat), RenderLimits::NONE, 0)
}

/// The bytes of the chat as a text, or fewer that are more than `answer` has: nearly all answers are so short that the text need
/// not be written for its length.
fn bytes_of_chat(cx: &Context<'_>, answer: usize) -> usize {
    let parts = cx.view.entries().iter().filter(is_chat).flat_map(Entry::parts);
    let said = parts.map(|(part, _)| match part {
        Part::Text { text } | Part::ToolResult { text, .. } => text.trim_end().len(),
        _ => 0,
    });
    let said = said.sum();
    if said > answer { said } else { material(cx).text.len() }
}

/// The chat as it stands, and the prompt as one more user turn.
fn chat_and_prompt(cx: &Context<'_>, prompt: String) -> ChatRequest {
    let mut request = ChatRequest::prompt(prompt, cx.budget.written, None, cx.summarizer.seed());
    let mut messages: Vec<WireMessage> = cx.view.to_wire();
    let open = cx.view.open_calls();
    if !open.is_empty() {
        // A provider takes no call without its result (003, `fillMissingToolResponses`).
        messages.push(WireMessage {
            role: Role::Tool,
            parts: open.into_iter().map(no_response).collect::<Vec<_>>().into(),
        });
    }
    if messages.last().is_some_and(|message| message.role == Role::Tool) {
        // 003, `ensureAssistantAfterTools`: no history ends on a tool's message.
        let text = "Understood.".to_owned();
        messages.push(WireMessage { role: Role::Assistant, parts: vec![Part::Text { text }].into() });
    }
    messages.append(&mut request.messages);
    ChatRequest { messages, ..request }
}
