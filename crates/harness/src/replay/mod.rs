//! Replays one case: pushes the recorded messages one by one, lets the session compact before each
//! turn of the agent, and traces every fact at each observation point and after each compaction.

mod compact_before_turn;
mod observation;
mod record;

use std::iter::Peekable;
use std::vec::IntoIter;

use compactometer_engine::budget::Budget;
use compactometer_engine::event::{Outcome, RecoveryEvent};
use compactometer_engine::message::{Role, Usage};
use compactometer_engine::meter::{Call, Metered};
use compactometer_engine::recovery::Recovery;
use compactometer_engine::session::{CompactionDue, PreparedCheckpoint, Session, SessionConfig};
use compactometer_engine::strategy::Strategy;
use compactometer_engine::tokens::{CountedMessage, TokenCounter};
use compactometer_formats::answer::AnswerRow;
use compactometer_formats::record::{CheckpointRow, CompactionRow, ContextRow, Observation, Turn};
use serde::{Deserialize, Serialize};

use crate::plan::{Now, PlannedCase, Point, points};
use crate::prepare::{KeptTexts, PreparedScenario};
use crate::trace::{RandomContexts, Tracer};

/// The session of a case, without a message.
pub(crate) fn session<'s>(
    case: &PlannedCase,
    strategy: &'s dyn Strategy,
    meters: &'s Meters<'s>,
    counter: &'s dyn TokenCounter,
) -> Session<'s> {
    let config = SessionConfig {
        budget: case.budget(),
        overhead: case.prepared.tool_tokens,
        summarizer_window: case.budget().binding_window(),
        automatic: case.entrant.compacts(),
        policy: case.entrant.policy(),
    };
    // The agent is not called, so its words cannot show that it lost the thread.
    let recovery = Recovery {
        lost: false,
        ..Recovery::default()
    };
    let recovery = case
        .entrant
        .absence
        .map_or(recovery, |absence| absence.within(recovery));
    let session = Session::new(strategy, &meters.session, counter, config).recovering(recovery);
    match &meters.checkpointer {
        Some(checkpointer) => {
            session.checkpointing_with(checkpointer, case.budget().binding_window())
        }
        None => session,
    }
}

/// The meters of a case, and the names of the models behind them.
pub(crate) struct Meters<'m> {
    /// The session's meter.
    pub(crate) session: Metered<'m>,
    /// The meter of checkpoints before turns, if another model writes them.
    pub(crate) checkpointer: Option<Metered<'m>>,
    /// The meter of answers to probes. Their requests are sent even if they exceed the window.
    pub(crate) reader: Metered<'m>,
    /// The summarizer's name.
    pub(crate) summarizer: &'m str,
    /// The target model's name, if it is not the summarizer.
    pub(crate) target: Option<&'m str>,
    /// The checkpointer's name, if it is not the summarizer.
    pub(crate) checkpointer_name: Option<&'m str>,
}

impl Meters<'_> {
    /// The calls that the session made since this was asked last: checkpoints before the turn come
    /// first.
    pub(crate) fn take_session_calls(&self) -> impl Iterator<Item = Call> {
        let checkpoints = self
            .checkpointer
            .as_ref()
            .map(Metered::take_calls)
            .into_iter()
            .flatten();
        checkpoints.chain(self.session.take_calls())
    }
}

/// A running case.
pub(crate) struct Replay<'r> {
    pub(crate) prepared: &'r PreparedScenario,
    pub(crate) case: &'r PlannedCase,
    /// The limits now.
    budget: Budget,
    pub(crate) session: Session<'r>,
    meters: &'r Meters<'r>,
    counter: &'r dyn TokenCounter,
    pub(crate) tracer: Tracer<'r>,
    pub(crate) random: RandomContexts<'r>,
    points: Peekable<IntoIter<Point>>,
    pub(crate) counts: ReplayCounts,
    /// A checkpoint that was written beside the last turn, with its calls.
    beside: Option<(PreparedCheckpoint, Vec<Call>)>,
    pub(crate) pending_over_budget: bool,
    pub(crate) observations: Vec<Observation>,
    pub(crate) compactions: Vec<CompactionRow>,
    pub(crate) checkpoints: Vec<CheckpointRow>,
    /// Those of earlier processes. The session holds its own.
    pub(crate) recoveries: Vec<RecoveryEvent>,
    pub(crate) contexts: Vec<ContextRow>,
    pub(crate) turns: Vec<Turn>,
    pub(crate) answers: Vec<AnswerRow>,
    pub(crate) texts: KeptTexts,
}

/// What a replay counts from turn to turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReplayCounts {
    round: u32,
    compacted_at: usize,
    /// Tokens that the last compaction left within the budget.
    retained: u32,
    last_input: u32,
    /// Tokens that the next request shares with the one before, if a compaction has just changed
    /// the view.
    shared_after_compaction: Option<u32>,
    violations: u32,
    /// Whether the last decision left the request at its trigger.
    in_vain: bool,
    /// Milliseconds that the next turn has waited already.
    #[serde(default)]
    waited_ms: u64,
    /// Whether a compaction was due and failed, and none was applied since.
    failed: bool,
}

impl ReplayCounts {
    /// Whether the session counts tries that left the request at its trigger.
    pub(crate) fn tried_in_vain(&self) -> bool {
        self.in_vain
    }
}

impl<'r> Replay<'r> {
    pub(crate) fn new(
        case: &'r PlannedCase,
        session: Session<'r>,
        meters: &'r Meters<'r>,
        counter: &'r dyn TokenCounter,
    ) -> Self {
        let prepared = &*case.prepared;
        Replay {
            prepared,
            case,
            budget: case.budget(),
            session,
            meters,
            counter,
            tracer: Tracer::new(prepared, case.entrant.has_requests()),
            random: RandomContexts::new(prepared, case.seed),
            points: points(prepared, case.distances()).into_iter().peekable(),
            counts: ReplayCounts::default(),
            beside: None,
            pending_over_budget: false,
            observations: Vec::new(),
            compactions: Vec::new(),
            checkpoints: Vec::new(),
            recoveries: Vec::new(),
            contexts: Vec::new(),
            turns: Vec::new(),
            answers: Vec::new(),
            texts: KeptTexts::default(),
        }
    }

    /// Takes the turn before the message at that index, observes the facts if there is a point, and
    /// pushes the message.
    pub(crate) async fn step(&mut self, index: usize) {
        let next = self.prepared.messages.get(index);
        let turn = next.filter(|counted| counted.message.role == Role::Assistant);
        let is_moment =
            (turn.is_some() || self.case.schedule.has_moments()) && self.schedule(index);
        if turn.is_some() || is_moment {
            self.counts.waited_ms += self
                .ask_session(next.and_then(|counted| counted.message.at_ms))
                .await;
        }
        if let Some(turn) = turn {
            let waited_ms = std::mem::take(&mut self.counts.waited_ms);
            self.take_turn(turn, waited_ms);
        }
        // A resumed case has passed the earlier points already.
        while self.points.next_if(|point| point.length < index).is_some() {}
        if let Some(point) = self.points.next_if(|point| point.length == index) {
            let fates = self.tracer.fates();
            let foreign = self.observe(&point, fates);
            let retrieved = self.retrieve().await;
            self.prompt(&foreign, &retrieved);
            self.answer(&retrieved).await;
        }
        let Some(counted) = next else {
            return Box::pin(self.end_of_conversation()).await;
        };
        // Ids ascend: the suite was validated when it was read.
        let _ = self.session.push(counted.clone());
        if index == 0 {
            self.remember();
        }
        self.tracer.pushed();
        self.random.pushed();
    }

    /// Notes what the agent's memory holds when the conversation begins.
    fn remember(&mut self) {
        for note in &self.prepared.scenario.memory_notes {
            // There is a message and nothing is prepared; what a store refuses ends the case.
            let _ = self.session.note(note, 0, None);
        }
    }

    /// Sets the limits, and whether a compaction is due, if moments decide. Returns whether one has
    /// come.
    fn schedule(&mut self, index: usize) -> bool {
        let Some((budget, due)) = self.case.schedule.at(index, || self.now(index)) else {
            return false;
        };
        self.budget = budget;
        self.session.schedule(budget, due);
        due == CompactionDue::Now
    }

    /// What a row's own trigger is held against before the message at that index.
    fn now(&self, index: usize) -> Now {
        let (view, log) = (self.session.view(), self.session.log());
        let messages = view
            .entries()
            .iter()
            .filter(|entry| entry.role() != Role::System)
            .count();
        let compacted = self
            .compactions
            .iter()
            .rfind(|row| row.event.outcome == Outcome::Applied);
        let since = log.since(compacted.map(|row| row.event.after)).iter();
        let turns = since
            .filter(|counted| counted.message.role == Role::Assistant)
            .count();
        let next = self.prepared.messages.get(index);
        let agents = log
            .messages()
            .iter()
            .rfind(|counted| matches!(counted.message.role, Role::Assistant | Role::Tool));
        let times = next.zip(agents);
        Now {
            messages,
            turns,
            pause_ms: times.and_then(|(next, last)| {
                Some(next.message.at_ms?.saturating_sub(last.message.at_ms?))
            }),
            request_tokens: self.session.request_tokens(),
            window: self.case.budget().window,
        }
    }

    fn take_turn(&mut self, turn: &CountedMessage, waited_ms: u64) {
        let (message, output) = (&turn.message, turn.tokens);
        let input = self.prepared.tool_tokens + self.session.view().tokens();
        self.turns.push(Turn {
            message: message.id,
            at_ms: message.at_ms,
            input,
            // Between compactions a request only grows, so the one before is a prefix of it.
            shared_prefix: self
                .counts
                .shared_after_compaction
                .take()
                .unwrap_or(self.counts.last_input)
                .min(self.counts.last_input),
            output,
            recorded: message
                .usage
                .as_deref()
                .copied()
                .filter(|usage| usage.total_input() > 0),
            waited_ms: Some(waited_ms),
            over_window: self.is_over_window(input),
            // A log is valid, so only a compaction can make a view invalid.
            violations: self.counts.violations,
        });
        self.counts.last_input = input;
        self.session.report_usage(Usage {
            input: input.into(),
            output: output.into(),
            ..Usage::default()
        });
    }

    fn is_over_window(&self, input: u32) -> bool {
        let window = self.case.budget().binding_window();
        window.is_some_and(|window| input > window)
    }
}
