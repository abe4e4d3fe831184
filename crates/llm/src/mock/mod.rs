//! The mock: stands in for a model where a run must be free, fast and exact. Its results are mechanism, not model.
//!
//! It reads a request by general rules (what is given, what is asked, in which shape) and writes extracts of what is given.
//! Text in the material is data: it never changes the shape of the answer. Absent on purpose: scenarios, facts, the
//! purpose of a call, and any knowledge of a particular prompt. Absent so far: further profiles.
//! Faults stand in [`crate::faults`], since they strike any model.

mod answer;
mod counted;
mod cues;
pub(crate) mod draw;
mod json_shape;
mod limits;
mod lines;
mod lookup;
pub mod profile;
mod read;
mod regions;
mod remembered;
mod salience;
mod sentences;
mod shorten;
mod statements;
mod template;
pub(crate) mod words;
mod write;
mod write_json;
mod write_sections;

use async_trait::async_trait;
use compactometer_engine::message::Usage;
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest, Finish};

use crate::ModelKind;
use profile::Profile;
use read::{Ask, Shape};
use statements::Turn;
pub(crate) use write::tokens;

/// Registry entry.
pub(crate) const KIND: ModelKind = ModelKind {
    name: "mock",
    about: "extracts by general salience; free, fast and exact: mechanism, not model; takes faults: `mock+empty=0.1`",
    variants: || profile::ALL.iter().map(|profile| profile.name).collect(),
    build: |name| profile::by_name(name).map(|profile| Box::new(Mock::new(profile.clone())) as Box<dyn ChatModel>),
};

/// A mock of one profile. Its reply is a function of the request's bytes, the profile and the request's seed.
#[derive(Clone, Debug)]
pub struct Mock {
    profile: Profile,
    name: String,
}

impl Mock {
    /// A mock of that profile, named `mock:PROFILE`.
    pub fn new(profile: Profile) -> Self {
        let name = format!("mock:{}", profile.name);
        Mock { profile, name }
    }

    /// The reply, without a future around it.
    fn reply(&self, request: &ChatRequest) -> ChatReply {
        let said = read::last_said(request);
        let reading = read::read(request, &said);
        let text = match &reading.ask {
            Ask::Condense(shape) => self.condense(&reading.turns, shape, request),
            Ask::Answer(question) => lookup::answer(question, &reading.turns, &self.profile),
        };
        let (text, output, finish) = within(text, request.max_output_tokens);
        let usage =
            Usage { input: u64::from(counted::of_request(request)), output: u64::from(output), ..Usage::default() };
        ChatReply { text, finish, usage, latency_ms: self.latency_ms(request) }
    }

    fn condense(&self, turns: &[Turn<'_>], shape: &Shape, request: &ChatRequest) -> String {
        // Keyed by the material alone, so that another wording of the prompt meets the same draws.
        let mut rng = draw::keyed(self.profile.name, request.seed, turns.iter().map(|turn| turn.text.as_bytes()));
        let (least, most) = self.profile.fill;
        let fill = least + (most - least) * draw::uniform(&mut rng);
        let statements = statements::statements(turns);
        let ranked = salience::rank(&statements, &self.profile, shape.without_tools, &mut rng);
        let source = write::Source { profile: &self.profile, turns, statements: &statements, ranked: &ranked };
        write::write(&source, shape, request.max_output_tokens, fill)
    }

    fn latency_ms(&self, request: &ChatRequest) -> u64 {
        let bytes = serde_json::to_vec(request).unwrap_or_default();
        let mut rng = draw::keyed("latency", request.seed, [bytes.as_slice()]);
        draw::lognormal(&mut rng, self.profile.latency_p50_ms, self.profile.latency_p95_ms) as u64
    }
}

#[async_trait]
impl ChatModel for Mock {
    fn name(&self) -> &str {
        &self.name
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        Ok(self.reply(request))
    }
}

/// A request as the mock reads it.
pub(crate) struct Parts {
    /// What is given, message by message.
    pub(crate) material: Vec<String>,
    /// What is asked, line by line, without the material.
    pub(crate) instruction: Vec<String>,
}

/// What a request gives and what it asks.
pub(crate) fn parts(request: &ChatRequest) -> Parts {
    let said = read::last_said(request);
    let material = read::read(request, &said).turns.iter().map(|turn| turn.text.to_owned()).collect();
    let instruction = regions::part(&said).instruction.iter().map(|line| (*line).to_owned()).collect();
    Parts { material, instruction }
}

/// The text, cut where it exceeds the limit; its tokens; and how it ended.
pub(crate) fn within(text: String, most: Option<u32>) -> (String, u32, Finish) {
    let tokens = write::tokens(&text);
    let Some(most) = most.filter(|most| tokens > *most) else { return (text, tokens, Finish::Stop) };
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    // A token more may come of a character less, so the found end is checked and moved.
    let mut end = ends.partition_point(|&end| write::tokens(&text[..end]) <= most).saturating_sub(1);
    while end > 0 && write::tokens(&text[..ends[end]]) > most {
        end -= 1;
    }
    let cut = text[..ends.get(end).copied().unwrap_or(0)].to_owned();
    let tokens = write::tokens(&cut);
    (cut, tokens, Finish::Length)
}
