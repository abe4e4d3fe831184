//! Conversations of any length with a fixed number of facts, which separates work that grows with
//! the facts from work that grows with the conversation.

use std::ops::Range;
use std::sync::Arc;

use compactometer_engine::message::{Message, MessageId, Part, Role};
use compactometer_engine::tokens::CountedMessage;
use compactometer_engine::tokens::TokenCounter;
use compactometer_formats::scenario::{Category, Fact, Salience, Scenario, Split, ValueKind};
use compactometer_formats::suite::{Header, Suite};

use crate::texts::Kind;

/// Facts of each conversation.
pub const FACTS: usize = 40;

/// One conversation for each seed, each in its own group.
pub fn suite(seeds: Range<u64>, conversation: impl Fn(u64) -> Scenario) -> Suite {
    let scenarios = seeds.map(conversation).collect();
    Suite {
        header: Header::new("measured", None, Vec::new()),
        scenarios,
    }
}

/// One conversation. A turn is a user's message, a call with its result, and an answer. Facts are
/// spread evenly over it.
pub fn scenario(seed: u64, turns: usize) -> Scenario {
    conversation(seed, turns, Talk::working_turn)
}

/// A conversation without tools, which peers that support none can replay too. A turn is a user's
/// message and an answer.
pub fn dialogue(seed: u64, turns: usize) -> Scenario {
    conversation(seed, turns, Talk::plain_turn)
}

fn conversation(seed: u64, turns: usize, say_turn: fn(&mut Talk, usize, usize)) -> Scenario {
    let mut talk = Talk {
        texts: Texts::new(seed),
        seed,
        messages: Vec::new(),
        facts: Vec::new(),
    };
    talk.say(
        Role::System,
        "You are a careful agent. Answer from what was said.".to_owned(),
    );
    for turn in 0..turns {
        // Facts that should be stated by the end of this turn.
        let due = ((turn + 1) * FACTS).div_ceil(turns);
        say_turn(&mut talk, turn, due);
    }
    Scenario {
        id: format!("talk-{seed}"),
        group_id: format!("group-{seed}"),
        projects: Vec::new(),
        version: 1,
        seed: Some(seed),
        source: "compactometer-benches".to_owned(),
        licence: None,
        split: Split::Dev,
        tools: Vec::new(),
        messages: talk.messages,
        compactions: Vec::new(),
        shaped_after: None,
        log: Default::default(),
        unmeasured: Vec::new(),
        directories: Vec::new(),
        reattached: None,
        memory_notes: Vec::new(),
        said: Vec::new(),
        facts: talk.facts,
        probes: Vec::new(),
    }
}

/// The messages of a conversation, counted.
pub fn counted(scenario: &Scenario, counter: &dyn TokenCounter) -> Vec<Arc<CountedMessage>> {
    let messages = scenario.messages.iter();
    messages
        .map(|message| CountedMessage::new(message.clone(), counter))
        .collect()
}

struct Talk {
    texts: Texts,
    seed: u64,
    messages: Vec<Message>,
    facts: Vec<Fact>,
}

impl Talk {
    fn working_turn(&mut self, turn: usize, facts_due: usize) {
        self.ask(facts_due);
        let call_id = format!("call-{turn}");
        let arguments = format!("{{\"turn\":{turn}}}");
        let call = Part::ToolCall {
            id: call_id.clone(),
            name: "look".to_owned(),
            arguments,
        };
        self.push(Role::Assistant, vec![call]);
        let text = self.texts.json();
        self.push(
            Role::Tool,
            vec![Part::ToolResult {
                call_id,
                text,
                is_error: false,
            }],
        );
        self.answer();
    }

    fn plain_turn(&mut self, _: usize, facts_due: usize) {
        self.ask(facts_due);
        self.answer();
    }

    /// A user's message that states the facts that are due.
    fn ask(&mut self, facts_due: usize) {
        let mut request = self.texts.prose();
        let id = self.next_id();
        while self.facts.len() < facts_due {
            request += &self.state_fact(id);
        }
        self.say(Role::User, request);
    }

    fn answer(&mut self) {
        let answer = self.texts.prose();
        self.say(Role::Assistant, answer);
    }

    /// Adds a fact that the message with this id states. Returns its sentence.
    fn state_fact(&mut self, id: MessageId) -> String {
        let number = self.facts.len();
        let value = format!("KX-{}-{number:03}", 1_000 + self.seed);
        let sentence = format!(" The code of item {number} is {value}.");
        let (fact, subject) = (format!("fact-{number}"), format!("item {number}"));
        self.facts.push(Fact {
            category: Category::NumberOrId,
            salience: Salience::Explicit,
            ..Fact::stated(fact, subject, value, ValueKind::Id, vec![id])
        });
        sentence
    }

    fn next_id(&self) -> MessageId {
        MessageId(u32::try_from(self.messages.len()).unwrap_or(u32::MAX))
    }

    fn say(&mut self, role: Role, text: String) {
        self.push(role, vec![Part::Text { text }]);
    }

    fn push(&mut self, role: Role, parts: Vec<Part>) {
        self.messages.push(Message {
            id: self.next_id(),
            role,
            at_ms: None,
            parts,
            usage: None,
        });
    }
}

/// An endless supply of paragraphs and objects.
struct Texts {
    prose: std::vec::IntoIter<String>,
    json: std::vec::IntoIter<String>,
    seed: u64,
}

impl Texts {
    fn new(seed: u64) -> Self {
        Texts {
            prose: Vec::new().into_iter(),
            json: Vec::new().into_iter(),
            seed: seed << 32,
        }
    }

    fn prose(&mut self) -> String {
        next(&mut self.prose, Kind::Prose, "\n\n", &mut self.seed)
    }

    fn json(&mut self) -> String {
        next(&mut self.json, Kind::Json, "\n", &mut self.seed)
    }
}

fn next(left: &mut std::vec::IntoIter<String>, kind: Kind, end: &str, seed: &mut u64) -> String {
    loop {
        if let Some(text) = left.next() {
            return text;
        }
        *seed += 1;
        let text = kind.text(*seed, 16_384);
        *left = text
            .split_terminator(end)
            .map(str::to_owned)
            .collect::<Vec<_>>()
            .into_iter();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cheap::Quarter;

    #[test]
    fn a_suite_is_one_that_the_program_reads_and_has_its_facts_at_every_length() {
        for turns in [3, 50, 200] {
            let suite = suite(0..2, |seed| {
                if seed == 0 {
                    scenario(seed, turns)
                } else {
                    dialogue(seed, turns)
                }
            });
            let mut bytes = Vec::new();
            suite.write(&mut bytes).expect("memory takes it");
            let read =
                Suite::from_reader(bytes.as_slice(), "measured".as_ref()).expect("it is valid");
            assert_eq!(read, suite);
            assert!(
                read.scenarios
                    .iter()
                    .all(|scenario| scenario.facts.len() == FACTS),
                "{turns} turns"
            );
        }
    }

    #[test]
    fn a_conversation_grows_by_its_turns() {
        let tokens = |turns| {
            counted(&scenario(1, turns), &Quarter)
                .iter()
                .map(|message| message.tokens)
                .sum::<u32>()
        };
        let (once, twice) = (tokens(100), tokens(200));
        assert!(
            twice > once * 19 / 10 && twice < once * 21 / 10,
            "{once} and {twice}"
        );
    }
}
