//! The mock, which simulates a model in runs that must be free, fast and exact. Its results show
//! mechanisms, not the quality of a model.
//!
//! It reads a request by general rules (what is given, what is asked, in which shape) and writes
//! extracts of what is given. Text in the material is data and never changes the shape of the
//! answer. Absent on purpose: scenarios, facts, the purpose of a call, any knowledge of a
//! particular prompt, and a context window, so that no request is too long. Faults are in
//! [`crate::faults`], because they apply to any model.

use async_trait::async_trait;
use compactometer_engine::message::Usage;
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest};
use compactometer_engine::tokens::TokenCounter;

use rand_chacha::ChaCha8Rng;

use crate::draw;
use crate::faults::{self, FaultRates};
use crate::profile::{self, Profile};
use crate::profile_draws;
use crate::reading::cache::last_request;
use crate::reading::cache::token_counts::CachedCounter;
use crate::reading::message::ReadMessages;
use crate::reading::pieces::MaterialTurn;
use crate::reading::statements::{self, Statement};
use crate::reading::{self, AnswerShape, RequestAsk, RewrittenTexts};
use crate::writing::relative::FileNames;
use crate::writing::touched_files::Files;
use crate::writing::{self, ReplyLimits, put_in_order, recollect, relative, salience, within};

/// The mock of a profile, or of a random draw of what it assumes (`PROFILE~NUMBER`). Returns `None`
/// if no profile has the name.
pub fn by_name(name: &str) -> Option<Mock> {
    let Some((profile, number)) = name.split_once(profile_draws::MARK) else {
        return profile::by_name(name).map(|profile| Mock::new(profile.clone()));
    };
    let (profile, number) = (profile::by_name(profile)?, number.parse::<u64>().ok()?);
    let name = format!("mock:{}{}{number}", profile.name, profile_draws::MARK);
    Some(Mock {
        name,
        ..Mock::new(profile_draws::drawn(profile, number))
    })
}

/// A mock of one profile. Its reply is a function of the request's bytes, the profile and the
/// request's seed.
#[derive(Clone, Debug)]
pub struct Mock {
    profile: Profile,
    faults: Option<FaultRates>,
    name: String,
    counts: CachedCounter,
    known: ReadMessages,
}

impl Mock {
    /// A mock of the profile, named `mock:PROFILE`.
    pub fn new(profile: Profile) -> Self {
        let name = format!("mock:{}", profile.name);
        // A profile without faults has an empty list, which does not parse.
        let faults = profile.faults.value.parse().ok();
        Mock {
            profile,
            faults,
            name,
            counts: CachedCounter::default(),
            known: ReadMessages::default(),
        }
    }

    /// The reply, computed synchronously.
    fn reply(&self, request: &ChatRequest) -> ChatReply {
        let request = &*request.with_compaction_asked();
        let texts = RewrittenTexts::new(request);
        let reading = reading::read(request, &texts);
        let text = match &reading.ask {
            RequestAsk::Condense(shape) => self.condense(&reading.turns, shape, request),
            RequestAsk::Choose(word) => word.clone(),
            RequestAsk::Answer(question) => self.answer(question, &reading.turns, request.seed),
        };
        let (text, output, finish) = within(text, request.max_output_tokens, &self.counts);
        let (tools, schema) = (request.tools.clone(), request.schema.clone());
        let rest = ChatRequest {
            messages: Vec::new(),
            tools,
            schema,
            compaction: None,
            ..*request
        };
        let (input, latency_ms) =
            last_request::with(&request.messages, &self.counts, |tokens, json| {
                (
                    tokens.saturating_add(rest.tokens(&self.counts)),
                    self.latency_ms(&rest, json),
                )
            });
        let usage = Usage {
            input: u64::from(input),
            output: u64::from(output),
            ..Usage::default()
        };
        let mut reply = ChatReply {
            text,
            finish,
            usage,
            latency_ms,
            served: None,
        };
        self.faults
            .iter()
            .for_each(|own| faults::spoil(own, request, &mut reply));
        reply
    }

    fn answer(&self, question: &str, turns: &[MaterialTurn<'_>], seed: u64) -> String {
        let find = |item: &str| self.look_up(item, turns, seed);
        put_in_order::items(question).map_or_else(
            || find(question),
            |items| put_in_order::answer(&items, turns, find),
        )
    }

    fn look_up(&self, question: &str, turns: &[MaterialTurn<'_>], seed: u64) -> String {
        let known = self.known.all(turns);
        if self.profile.reads_all() {
            let all = turns.iter().zip(&known);
            let all = all.flat_map(|(turn, read)| {
                let pieces = read.pieces.iter();
                pieces.map(|piece| (read.text_of(piece, turn.text), piece))
            });
            return recollect::answer(question, all, &self.profile);
        }
        let mut rng = draw::keyed(
            question,
            seed,
            turns.iter().map(|turn| turn.text.as_bytes()),
        );
        let statements = self.read(statements::statements(turns, &known), &mut rng);
        let statements = statements
            .iter()
            .map(|statement| (statement.text, statement.piece));
        recollect::answer(question, statements, &self.profile)
    }

    /// The statements that the profile reads.
    fn read<'m>(
        &self,
        mut statements: Vec<Statement<'m>>,
        rng: &mut ChaCha8Rng,
    ) -> Vec<Statement<'m>> {
        if !self.profile.reads_all() {
            let chances = &self.profile.read.value;
            statements.retain(|statement| draw::uniform(rng) < chances[statement.fifth()]);
        }
        statements
    }

    fn condense(
        &self,
        turns: &[MaterialTurn<'_>],
        shape: &AnswerShape,
        request: &ChatRequest,
    ) -> String {
        // Keyed by the material only, so that a reworded prompt gets the same draws.
        let mut rng = draw::keyed(
            self.profile.name,
            request.seed,
            turns.iter().map(|turn| turn.text.as_bytes()),
        );
        let (least, most) = self.profile.fill.value;
        let fill = least + (most - least) * draw::uniform(&mut rng);
        let known = self.known.all(turns);
        let files = Files::new(&known);
        let mut statements = self.read(statements::statements(turns, &known), &mut rng);
        if shape.with_files || draw::uniform(&mut rng) < self.profile.lists_files.value {
            statements.extend(files.statements(turns));
        }
        let own = self.own_tokens(turns, request.seed);
        let limits = ReplyLimits {
            asked: request.max_output_tokens,
            own,
        };
        let share = writing::share(turns, shape, limits, &self.profile);
        let ranked = salience::rank(turns, &statements, &self.profile, shape, share, &mut rng);
        let share = self.profile.relative.value;
        let names = FileNames {
            folder: relative::folder(turns.iter().map(|turn| turn.text)).filter(|_| share > 0.0),
            by_base_name: files.by_base_name(),
            share,
            seed: request.seed,
        };
        let source = writing::WritingSource {
            profile: &self.profile,
            turns,
            statements: &statements,
            ranked: &ranked,
            names,
            counts: &self.counts,
        };
        writing::write(&source, shape, limits, fill)
    }

    /// The length of the reply that the profile chooses by itself. A generator of its own, so that
    /// the other draws are those of a profile that chooses none.
    fn own_tokens(&self, turns: &[MaterialTurn<'_>], seed: u64) -> Option<u32> {
        let (least, most) = self.profile.own_tokens.value?;
        let mut rng = draw::keyed(
            "own length",
            seed,
            turns.iter().map(|turn| turn.text.as_bytes()),
        );
        let drawn =
            least + (f64::from(most.saturating_sub(least)) * draw::uniform(&mut rng)) as u32;
        let material = turns
            .iter()
            .map(|turn| self.counts.count_text(turn.text))
            .sum::<u32>();
        Some(drawn.min((self.profile.most_share.value * f64::from(material)) as u32))
    }

    /// Keyed by the JSON of the whole request, given the request without its messages, and their
    /// JSON.
    fn latency_ms(&self, rest: &ChatRequest, messages: &[u8]) -> u64 {
        let empty = serde_json::to_vec(rest).unwrap_or_default();
        let (before, after) = empty.split_at(b"{\"messages\":[".len().min(empty.len()));
        let mut rng = draw::keyed_by_whole("latency", rest.seed, &[before, messages, after]);
        let (p50, p95) = self.profile.latency_ms.value;
        draw::lognormal(&mut rng, p50, p95) as u64
    }
}

#[async_trait]
impl ChatModel for Mock {
    fn name(&self) -> &str {
        &self.name
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        match request.has_sealed() {
            true => Err(ChatError::unreadable()),
            false => Ok(self.reply(request)),
        }
    }
}
