//! One case: recorded messages are pushed one by one, the session is asked before each turn of the agent, and every fact is
//! traced at each observation point and after each compaction.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::vec::IntoIter;

use compactometer_engine::event::{Event, Outcome, RecoveryEvent};
use compactometer_engine::message::{MessageId, Role, Usage};
use compactometer_engine::meter::{Call, Metered, Purpose};
use compactometer_engine::model::ChatError;
use compactometer_engine::recovery::Recovery;
use compactometer_engine::session::{Session, SessionConfig};
use compactometer_engine::strategy::Strategy;
use compactometer_engine::tokens::TokenCounter;
use compactometer_engine::view::View;
use compactometer_formats::answer::AnswerRow;
use compactometer_formats::fate::Fates;
use compactometer_formats::record::{
    CallRow, Case, CheckpointRow, CompactionRow, FactRow, Observation, ObservationKind, Record, Refusal, Stages, Turn,
    VERSION, text_hash,
};
use serde::{Deserialize, Serialize};

use crate::plan::PlannedCase;
use crate::plan::window::{Point, point, points};
use crate::prepare::scenario::Loaded;
use crate::probes::answers::{self, Asking};
use crate::probes::prompted::{self, Prompt, Retrieved};
use crate::run::models::Models;
use crate::trace::carriers;
use crate::trace::random_contexts::{RandomDrop, old_before};
use crate::trace::storage::storage;
use crate::trace::tracer::Tracer;
use crate::trace::views::{inserted_texts, left_messages, parts_of, shared_tokens, tail_start};

/// A record and the texts that it refers to by hash.
pub struct CaseResult {
    /// The record.
    pub record: Record,
    /// Texts by hash: replies, and what was inserted into views.
    pub texts: BTreeMap<String, String>,
}

/// Runs one case. No answer is judged.
pub async fn run_case<'m>(
    case: &PlannedCase,
    models: impl Into<Models<'m>>,
    counter: &'m dyn TokenCounter,
) -> CaseResult {
    let models = models.into();
    let strategy = case.contender.build(&case.loaded, case.seed);
    let [summarizer, target] = models.windowed(case.budget.window, counter);
    let metered = Metered::new(&summarizer, case.seed).recounting_with(&target);
    let reader = Metered::new(models.model, case.seed);
    let meters = Meters { session: &metered, reader: &reader };
    let mut replay = Replay::new(case, session(case, &*strategy, &metered, counter), meters, counter);
    for index in 0..=case.loaded.messages.len() {
        replay.step(index).await;
    }
    replay.into_result(models)
}

/// The session of a case, without a message.
pub(crate) fn session<'s>(
    case: &PlannedCase,
    strategy: &'s dyn Strategy,
    metered: &'s Metered<'s>,
    counter: &'s dyn TokenCounter,
) -> Session<'s> {
    let config = SessionConfig {
        budget: case.budget,
        overhead: case.loaded.tool_tokens,
        summarizer_window: Some(case.budget.window),
        automatic: case.contender.compacts(),
        policy: case.contender.policy(),
    };
    // The agent is not called, so what it says does not show that it is lost.
    let recovery = Recovery { lost: false, ..Recovery::default() };
    Session::new(strategy, metered, counter, config).recovering(recovery)
}

/// The meters of a case.
#[derive(Clone, Copy)]
pub(crate) struct Meters<'m> {
    /// The session's.
    pub(crate) session: &'m Metered<'m>,
    /// That of answers to probes, whose model no window binds: a request above it is sent.
    pub(crate) reader: &'m Metered<'m>,
}

/// A case under way. What of it must outlive a process stands in [`crate::run::progress::Progress`].
pub(crate) struct Replay<'r> {
    pub(crate) loaded: &'r Loaded,
    case: &'r PlannedCase,
    pub(crate) session: Session<'r>,
    meters: Meters<'r>,
    counter: &'r dyn TokenCounter,
    pub(crate) tracer: Tracer<'r>,
    pub(crate) random: RandomDrop<'r>,
    /// The same with the strategy's own verbatim tail.
    pub(crate) selection: RandomDrop<'r>,
    points: Peekable<IntoIter<Point>>,
    pub(crate) counts: Counts,
    pub(crate) pending_over_budget: bool,
    pub(crate) observations: Vec<Observation>,
    pub(crate) compactions: Vec<CompactionRow>,
    pub(crate) checkpoints: Vec<CheckpointRow>,
    /// Those of earlier processes; the session has its own.
    pub(crate) recoveries: Vec<RecoveryEvent>,
    pub(crate) turns: Vec<Turn>,
    pub(crate) answers: Vec<AnswerRow>,
    pub(crate) texts: BTreeMap<String, String>,
}

/// What a replay counts from turn to turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counts {
    round: u32,
    compacted_at: usize,
    /// What the last compaction left within the budget.
    retained: u32,
    last_input: u32,
    /// Tokens that the next request shares with the one before, where a compaction has just changed the view.
    shared_after_compaction: Option<u32>,
    violations: u32,
    /// Whether the last decision left the request at its trigger.
    in_vain: bool,
}

impl Counts {
    /// Whether the session counts tries that left the request at its trigger.
    pub(crate) fn tried_in_vain(&self) -> bool {
        self.in_vain
    }
}

impl<'r> Replay<'r> {
    pub(crate) fn new(
        case: &'r PlannedCase,
        session: Session<'r>,
        meters: Meters<'r>,
        counter: &'r dyn TokenCounter,
    ) -> Self {
        let loaded = &*case.loaded;
        Replay {
            loaded,
            case,
            session,
            meters,
            counter,
            tracer: Tracer::new(loaded),
            random: RandomDrop::new(loaded, case.seed),
            selection: RandomDrop::new(loaded, case.seed),
            points: points(loaded, case.budget.trigger).into_iter().peekable(),
            counts: Counts::default(),
            pending_over_budget: false,
            observations: Vec::new(),
            compactions: Vec::new(),
            checkpoints: Vec::new(),
            recoveries: Vec::new(),
            turns: Vec::new(),
            answers: Vec::new(),
            texts: BTreeMap::new(),
        }
    }

    /// Takes the turn before the message at that index, looks at the facts where it is a point, and says the message.
    pub(crate) async fn step(&mut self, index: usize) {
        let next = self.loaded.messages.get(index);
        if let Some(turn) = next.filter(|counted| counted.message.role == Role::Assistant) {
            let waited_ms = self.ask_session(turn.message.at_ms).await;
            self.take_turn(turn.message.id, turn.message.at_ms, turn.tokens, waited_ms);
        }
        // A case that goes on from its store has looked at the earlier points.
        while self.points.next_if(|point| point.length < index).is_some() {}
        if let Some(point) = self.points.next_if(|point| point.length == index) {
            let fates = self.tracer.fates();
            let foreign = self.observe(ObservationKind::Point, &point, fates);
            let retrieved = self.retrieve().await;
            self.prompt(&foreign, &retrieved);
            self.answer(&retrieved).await;
        }
        let Some(counted) = next else { return };
        // Ids ascend: the suite was validated when it was read.
        let _ = self.session.push(counted.clone());
        self.tracer.pushed();
        self.random.pushed();
        self.selection.pushed();
    }

    /// Lets the session compact, and traces what it did. Gives the milliseconds that the turn waits for it.
    async fn ask_session(&mut self, now_ms: Option<i64>) -> u64 {
        // The view changes only where a compaction is due or a checkpoint may be shown.
        let may_change = self.session.is_due() || self.session.may_recover(now_ms);
        let before = may_change.then(|| self.session.shared_view());
        let checkpoints_before = self.session.checkpoint_events().len();
        let recoveries_before = self.session.recovery_events().len();
        let event = self.session.before_call(now_ms).await.cloned();
        if event.is_some() {
            self.counts.in_vain = self.session.request_estimate() >= self.case.budget.trigger;
        }
        // A recount reads everything and writes nothing that stays, so it is paid for and not traced.
        let (recounts, calls): (Vec<Call>, Vec<Call>) =
            self.meters.session.take_calls().into_iter().partition(|call| call.purpose == Purpose::Recount);
        let (mut compacting, checkpointing): (Vec<&Call>, Vec<&Call>) =
            calls.iter().partition(|call| call.purpose == Purpose::Compaction);
        compacting.extend(&recounts);
        // At most one checkpoint is due before a turn.
        if let Some(event) = self.session.checkpoint_events().get(checkpoints_before).cloned() {
            let calls = checkpointing.iter().map(|call| self.call_row(call)).collect();
            self.checkpoints.push(CheckpointRow { event, calls });
        }
        let recovered = self.session.recovery_events().len() > recoveries_before;
        match (event, before) {
            (Some(event), Some(before)) => self.book_compaction(event, &before, &calls, &compacting),
            (None, Some(before)) if recovered => self.book_recovery(&before, &calls),
            _ if !calls.is_empty() => drop(self.tracer.compacted(self.session.view(), self.session.history(), &calls)),
            _ => {}
        }
        calls.iter().chain(&recounts).map(waited_ms).sum()
    }

    /// A checkpoint was shown outside a compaction.
    fn book_recovery(&mut self, before: &View, calls: &[Call]) {
        self.tracer.compacted(self.session.view(), self.session.history(), calls);
        let shared = shared_tokens(before, self.session.view(), self.counter);
        self.counts.shared_after_compaction = Some(self.loaded.tool_tokens + shared);
    }

    fn book_compaction(&mut self, event: Event, before: &View, calls: &[Call], compacting: &[&Call]) {
        let mut stages = Stages::default();
        let applied = event.outcome == Outcome::Applied;
        if applied {
            stages = self.trace_compaction(&event, calls);
            self.counts.violations = self.session.view().check().len() as u32;
            let shared = shared_tokens(before, self.session.view(), self.counter);
            self.counts.shared_after_compaction = Some(self.loaded.tool_tokens + shared);
        } else {
            // Where a checkpoint was shown before the try failed, the view is another all the same.
            self.book_recovery(before, calls);
        }
        let inserted = if applied { inserted_texts(self.session.view()) } else { Vec::new() };
        let row = CompactionRow {
            left: left_messages(before, self.session.view()),
            inserted: inserted.into_iter().map(|text| self.keep_text(&text)).collect(),
            calls: compacting.iter().map(|call| self.call_row(call)).collect(),
            event,
            stages,
            view: applied.then(|| parts_of(self.session.view(), self.counter)),
        };
        self.compactions.push(row);
    }

    fn trace_compaction(&mut self, event: &Event, calls: &[Call]) -> Stages {
        let length = self.session.log().messages().len();
        self.counts.round += 1;
        self.counts.compacted_at = length;
        self.counts.retained = event.tokens_retained;
        let pending_tokens =
            self.session.tokens_outside().saturating_sub(self.session.log().system().map_or(0, |system| system.tokens));
        self.pending_over_budget |= self.case.budget.retained.is_some_and(|most| pending_tokens > most);
        let stages = self.tracer.compacted(self.session.view(), self.session.history(), calls);
        let pending = self.session.log().pending();
        self.random.compacted(&pending, length, event.tokens_retained);
        let tail = tail_start(self.session.view(), self.session.log());
        self.selection.compacted(&pending, tail, event.tokens_retained);
        let fates = self.tracer.fates();
        let point = point(self.loaded, length, u64::from(self.case.budget.trigger), true);
        self.observe(ObservationKind::Compaction, &Point { used: Vec::new(), echoed: 0, ..point }, fates);
        stages
    }

    /// Books what the view holds. Gives the foreign facts that match in what it carries.
    fn observe(&mut self, kind: ObservationKind, point: &Point, fates: Fates) -> Vec<u32> {
        let Some(last) = self.session.log().messages().last() else { return Vec::new() };
        let old_before = old_before(self.loaded, point.length, self.case.budget.trigger);
        let carriers = carriers::search(self.loaded, self.session.view(), old_before);
        self.observations.push(Observation {
            after: last.message.id,
            kind,
            round: self.counts.round,
            tokens_since_compaction: u32::try_from(self.loaded.tokens_between(self.counts.compacted_at, point.length))
                .unwrap_or(u32::MAX),
            log_tokens: u32::try_from(self.loaded.tokens_before[point.length]).unwrap_or(u32::MAX),
            fates,
            random_hits: self.random.hits(&point.eligible),
            random_chance: self.random.chance(old_before),
            selection_hits: self.selection.hits(&point.eligible),
            selection_chance: self.selection.chance(old_before),
            eligible: point.eligible.clone(),
            used: point.used.clone(),
            echoed: point.echoed,
            chance: carriers.chance,
            foil_hits: carriers.foil_hits,
            foils: carriers.foils,
            asked: Vec::new(),
            prompted: None,
        });
        carriers.foreign
    }

    /// Asks the strategy what it finds for the questions of the last observation.
    async fn retrieve(&self) -> Retrieved {
        let Some(observation) = self.observations.last() else { return Retrieved::default() };
        let of_facts = prompted::asked(self.loaded, observation).map(|(_, probe)| probe);
        let probes = of_facts.chain(answers::due(self.loaded, observation));
        Retrieved::new(self.loaded, &self.session, self.room(), probes).await
    }

    /// Books what was found for the questions about the last observation's facts.
    fn prompt(&mut self, foreign: &[u32], retrieved: &Retrieved) {
        let Some(observation) = self.observations.last_mut() else { return };
        Prompt { loaded: self.loaded, counter: self.counter, retrieved, foreign }.book(observation);
    }

    /// Tokens that may be retrieved for a question: they count against the retained budget, like what stayed; a strategy's own
    /// limits bound what it adds.
    fn room(&self) -> u32 {
        let budget = self.case.budget;
        budget.retained.map_or(budget.written, |most| most.saturating_sub(self.counts.retained))
    }

    /// Asks the model the questions of the last observation's point.
    async fn answer(&mut self, retrieved: &Retrieved) {
        let Some(observation) = self.observations.last() else { return };
        let asking = Asking {
            loaded: self.loaded,
            session: &self.session,
            reader: self.meters.reader,
            retrieved,
            is_refused: self.counts.violations > 0,
            evidence: self.case.contender.evidence(),
            retained: self.case.budget.retained.unwrap_or_default(),
            counter: self.counter,
        };
        for (row, call) in asking.ask(observation).await {
            let call = call.map(|call| self.call_row(&call));
            self.answers.push(AnswerRow { call, ..row });
        }
    }

    fn take_turn(&mut self, message: MessageId, at_ms: Option<i64>, output: u32, waited_ms: u64) {
        let input = self.loaded.tool_tokens + self.session.view().tokens();
        self.turns.push(Turn {
            message,
            at_ms,
            input,
            // Between compactions a request only grows, so all of the one before is its prefix.
            shared_prefix: self
                .counts
                .shared_after_compaction
                .take()
                .unwrap_or(self.counts.last_input)
                .min(self.counts.last_input),
            output,
            waited_ms: Some(waited_ms),
            over_window: input > self.case.budget.window,
            // A log is valid, so only a compaction can make a view invalid.
            violations: self.counts.violations,
        });
        self.counts.last_input = input;
        self.session.report_usage(Usage { input: input.into(), output: output.into(), ..Usage::default() });
    }

    fn call_row(&mut self, call: &Call) -> CallRow {
        call_row(call, &mut self.texts)
    }

    fn keep_text(&mut self, text: &str) -> String {
        keep_text(text, &mut self.texts)
    }

    pub(crate) fn into_result(mut self, models: Models<'_>) -> CaseResult {
        // Observations and turns are moved: those of a long conversation are large.
        let (observations, turns) = (std::mem::take(&mut self.observations), std::mem::take(&mut self.turns));
        let record = Record { observations, turns, ..self.record(models) };
        CaseResult { record, texts: self.texts }
    }

    /// The record so far.
    pub(crate) fn record(&self, models: Models<'_>) -> Record {
        let (case, scenario) = (self.case, &self.loaded.scenario);
        let fact_row = |(index, fact): (usize, &compactometer_formats::scenario::Fact)| FactRow {
            id: fact.id.clone(),
            category: fact.category,
            value_kind: fact.value_kind,
            weight: fact.weight,
            decoy: fact.decoy_of.is_some(),
            generic: fact.generic,
            mentions: self.loaded.mentions[index].iter().map(|at| self.loaded.messages[*at].message.id).collect(),
        };
        Record {
            version: VERSION,
            key: case.key.clone(),
            case: Case {
                scenario: scenario.id.clone(),
                group: scenario.group_id.clone(),
                strategy: case.contender.name.clone(),
                family: case.contender.family,
                protocol: case.protocol,
                budget: case.budget,
                model: models.summarizer().name().to_owned(),
                target: models.target().map(str::to_owned),
                seed: case.seed,
                tool_tokens: self.loaded.tool_tokens,
                system_tokens: self.session.log().system().map_or(0, |system| system.tokens),
                pending_over_budget: self.pending_over_budget,
            },
            facts: scenario.facts.iter().enumerate().map(fact_row).collect(),
            observations: self.observations.clone(),
            compactions: self.compactions.clone(),
            checkpoints: self.checkpoints.clone(),
            recoveries: self.recoveries.iter().chain(self.session.recovery_events()).cloned().collect(),
            turns: self.turns.clone(),
            probes: self.loaded.keys.probes.iter().map(|key| key.row.clone()).collect(),
            answers: self.answers.clone(),
            storage: Some(storage(self.loaded, self.session.history())),
        }
    }
}

/// A call as a record holds it; its reply goes to the texts.
pub(crate) fn call_row(call: &Call, texts: &mut BTreeMap<String, String>) -> CallRow {
    match &call.outcome {
        Ok(reply) => CallRow {
            purpose: call.purpose,
            usage: reply.usage,
            latency_ms: Some(reply.latency_ms),
            finish: Some(reply.finish),
            reply: Some(keep_text(&reply.text, texts)),
            error: None,
            refusal: None,
            served: reply.served.clone(),
        },
        Err(error) => CallRow {
            purpose: call.purpose,
            usage: Usage::default(),
            latency_ms: Some(waited_ms(call)),
            finish: None,
            reply: None,
            error: Some(error.to_string()),
            refusal: match error {
                ChatError::Refused { .. } => Some(Refusal::Text),
                ChatError::Rejected { .. } => Some(Refusal::Form),
                _ => None,
            },
            served: None,
        },
    }
}

fn keep_text(text: &str, texts: &mut BTreeMap<String, String>) -> String {
    let hash = text_hash(text);
    texts.entry(hash.clone()).or_insert_with(|| text.to_owned());
    hash
}

/// What a turn waited for a call: a timeout was waited for too.
fn waited_ms(call: &Call) -> u64 {
    match &call.outcome {
        Ok(reply) => reply.latency_ms,
        Err(ChatError::Timeout { after_ms }) => *after_ms,
        Err(_) => 0,
    }
}
