//! The facts of a written conversation, each with its decoy.

use compactometer_engine::message::MessageId;
use compactometer_formats::scenario::{Category, Fact, Polarity, Salience};

use crate::generate::plan::{ConversationPlan, StatementPair};
use crate::generate::talk::{GeneratedTalk, Trace};

/// Facts and decoys, each decoy directly after its fact.
pub(crate) fn build(plan: &ConversationPlan, talk: &GeneratedTalk) -> Vec<Fact> {
    (0..plan.pairs.len())
        .flat_map(|pair| {
            [plan.pairs[pair].fact, 1 - plan.pairs[pair].fact].map(|side| (pair, side))
        })
        .map(|(pair, side)| fact(plan, talk, pair, side))
        .collect()
}

/// The id of the fact or the decoy of a pair.
pub(crate) fn id(plan: &ConversationPlan, pair: usize, side: usize) -> String {
    let ending = if plan.pairs[pair].fact == side {
        ""
    } else {
        "-decoy"
    };
    format!("f{:02}{ending}", pair + 1)
}

fn fact(plan: &ConversationPlan, talk: &GeneratedTalk, at: usize, side: usize) -> Fact {
    let pair = &plan.pairs[at];
    let spoken = &pair.sides[side];
    let trace = &talk.traces[at][side];
    let replaced_by = plan
        .pairs
        .iter()
        .position(|later| later.replaces == Some(at));
    // A call that takes a value does not state a prohibition on it, so it is no use of one.
    let used = if polarity(pair) == Polarity::Negated {
        &[][..]
    } else {
        &trace.used
    };
    let said_anew = replaced_by.and_then(|later| talk.traces[later][side].said.first().copied());
    Fact {
        id: id(plan, at, side),
        category: pair.category(),
        subject: spoken.subject.to_owned(),
        value: spoken.value.clone(),
        variants: pair.form.variants(&spoken.value),
        value_kind: pair.form.kind(),
        evidence_message_ids: evidence(trace, used),
        stated_by: pair.claim.speaker,
        salience: if trace.said.len() > 1 {
            Salience::Explicit
        } else {
            Salience::Once
        },
        supersedes: pair.replaces.map(|old| id(plan, old, side)),
        valid_to: said_anew,
        polarity: polarity(pair),
        foil_values: spoken.foils.clone(),
        used_at: used.to_vec(),
        weight: 1.0,
        decoy_of: (side != pair.fact).then(|| id(plan, at, pair.fact)),
        generic: false,
    }
}

fn evidence(trace: &Trace, used: &[MessageId]) -> Vec<MessageId> {
    let mut ids: Vec<MessageId> = trace.said.iter().chain(used).copied().collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

fn polarity(pair: &StatementPair) -> Polarity {
    match pair.claim.category {
        Category::Negation | Category::Prohibition => Polarity::Negated,
        _ => Polarity::Affirmed,
    }
}
