//! Statements in a conversation that is there already: facts, their decoys, and incidental ones in
//! the words of the same templates, each appended to a message of the right speaker.
//!
//! Facts of a plan that find no message are left out. Absent on purpose: calls that use the values,
//! since the conversation's own calls are what couples need to work.

use compactometer_engine::message::Message;
use compactometer_engine::tokens::{Encoding, TokenCounter};
use compactometer_formats::scenario::{Scenario, Speaker};

use crate::dice::{SeededDice, Stream};
use crate::generate::additions::{append, place_of};
use crate::generate::asides::{AsideWording, Asides};
use crate::generate::forms::Reserved;
use crate::generate::manner::Manner;
use crate::generate::plan::{self, ConversationPlan, TokenSpan};
use crate::generate::spec::Spec;
use crate::generate::statements::Statements;
use crate::generate::talk::{GeneratedTalk, Trace};
use crate::generate::writer::ConversationWriter;
use crate::generate::{facts, probes, wishes};

/// Messages of a person or of the agent hold at most this many statements. A result holds one more
/// for each so many tokens.
const MOST_OF_TALK: usize = 3;
const TOKENS_OF_RESULT: usize = 300;

/// States facts in conversations, and asks for them. Facts that are there stay, and no value of
/// theirs is stated anew.
///
/// # Errors
/// The key, the value and the accepted values, if the table is wrong.
pub(crate) fn plant(
    statements: &Statements,
    name: &str,
    seed: u64,
    window: u32,
    scenarios: &mut [Scenario],
) -> Result<(), String> {
    let ends: Vec<Vec<usize>> = scenarios.iter().map(|it| ends(&it.messages)).collect();
    let length = |ends: &Vec<usize>| ends.last().copied().unwrap_or(0) as u32;
    let lengths = ends.iter().map(length).collect();
    let spec = Spec::of_statements(statements, name, seed, window, lengths)?;
    let mut reserved = Reserved::default();
    let values = scenarios.iter().flat_map(|scenario| &scenario.facts);
    values.for_each(|fact| reserved.keep(&fact.value));
    let has_room = |ends: &Vec<usize>| TokenSpan::has_room(length(ends) as usize, window as usize);
    let numbers = (0..scenarios.len()).filter(|number| has_room(&ends[*number]));
    let plans: Vec<(usize, ConversationPlan)> = numbers
        .map(|number| (number, plan::draw(&spec, number, &mut reserved, None)))
        .collect();
    for (number, plan) in plans {
        let (stage, scenario) = (&ends[number], &mut scenarios[number]);
        state(
            &spec,
            statements.beside,
            number,
            plan,
            &reserved,
            stage,
            scenario,
        );
    }
    for (number, scenario) in scenarios.iter_mut().enumerate() {
        let dice = SeededDice::new(seed, number, Stream::Said);
        wishes::say(dice, spec.part(number), spec.said, scenario);
    }
    Ok(())
}

/// The number of tokens (o200k_base) up to and including each message.
fn ends(messages: &[Message]) -> Vec<usize> {
    let mut now = 0;
    let end = |message| {
        now += Encoding::O200k.count_message(message) as usize;
        now
    };
    messages.iter().map(end).collect()
}

fn state(
    spec: &Spec,
    beside: usize,
    number: usize,
    plan: ConversationPlan,
    reserved: &Reserved,
    ends: &[usize],
    scenario: &mut Scenario,
) {
    let dice = SeededDice::new(spec.seed, number, Stream::Text);
    let writer = ConversationWriter::new(plan.domain, plan.part, &plan.subjects, dice, reserved);
    let mut stage = PlantStage {
        spec,
        asides: Asides::default(),
        writer,
        said: vec![0; ends.len()],
        talk: GeneratedTalk {
            messages: std::mem::take(&mut scenario.messages),
            ends: ends.to_vec(),
            traces: vec![Default::default(); plan.pairs.len()],
        },
    };
    let mut due = agenda(&plan);
    stage.add_asides(&plan, beside, &mut due);
    // What is asked for has the first choice of messages.
    due.sort_by_key(|due| (due.stated.is_none(), due.place));
    due.iter().for_each(|due| stage.say(&plan, due));
    let mut talk = stage.talk;
    let plan = of_the_stated(plan, &mut talk.traces);
    let facts = facts::build(&plan, &talk);
    scenario.probes = probes::build(spec, number, &plan, &talk, &facts);
    scenario.facts.splice(0..0, facts);
    scenario.messages = talk.messages;
}

/// The plan without the pairs of which a side was never stated, and without those that would
/// replace them.
fn of_the_stated(mut plan: ConversationPlan, traces: &mut Vec<[Trace; 2]>) -> ConversationPlan {
    // The number that a pair gets. One that replaces another comes after it.
    let mut numbers: Vec<Option<usize>> = Vec::new();
    let mut count = 0;
    for (pair, trace) in plan.pairs.iter().zip(&*traces) {
        let is_stated = trace.iter().all(|side| !side.said.is_empty())
            && pair.replaces.is_none_or(|old| numbers[old].is_some());
        numbers.push(is_stated.then_some(count));
        count += usize::from(is_stated);
    }
    let mut stays = numbers.iter().map(Option::is_some);
    traces.retain(|_| stays.next() == Some(true));
    let mut stays = numbers.iter().map(Option::is_some);
    plan.pairs.retain(|_| stays.next() == Some(true));
    for pair in &mut plan.pairs {
        pair.replaces = pair.replaces.and_then(|old| numbers[old]);
    }
    plan
}

/// Something that is to be said at or after a place.
struct DueFacts {
    place: usize,
    by: Speaker,
    /// The pair and the side that are stated; nothing for an incidental statement.
    stated: Option<(usize, usize)>,
}

fn agenda(plan: &ConversationPlan) -> Vec<DueFacts> {
    let mut due = Vec::new();
    for (pair, planned) in plan.pairs.iter().enumerate() {
        for mention in &planned.mentions {
            due.extend([0, 1].map(|side| DueFacts {
                place: mention.place[side],
                by: mention.by,
                stated: Some((pair, side)),
            }));
        }
    }
    due
}

struct PlantStage<'s> {
    spec: &'s Spec,
    writer: ConversationWriter<'s>,
    asides: Asides,
    /// For each message, the statements that it got.
    said: Vec<usize>,
    talk: GeneratedTalk,
}

impl PlantStage<'_> {
    /// Adds incidental statements by the speakers of what is due, anywhere.
    fn add_asides(&mut self, plan: &ConversationPlan, beside: usize, due: &mut Vec<DueFacts>) {
        let speakers: Vec<Speaker> = due.iter().map(|due| due.by).collect();
        for by in speakers {
            due.extend((0..beside).map(|_| DueFacts {
                place: self.writer.dice.below(plan.span.length),
                by,
                stated: None,
            }));
        }
    }

    /// Says what is due in the first message that has room for it; nothing if there is none.
    fn say(&mut self, plan: &ConversationPlan, due: &DueFacts) {
        let from = self.talk.ends.partition_point(|end| *end < due.place);
        let mut later = from..self.talk.messages.len();
        let Some(at) = later.find(|at| self.has_room(*at, due)) else {
            return;
        };
        let Some(text) = self.words(plan, due) else {
            return;
        };
        self.said[at] += 1;
        let message = &mut self.talk.messages[at];
        if let Some((pair, side)) = due.stated {
            self.talk.traces[pair][side].said.push(message.id);
        }
        if let Some(said) = place_of(message, due.by) {
            append(said, &text, due.by, &mut self.writer.dice);
        }
    }

    fn has_room(&mut self, at: usize, due: &DueFacts) -> bool {
        let before = at.checked_sub(1).map_or(0, |before| self.talk.ends[before]);
        let tokens = self.talk.ends[at] - before;
        let most = match due.by {
            Speaker::Tool => 1 + tokens / TOKENS_OF_RESULT,
            _ => MOST_OF_TALK,
        };
        let message = &mut self.talk.messages[at];
        let is_said = due.stated.is_some_and(|(pair, side)| {
            self.talk.traces[pair][side].said.last() == Some(&message.id)
        });
        self.said[at] < most && !is_said && place_of(message, due.by).is_some()
    }

    fn words(&mut self, plan: &ConversationPlan, due: &DueFacts) -> Option<String> {
        let Some((pair, side)) = due.stated else {
            let manner = Manner {
                session: &self.spec.session,
                agent: None,
            };
            return self.asides.next(manner, plan, &mut self.writer, due.by);
        };
        let (pair, side) = (&plan.pairs[pair], &plan.pairs[pair].sides[side]);
        let wording = AsideWording {
            claim: pair.claim,
            is_change: pair.replaces.is_some(),
            subject: side.subject,
            value: &side.value,
            by: due.by,
        };
        Some(wording.write(&mut self.writer))
    }
}
