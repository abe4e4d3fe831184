//! The strategy protocol, version 1: what is written to a program, one JSON object a line, and what
//! it answers.
//!
//! 1. The program writes [`Reply::Hello`] when it starts. If nothing else is asked, its standard
//!    input ends.
//! 2. [`Ask::Configure`] begins a case; the program answers [`Reply::Ready`].
//! 3. [`Ask::BeforeTurn`], if the program wants it, comes before each turn of the agent; the answer
//!    is [`Reply::Ok`].
//! 4. [`Ask::Compact`] asks for the next view; the answer is [`Reply::Compacted`], [`Reply::Skip`]
//!    or [`Reply::Failed`].
//! 5. [`Ask::Bye`] ends the case, and the program.

use compactometer_engine::message::{Part, Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version that this program speaks.
pub const VERSION: u32 = 1;

/// What a program is asked.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Ask {
    /// A case begins.
    Configure {
        /// The version of the protocol.
        protocol: u32,
        /// Every parameter with its value, as a number or a text.
        parameters: serde_json::Map<String, serde_json::Value>,
        /// For random choices: the same case has the same seed.
        seed: u64,
        /// Where the program finds its model.
        model: Model,
    },
    /// The agent is about to take a turn.
    BeforeTurn {
        /// What was said since the last time, or since the conversation began.
        messages: Vec<MessageJson>,
    },
    /// The next request is too long.
    Compact {
        /// Why now.
        reason: Reason,
        /// The limits.
        budget: BudgetJson,
        /// Tokens of the next request, tool definitions included.
        request_tokens: u32,
        /// The view: what the next request would hold, in order.
        messages: Vec<MessageJson>,
        /// What the program asked to keep with the last answer that was applied. It may have come
        /// from another process.
        kept: Option<String>,
    },
    /// The case ends.
    Bye,
}

/// Where a program finds its model: an address with OpenAI's chat completions and responses, and
/// Anthropic's messages.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Model {
    /// The base of its addresses, such as `http://127.0.0.1:40001/v1`. It is also in
    /// `OPENAI_BASE_URL`, and without `/v1` in `ANTHROPIC_BASE_URL`.
    pub base_url: String,
    /// The name to ask for.
    pub name: String,
}

/// Why a compaction is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The request has reached its trigger.
    Trigger,
    /// The last answer left more than the budget.
    OverBudget,
}

/// The limits of a compaction, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Budget")]
pub struct BudgetJson {
    /// The context window.
    pub window: u32,
    /// What the view may hold beside the fixed messages.
    pub retained: u32,
    /// The part of it that the program means to keep word for word.
    pub tail: u32,
    /// The rest, which the program should write at most. It is smaller if the last answer was over
    /// the budget.
    pub written: u32,
}

/// One message of a view.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Message")]
pub struct MessageJson {
    /// Its id, by which an answer keeps it.
    pub id: String,
    /// Who speaks.
    pub role: Role,
    /// What the message holds, as in a suite.
    pub parts: Vec<Part>,
    /// Its tokens.
    pub tokens: u32,
    /// Whether it has to stay and does not count against the budget: the system prompt, the last
    /// user message and the last calls with their results.
    pub fixed: bool,
}

/// What a program answers.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Reply {
    /// The first line.
    Hello {
        /// The version of the protocol that the program speaks.
        protocol: u32,
        /// Its name.
        name: String,
        /// Its own version.
        version: String,
        /// One line about it.
        #[serde(default)]
        about: String,
        /// What a user may set.
        #[serde(default)]
        parameters: Vec<Parameter>,
        /// Whether it wants to see each turn.
        #[serde(default)]
        turns: bool,
        /// The share of the retained budget that it means to keep word for word, from 0 to 1:
        /// `budget.written` is the rest.
        #[serde(default)]
        tail_share: f64,
        /// Whether it asks a model, or anything else, past the address that it is given. It then
        /// has no costs and waits in reports, and is compared with nothing.
        #[serde(default)]
        unmetered: bool,
    },
    /// The case may begin.
    Ready,
    /// The turn was seen.
    Ok,
    /// The next view. Exactly one of `messages` and `edits` is given.
    Compacted {
        /// The whole view, in order.
        #[serde(default)]
        messages: Option<Vec<ItemJson>>,
        /// What changes in the view that was sent, in its order.
        #[serde(default)]
        edits: Option<Vec<EditJson>>,
        /// What the program wants back with the next compaction.
        #[serde(default)]
        keep: Option<String>,
    },
    /// There is nothing to compact.
    Skip {},
    /// It could not be done.
    Failed {
        /// Why.
        reason: String,
    },
}

/// A parameter of a program.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// The name that users type.
    pub name: String,
    /// Its value unless a user sets it: a number, a text or a truth value, which also says of what
    /// kind it is.
    pub default: serde_json::Value,
    /// One line about it.
    #[serde(default)]
    pub about: String,
}

/// A message of the next view. With an id and nothing else, the message stays as it was; with an id
/// and other content, the content takes its place; without an id, it is new.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Item")]
pub struct ItemJson {
    /// The message of the view that it is, or replaces.
    pub id: Option<String>,
    /// Who speaks in a new message; the user unless it says otherwise.
    pub role: Option<Role>,
    /// The content, if it is one text.
    pub text: Option<String>,
    /// The content, if it is not.
    pub parts: Option<Vec<Part>>,
    /// The content, if it is the `encrypted_content` of a compaction that a provider did.
    pub sealed: Option<String>,
    /// Not read; a program may give messages back as it got them.
    pub tokens: Option<u32>,
    /// Not read.
    pub fixed: Option<bool>,
}

/// A run of messages of the view that leaves, and what takes its place.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Edit")]
pub struct EditJson {
    /// The id of the first message that leaves.
    pub from: String,
    /// The id of the last one.
    pub to: String,
    /// What takes their place.
    #[serde(default)]
    pub with: Vec<ItemJson>,
}
