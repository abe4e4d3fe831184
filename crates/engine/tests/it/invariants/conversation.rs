//! Random conversations as agents really have them: parallel calls, unfinished batches, thinking,
//! media, and broken input.

use std::sync::Arc;

use compactometer_engine::message::{Message, MessageId, Part, Role};
use compactometer_engine::tokens::CountedMessage;
use compactometer_engine::tokens::TokenCounter;
use proptest::prelude::*;

use crate::invariants::texts::text;

/// A message, and whether a log should refuse it.
pub(crate) struct Said {
    pub(crate) counted: Arc<CountedMessage>,
    pub(crate) refused: bool,
}

/// One step of a conversation.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    User(Vec<Part>),
    Assistant(Vec<Part>),
    Batch(Batch),
    Broken(Broken),
}

/// Calls that an agent makes at once, and what came of them.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    /// What it says before them.
    lead: Vec<Part>,
    /// One call each: arguments and result.
    calls: Vec<(String, String)>,
    /// How many of them are answered.
    answered: usize,
    /// Whether the results are in one message.
    together: bool,
    /// What a tool sends beside its results.
    media: Option<Part>,
}

/// Messages that no provider takes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Broken {
    Orphan,
    Twice,
    RepeatedId,
    Late,
    System,
    Empty,
    CallByUser,
    ResultByAssistant,
}

/// How a conversation begins.
#[derive(Clone, Debug)]
pub(crate) struct Opening {
    system: Option<String>,
    user: Option<String>,
}

pub(crate) fn opening() -> impl Strategy<Value = Opening> {
    let user = prop_oneof![8 => text().prop_map(Some), 1 => Just(None)];
    (prop::option::of(text()), user).prop_map(|(system, user)| Opening { system, user })
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => prop::collection::vec(user_part(), 1..4).prop_map(Step::User),
        6 => prop::collection::vec(agent_part(), 1..4).prop_map(Step::Assistant),
        8 => batch().prop_map(Step::Batch),
        2 => broken().prop_map(Step::Broken),
    ]
}

fn user_part() -> impl Strategy<Value = Part> {
    prop_oneof![5 => text().prop_map(|text| Part::Text { text }), 1 => media()]
}

fn agent_part() -> impl Strategy<Value = Part> {
    prop_oneof![3 => text().prop_map(|text| Part::Text { text }), 1 => thinking()]
}

fn thinking() -> impl Strategy<Value = Part> {
    let signature = prop::option::of("[A-Za-z0-9+/]{8,40}=");
    ("[a-z ]{0,200}", signature).prop_map(|(text, signature)| Part::Thinking {
        text: format!("{THOUGHT} {text}"),
        signature,
    })
}

/// Stands in every thought and nowhere else.
pub(crate) const THOUGHT: &str = "[thought]";
/// Stands in the digest of every medium and nowhere else.
pub(crate) const DIGEST: &str = "[digest]";

fn media() -> impl Strategy<Value = Part> {
    let kind = prop_oneof![4 => Just("image/png".to_owned()), 1 => "[a-z]{1,20}/[a-z</]{1,600}"];
    (kind, 0_u32..2_000, "[0-9a-f]{8}").prop_map(|(media_type, tokens, hash)| Part::Media {
        media_type,
        digest: format!("{DIGEST}{hash}"),
        tokens,
    })
}

fn batch() -> impl Strategy<Value = Batch> {
    let lead = prop::collection::vec(agent_part(), 0..3);
    let calls = prop::collection::vec((prop_oneof![Just("{}".to_owned()), text()], text()), 1..5);
    let media = prop_oneof![6 => Just(None), 1 => media().prop_map(Some)];
    (lead, calls, 0_usize..12, any::<bool>(), media).prop_map(
        |(lead, calls, answered, together, media)| Batch {
            lead,
            calls,
            answered,
            together,
            media,
        },
    )
}

fn broken() -> impl Strategy<Value = Broken> {
    use Broken::{CallByUser, Empty, Late, Orphan, RepeatedId, ResultByAssistant, System, Twice};
    prop::sample::select(vec![
        Orphan,
        Twice,
        RepeatedId,
        Late,
        System,
        Empty,
        CallByUser,
        ResultByAssistant,
    ])
}

/// The messages of a conversation, in order, with ids that leave gaps.
pub(crate) fn conversation(
    opening: &Opening,
    steps: &[Step],
    counter: &dyn TokenCounter,
) -> Vec<Said> {
    let mut said = Writer {
        said: Vec::new(),
        counter,
        last_call: None,
        unanswered: None,
    };
    for (role, text) in [(Role::System, &opening.system), (Role::User, &opening.user)] {
        if let Some(text) = text {
            said.say(role, vec![Part::Text { text: text.clone() }]);
        }
    }
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::User(parts) => said.say(Role::User, parts.clone()),
            Step::Assistant(parts) => said.say(Role::Assistant, parts.clone()),
            Step::Batch(batch) => said.say_batch(number, batch),
            Step::Broken(broken) => said.say_broken(*broken),
        }
    }
    said.said
}

struct Writer<'c> {
    said: Vec<Said>,
    counter: &'c dyn TokenCounter,
    /// An answered call of an earlier batch.
    last_call: Option<String>,
    /// A call of the last batch that has no result, and whether somebody spoke since.
    unanswered: Option<(String, bool)>,
}

impl Writer<'_> {
    fn say(&mut self, role: Role, parts: Vec<Part>) {
        if role != Role::Tool
            && let Some((_, passed)) = &mut self.unanswered
        {
            *passed = true;
        }
        self.push(role, parts, false);
    }

    fn push(&mut self, role: Role, parts: Vec<Part>, refused: bool) {
        let id = MessageId(self.said.len() as u32 * 3);
        let message = Message {
            id,
            role,
            at_ms: None,
            parts,
            usage: None,
        };
        let counted = CountedMessage::new(message, self.counter);
        self.said.push(Said { counted, refused });
    }

    fn say_batch(&mut self, number: usize, batch: &Batch) {
        let id = |index: usize| format!("call-{number}-{index}");
        let calls = batch.calls.iter().enumerate();
        let call = |(index, (arguments, _)): (usize, &(String, String))| call(id(index), arguments);
        self.say(
            Role::Assistant,
            batch
                .lead
                .iter()
                .cloned()
                .chain(calls.clone().map(call))
                .collect(),
        );
        let result =
            |(index, (_, text)): (usize, &(String, String))| result(id(index), text, index == 1);
        let mut results = calls.take(batch.answered).map(result).collect::<Vec<_>>();
        let answered = results.len();
        self.last_call = results.first().map(|_| id(0)).or(self.last_call.take());
        self.unanswered = (answered < batch.calls.len()).then(|| (id(answered), false));
        if batch.together && answered > 0 {
            results.extend(batch.media.clone());
            self.say(Role::Tool, results);
        } else {
            results
                .into_iter()
                .for_each(|result| self.say(Role::Tool, vec![result]));
        }
    }

    /// A refused message; nothing where the conversation so far gives no occasion for it.
    fn say_broken(&mut self, broken: Broken) {
        let text = || Part::Text {
            text: "late words".to_owned(),
        };
        let message = match broken {
            Broken::Orphan => Some((
                Role::Tool,
                vec![result("never-made".to_owned(), "x", false)],
            )),
            Broken::Twice => self
                .last_call
                .clone()
                .map(|id| (Role::Tool, vec![result(id, "again", false)])),
            Broken::RepeatedId => self
                .last_call
                .clone()
                .map(|id| (Role::Assistant, vec![call(id, "{}")])),
            Broken::Late => self
                .unanswered
                .clone()
                .filter(|(_, passed)| *passed)
                .map(|(id, _)| (Role::Tool, vec![result(id, "late", false)])),
            Broken::System => self
                .said
                .iter()
                .any(|said| !said.refused)
                .then(|| (Role::System, vec![text()])),
            Broken::Empty => Some((Role::User, Vec::new())),
            Broken::CallByUser => {
                Some((Role::User, vec![text(), call("by-user".to_owned(), "{}")]))
            }
            Broken::ResultByAssistant => Some((
                Role::Assistant,
                vec![result("by-agent".to_owned(), "x", false)],
            )),
        };
        if let Some((role, parts)) = message {
            self.push(role, parts, true);
        }
    }
}

fn call(id: String, arguments: &str) -> Part {
    Part::ToolCall {
        id,
        name: "run".to_owned(),
        arguments: arguments.to_owned(),
    }
}

fn result(call_id: String, text: &str, is_error: bool) -> Part {
    Part::ToolResult {
        call_id,
        text: text.to_owned(),
        is_error,
    }
}
