//! A program as the strategy of one case.

use async_trait::async_trait;
use compactometer_engine::budget::Tail;
use compactometer_engine::message::MessageId;
use compactometer_engine::model::ChatRequest;
use compactometer_engine::record::RecordKind;
use compactometer_engine::strategy::decision_meter::DecisionMeter;
use compactometer_engine::strategy::{
    Compacted, Context, Declined, FailReason, SkipReason, Strategy,
};
use serde_json::{Map, Value};
use tokio::sync::Mutex;

use crate::bridge;
use crate::process::{AnswerLimits, ProgramTrouble};
use crate::running::RunningProgram;
use crate::views;
use compactometer_formats::strategy_protocol::{Ask, BudgetJson, Model, Reason, Reply, VERSION};

/// What a case runs.
#[derive(Clone)]
pub(crate) struct ProgramLaunch {
    pub(crate) command: String,
    pub(crate) parameters: Map<String, Value>,
    pub(crate) turns: bool,
    pub(crate) limits: AnswerLimits,
    pub(crate) seed: u64,
}

/// The program of one case. It starts when it is first asked.
pub(crate) struct External {
    launch: ProgramLaunch,
    state: Mutex<ProgramState>,
}

#[derive(Default)]
struct ProgramState {
    running: Option<RunningProgram>,
    /// The last message that the program has seen in a turn.
    seen: Option<MessageId>,
    /// The last message of the log at the last compaction.
    compacted: Option<MessageId>,
    /// Why the program is asked no more.
    broken: Option<ProgramTrouble>,
}

impl External {
    pub(crate) fn new(launch: ProgramLaunch) -> Self {
        External {
            launch,
            state: Mutex::default(),
        }
    }

    /// Asks the program, which is started if it does not run. A program that breaks a rule is asked
    /// no more in this case.
    async fn ask<T>(
        &self,
        state: &mut ProgramState,
        ask: Ask,
        take: impl FnOnce(Reply) -> Result<T, ProgramTrouble>,
        model: Option<(&DecisionMeter<'_>, &mut Vec<ChatRequest>)>,
    ) -> Result<T, FailReason> {
        if let Some(broken) = &state.broken {
            return Err(FailReason::Program(broken.to_string()));
        }
        let outcome = async {
            if state.running.is_none() {
                state.running = Some(self.start().await?);
            }
            let Some(running) = &mut state.running else {
                return Err(ProgramTrouble::System("it ended".to_owned()));
            };
            take(running.ask(&ask, model).await?)
        };
        outcome.await.map_err(|trouble: ProgramTrouble| {
            state.running = None;
            let reason = FailReason::Program(trouble.to_string());
            state.broken = Some(trouble);
            reason
        })
    }

    async fn start(&self) -> Result<RunningProgram, ProgramTrouble> {
        let ProgramLaunch {
            command,
            parameters,
            limits,
            seed,
            ..
        } = &self.launch;
        let mut running = RunningProgram::start(command, *limits).await?;
        let model = Model {
            base_url: running.address.base_url.clone(),
            name: bridge::NAME.to_owned(),
        };
        let configure = Ask::Configure {
            protocol: VERSION,
            parameters: parameters.clone(),
            seed: *seed,
            model,
        };
        match running.ask(&configure, None).await? {
            Reply::Ready => Ok(running),
            other => Err(wrong(&other, "configure")),
        }
    }
}

#[async_trait]
impl Strategy for External {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let state = &mut *self.state.lock().await;
        let last = cx.log.last();
        let is_again = state.compacted == last;
        state.compacted = last;
        let ask = Ask::Compact {
            reason: if is_again {
                Reason::OverBudget
            } else {
                Reason::Trigger
            },
            budget: BudgetJson {
                window: cx.budget.window,
                retained: cx.budget.retained.unwrap_or(cx.budget.window),
                tail: match cx.budget.tail {
                    Tail::Tokens(tokens) => tokens,
                    Tail::Messages(_) => 0,
                },
                written: cx.budget.written,
            },
            request_tokens: cx.request_tokens,
            messages: views::messages(cx),
            kept: cx
                .history
                .latest(RecordKind::Pinned)
                .map(|record| record.body.clone()),
        };
        let take = |reply| match reply {
            Reply::Compacted {
                messages,
                edits,
                keep,
            } => Ok(Ok((messages, edits, keep))),
            Reply::Skip {} => Ok(Err(Declined::Skip(SkipReason::NothingToCompact))),
            Reply::Failed { reason } => Ok(Err(Declined::Fail(FailReason::Program(reason)))),
            other => Err(wrong(&other, "compact")),
        };
        let mut heard = Vec::new();
        let (messages, edits, keep) = self
            .ask(state, ask, take, Some((cx.summarizer, &mut heard)))
            .await??;
        Ok(views::compacted(cx, (messages, edits), keep, &heard)?)
    }

    fn follows_turns(&self) -> bool {
        self.launch.turns
    }

    async fn before_turn(&self, cx: &Context<'_>) {
        let state = &mut *self.state.lock().await;
        let messages = views::said_since(cx.log, state.seen);
        state.seen = cx.log.last();
        let take = |reply| match reply {
            Reply::Ok => Ok(()),
            other => Err(wrong(&other, "before_turn")),
        };
        // What went wrong fails the next compaction.
        let _ = self
            .ask(state, Ask::BeforeTurn { messages }, take, None)
            .await;
    }
}

fn wrong(reply: &Reply, asked: &'static str) -> ProgramTrouble {
    let got = match reply {
        Reply::Hello { .. } => "hello",
        Reply::Ready => "ready",
        Reply::Ok => "ok",
        Reply::Compacted { .. } => "compacted",
        Reply::Skip {} => "skip",
        Reply::Failed { .. } => "failed",
    };
    ProgramTrouble::WrongAnswer { got, asked }
}
