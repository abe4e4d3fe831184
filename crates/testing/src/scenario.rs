//! Small conversations with known facts and questions, built by hand.

use compactometer_engine::message::{Message, MessageId, Part, Role};
use compactometer_formats::scenario::{Category, Fact, Probe, Scenario, Split, ValueKind};
use compactometer_formats::suite::{Header, Suite};

/// A conversation under construction.
pub struct Builder {
    /// The conversation so far.
    pub scenario: Scenario,
}

impl Builder {
    /// An empty conversation of a group.
    pub fn new(id: &str, group: &str) -> Self {
        let scenario = Scenario {
            id: id.into(),
            group_id: group.into(),
            projects: Vec::new(),
            version: 1,
            seed: None,
            source: "test".into(),
            licence: None,
            split: Split::Dev,
            tools: Vec::new(),
            messages: Vec::new(),
            compactions: Vec::new(),
            shaped_after: None,
            log: Default::default(),
            unmeasured: Vec::new(),
            directories: Vec::new(),
            reattached: None,
            memory_notes: Vec::new(),
            said: Vec::new(),
            facts: Vec::new(),
            probes: Vec::new(),
        };
        Builder { scenario }
    }

    /// The number `number` of a suite in which every conversation has its own group.
    pub fn numbered(number: usize) -> Self {
        Builder::new(&format!("s{number}"), &format!("g{number}"))
    }

    /// Adds a message and gives its id.
    pub fn say(&mut self, role: Role, text: &str) -> MessageId {
        self.push(role, vec![Part::Text { text: text.into() }])
    }

    /// Adds a message of these parts and gives its id.
    pub fn push(&mut self, role: Role, parts: Vec<Part>) -> MessageId {
        let id = MessageId(self.scenario.messages.len() as u32);
        self.scenario.messages.push(Message {
            id,
            role,
            at_ms: None,
            parts,
            usage: None,
        });
        id
    }

    /// A tool call and its result; gives the id of the call's message.
    pub fn call(&mut self, arguments: &str, result: &str) -> MessageId {
        let call_id = format!("call-{}", self.scenario.messages.len());
        let call = Part::ToolCall {
            id: call_id.clone(),
            name: "run".into(),
            arguments: arguments.into(),
        };
        let id = self.push(Role::Assistant, vec![call]);
        self.push(
            Role::Tool,
            vec![Part::ToolResult {
                call_id,
                text: result.into(),
                is_error: false,
            }],
        );
        id
    }

    /// User turns and answers without facts, some `tokens` tokens in all.
    pub fn chatter(&mut self, tokens: usize) {
        for number in 0..tokens / 60 {
            self.say(
                Role::User,
                &format!("Please go on with step {number} and tell me what you see there now."),
            );
            self.say(
                Role::Assistant,
                "I looked at it again, and there is nothing unusual about it so far. "
                    .repeat(2)
                    .trim(),
            );
        }
    }

    /// A fact, `fact-0` and so on, with the messages that state it.
    pub fn fact(&mut self, value: &str, evidence: &[MessageId]) -> &mut Fact {
        let facts = &mut self.scenario.facts;
        let stated = Fact::stated(
            format!("fact-{}", facts.len()),
            "a thing",
            value,
            ValueKind::Id,
            evidence.to_vec(),
        );
        facts.push(Fact {
            category: Category::NumberOrId,
            ..stated
        });
        let last = facts.len() - 1;
        &mut facts[last]
    }

    /// A decision that the user states in this sentence.
    pub fn state(&mut self, value: &str, kind: ValueKind, sentence: &str) -> &mut Fact {
        let evidence = self.say(Role::User, sentence);
        self.say(Role::Assistant, "Noted.");
        let fact = self.fact(value, &[evidence]);
        (fact.category, fact.value_kind) = (Category::Decision, kind);
        fact
    }

    /// A question for these facts, `p0` and so on, after the user's last turn.
    pub fn ask(&mut self, facts: &[&str], question: &str) -> &mut Probe {
        let said = self.scenario.messages.iter();
        let last = said
            .rev()
            .find(|message| message.role == Role::User)
            .map_or(MessageId(0), |message| message.id);
        let probes = &mut self.scenario.probes;
        probes.push(probe(&format!("p{}", probes.len()), facts, question, last));
        let last = probes.len() - 1;
        &mut probes[last]
    }

    /// The conversation.
    pub fn build(self) -> Scenario {
        self.scenario
    }
}

/// A question for these facts; without any, for something that was never said.
pub fn probe(id: &str, facts: &[&str], question: &str, asked_after: MessageId) -> Probe {
    Probe {
        id: id.into(),
        fact_ids: facts.iter().map(|fact| (*fact).to_owned()).collect(),
        question: question.into(),
        asked_after,
        gold: None,
        forbidden: Vec::new(),
        abstain_expected: facts.is_empty(),
        order: Vec::new(),
        memory: None,
    }
}

/// A suite of these conversations.
pub fn suite(scenarios: Vec<Scenario>) -> Suite {
    Suite {
        header: Header::new("test", None, Vec::new()),
        scenarios,
    }
}
