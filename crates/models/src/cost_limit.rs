//! A limit on what a model's calls may cost: the call that could pass it is not made.
//!
//! Absent on purpose: price tables, and what earlier runs spent; the caller knows both.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use compactometer_engine::message::Usage;
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest};
use compactometer_engine::tokens::{Encoding, TokenCounter as _};

/// How many tokens of a model's own tokenizer one of the measuring counter may be, at most:
/// assumed.
pub const TOKENS_AT_MOST: f64 = 2.0;
/// Tokens of a reply that no request limits, at most. Assumed; to Anthropic the client sends half
/// of it as a limit.
pub const REPLY_AT_MOST: u32 = 8_192;

/// What calls cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tariff {
    /// Calls with short prompts.
    pub short: TokenPrices,
    /// Calls whose input, cached or not, is above so many tokens; absent if they cost the same.
    pub long: Option<(u64, TokenPrices)>,
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenPrices {
    /// Uncached input.
    pub input: f64,
    /// Input written to the cache.
    pub cache_write: f64,
    /// Input read from the cache.
    pub cache_read: f64,
    /// Output.
    pub output: f64,
}

impl Tariff {
    /// What that usage costs, in US dollars.
    pub fn dollars(&self, usage: &Usage) -> f64 {
        let prices = self.at(usage.total_input() as f64);
        let millionths = usage.input as f64 * prices.input
            + usage.cache_write as f64 * prices.cache_write
            + usage.cache_read as f64 * prices.cache_read
            + usage.output as f64 * prices.output;
        millionths / 1e6
    }

    /// What a call of so many tokens costs at most, in US dollars, whatever its tokenizer and
    /// cache.
    pub fn at_most(&self, input: u64, output: u64) -> f64 {
        let input = input as f64 * TOKENS_AT_MOST;
        let prices = self.at(input);
        (input * prices.input.max(prices.cache_write) + output as f64 * prices.output) / 1e6
    }

    fn at(&self, input: f64) -> TokenPrices {
        self.long
            .filter(|(above, _)| input > *above as f64)
            .map_or(self.short, |(_, prices)| prices)
    }
}

/// What may be spent, and what was.
#[derive(Debug)]
pub struct CostLimit {
    tariff: Tariff,
    limit: f64,
    counter: Encoding,
    /// Calls under way count with all that they may cost. Models of one run share it.
    spent: Arc<Mutex<f64>>,
}

impl CostLimit {
    /// A limit in US dollars. The counter counts a request's tokens.
    pub fn new(limit: f64, tariff: Tariff, counter: Encoding) -> Self {
        CostLimit {
            tariff,
            limit,
            counter,
            spent: Arc::default(),
        }
    }

    /// The same limit on the calls of another model with another tariff: what either spends, both
    /// have spent.
    pub fn beside(&self, tariff: Tariff) -> Self {
        CostLimit {
            tariff,
            limit: self.limit,
            counter: self.counter,
            spent: Arc::clone(&self.spent),
        }
    }

    /// Counts what was spent before, in US dollars.
    pub fn add(&self, dollars: f64) {
        *self.spent() += dollars;
    }

    fn spent(&self) -> MutexGuard<'_, f64> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What counts a request's tokens.
    pub(crate) fn counter(&self) -> Encoding {
        self.counter
    }

    /// Sets aside what a request of so many tokens, and an answer of at most so many, may cost.
    ///
    /// # Errors
    /// [`ChatError::Unavailable`] if that much is not left.
    pub(crate) fn reserve(&self, input: u32, output: u32) -> Result<(), ChatError> {
        let dollars = self.tariff.at_most(input.into(), output.into());
        let mut spent = self.spent();
        if *spent + dollars > self.limit {
            let why = format!(
                "`--max-cost {}` is reached: {:.4} US dollars are spent or under way, and the next call may cost {dollars:.4}; give \
                 more to go on",
                self.limit, *spent
            );
            return Err(ChatError::Unavailable { why, later: false });
        }
        *spent += dollars;
        Ok(())
    }

    /// Counts what a request used instead of what was set aside for it.
    pub(crate) fn settle(&self, reserved: (u32, u32), usage: &Usage) {
        self.release(reserved);
        self.add(self.tariff.dollars(usage));
    }

    /// Takes back what was set aside for a request.
    pub(crate) fn release(&self, (input, output): (u32, u32)) {
        self.add(-self.tariff.at_most(input.into(), output.into()));
    }
}

/// A report of this share of the own count, or of so many times as much, is not to be believed.
/// Assumed: tokenizers differ by less.
const LEAST_SHARE: u64 = 2;
const MOST_TIMES: u64 = 4;

/// What counts as used: the reported usage, and at least the own count of request and answer, without
/// discounts for what the server says that it had in its cache. Also whether the report is not to be
/// believed.
pub(crate) fn counted(reported: &Usage, input: u32, output: u32) -> (Usage, bool) {
    let (input, output) = (u64::from(input), u64::from(output));
    let uncached = reported.input.saturating_add(reported.cache_read);
    let usage = Usage {
        input: uncached.max(input.saturating_sub(reported.cache_write)),
        cache_read: 0,
        cache_write: reported.cache_write,
        output: reported.output.max(output),
    };
    let said = reported.total_input();
    let is_doubtful = said < input / LEAST_SHARE
        || said > MOST_TIMES * input.max(1_000)
        || reported.output < output / LEAST_SHARE;
    (usage, is_doubtful)
}

/// A model within the process whose calls end before they cost more than a cap. A client of a server
/// counts each try itself.
pub struct CostLimited {
    model: Box<dyn ChatModel>,
    cap: Arc<CostLimit>,
}

impl CostLimited {
    /// That model under that cap.
    pub fn new(model: Box<dyn ChatModel>, cap: Arc<CostLimit>) -> Self {
        CostLimited { model, cap }
    }
}

#[async_trait]
impl ChatModel for CostLimited {
    fn name(&self) -> &str {
        self.model.name()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let input = request.tokens(&self.cap.counter);
        let output = request.max_output_tokens.unwrap_or(REPLY_AT_MOST);
        self.cap.reserve(input, output)?;
        let outcome = self.model.complete(request).await;
        if let Ok(reply) = &outcome {
            let own = self.cap.counter.count_text(&reply.text);
            let (usage, _) = counted(&reply.usage, input, own);
            self.cap.settle((input, output), &usage);
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_name;

    /// A dollar a token of input, two a token of output.
    const PRICES: TokenPrices = TokenPrices {
        input: 1e6,
        cache_write: 1e6,
        cache_read: 0.0,
        output: 2e6,
    };
    const TARIFF: Tariff = Tariff {
        short: PRICES,
        long: None,
    };

    fn capped(limit: f64) -> (CostLimited, Arc<CostLimit>) {
        let cap = Arc::new(CostLimit::new(limit, TARIFF, Encoding::O200k));
        (
            CostLimited::new(by_name("mock").expect("the mock"), Arc::clone(&cap)),
            cap,
        )
    }

    fn request() -> ChatRequest {
        ChatRequest::prompt(
            "Summarize: the build was mended on Monday.".to_owned(),
            10,
            None,
            1,
        )
    }

    #[tokio::test]
    async fn a_call_counts_what_it_used_and_the_one_that_may_pass_the_limit_is_not_made() {
        let most = TARIFF.at_most(u64::from(request().tokens(&Encoding::O200k)), 10);
        let (model, cap) = capped(most);
        let reply = model
            .complete(&request())
            .await
            .expect("there is enough for one call");
        assert!(
            (*cap.spent() - TARIFF.dollars(&reply.usage)).abs() < 1e-9,
            "what is used counts, not what was set aside"
        );
        assert!(*cap.spent() > 0.0 && *cap.spent() < most);
        let Err(ChatError::Unavailable { why, later }) = model.complete(&request()).await else {
            panic!("the second call may pass the limit");
        };
        assert!(!later && why.contains("--max-cost"), "{why}");
    }

    #[test]
    fn a_long_prompt_has_prices_of_its_own() {
        let long = TokenPrices {
            input: 3e6,
            cache_write: 4e6,
            cache_read: 1e6,
            output: 9e6,
        };
        let tariff = Tariff {
            long: Some((10, long)),
            ..TARIFF
        };
        let dollars = |input: u64, cache_read: u64| {
            tariff.dollars(&Usage {
                input,
                cache_read,
                output: 1,
                cache_write: 0,
            })
        };
        assert_eq!(
            (dollars(10, 0), dollars(9, 2)),
            (12.0, 9.0 * 3.0 + 2.0 + 9.0),
            "what is cached counts"
        );
        // Its own tokenizer may count twice as many.
        assert_eq!(
            (tariff.at_most(5, 1), tariff.at_most(6, 1)),
            (12.0, 12.0 * 4.0 + 9.0)
        );
    }

    #[tokio::test]
    async fn what_was_spent_before_counts() {
        let (model, cap) = capped(1_000.0);
        cap.add(1_000.0);
        assert!(model.complete(&request()).await.is_err());
    }

    #[tokio::test]
    async fn two_models_share_a_limit_each_at_its_own_price() {
        let (model, cap) = capped(1_000.0);
        let free = TokenPrices {
            input: 0.0,
            cache_write: 0.0,
            cache_read: 0.0,
            output: 0.0,
        };
        let free = Tariff {
            short: free,
            long: None,
        };
        let beside = CostLimited::new(
            by_name("mock").expect("the mock"),
            Arc::new(cap.beside(free)),
        );
        beside.complete(&request()).await.expect("it costs nothing");
        assert_eq!(*cap.spent(), 0.0);
        let dear = cap.beside(Tariff {
            short: TokenPrices {
                output: 1e9,
                ..PRICES
            },
            long: None,
        });
        dear.add(1_000.0);
        assert!(
            model.complete(&request()).await.is_err(),
            "what the other spent counts"
        );
    }

    /// Fails so.
    struct Failing(ChatError);

    #[async_trait]
    impl ChatModel for Failing {
        fn name(&self) -> &str {
            "failing"
        }

        async fn complete(&self, _: &ChatRequest) -> Result<ChatReply, ChatError> {
            Err(self.0.clone())
        }
    }

    #[tokio::test]
    async fn a_call_that_failed_counts_with_all_that_it_may_cost() {
        let most = TARIFF.at_most(u64::from(request().tokens(&Encoding::O200k)), 10);
        let refused = ChatError::Refused {
            message: "too long".into(),
        };
        for error in [refused, ChatError::Server { status: 500 }] {
            let cap = Arc::new(CostLimit::new(1e6, TARIFF, Encoding::O200k));
            let model = CostLimited::new(Box::new(Failing(error.clone())), Arc::clone(&cap));
            assert_eq!(model.complete(&request()).await, Err(error));
            assert!((*cap.spent() - most).abs() < 1e-9, "{}", cap.spent());
        }
    }

    #[tokio::test]
    async fn a_request_without_a_limit_counts_with_the_longest_reply() {
        let unlimited = ChatRequest {
            max_output_tokens: None,
            ..request()
        };
        let input = u64::from(unlimited.tokens(&Encoding::O200k));
        let (model, _) = capped(TARIFF.at_most(input, REPLY_AT_MOST.into()) - 1.0);
        assert!(model.complete(&unlimited).await.is_err());
        assert!(model.complete(&request()).await.is_ok());
    }
}
