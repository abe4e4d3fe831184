//! `oracle`: knows the facts and keeps nothing else, which is the most that the budget can hold.
//! Its context holds a line for each fact, of its subject and its shortest form. A reader gets the
//! sentences that state what is asked for instead.

use std::sync::Arc;

use async_trait::async_trait;
use compactometer_engine::message::{MessageId, Part, Role};
use compactometer_engine::strategy::{Compacted, Context, Declined, Strategy};
use compactometer_engine::tokens::{MESSAGE_OVERHEAD, TokenCounter};
use compactometer_engine::view::{Edit, Origin, WrittenPart};
use compactometer_formats::scenario::Fact;
use compactometer_text::matcher::Said;

use super::{keep_system, pending_ids};
use crate::plan::Control;
use crate::prepare::PreparedScenario;
use crate::prepare::sentences;

pub(super) const CONTROL: Control = Control {
    name: "oracle",
    about: "keeps a line of subject and value for each stated fact, shortest first, and no tail; its reader has their sentences instead",
    tail_share: 0.0,
    compacts: true,
    evidence: Some(sentences),
    build: |prepared, _| {
        Arc::new(Oracle {
            prepared: Arc::clone(prepared),
        })
    },
};

struct Oracle {
    prepared: Arc<PreparedScenario>,
}

#[async_trait]
impl Strategy for Oracle {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let facts = self.facts_that_fit(
            cx.log.messages().len(),
            cx.budget.retained.unwrap_or_default(),
            cx.counter,
        );
        let part = |(text, origin): (String, MessageId)| WrittenPart {
            part: Part::Text { text },
            origin: Origin::Spoken(origin),
        };
        let parts = facts.into_iter().map(part).collect::<Vec<_>>();
        let turn = (!parts.is_empty()).then_some(Edit::Insert(Role::User, parts));
        let edits = keep_system(cx.log)
            .into_iter()
            .chain(turn)
            .chain(pending_ids(cx.log).map(Edit::Keep));
        Ok(Compacted::without_reading(cx, edits.collect()))
    }
}

impl Oracle {
    /// The valid facts stated so far, each with the message that states it, as many as fit.
    fn facts_that_fit(
        &self,
        length: usize,
        budget: u32,
        counter: &dyn TokenCounter,
    ) -> Vec<(String, MessageId)> {
        let prepared = &self.prepared;
        let mut facts = Vec::new();
        for (index, fact) in prepared.scenario.facts.iter().enumerate() {
            let Some(first) = prepared.mentions[index]
                .first()
                .filter(|first| **first < length)
            else {
                continue;
            };
            let ranked = fact.decoy_of.is_none() && !fact.generic;
            if ranked && prepared.valid_to[index].is_none_or(|until| until >= length) {
                let forms = fact
                    .forms()
                    .map(|form| statement(fact, form))
                    .map(|form| (counter.count_text(&form), form));
                facts.extend(
                    forms
                        .min()
                        .map(|(tokens, form)| (tokens, form, prepared.messages[*first].message.id)),
                );
            }
        }
        facts.sort_unstable();
        let mut room = budget.saturating_sub(MESSAGE_OVERHEAD);
        let fitting = facts.into_iter().take_while(|(tokens, ..)| {
            let rest = room.checked_sub(*tokens);
            room = rest.unwrap_or_default();
            rest.is_some()
        });
        fitting.map(|(_, form, id)| (form, id)).collect()
    }
}

/// A line that says so. Imported facts have no subject.
fn statement(fact: &Fact, form: &str) -> String {
    let value = if fact.sought().said == Said::Denied {
        format!("not {form}")
    } else {
        form.to_owned()
    };
    if fact.has_subject() {
        format!("{}: {value}\n", fact.subject)
    } else {
        format!("{value}\n")
    }
}
