//! Seeded faults for any model, so that every failure that a model can cause can be reproduced on
//! purpose.
//!
//! A name such as `mock:strong+empty=0.1,timeout=0.05` changes the reply of one call in ten and
//! fails one call in twenty. The affected calls are a function of the request's bytes, the seed and
//! the fault. A run therefore repeats exactly, and a caller that repeats a request byte for byte
//! meets the same fault again, while a request with another seed or limit draws independently. A
//! reply that a fault cannot change (no JSON to fence, no digits to swap) is returned as it is.
//! Requests are read by the mock's general rules, whatever the model. Absent on purpose: sleeps
//! (latency is data), scheduled faults, repairs.

mod content;
mod ends;
mod failed_calls;
mod form;
mod json;
mod rates;
mod value_faults;

use async_trait::async_trait;
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest, Finish};
use compactometer_engine::tokens::Encoding;
use rand_chacha::ChaCha8Rng;

use crate::writing;
pub use rates::{FaultError, FaultRates, are_meant};

/// How faults are added to a model's name, for help and errors.
pub const SYNTAX: &str = "MODEL+FAULT=RATE,FAULT=RATE[,seed=N] with rates from 0 to 1, \
                          for example `mock:strong+empty=0.1,timeout=0.05`";

/// Every fault.
pub const ALL: &[&ModelFault] = &[
    &content::CONTINUES_CHAT,
    &form::MALFORMED_JSON,
    &form::BROKEN_JSON,
    &form::FENCED_JSON,
    &ends::CUT_JSON,
    &form::MISSING_SECTION,
    &form::MISSING_MARKER,
    &ends::EMPTY,
    &ends::BLANK,
    &value_faults::SWAPPED_DIGITS,
    &value_faults::STALE_VALUE,
    &content::INVENTED_ITEM,
    &content::EXAMPLE_LEAK,
    &ends::OVER_LENGTH,
    &ends::DROPPED,
    &ends::REASONING_ONLY,
    &ends::FILTERED,
    &ends::SLOW,
    &failed_calls::RATE_LIMIT,
    &failed_calls::RATE_LIMIT_WAIT,
    &failed_calls::SERVER_ERROR,
    &failed_calls::TIMEOUT,
    &failed_calls::REFUSED,
];

/// One way in which a call can go wrong.
#[derive(Debug)]
pub struct ModelFault {
    /// The name users type after `+`.
    pub name: &'static str,
    /// One line for help and lists.
    pub about: &'static str,
    effect: Effect,
}

impl ModelFault {
    /// Whether it fails the call, so that the model is not called. Other faults change the reply.
    pub fn fails_call(&self) -> bool {
        matches!(self.effect, Effect::Fails(_))
    }

    fn spoil(&self, reply: &mut ChatReply, mut scene: FaultScene<'_>) {
        match self.effect {
            Effect::Text(spoil) => {
                if let Some(text) =
                    spoil(&reply.text, &mut scene).filter(|text| *text != reply.text)
                {
                    replace_text(reply, text, scene.request.max_output_tokens);
                }
            }
            Effect::Reply(spoil) => spoil(reply, &mut scene),
            Effect::Fails(_) => {}
        }
    }
}

/// The effect of a fault on a call. If the model fails a call whose reply would be changed, its
/// error is passed on.
#[derive(Debug)]
enum Effect {
    /// Returns the new text, or `None` if there is nothing to change. The text is cut at the
    /// request's limit like any reply.
    Text(fn(&str, &mut FaultScene<'_>) -> Option<String>),
    /// Changes the reply, including its usage and its ending.
    Reply(fn(&mut ChatReply, &mut FaultScene<'_>)),
    /// Returns the error.
    Fails(fn(&mut ChaCha8Rng) -> ChatError),
}

/// The information that a fault has about the call.
struct FaultScene<'r> {
    request: &'r ChatRequest,
    rng: ChaCha8Rng,
}

impl FaultScene<'_> {
    /// A random choice, or `None` if there are no choices.
    fn pick<T: Copy>(&mut self, choices: &[T]) -> Option<T> {
        pick(&mut self.rng, choices)
    }
}

fn pick<T: Copy>(rng: &mut ChaCha8Rng, choices: &[T]) -> Option<T> {
    let at = (crate::draw::uniform(rng) * choices.len() as f64) as usize;
    choices.get(at).copied()
}

/// A model whose calls go wrong at given rates.
pub struct Faulty {
    model: Box<dyn ChatModel>,
    faults: FaultRates,
    name: String,
}

impl Faulty {
    /// Adds the faults to the model. The name is the model's name, `+`, and the faults as the user
    /// types them.
    pub fn new(model: Box<dyn ChatModel>, faults: FaultRates) -> Self {
        let name = format!("{}+{faults}", model.name());
        Faulty {
            model,
            faults,
            name,
        }
    }
}

#[async_trait]
impl ChatModel for Faulty {
    fn name(&self) -> &str {
        &self.name
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let Some((fault, mut rng)) = self.faults.draw(request) else {
            return self.model.complete(request).await;
        };
        if let Effect::Fails(error) = fault.effect {
            return Err(error(&mut rng));
        }
        let mut reply = self.model.complete(request).await?;
        fault.spoil(&mut reply, FaultScene { request, rng });
        Ok(reply)
    }
}

/// Changes a reply by the fault that strikes its request. A fault that fails calls has no effect
/// here.
pub(crate) fn spoil(faults: &FaultRates, request: &ChatRequest, reply: &mut ChatReply) {
    if let Some((fault, rng)) = faults.draw(request) {
        fault.spoil(reply, FaultScene { request, rng });
    }
}

/// Replaces the reply's text, cut at the limit. Tokens are counted with o200k, whatever the model.
fn replace_text(reply: &mut ChatReply, text: String, most: Option<u32>) {
    // A reply that is already over its limit by this count keeps its length, because its model
    // counts differently.
    let most = most.map(|most| most.max(writing::tokens(&reply.text)));
    let (text, tokens, finish) = writing::within(text, most, &Encoding::O200k);
    reply.text = text;
    reply.usage.output = u64::from(tokens);
    if finish == Finish::Length {
        reply.finish = finish;
    }
}
