//! Who is called in a run, and as whom records name them.

use compactometer_engine::model::ChatModel;
use compactometer_engine::tokens::TokenCounter;

use crate::run::window_limit::Windowed;

/// Who is called.
#[derive(Clone, Copy)]
pub struct Models<'m> {
    /// The target model: it answers questions and counts its next request. It also summarizes where nobody else does.
    pub model: &'m dyn ChatModel,
    /// Who writes summaries and checkpoints, where that is not the target model ([`crate::plan::Plan::answered_by`]).
    pub summarizer: Option<&'m dyn ChatModel>,
    /// The judge of its answers, where the plan has one ([`crate::plan::Plan::judged_by`]).
    pub judge: Option<&'m dyn ChatModel>,
}

impl<'m> Models<'m> {
    /// Who writes summaries and checkpoints.
    pub fn summarizer(&self) -> &'m dyn ChatModel {
        self.summarizer.unwrap_or(self.model)
    }

    /// The target model's name, where it is not the summarizer's.
    pub fn target(&self) -> Option<&'m str> {
        let name = self.model.name();
        (name != self.summarizer().name()).then_some(name)
    }

    /// Summarizer and target model, each in a window of that many tokens.
    pub(crate) fn windowed(&self, window: u32, counter: &'m dyn TokenCounter) -> [Windowed<'m>; 2] {
        [self.summarizer(), self.model].map(|model| Windowed { model, window, counter })
    }
}

impl<'m> From<&'m dyn ChatModel> for Models<'m> {
    /// One model does all, and nobody judges.
    fn from(model: &'m dyn ChatModel) -> Self {
        Models { model, summarizer: None, judge: None }
    }
}

impl<'m, M: ChatModel> From<&'m M> for Models<'m> {
    /// One model does all, and nobody judges.
    fn from(model: &'m M) -> Self {
        Models { model, summarizer: None, judge: None }
    }
}
