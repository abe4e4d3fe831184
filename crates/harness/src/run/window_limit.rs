//! A model with a context window: a request that does not fit is refused as a provider would, even
//! if the model would take it.

use async_trait::async_trait;
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest};
use compactometer_engine::tokens::TokenCounter;

/// A model in a context window of that many tokens, on the counter's scale.
pub(crate) struct WindowLimited<'m> {
    pub(crate) model: &'m dyn ChatModel,
    pub(crate) window: u32,
    pub(crate) counter: &'m dyn TokenCounter,
}

#[async_trait]
impl ChatModel for WindowLimited<'_> {
    fn name(&self) -> &str {
        self.model.name()
    }

    /// If the request fits by the model's own count, nothing is counted again. If not, the window's
    /// counter decides, since a model with another encoding may count more. An answer without a
    /// limit may have what the window leaves.
    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        if request.max_output_tokens.is_none() && self.window < u32::MAX {
            let left = self
                .window
                .saturating_sub(request.tokens(self.counter))
                .max(1);
            let limited = ChatRequest {
                max_output_tokens: Some(left),
                ..request.clone()
            };
            return self.within(&limited).await;
        }
        self.within(request).await
    }
}

impl WindowLimited<'_> {
    async fn within(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let reply = self.model.complete(request).await?;
        let asked = u64::from(request.max_output_tokens.unwrap_or_default());
        let fits = |read: u64| read + asked <= u64::from(self.window);
        if fits(reply.usage.total_input()) {
            return Ok(reply);
        }
        let read = u64::from(request.tokens(self.counter));
        if fits(read) {
            return Ok(reply);
        }
        let message = format!(
            "{read} tokens and an answer of {asked} exceed the context window, {} tokens",
            self.window
        );
        Err(ChatError::Refused { message })
    }
}

#[cfg(test)]
mod tests {
    use compactometer_engine::message::Usage;
    use compactometer_engine::tokens::Encoding;
    use compactometer_testing::model::{Scripted, reply};

    use super::*;

    #[test]
    fn a_request_and_its_answer_must_fit_the_window_by_the_count_that_it_is_of() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime");
        let ask = |read: u64, text: String, most: Option<u32>| {
            let usage = Usage {
                input: read - 10,
                cache_read: 10,
                ..Usage::default()
            };
            let model = Scripted::new(|_, _| {
                Ok(ChatReply {
                    usage,
                    ..reply("Read.")
                })
            });
            let request = ChatRequest {
                max_output_tokens: most,
                ..ChatRequest::prompt(text, 0, None, 0)
            };
            runtime.block_on(
                WindowLimited {
                    model: &model,
                    window: 1_000,
                    counter: &Encoding::O200k,
                }
                .complete(&request),
            )
        };
        // A message is 4 tokens, and each of these words one.
        let long = |words| " the".repeat(words);
        assert!(
            ask(900, long(1_000), Some(100)).is_ok(),
            "what the model counts is enough"
        );
        assert!(
            ask(5_000, long(896), Some(100)).is_ok(),
            "a model that counts more than the window's counter"
        );
        let refused = ask(5_000, long(896), Some(101))
            .expect_err("does not fit")
            .to_string();
        assert_eq!(
            refused,
            "request refused: 900 tokens and an answer of 101 exceed the context window, 1000 tokens"
        );
    }

    #[test]
    fn an_answer_without_a_limit_may_have_what_the_window_leaves() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime");
        let limit_in = |window: u32| {
            let usage = Usage {
                input: 900,
                ..Usage::default()
            };
            let text = |request: &ChatRequest| format!("{:?}", request.max_output_tokens);
            let model = Scripted::new(|_, request| {
                Ok(ChatReply {
                    usage,
                    ..reply(text(request))
                })
            });
            let request = ChatRequest {
                max_output_tokens: None,
                ..ChatRequest::prompt(" the".repeat(896), 0, None, 0)
            };
            let limited = WindowLimited {
                model: &model,
                window,
                counter: &Encoding::O200k,
            };
            runtime
                .block_on(limited.complete(&request))
                .map(|reply| reply.text)
        };
        assert_eq!(limit_in(1_000).expect("fits"), "Some(100)");
        assert_eq!(limit_in(u32::MAX).expect("fits"), "None", "no window binds");
        limit_in(900).expect_err("the request fills the window");
    }
}
