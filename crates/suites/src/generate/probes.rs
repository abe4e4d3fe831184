//! The observation points of a conversation, and the facts that are asked for at each.

use compactometer_engine::message::{MessageId, Role};
use compactometer_formats::scenario::{Fact, Probe};

use crate::dice::{SeededDice, Stream};
use crate::generate::asides::is_for_asides;
use crate::generate::domains::SubjectClaim;
use crate::generate::memory;
use crate::generate::orders::{self, OrderedFact};
use crate::generate::plan::{ConversationPlan, TokenSpan};
use crate::generate::spec::Spec;
use crate::generate::talk::GeneratedTalk;

/// Facts asked for at each earlier point in addition to those that cannot be asked for later.
const EARLIER: usize = 4;

/// The probes of a conversation: each fact at the latest suitable point, some facts at each earlier
/// point too, then questions without an answer and questions about order.
pub(crate) fn build(
    spec: &Spec,
    number: usize,
    plan: &ConversationPlan,
    talk: &GeneratedTalk,
    facts: &[Fact],
) -> Vec<Probe> {
    let mut dice = SeededDice::new(spec.seed, number, Stream::Probes);
    let points = points(spec, plan.span, talk, facts, &mut dice);
    // Facts have even indices; the decoy of each follows it.
    let asked: Vec<AskedProbe> = (0..plan.pairs.len())
        .map(|pair| AskedProbe {
            pair,
            fact: &facts[2 * pair],
        })
        .collect();
    let mut chosen: Vec<(MessageId, usize)> = asked
        .iter()
        .filter_map(|asked| Some((latest(asked.fact, &points, plan.span, talk)?, asked.pair)))
        .collect();
    for point in &points {
        let mut suitable: Vec<usize> = asked
            .iter()
            .filter(|asked| is_far(asked.fact, *point, plan.span, talk))
            .map(|asked| asked.pair)
            .collect();
        dice.shuffle(&mut suitable);
        let here = suitable
            .into_iter()
            .take(EARLIER)
            .map(|pair| (*point, pair));
        chosen.extend(
            here.filter(|choice| !chosen.contains(choice))
                .collect::<Vec<_>>(),
        );
    }
    if let Some(most) = spec.probes {
        chosen = limited(chosen, most, &mut dice);
    }
    chosen.sort_unstable();
    let mut probes: Vec<Probe> = chosen
        .iter()
        .enumerate()
        .map(|(number, (point, pair))| probe(plan, facts, number, *point, *pair))
        .collect();
    let asked_at: Vec<MessageId> = chosen.iter().map(|(point, _)| *point).collect();
    let first = probes.len();
    let others = unanswerable(spec, plan, number, &asked_at).into_iter();
    let others = others.chain(orders::build(spec, number, &points, |point| {
        lasting(plan, talk, &asked, point)
    }));
    let others = others.chain(memory::probes(spec, number, plan, &points));
    probes.extend(others.enumerate().map(|(at, probe)| Probe {
        id: format!("p{:03}", first + at + 1),
        ..probe
    }));
    probes
}

/// Facts that were stated once and far away by then, and that are never replaced or replacing. Each
/// has one place in an order.
fn lasting<'f>(
    plan: &ConversationPlan,
    talk: &GeneratedTalk,
    asked: &[AskedProbe<'f>],
    point: MessageId,
) -> Vec<OrderedFact<'f>> {
    let is_lasting = |fact: &Fact| {
        let said_once = fact.evidence_message_ids.len() == 1
            && fact.supersedes.is_none()
            && fact.valid_to.is_none();
        said_once && is_far(fact, point, plan.span, talk)
    };
    let lasting = asked.iter().filter(|asked| is_lasting(asked.fact));
    lasting
        .map(|asked| OrderedFact {
            fact: asked.fact,
            question: question(plan, asked),
        })
        .collect()
}

/// Questions that the conversation answers for some of its subjects, asked about other subjects for
/// which it never does. Only the conversation distinguishes them from answerable questions, since
/// they use the same wording, subjects and points. `asked_at` lists the points of the answerable
/// ones.
fn unanswerable(
    spec: &Spec,
    plan: &ConversationPlan,
    conversation: usize,
    asked_at: &[MessageId],
) -> Vec<Probe> {
    if asked_at.is_empty() {
        return Vec::new();
    }
    let mut dice = SeededDice::new(spec.seed, conversation, Stream::Unanswerable);
    let is_mentioned = |subject: &str| {
        plan.pairs
            .iter()
            .flat_map(|pair| &pair.sides)
            .any(|side| side.subject == subject)
    };
    let mut open: Vec<(&SubjectClaim, &str)> = Vec::new();
    for claim in plan
        .pairs
        .iter()
        .map(|pair| pair.claim)
        .filter(|claim| claim.asks.contains("{s}"))
    {
        let is_said = |number: usize| spec.session.alike > 0 && is_for_asides(plan, claim, number);
        let others = plan
            .subjects
            .iter()
            .enumerate()
            .filter(|(number, _)| !is_said(*number));
        let others = others.map(|(_, subject)| (claim, *subject));
        open.extend(
            others.filter(|(claim, subject)| is_mentioned(subject) && !plan.states(claim, subject)),
        );
    }
    dice.shuffle(&mut open);
    let mut questions: Vec<String> = Vec::new();
    for (claim, subject) in open {
        let question = claim.asks.replace("{s}", subject);
        if questions.len() < spec.unanswerable && !questions.contains(&question) {
            questions.push(question);
        }
    }
    let asked = |question| Probe {
        question,
        asked_after: dice.pick(asked_at),
        abstain_expected: true,
        ..Probe::default()
    };
    questions.into_iter().map(asked).collect()
}

/// A random selection of at most `most`, in which no point has two before every point has one.
fn limited(
    mut chosen: Vec<(MessageId, usize)>,
    most: usize,
    dice: &mut SeededDice,
) -> Vec<(MessageId, usize)> {
    dice.shuffle(&mut chosen);
    let place = |at: usize| {
        chosen[..at]
            .iter()
            .filter(|(point, _)| *point == chosen[at].0)
            .count()
    };
    let mut placed: Vec<(usize, (MessageId, usize))> = (0..chosen.len())
        .map(|at| (place(at), chosen[at]))
        .collect();
    placed.sort_by_key(|(place, _)| *place);
    placed
        .into_iter()
        .map(|(_, choice)| choice)
        .take(most)
        .collect()
}

struct AskedProbe<'f> {
    pair: usize,
    fact: &'f Fact,
}

fn question(plan: &ConversationPlan, AskedProbe { pair, fact }: &AskedProbe) -> String {
    plan.pairs[*pair].claim.asks.replace("{s}", &fact.subject)
}

fn probe(
    plan: &ConversationPlan,
    facts: &[Fact],
    number: usize,
    asked_after: MessageId,
    pair: usize,
) -> Probe {
    let (planned, fact) = (&plan.pairs[pair], &facts[2 * pair]);
    let replaced = planned
        .replaces
        .map(|old| plan.pairs[old].sides[planned.fact].value.clone());
    Probe {
        id: format!("p{:03}", number + 1),
        fact_ids: vec![fact.id.clone()],
        question: question(plan, &AskedProbe { pair, fact }),
        asked_after,
        gold: Some(fact.value.clone()),
        forbidden: replaced.into_iter().collect(),
        ..Probe::default()
    }
}

/// Observation points, spread from the first sensible place to the end. Each comes directly before
/// a turn of the agent.
fn points(
    spec: &Spec,
    span: TokenSpan,
    talk: &GeneratedTalk,
    facts: &[Fact],
    dice: &mut SeededDice,
) -> Vec<MessageId> {
    let places = places(spec, talk);
    let count = dice.between(spec.points[0], spec.points[1]);
    let Some(last) = places.last().copied() else {
        return Vec::new();
    };
    let step = talk.end(last).saturating_sub(span.first_point) / (count - 1);
    let mut points = vec![last];
    let lasting = places.iter().filter(|place| all_hold(facts, **place));
    points.extend(nearest(lasting, span.first_point, talk));
    for number in 1..count - 1 {
        let target = span.first_point + number * step + dice.below(step / 3 + 1);
        points.extend(nearest(places.iter(), target, talk));
    }
    points.sort_unstable();
    points.dedup();
    points
}

/// Whether every value that is replaced later has been stated and still holds at that place, so
/// that it can be asked for.
fn all_hold(facts: &[Fact], place: MessageId) -> bool {
    facts
        .iter()
        .filter(|fact| fact.valid_to.is_some() && fact.decoy_of.is_none())
        .all(|fact| holds(fact, place))
}

fn nearest<'p>(
    places: impl Iterator<Item = &'p MessageId>,
    target: usize,
    talk: &GeneratedTalk,
) -> Option<MessageId> {
    places
        .copied()
        .min_by_key(|place| talk.end(*place).abs_diff(target))
}

/// Messages that are followed by a turn of the agent; if the user is away before each point, those
/// with which the user can return.
fn places(spec: &Spec, talk: &GeneratedTalk) -> Vec<MessageId> {
    let turns = talk.messages.windows(2).skip(1);
    let is_place = |role: Role| {
        if spec.pauses.is_some() {
            role == Role::User
        } else {
            role != Role::Assistant
        }
    };
    turns
        .filter(|pair| is_place(pair[0].role) && pair[1].role == Role::Assistant)
        .map(|pair| pair[0].id)
        .collect()
}

/// The latest point at which the fact is far away, otherwise the latest at which it has been stated
/// and still holds.
fn latest(
    fact: &Fact,
    points: &[MessageId],
    span: TokenSpan,
    talk: &GeneratedTalk,
) -> Option<MessageId> {
    let far = points
        .iter()
        .rev()
        .find(|point| is_far(fact, **point, span, talk));
    far.or_else(|| points.iter().rev().find(|point| holds(fact, **point)))
        .copied()
}

/// Whether the fact has been stated before the point and has not been replaced.
fn holds(fact: &Fact, point: MessageId) -> bool {
    fact.evidence_message_ids
        .first()
        .is_some_and(|first| *first < point)
        && fact.valid_to.is_none_or(|end| point < end)
}

/// Whether the fact holds and was last mentioned at least the trigger's distance ago.
fn is_far(fact: &Fact, point: MessageId, span: TokenSpan, talk: &GeneratedTalk) -> bool {
    let last = fact
        .evidence_message_ids
        .iter()
        .rev()
        .find(|id| **id <= point);
    holds(fact, point) && last.is_some_and(|last| talk.end(point) - talk.end(*last) >= span.trigger)
}

impl GeneratedTalk {
    /// The number of tokens up to and including the message.
    fn end(&self, id: MessageId) -> usize {
        self.ends[id.0 as usize - 1]
    }
}
