//! The conversation itself: turns of the user, the agent and tools, with each statement of the plan
//! in an ordinary turn.

use compactometer_engine::memory;
use compactometer_engine::message::{Message, MessageId, Part, Role};
use compactometer_engine::tokens::{Encoding, TokenCounter};
use compactometer_formats::scenario::Speaker;

use crate::generate::asides::{AsideWording, Asides};
use crate::generate::calls::{CallMaker, GeneratedCall};
use crate::generate::documents;
use crate::generate::domains::Tool;
use crate::generate::manner::Manner;
use crate::generate::plan::{ConversationPlan, tool_for};
use crate::generate::session::SessionTable;
use crate::generate::writer::ConversationWriter;

/// Tokens kept for the last exchange, in which nothing is stated.
const CLOSING: usize = 700;

/// The most lines that a user pastes.
const MOST_PASTED: usize = 60;

/// What a user says who has cancelled a request.
const CANCELS: [&str; 6] = [
    "Stop, that leads nowhere.",
    "Hold on, leave that.",
    "I cancelled this; it takes too long.",
    "No, not that way.",
    "Wait, something else first.",
    "Leave it there, I read the question wrongly.",
];

/// How a user corrects the agent.
const CORRECTIONS: [&str; 8] = [
    "No, that is not what I asked for.",
    "That is wrong, look again.",
    "Not quite: the other way round.",
    "Please undo the last step.",
    "You stopped too early, do not leave it like this.",
    "That should not have changed.",
    "I meant the other one instead.",
    "Actually, that was fine before; revert it.",
];

/// A written conversation.
pub(crate) struct GeneratedTalk {
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
pub(crate) fn write(
    manner: Manner,
    plan: &ConversationPlan,
    document: Option<&str>,
    mut writer: ConversationWriter,
) -> GeneratedTalk {
    let traces = vec![<[Trace; 2]>::default(); plan.pairs.len()];
    let talk = GeneratedTalk {
        messages: Vec::new(),
        ends: Vec::new(),
        traces,
    };
    let asides = Asides::default();
    writer.known_share = manner.agent.map_or(0, |agent| agent.known / 2);
    let (due, calls) = (agenda(manner.session, plan), CallMaker::default());
    let mut stage = TalkStage {
        manner,
        plan,
        writer,
        asides,
        due,
        talk,
        calls,
        settled: 0,
        is_cancelled: false,
    };
    stage.system(document);
    while !stage.is_full() {
        let steps = stage.steps();
        stage.exchange(steps);
    }
    stage.exchange(1);
    stage.talk
}

/// A statement or use that the plan schedules at or after some place.
#[derive(Clone, Copy)]
struct DueTalk {
    place: usize,
    pair: usize,
    side: usize,
    by: TalkBy,
    /// Whether it repeats a statement as `[session]` asks for. It waits for what does not, and is
    /// left out if it does not fit.
    is_repeated: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum TalkBy {
    Saying(Speaker),
    Using,
}

fn agenda(session: &SessionTable, plan: &ConversationPlan) -> Vec<DueTalk> {
    let mut due = Vec::new();
    for (pair, planned) in plan.pairs.iter().enumerate() {
        let said = planned.mentions.iter().enumerate();
        let said = said.map(|(at, mention)| {
            (
                &mention.place,
                TalkBy::Saying(mention.by),
                at > 0 && session.mentions.is_some(),
            )
        });
        let used = planned
            .uses
            .iter()
            .map(|place| (place, TalkBy::Using, false));
        for (place, by, is_repeated) in said.chain(used) {
            due.extend([0, 1].map(|side| DueTalk {
                place: place[side],
                pair,
                side,
                by,
                is_repeated,
            }));
        }
    }
    due.sort_by_key(|due| due.place);
    due
}

struct TalkStage<'p, 'r> {
    manner: Manner<'p>,
    plan: &'p ConversationPlan,
    writer: ConversationWriter<'r>,
    asides: Asides,
    due: Vec<DueTalk>,
    talk: GeneratedTalk,
    calls: CallMaker,
    /// Exchanges begun since the last value that will be replaced was stated.
    settled: usize,
    /// Whether the user has cancelled the latest request.
    is_cancelled: bool,
}

impl TalkStage<'_, '_> {
    fn system(&mut self, document: Option<&str>) {
        let mut rules = self.writer.domain.rules.to_vec();
        self.writer.dice.shuffle(&mut rules);
        rules.truncate(self.writer.dice.between(10, 13));
        let rules: Vec<String> = rules
            .iter()
            .map(|rule| format!("- {}", self.writer.fill(rule)))
            .collect();
        let text = format!(
            "{}\n\nHow we work:\n{}",
            self.writer.domain.role,
            rules.join("\n")
        );
        let parts = [Part::Text { text }]
            .into_iter()
            .chain(document.map(memory::document));
        self.push(Role::System, parts.collect());
    }

    /// A request, a number of steps with tools, and the agent's answer.
    fn exchange(&mut self, steps: usize) {
        self.writer.pass(7_200);
        let is_replaced = |pair: usize| {
            self.plan
                .pairs
                .iter()
                .any(|later| later.replaces == Some(pair))
        };
        self.settled += usize::from(!self.due.iter().any(|due| is_replaced(due.pair)));
        self.request();
        self.is_cancelled = self
            .manner
            .agent
            .is_some_and(|agent| self.writer.dice.chance(agent.cancelled));
        for step in 0..steps {
            if step > 0 && self.manner.agent.is_some() && self.is_full() {
                break;
            }
            self.step();
        }
        if self.is_cancelled {
            let call = self.calls.next(self.manner.agent, &mut self.writer);
            self.push(Role::Assistant, vec![call.part]);
            let text = "cancelled by the user".to_owned();
            self.push(
                Role::Tool,
                vec![Part::ToolResult {
                    call_id: call.id,
                    text,
                    is_error: true,
                }],
            );
        } else {
            self.answer();
        }
    }

    /// Whether the conversation has its length, and everything is said.
    fn is_full(&self) -> bool {
        self.now() + CLOSING >= self.plan.span.length && self.due.iter().all(|due| due.is_repeated)
    }

    fn steps(&mut self) -> usize {
        if let Some(agent) = self.manner.agent {
            return agent.turns(&mut self.writer.dice);
        }
        match self.writer.dice.below(100) {
            0..35 => 1,
            35..65 => 2,
            65..85 => 3,
            _ => 4,
        }
    }

    fn request(&mut self) {
        let remarks = match self.manner.agent {
            Some(_) => usize::from(self.writer.dice.chance(20)),
            None => self.writer.dice.between(0, 3),
        };
        let mut sentences = Vec::new();
        if self.is_cancelled {
            sentences.push(self.writer.pick(&CANCELS).to_owned());
        } else if self
            .manner
            .agent
            .is_some_and(|agent| self.writer.dice.chance(agent.corrected))
        {
            sentences.push(self.writer.pick(&CORRECTIONS).to_owned());
        }
        sentences.extend(self.writer.sentences(&self.writer.domain.requests, 1));
        sentences.extend(self.sentences(Speaker::User, &self.plan.domain.remarks, remarks));
        self.mix_in(Speaker::User, 5, &mut sentences);
        let mut text = sentences.join(" ");
        if self
            .manner
            .agent
            .is_some_and(|agent| self.writer.dice.chance(agent.pasted))
        {
            text.push_str("\n\n");
            text.push_str(&self.pasted());
        }
        self.push(Role::User, vec![Part::Text { text }]);
    }

    /// What a user pastes: lines in the style of some tool.
    fn pasted(&mut self) -> String {
        let tools = &self.plan.domain.tools;
        let tool = &tools[self.writer.dice.below(tools.len())];
        let count = self.writer.dice.between(4, MOST_PASTED);
        let lines = (0..count)
            .map(|_| self.incidental_line(tool))
            .collect::<Vec<_>>();
        let rows = documents::rows(&mut self.writer, &tool.style, &lines);
        documents::result(&tool.style, &rows)
    }

    fn answer(&mut self) {
        let findings = if self.manner.agent.is_some() {
            [3, 7]
        } else {
            [2, 5]
        };
        let findings = self.writer.dice.between(findings[0], findings[1]);
        let mut sentences =
            self.sentences(Speaker::Assistant, &self.plan.domain.findings, findings);
        self.mix_in(Speaker::Assistant, 4, &mut sentences);
        self.push(
            Role::Assistant,
            vec![Part::Text {
                text: sentences.join(" "),
            }],
        );
    }

    /// A turn of the agent with calls, then their results.
    fn step(&mut self) {
        let count = match self.manner.agent {
            Some(agent) if self.writer.dice.chance(agent.silent) => 0,
            Some(_) => self.writer.dice.between(1, 2),
            None => usize::from(self.writer.dice.chance(75)),
        };
        let mut sentences = self.sentences(Speaker::Assistant, &self.plan.domain.steps, count);
        self.mix_in(Speaker::Assistant, 2, &mut sentences);
        let wanted = match self.manner.agent {
            Some(agent) => agent.calls(&mut self.writer.dice),
            None => match self.writer.dice.below(100) {
                0..70 => 1,
                70..92 => 2,
                _ => 3,
            },
        };
        let uses = if self.manner.agent.is_some() { 1 } else { 2 };
        let mut calls: Vec<GeneratedCall> = self
            .take(TalkBy::Using, uses)
            .into_iter()
            .filter_map(|due| self.using(due))
            .collect();
        while calls.len() < wanted {
            calls.push(self.calls.next(self.manner.agent, &mut self.writer));
        }
        let text = (!sentences.is_empty()).then(|| Part::Text {
            text: sentences.join(" "),
        });
        let parts = calls.iter().map(|call| call.part.clone());
        self.push(Role::Assistant, text.into_iter().chain(parts).collect());
        calls.into_iter().for_each(|call| self.result(call));
    }

    fn using(&mut self, due: DueTalk) -> Option<GeneratedCall> {
        let pair = &self.plan.pairs[due.pair];
        let (tool, argument) = tool_for(self.plan.domain, pair.form)?;
        let id = self.next_id();
        self.talk.traces[due.pair][due.side].used.push(id);
        let given = Some((argument, pair.sides[due.side].value.as_str()));
        Some(
            self.calls
                .with(self.manner.agent, &mut self.writer, tool, given),
        )
    }

    fn result(&mut self, mut call: GeneratedCall) {
        let call_id = call.id.clone();
        let is_error = self.writer.dice.chance(4);
        let text = if is_error {
            let failures = &call.tool.failures;
            let failure = &failures[self.writer.dice.below(failures.len())];
            format!("error: {}", self.writer.fill(failure))
        } else {
            let mut rows = std::mem::take(&mut call.read_before);
            let stated = self.statements(Speaker::Tool, 3);
            let lines = self.lines(&call, stated, rows.is_empty());
            rows.extend(documents::rows(&mut self.writer, &call.tool.style, &lines));
            let text = documents::result(&call.tool.style, &rows);
            if self.manner.agent.is_some() {
                self.calls.returned(call, rows);
            }
            text
        };
        self.push(
            Role::Tool,
            vec![Part::ToolResult {
                call_id,
                text,
                is_error,
            }],
        );
    }

    /// The new lines of a result, with the stated ones at random places. If the result was read
    /// before, nothing else is new.
    fn lines(
        &mut self,
        call: &GeneratedCall,
        stated: Vec<String>,
        is_new: bool,
    ) -> Vec<documents::ResultLine> {
        let count = if is_new { self.lines_wanted(call) } else { 0 };
        let mut lines = (0..count)
            .map(|_| self.incidental_line(call.tool))
            .collect::<Vec<_>>();
        for line in stated {
            let at = self.writer.dice.below(lines.len() + 1);
            lines.insert(at, (line, true));
        }
        lines
    }

    fn incidental_line(&mut self, tool: &Tool) -> documents::ResultLine {
        let aside = aside(
            self.manner,
            self.plan,
            &mut self.asides,
            &mut self.writer,
            Speaker::Tool,
        );
        (
            aside.unwrap_or_else(|| self.writer.line(&tool.items)),
            false,
        )
    }

    fn lines_wanted(&mut self, call: &GeneratedCall) -> usize {
        let (writer, style) = (&mut self.writer, &call.tool.style);
        match self.manner.agent {
            Some(agent) => documents::lines_wanted_with_long(writer, style, agent.long),
            None => documents::lines_wanted(writer, style),
        }
    }

    /// Incidental sentences of the speaker, from different templates or in the words of claims.
    fn sentences(&mut self, speaker: Speaker, templates: &[String], count: usize) -> Vec<String> {
        let of_talk = self.manner.agent.map_or(0, |agent| agent.known);
        let of_results = std::mem::replace(&mut self.writer.known_share, of_talk);
        let mut sentences = self.writer.sentences(templates, count);
        for sentence in &mut sentences {
            if let Some(aside) = aside(
                self.manner,
                self.plan,
                &mut self.asides,
                &mut self.writer,
                speaker,
            ) {
                *sentence = aside;
            }
        }
        self.writer.known_share = of_results;
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
        let taken = self.take(TalkBy::Saying(speaker), most);
        let state = |due: DueTalk| {
            self.talk.traces[due.pair][due.side].said.push(id);
            let pair = &self.plan.pairs[due.pair];
            let (side, is_change) = (&pair.sides[due.side], pair.replaces.is_some());
            let wording = AsideWording {
                claim: pair.claim,
                is_change,
                subject: side.subject,
                value: &side.value,
                by: speaker,
            };
            wording.write(&mut self.writer)
        };
        taken.into_iter().map(state).collect()
    }

    /// Removes and returns what is due, oldest first, and at most once per pair and side in a
    /// message. A replacement waits until the old value could have been asked for in a separate
    /// exchange.
    fn take(&mut self, by: TalkBy, most: usize) -> Vec<DueTalk> {
        let now = self.now();
        let (plan, settled) = (self.plan, self.settled >= 2);
        let mut taken: Vec<DueTalk> = Vec::new();
        for is_repeated in [false, true] {
            self.due.retain(|due| {
                let is_new = taken
                    .iter()
                    .all(|other| (other.pair, other.side) != (due.pair, due.side));
                let is_ready =
                    due.place <= now && (settled || plan.pairs[due.pair].replaces.is_none());
                let take = taken.len() < most
                    && due.by == by
                    && due.is_repeated == is_repeated
                    && is_ready
                    && is_new;
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
        let message = Message {
            id: self.next_id(),
            role,
            at_ms: None,
            parts,
            usage: None,
        };
        self.talk
            .ends
            .push(self.now() + Encoding::O200k.count_message(&message) as usize);
        self.talk.messages.push(message);
    }
}

/// An incidental statement in the words of a claim, as often as the spec asks for one.
fn aside(
    manner: Manner,
    plan: &ConversationPlan,
    asides: &mut Asides,
    writer: &mut ConversationWriter,
    by: Speaker,
) -> Option<String> {
    let alike = manner.session.alike;
    let is_alike = alike > 0 && writer.dice.chance(alike);
    is_alike
        .then(|| asides.next(manner, plan, writer, by))
        .flatten()
}
