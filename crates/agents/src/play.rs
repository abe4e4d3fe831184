//! The play of one conversation to one agent, as the strategy of a case.

use std::collections::HashSet;
use std::mem::take;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use compactometer_engine::log::Log;
use compactometer_engine::message::{Message, MessageId, Part, Role, part_text};
use compactometer_engine::meter::Purpose;
use compactometer_engine::model::ChatRequest;
use compactometer_engine::record::{NewRecord, RecordKind};
use compactometer_engine::strategy::{
    Compacted, Context, Declined, FailReason, SkipReason, Strategy,
};
use compactometer_engine::tokens::Encoding;
use compactometer_engine::view::Edit;
use compactometer_models::server::{Posted, ServerRefusal};
use tokio::sync::Mutex;

use crate::counts::PlayCounts;
use crate::desk::{AnswerSender, DeskEvent, RefusedRequests, answer_saying};
use crate::mask;
use crate::request_view::{AgentSummary, ContextReader, HeldInRequest, KnownCall, KnownText};
use crate::stage::{AgentLaunch, RunningPlay};
use crate::turn::{PlayedTurn, count_calls};

/// Most requests in which it may go on after the recorded end of a turn, for each turn so far.
const FILLERS: u32 = 5;

/// The play of one case. The agent starts at its first turn.
pub(crate) struct Play {
    launch: AgentLaunch,
    is_due: AtomicBool,
    state: Mutex<PlayState>,
}

#[derive(Default)]
struct PlayState {
    stage: Option<RunningPlay>,
    /// What was said and has not been played yet.
    unplayed: Vec<Message>,
    /// The last message of the log that was looked at.
    seen: Option<MessageId>,
    calls: Vec<KnownCall>,
    texts: Vec<KnownText>,
    /// The request for the turn that comes next, and where its answer goes.
    open: Option<(Box<Posted>, AnswerSender)>,
    /// What the play waits for.
    awaits: Awaits,
    /// A request for a summary that came outside a compaction.
    asked: Option<(Box<Posted>, AnswerSender)>,
    held: HeldInRequest,
    /// The numbers of the calls whose results the next request should hold.
    awaited: Vec<usize>,
    /// Texts of the agent's own.
    own: HashSet<String>,
    summaries: Vec<AgentSummary>,
    /// The last message of the log at the last compaction.
    compacted: Option<MessageId>,
    counts: PlayCounts,
    /// Why the agent is played to no more.
    broken: Option<String>,
    /// What was refused until then.
    refused_before: RefusedRequests,
}

/// What the play waits for.
#[derive(Default)]
enum Awaits {
    #[default]
    Nothing,
    /// The agent's next request.
    Request,
    /// The end of the user's turn, and then the next, with these words.
    End { next: String },
}

/// Whether the agent has asked for its next turn.
enum PlayProgress {
    Arrived,
    /// It asks for a summary first.
    NeedsSummary,
}

impl PlayState {
    /// Takes up what was said since the last turn.
    fn take_up(&mut self, log: &Log) {
        let since = log.since(self.seen).iter().map(|counted| &counted.message);
        for message in since.filter(|message| message.role != Role::System) {
            let ids = message.parts.iter().filter_map(|part| match part {
                Part::ToolCall { id, .. } => Some(KnownCall { id: id.clone() }),
                _ => None,
            });
            self.calls.extend(ids);
            self.unplayed.push(message.clone());
        }
        self.seen = log.last();
    }

    /// Notes what the agent's first request has of its own.
    fn note_own(&mut self, log: &Log, held: &HeldInRequest, posted: &Posted) {
        self.own = held.foreign().map(mask::text).collect();
        let of_log = log.messages().iter().map(|counted| counted.tokens).sum();
        let tokens = posted.request.tokens(&Encoding::O200k);
        self.counts.own_tokens = tokens.saturating_sub(of_log);
    }

    /// What a request holds of the conversation.
    fn read(&self, log: &Log, request: &ChatRequest) -> HeldInRequest {
        let (calls, texts) = (&self.calls, &self.texts);
        ContextReader { log, calls, texts }.read(request)
    }

    fn stage(&self) -> Result<&RunningPlay, String> {
        self.stage.as_ref().ok_or_else(|| "nothing runs".to_owned())
    }

    async fn begin(&self, text: String) -> Result<(), String> {
        self.stage()?.begin(text).await
    }

    /// The requests that were answered by no turn and no summary.
    fn refused(&self) -> RefusedRequests {
        match &self.stage {
            Some(stage) => stage.desk.refused(),
            None => self.refused_before.clone(),
        }
    }
}

impl Play {
    pub(crate) fn new(launch: AgentLaunch) -> Self {
        Play {
            launch,
            is_due: AtomicBool::new(false),
            state: Mutex::default(),
        }
    }

    /// Plays what was said since the last turn, and waits for the agent's next request.
    async fn follow(&self, cx: &Context<'_>) -> Result<PlayProgress, String> {
        let state = &mut *self.state.lock().await;
        if let Some(broken) = &state.broken {
            return Err(broken.clone());
        }
        state.take_up(cx.log);
        if state.stage.is_none() {
            let system = cx.log.system().map(|system| {
                let texts = system.message.parts.iter().filter_map(part_text);
                texts.collect::<Vec<_>>().join("\n\n")
            });
            let stage = RunningPlay::set_out(&self.launch, system.unwrap_or_default(), cx.budget);
            state.stage = Some(stage.await?);
        }
        self.play(state).await?;
        self.advance(state, cx.log).await
    }

    /// Answers the open request with what was said, and begins the user's next turn.
    async fn play(&self, state: &mut PlayState) -> Result<(), String> {
        let has_begun = !state.texts.is_empty();
        let is_reaction = |message: &Message| match has_begun {
            // What the agent says in two messages, it says in one.
            true => message.role != Role::Assistant,
            false => message.role == Role::User,
        };
        if !state.unplayed.iter().any(is_reaction) {
            return Ok(());
        }
        state.counts.turns += 1;
        let unplayed = std::mem::take(&mut state.unplayed);
        let first = state.calls.len() - count_calls(&unplayed);
        let turn = PlayedTurn::new(unplayed, first);
        if let Some((posted, answer)) = state.open.take() {
            let (said, numbers) = turn.answer(&state.stage()?.desk, &posted)?;
            state.counts.results += numbers.len() as u32;
            state.awaited = numbers;
            state.texts.push(turn.own());
            let _ = answer.send(Ok(said));
            state.counts.played += 1;
        }
        let user = match has_begun {
            true => turn.user(),
            false => Some(turn.beginning()),
        };
        let Some(user) = user else {
            state.awaits = Awaits::Request;
            return Ok(());
        };
        let next = user.text.clone();
        state.texts.push(user);
        if state.counts.played == 0 {
            state.begin(next).await?;
            state.awaits = Awaits::Request;
        } else {
            state.awaits = Awaits::End { next };
        }
        Ok(())
    }

    /// Follows the agent until it asks for its next turn, or for a summary.
    async fn advance(&self, state: &mut PlayState, log: &Log) -> Result<PlayProgress, String> {
        loop {
            if matches!(state.awaits, Awaits::Nothing) {
                return Ok(PlayProgress::Arrived);
            }
            let event = state.stage()?.next_event().await?;
            match (event, std::mem::take(&mut state.awaits)) {
                (DeskEvent::Trouble(words), _) => return Err(words),
                (DeskEvent::Summary(posted, answer), awaits) => {
                    let held = state.read(log, &posted.request);
                    self.count_results(state, log, &held, &posted);
                    state.asked = Some((posted, answer));
                    state.awaits = awaits;
                    return Ok(PlayProgress::NeedsSummary);
                }
                (DeskEvent::Turn(posted, answer), Awaits::Request) => {
                    self.arrived(state, log, posted, answer);
                }
                (DeskEvent::Ended, Awaits::End { next }) => {
                    state.begin(next).await?;
                    state.awaits = Awaits::Request;
                }
                // The record ends a turn after a call, or the agent goes on by itself.
                (DeskEvent::Turn(posted, answer), Awaits::End { next })
                    if state.counts.fillers < FILLERS * state.counts.turns =>
                {
                    let _ = answer.send(Ok(answer_saying(
                        &posted,
                        "(interrupted)".to_owned(),
                        Vec::new(),
                    )));
                    state.counts.fillers += 1;
                    state.awaits = Awaits::End { next };
                }
                (DeskEvent::Turn(..), Awaits::End { .. }) => {
                    return Err("it went on after the end of a turn".to_owned());
                }
                (DeskEvent::Ended, _) => {
                    return Err("it ended the user's turn before its recorded end".to_owned());
                }
                (DeskEvent::Turn(..), Awaits::Nothing) => {
                    return Err("it asked for a turn that nobody awaited".to_owned());
                }
            }
        }
    }

    /// The agent asks for its next turn: what its request holds decides whether it has compacted.
    fn arrived(&self, state: &mut PlayState, log: &Log, posted: Box<Posted>, answer: AnswerSender) {
        let held = state.read(log, &posted.request);
        if state.counts.played == 0 {
            state.note_own(log, &held, &posted);
        }
        self.count_results(state, log, &held, &posted);
        let (before, now) = (state.held.messages(), held.messages());
        let is_less = !before.is_subset(&now);
        let is_cut = !held.cut(log).is_subset(&state.held.cut(log));
        if is_less || is_cut {
            self.is_due.store(true, Ordering::Relaxed);
        }
        state.held = held;
        state.open = Some((posted, answer));
        state.awaits = Awaits::Nothing;
    }

    /// Counts how the results of the last calls have arrived in a request.
    fn count_results(
        &self,
        state: &mut PlayState,
        log: &Log,
        held: &HeldInRequest,
        posted: &Posted,
    ) {
        let (cut, messages) = (held.cut(log), held.messages());
        for number in take(&mut state.awaited) {
            let Some(call) = state.calls.get(number) else {
                continue;
            };
            let is_result = |part: &&Part| matches!(part, Part::ToolResult { call_id, .. } if *call_id == call.id);
            let found = log.messages().iter().rev().find_map(|counted| {
                let part = counted.message.parts.iter().find(is_result)?;
                Some((counted.message.id, part_text(part)?))
            });
            let Some((id, text)) = found else { continue };
            // A request for a summary has the conversation in words of its own.
            let is_held = messages.contains(&id);
            if is_held && !cut.contains(&id)
                || posted
                    .request
                    .texts()
                    .any(|sent| sent.contains(text.trim()))
            {
                state.counts.whole += 1;
            } else if is_held {
                state.counts.cut += 1;
            }
        }
    }

    /// Answers the request for a summary that waits.
    async fn summarize(
        &self,
        state: &mut PlayState,
        cx: &Context<'_>,
        written: &mut Vec<String>,
    ) -> Result<(), String> {
        let Some((posted, answer)) = state.asked.take() else {
            return Ok(());
        };
        let request = mask::masked(&as_chat(&posted.request), cx.summarizer.seed());
        let reply = cx.summarizer.complete(Purpose::Compaction, request).await;
        match reply {
            Ok(reply) => {
                state.summaries.push(AgentSummary {
                    text: reply.text.clone(),
                    number: cx.number_of_new(0),
                });
                let text = self.launch.definition.enveloped(&reply.text);
                written.push(reply.text);
                let _ = answer.send(Ok(answer_saying(&posted, text, Vec::new())));
            }
            Err(error) => {
                let _ = answer.send(Err(ServerRefusal::Model(error)));
            }
        }
        Ok(())
    }

    async fn compacted(
        &self,
        state: &mut PlayState,
        cx: &Context<'_>,
    ) -> Result<(Vec<Edit>, Vec<String>), String> {
        if let Some(broken) = &state.broken {
            return Err(broken.clone());
        }
        let mut written = Vec::new();
        loop {
            self.summarize(state, cx, &mut written).await?;
            if matches!(self.advance(state, cx.log).await?, PlayProgress::Arrived) {
                break;
            }
        }
        let edits = state.held.edits(cx.log, &state.own, &state.summaries);
        Ok((edits, written))
    }

    fn fail(&self, state: &mut PlayState, why: &str) -> String {
        let refused = state.refused();
        let words = state.counts.words(why, &refused);
        state.broken = Some(words.clone());
        state.stage = None;
        state.refused_before = refused;
        self.is_due.store(true, Ordering::Relaxed);
        words
    }
}

#[async_trait]
impl Strategy for Play {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let state = &mut *self.state.lock().await;
        let last = cx.log.last();
        if state.compacted == last {
            return Err(SkipReason::NothingToCompact.into());
        }
        state.compacted = last;
        let outcome = self.compacted(state, cx).await;
        self.is_due.store(false, Ordering::Relaxed);
        let (edits, written) = match outcome {
            Ok(done) => done,
            Err(why) => {
                let known = state.broken.clone();
                let words = known.unwrap_or_else(|| self.fail(state, &why));
                return Err(FailReason::Program(words).into());
            }
        };
        let first = cx.log.messages().first().map(|first| first.message.id);
        if written.is_empty() {
            return Ok(Compacted::without_reading(cx, edits));
        }
        Ok(Compacted {
            edits,
            saved: vec![NewRecord::new(
                RecordKind::Summary,
                first.zip(last),
                written.join("\n\n"),
            )],
            ..Compacted::default()
        })
    }

    fn follows_turns(&self) -> bool {
        true
    }

    async fn before_turn(&self, cx: &Context<'_>) {
        match self.follow(cx).await {
            Ok(PlayProgress::Arrived) => {}
            Ok(PlayProgress::NeedsSummary) => self.is_due.store(true, Ordering::Relaxed),
            Err(why) => {
                let state = &mut *self.state.lock().await;
                if state.broken.is_none() {
                    self.fail(state, &why);
                }
                self.is_due.store(true, Ordering::Relaxed);
            }
        }
    }

    fn is_due(&self) -> Option<bool> {
        Some(self.is_due.load(Ordering::Relaxed))
    }

    fn counted(&self) -> Vec<(&'static str, u64)> {
        // Nobody plays while a record is made.
        let Ok(state) = self.state.try_lock() else {
            return Vec::new();
        };
        // The last turn is taken when the conversation ends.
        let is_open = state.broken.is_none() && state.open.is_some();
        let counts = PlayCounts {
            played: state.counts.played + u32::from(is_open),
            ..state.counts
        };
        counts.by_name(&state.refused())
    }
}

/// A request without the tools: what is asked of a summarizer is a text.
fn as_chat(request: &ChatRequest) -> ChatRequest {
    ChatRequest {
        tools: Vec::new(),
        ..request.clone()
    }
}
