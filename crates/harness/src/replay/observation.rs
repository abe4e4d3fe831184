//! Observes the view at a point or after a compaction, and asks the questions that are due.

use compactometer_engine::event::Outcome;
use compactometer_formats::answer::AnswerRow;
use compactometer_formats::fate::Fates;
use compactometer_formats::record::{CompactionRow, Observation, ObservationKind, Unusable};

use super::Replay;
use crate::plan::Point;
use crate::probes::{PromptedQuestions, Questioner, Retrieved, asked, due};
use crate::trace::{
    Carriers, bound_facts, call_row, said_about, said_counts, search_carriers, seen_needed,
    seen_uses,
};

impl Replay<'_> {
    /// Records what the view holds. Returns the foreign facts that match in what it carries.
    pub(super) fn observe(&mut self, point: &Point, fates: Fates) -> Vec<u32> {
        let Some(last) = self.session.log().messages().last() else {
            return Vec::new();
        };
        let old_before = self
            .case
            .schedule
            .distance()
            .old_before(self.prepared, point.length);
        let (prepared, view) = (self.prepared, self.session.view());
        let carriers = match point.kind {
            ObservationKind::Use => Carriers::default(),
            _ => search_carriers(prepared, view, old_before),
        };
        let eligible = &point.eligible;
        let bound = bound_facts(prepared, view, eligible, &fates, point.length);
        let stated = said_about(prepared, view, eligible, &fates, point.length);
        let said = (point.length, &point.said[..]);
        let said = said_counts(prepared, view, said, &self.compacted());
        let (view, compacted_at) = ((view, &fates), self.counts.compacted_at);
        let used = (point.length, &point.used[..]);
        let uses = seen_uses(prepared, view, used, compacted_at, self.case.entrant.family);
        let random = self.random.hits(&point.needed);
        let needed = (point.length, &point.needed[..], &random[..]);
        let needed = seen_needed(prepared, &self.tracer, view, needed, compacted_at);
        self.observations.push(Observation {
            after: last.message.id,
            kind: point.kind,
            round: self.counts.round,
            tokens_since_compaction: u32::try_from(
                self.prepared
                    .tokens_between(self.counts.compacted_at, point.length),
            )
            .unwrap_or(u32::MAX),
            log_tokens: u32::try_from(self.prepared.tokens_before[point.length])
                .unwrap_or(u32::MAX),
            unusable: self.unusable(),
            stored: self.tracer.stored(&fates),
            fates,
            bound: bound.own,
            misbound: bound.misbound,
            stated: stated.stated,
            fits: stated.fits,
            selection_hits: self.random.hits(&point.eligible),
            selection_chance: self.random.chance(old_before),
            selection_bound: self.random.bound(&point.eligible),
            eligible: point.eligible.clone(),
            used: point.used.clone(),
            uses,
            needed,
            echoed: point.echoed,
            chance: carriers.chance,
            foil_hits: carriers.foil_hits,
            foils: carriers.foils,
            asked: Vec::new(),
            said,
            prompted: None,
        });
        carriers.foreign
    }

    /// Lengths of the log at the applied compactions, ascending.
    fn compacted(&self) -> Vec<usize> {
        let rows = self.compactions.iter();
        let applied = rows.filter(|row| row.event.outcome == Outcome::Applied);
        let end = |row: &CompactionRow| self.prepared.index_of(row.event.after) + 1;
        applied.map(end).collect()
    }

    /// Why no provider or no agent could work with the context, if so.
    fn unusable(&self) -> Option<Unusable> {
        let request = self.prepared.tool_tokens + self.session.view().tokens();
        let is_over = self
            .case
            .budget()
            .binding_window()
            .is_some_and(|window| request > window);
        if self.case.entrant.compacts() && is_over {
            return Some(Unusable::OverWindow);
        }
        self.counts.failed.then_some(Unusable::CompactionFailed)
    }

    /// Lets the strategy retrieve for the questions of the last observation.
    pub(super) async fn retrieve(&self) -> Retrieved {
        let Some(observation) = self.observations.last() else {
            return Retrieved::default();
        };
        let of_facts = asked(self.prepared, observation).map(|(_, probe)| probe);
        let probes = of_facts.chain(due(self.prepared, observation));
        Retrieved::new(self.prepared, &self.session, self.room(), probes).await
    }

    /// Records what was found for the questions about the last observation's facts.
    pub(super) fn prompt(&mut self, foreign: &[u32], retrieved: &Retrieved) {
        let Some(observation) = self.observations.last_mut() else {
            return;
        };
        PromptedQuestions {
            prepared: self.prepared,
            counter: self.counter,
            retrieved,
            foreign,
        }
        .book(observation);
    }

    /// Tokens that may be retrieved for a question. They count against the retained budget, like
    /// what stayed; if there is none, the strategy's own limits apply.
    fn room(&self) -> u32 {
        let budget = self.case.budget();
        budget.retained.map_or(budget.written, |most| {
            most.saturating_sub(self.counts.retained)
        })
    }

    /// Asks the model the questions of the last observation's point.
    pub(super) async fn answer(&mut self, retrieved: &Retrieved) {
        let Some(observation) = self.observations.last() else {
            return;
        };
        let questioner = Questioner {
            prepared: self.prepared,
            session: &self.session,
            reader: &self.meters.reader,
            retrieved,
            is_refused: self.counts.violations > 0 || observation.unusable.is_some(),
            evidence: self.case.entrant.evidence(),
            retained: self.case.budget().retained.unwrap_or_default(),
            counter: self.counter,
        };
        for (row, call) in questioner.ask(observation).await {
            let call = call.map(|call| call_row(&call, &mut self.texts));
            self.answers.push(AnswerRow { call, ..row });
        }
    }
}
