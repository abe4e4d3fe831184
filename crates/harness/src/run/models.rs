//! The models of a run, and the names that records give them.

use compactometer_engine::meter::Metered;
use compactometer_engine::model::ChatModel;
use compactometer_engine::tokens::TokenCounter;

use super::window_limit::WindowLimited;
use crate::replay::Meters;

/// The models of a run.
#[derive(Clone, Copy)]
pub struct Models<'m> {
    /// The target model, which answers questions and counts its next request. It also summarizes if
    /// nobody else does.
    pub target: &'m dyn ChatModel,
    /// Who writes summaries, and checkpoints unless another model does, if that is not the target
    /// model.
    pub summarizer: Option<&'m dyn ChatModel>,
    /// Who writes checkpoints before a turn, if that is not who summarizes.
    pub checkpointer: Option<&'m dyn ChatModel>,
    /// The judge of its answers, if the plan has one.
    pub judge: Option<&'m dyn ChatModel>,
}

impl<'m> Models<'m> {
    /// Who writes summaries.
    pub fn summarizer(&self) -> &'m dyn ChatModel {
        self.summarizer.unwrap_or(self.target)
    }

    /// The target model's name, if it is not the summarizer's.
    pub fn target_name(&self) -> Option<&'m str> {
        let name = self.target.name();
        (name != self.summarizer().name()).then_some(name)
    }

    /// Summarizer, target model and checkpointer, each in a window of that many tokens, if one
    /// binds.
    pub(super) fn window_limited(
        &self,
        window: Option<u32>,
        counter: &'m dyn TokenCounter,
    ) -> [WindowLimited<'m>; 3] {
        let window = window.unwrap_or(u32::MAX);
        let checkpointer = self.checkpointer.unwrap_or(self.summarizer());
        [self.summarizer(), self.target, checkpointer].map(|model| WindowLimited {
            model,
            window,
            counter,
        })
    }

    /// The meters of a case with that seed; `limited` are the models in the case's window.
    pub(super) fn meters<'l>(
        &self,
        [summarizer, target, checkpointer]: &'l [WindowLimited<'m>; 3],
        seed: u64,
    ) -> Meters<'l>
    where
        'm: 'l,
    {
        Meters {
            session: Metered::new(summarizer, seed).recounting_with(target),
            checkpointer: self.checkpointer.map(|_| Metered::new(checkpointer, seed)),
            reader: Metered::new(self.target, seed),
            summarizer: self.summarizer().name(),
            target: self.target_name(),
            checkpointer_name: self.checkpointer.map(ChatModel::name),
        }
    }
}

impl<'m> From<&'m dyn ChatModel> for Models<'m> {
    /// One model does everything, and nobody judges.
    fn from(model: &'m dyn ChatModel) -> Self {
        Models {
            target: model,
            summarizer: None,
            checkpointer: None,
            judge: None,
        }
    }
}

impl<'m, M: ChatModel> From<&'m M> for Models<'m> {
    /// One model does everything, and nobody judges.
    fn from(model: &'m M) -> Self {
        Models {
            target: model,
            summarizer: None,
            checkpointer: None,
            judge: None,
        }
    }
}
