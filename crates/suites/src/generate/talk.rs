//! The conversation itself: turns of the user, the agent and tools, with each statement of the plan in an ordinary turn.

use compactometer_engine::memory;
use compactometer_engine::message::{Message, MessageId, Part, Role};
use compactometer_engine::tokens::{Encoding, TokenCounter};
use compactometer_formats::scenario::Speaker;
use serde_json::{Map, Value};

use crate::generate::asides::{Asides, Wording};
use crate::generate::documents;
use crate::generate::domains::Tool;
use crate::generate::plan::{Plan, tool_for};
use crate::generate::session::Session;
use crate::generate::writer::Writer;

/// Tokens kept for the last exchange, in which nothing is stated.
const CLOSING: usize = 700;

/// A written conversation.
pub(crate) struct Talk {
    /// The messages.
    pub(crate) messages: Vec<Message>,
    /// The number of tokens up to and including each message.
    pub(crate) ends: Vec<usize>,
    /// For each pair and side, the messages that state it and that use it.
    pub(crate) traces: Vec<[Trace; 2]>,
}

/// The messages that contain a value, in ascending order of id.
#[derive(Clone, Default)]
pub(crate) struct Trace {
    /// Messages that state it in words.
    pub(crate) said: Vec<MessageId>,
    /// Messages that use it as an argument.
    pub(crate) used: Vec<MessageId>,
}

/// Writes the conversation that a plan describes, with the memory document in its system prompt.
pub(crate) fn write(session: &Session, plan: &Plan, document: Option<&str>, writer: Writer) -> Talk {
    let traces = vec![<[Trace; 2]>::default(); plan.pairs.len()];
    let talk = Talk { messages: Vec::new(), ends: Vec::new(), traces };
    let asides = Asides::default();
    let mut stage = Stage { session, plan, writer, asides, due: agenda(session, plan), talk, calls: 0, settled: 0 };
    stage.system(document);
    while stage.now() + CLOSING < plan.span.length || stage.due.iter().any(|due| !due.is_repeated) {
        let steps = stage.steps();
        stage.exchange(steps);
    }
    stage.exchange(1);
    stage.talk
}

/// A statement or use that the plan schedules at or after some place.
#[derive(Clone, Copy)]
struct Due {
    place: usize,
    pair: usize,
    side: usize,
    by: By,
    /// Whether it repeats a statement as `[session]` asks for. It waits for what does not, and is left out if it does not fit.
    is_repeated: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum By {
    Saying(Speaker),
    Using,
}

fn agenda(session: &Session, plan: &Plan) -> Vec<Due> {
    let mut due = Vec::new();
    for (pair, planned) in plan.pairs.iter().enumerate() {
        let said = planned.mentions.iter().enumerate();
        let said =
            said.map(|(at, mention)| (&mention.place, By::Saying(mention.by), at > 0 && session.mentions.is_some()));
        let used = planned.use_at.iter().map(|place| (place, By::Using, false));
        for (place, by, is_repeated) in said.chain(used) {
            due.extend([0, 1].map(|side| Due { place: place[side], pair, side, by, is_repeated }));
        }
    }
    due.sort_by_key(|due| due.place);
    due
}

struct Stage<'p, 'r> {
    session: &'p Session,
    plan: &'p Plan,
    writer: Writer<'r>,
    asides: Asides,
    due: Vec<Due>,
    talk: Talk,
    calls: usize,
    /// Exchanges begun since the last value that will be replaced was stated.
    settled: usize,
}

impl Stage<'_, '_> {
    fn system(&mut self, document: Option<&str>) {
        let mut rules = self.writer.domain.rules.to_vec();
        self.writer.dice.shuffle(&mut rules);
        rules.truncate(self.writer.dice.between(10, 13));
        let rules: Vec<String> = rules.iter().map(|rule| format!("- {}", self.writer.fill(rule))).collect();
        let text = format!("{}\n\nHow we work:\n{}", self.writer.domain.role, rules.join("\n"));
        let parts = [Part::Text { text }].into_iter().chain(document.map(memory::document));
        self.push(Role::System, parts.collect());
    }

    /// A request, a number of steps with tools, and the agent's answer.
    fn exchange(&mut self, steps: usize) {
        self.writer.pass(7_200);
        let is_replaced = |pair: usize| self.plan.pairs.iter().any(|later| later.replaces == Some(pair));
        self.settled += usize::from(!self.due.iter().any(|due| is_replaced(due.pair)));
        self.request();
        (0..steps).for_each(|_| self.step());
        self.answer();
    }

    fn steps(&mut self) -> usize {
        match self.writer.dice.below(100) {
            0..35 => 1,
            35..65 => 2,
            65..85 => 3,
            _ => 4,
        }
    }

    fn request(&mut self) {
        let remarks = self.writer.dice.between(0, 3);
        let mut sentences = self.writer.sentences(&self.writer.domain.requests, 1);
        sentences.extend(self.sentences(Speaker::User, &self.plan.domain.remarks, remarks));
        self.mix_in(Speaker::User, 5, &mut sentences);
        self.push(Role::User, vec![Part::Text { text: sentences.join(" ") }]);
    }

    fn answer(&mut self) {
        let findings = self.writer.dice.between(2, 5);
        let mut sentences = self.sentences(Speaker::Assistant, &self.plan.domain.findings, findings);
        self.mix_in(Speaker::Assistant, 4, &mut sentences);
        self.push(Role::Assistant, vec![Part::Text { text: sentences.join(" ") }]);
    }

    /// A turn of the agent with calls, then their results.
    fn step(&mut self) {
        let words = usize::from(self.writer.dice.chance(75));
        let mut sentences = self.sentences(Speaker::Assistant, &self.plan.domain.steps, words);
        self.mix_in(Speaker::Assistant, 2, &mut sentences);
        let wanted = match self.writer.dice.below(100) {
            0..70 => 1,
            70..92 => 2,
            _ => 3,
        };
        let mut calls: Vec<Call> = self.take(By::Using, 2).into_iter().filter_map(|due| self.using(due)).collect();
        while calls.len() < wanted {
            let tools = &self.plan.domain.tools;
            let tool = &tools[self.writer.dice.below(tools.len())];
            calls.push(self.call(tool, None));
        }
        let text = (!sentences.is_empty()).then(|| Part::Text { text: sentences.join(" ") });
        let parts = calls.iter().map(|call| call.part.clone());
        self.push(Role::Assistant, text.into_iter().chain(parts).collect());
        calls.into_iter().for_each(|call| self.result(call));
    }

    fn using(&mut self, due: Due) -> Option<Call> {
        let pair = &self.plan.pairs[due.pair];
        let (tool, argument) = tool_for(self.plan.domain, pair.form)?;
        let id = self.next_id();
        self.talk.traces[due.pair][due.side].used.push(id);
        Some(self.call(tool, Some((argument, &pair.sides[due.side].value))))
    }

    fn call(&mut self, tool: &'static Tool, given: Option<(usize, &str)>) -> Call {
        let mut arguments = Map::new();
        for (at, (name, template)) in tool.arguments.iter().enumerate() {
            let value = match given {
                Some((place, value)) if place == at => value.to_owned(),
                _ => self.writer.fill(template),
            };
            arguments.insert((*name).to_owned(), Value::String(value));
        }
        self.calls += 1;
        let id = format!("call_{:04}", self.calls);
        let arguments = Value::Object(arguments).to_string();
        Call { tool, part: Part::ToolCall { id: id.clone(), name: tool.name.to_owned(), arguments }, id }
    }

    fn result(&mut self, call: Call) {
        let is_error = self.writer.dice.chance(4);
        let text = if is_error {
            let failures = &call.tool.failures;
            let failure = &failures[self.writer.dice.below(failures.len())];
            format!("error: {}", self.writer.fill(failure))
        } else {
            let stated = self.statements(Speaker::Tool, 3);
            let (writer, asides) = (&mut self.writer, &mut self.asides);
            let line = |writer: &mut Writer| {
                let aside = aside(self.session, self.plan, asides, writer, Speaker::Tool);
                aside.unwrap_or_else(|| writer.line(&call.tool.items))
            };
            documents::result(writer, &call.tool.style, line, stated)
        };
        self.push(Role::Tool, vec![Part::ToolResult { call_id: call.id, text, is_error }]);
    }

    /// Incidental sentences of the speaker, from different templates or in the words of claims.
    fn sentences(&mut self, speaker: Speaker, templates: &[String], count: usize) -> Vec<String> {
        let mut sentences = self.writer.sentences(templates, count);
        for sentence in &mut sentences {
            if let Some(aside) = aside(self.session, self.plan, &mut self.asides, &mut self.writer, speaker) {
                *sentence = aside;
            }
        }
        sentences
    }

    /// Inserts the statements that the speaker is due to make among the sentences.
    fn mix_in(&mut self, speaker: Speaker, most: usize, sentences: &mut Vec<String>) {
        for statement in self.statements(speaker, most) {
            let at = self.writer.dice.below(sentences.len() + 1);
            sentences.insert(at, statement);
        }
    }

    fn statements(&mut self, speaker: Speaker, most: usize) -> Vec<String> {
        let id = self.next_id();
        let taken = self.take(By::Saying(speaker), most);
        let state = |due: Due| {
            self.talk.traces[due.pair][due.side].said.push(id);
            let pair = &self.plan.pairs[due.pair];
            let (side, is_change) = (&pair.sides[due.side], pair.replaces.is_some());
            let wording =
                Wording { claim: pair.claim, is_change, subject: side.subject, value: &side.value, by: speaker };
            wording.write(&mut self.writer)
        };
        taken.into_iter().map(state).collect()
    }

    /// Removes and returns what is due, oldest first, and at most once per pair and side in a message. A replacement waits until
    /// the old value could have been asked for in a separate exchange.
    fn take(&mut self, by: By, most: usize) -> Vec<Due> {
        let now = self.now();
        let (plan, settled) = (self.plan, self.settled >= 2);
        let mut taken: Vec<Due> = Vec::new();
        for is_repeated in [false, true] {
            self.due.retain(|due| {
                let is_new = taken.iter().all(|other| (other.pair, other.side) != (due.pair, due.side));
                let is_ready = due.place <= now && (settled || plan.pairs[due.pair].replaces.is_none());
                let take = taken.len() < most && due.by == by && due.is_repeated == is_repeated && is_ready && is_new;
                if take {
                    taken.push(*due);
                }
                !take
            });
        }
        taken
    }

    fn now(&self) -> usize {
        self.talk.ends.last().copied().unwrap_or(0)
    }

    /// The id of the message that is being written. Ids start at 1.
    fn next_id(&self) -> MessageId {
        MessageId(self.talk.messages.len() as u32 + 1)
    }

    fn push(&mut self, role: Role, parts: Vec<Part>) {
        let message = Message { id: self.next_id(), role, at_ms: None, parts, usage: None };
        self.talk.ends.push(self.now() + Encoding::O200k.count_message(&message) as usize);
        self.talk.messages.push(message);
    }
}

struct Call {
    tool: &'static Tool,
    id: String,
    part: Part,
}

/// An incidental statement in the words of a claim, as often as the spec asks for one.
fn aside(session: &Session, plan: &Plan, asides: &mut Asides, writer: &mut Writer, by: Speaker) -> Option<String> {
    let is_alike = session.alike > 0 && writer.dice.chance(session.alike);
    is_alike.then(|| asides.next(session, plan, writer, by)).flatten()
}
