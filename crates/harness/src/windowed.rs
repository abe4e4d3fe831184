//! A model whose context window binds: what does not fit is refused, as providers do, also by a model that would take it.

use async_trait::async_trait;
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest};

/// A model in a context window of that many tokens.
pub(crate) struct Windowed<'m> {
    pub(crate) model: &'m dyn ChatModel,
    pub(crate) window: u32,
}

#[async_trait]
impl ChatModel for Windowed<'_> {
    fn name(&self) -> &str {
        self.model.name()
    }

    /// The model itself counts what it read, so that nothing is counted twice.
    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let reply = self.model.complete(request).await?;
        let (read, asked) = (reply.usage.total_input(), u64::from(request.max_output_tokens.unwrap_or_default()));
        if read + asked <= u64::from(self.window) {
            return Ok(reply);
        }
        let message =
            format!("{read} tokens and an answer of {asked} exceed the context window, {} tokens", self.window);
        Err(ChatError::Refused { message })
    }
}

#[cfg(test)]
mod tests {
    use compactometer_engine::message::Usage;
    use compactometer_engine::model::Finish;

    use super::*;

    struct Reads(u64);

    #[async_trait]
    impl ChatModel for Reads {
        fn name(&self) -> &str {
            "reads"
        }

        async fn complete(&self, _: &ChatRequest) -> Result<ChatReply, ChatError> {
            let usage = Usage { input: self.0 - 10, cache_read: 10, ..Usage::default() };
            Ok(ChatReply { text: "Read.".into(), finish: Finish::Stop, usage, latency_ms: 0 })
        }
    }

    #[test]
    fn a_request_and_its_answer_must_fit_the_window() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let ask = |read: u64, most: u32| {
            let (model, request) = (Reads(read), ChatRequest::prompt("Summarize.".into(), most, None, 0));
            runtime.block_on(Windowed { model: &model, window: 1_000 }.complete(&request))
        };
        assert!(ask(900, 100).is_ok());
        let refused = ask(900, 101).expect_err("does not fit").to_string();
        assert_eq!(refused, "request refused: 900 tokens and an answer of 101 exceed the context window, 1000 tokens");
    }
}
