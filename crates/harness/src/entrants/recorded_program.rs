//! `recorded`: replays the compactions that the program of a transcript made, at its own moments.
//! It is compared with the strategies.

use std::sync::Arc;

use async_trait::async_trait;
use compactometer_engine::event::SkipReason;
use compactometer_engine::message::MessageId;
use compactometer_engine::record::{NewRecord, RecordKind};
use compactometer_engine::strategy::{Compacted, Context, Declined, Strategy};

use crate::plan::RecordedProgram;
use crate::prepare::PreparedScenario;
use crate::prepare::cleared::ClearedUpTo;
use crate::prepare::recorded_context::{edits, written_texts};

pub(super) static PROGRAM: RecordedProgram = RecordedProgram {
    name: "recorded",
    about: "the compactions that the recorded program made; all rows then compact at its moments and to its sizes",
    build: |prepared| {
        Arc::new(ProgramAsRecorded {
            prepared: Arc::clone(prepared),
        })
    },
};

struct ProgramAsRecorded {
    prepared: Arc<PreparedScenario>,
}

#[async_trait]
impl Strategy for ProgramAsRecorded {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let after = cx.log.messages().last().map(|last| last.message.id);
        let made = self
            .prepared
            .scenario
            .compactions
            .iter()
            .find(|made| Some(made.after) == after);
        let made = made.ok_or(SkipReason::NothingToCompact)?;
        let system = cx.log.system().map(|system| system.message.id);
        let body = written_texts(made).collect::<Vec<_>>().join("\n");
        let mut cleared = ClearedUpTo::new(&self.prepared.scenario.log);
        cleared.up_to(made.after);
        let edits = cleared.out_of_edits(edits(made, system, cx.number_of_new(0)), cx.log);
        let saved = NewRecord::new(
            RecordKind::Summary,
            after.map(|after| (first(cx), after)),
            body,
        );
        Ok(Compacted {
            edits,
            saved: vec![saved],
            ..Compacted::default()
        })
    }
}

fn first(cx: &Context<'_>) -> MessageId {
    cx.log
        .messages()
        .first()
        .map(|first| first.message.id)
        .unwrap_or_default()
}
