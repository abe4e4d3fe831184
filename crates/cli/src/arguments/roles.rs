//! The models of a run by role: their flags, their folders in a recording, and which of them
//! receives a call.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use compactometer_engine::meter::Purpose;
use compactometer_engine::model::ChatModel;
use compactometer_harness::run::Models;
use compactometer_models::cost_limit::CostLimit;
use compactometer_models::tries::TryJournal;
use compactometer_models::{Opening, cassette};

use crate::arguments::SettingArgs;

/// A model's role in a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelRole {
    /// Answers questions, and writes summaries unless another model does.
    Model,
    /// Writes summaries, and checkpoints unless another model does.
    Summarizer,
    /// Writes checkpoints before a turn.
    Checkpointer,
    /// Judges answers.
    Judge,
}

impl ModelRole {
    /// Its flag without the hyphens.
    pub(crate) const fn flag(self) -> &'static str {
        match self {
            ModelRole::Model => "model",
            ModelRole::Summarizer => "summarizer",
            ModelRole::Checkpointer => "checkpointer",
            ModelRole::Judge => "judge",
        }
    }

    /// The folder that its calls are recorded in. A recording holds one model's calls, so the other
    /// roles have subfolders of the model's.
    pub(crate) fn folder(self, record: &Path) -> PathBuf {
        if self == ModelRole::Model {
            record.to_owned()
        } else {
            record.join(self.flag())
        }
    }

    /// An error of this model. It names the flag, except for the model that every run has.
    pub(crate) fn told(self, error: impl Into<anyhow::Error>) -> anyhow::Error {
        let error = error.into();
        if self == ModelRole::Model {
            error
        } else {
            error.context(format!("`--{}`", self.flag()))
        }
    }
}

/// One value for each model of a run.
#[derive(Clone, Copy)]
pub(crate) struct Roles<T> {
    pub(crate) model: T,
    /// Present if another model writes summaries.
    pub(crate) summarizer: Option<T>,
    /// Present if another model writes the checkpoints before turns.
    pub(crate) checkpointer: Option<T>,
    /// Present if answers are judged.
    pub(crate) judge: Option<T>,
}

impl<T> Roles<T> {
    /// The values that are present, in the order of roles.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ModelRole, &T)> {
        let others = [
            (ModelRole::Summarizer, &self.summarizer),
            (ModelRole::Checkpointer, &self.checkpointer),
            (ModelRole::Judge, &self.judge),
        ];
        let others = others
            .into_iter()
            .filter_map(|(role, other)| Some((role, other.as_ref()?)));
        std::iter::once((ModelRole::Model, &self.model)).chain(others)
    }

    /// Applies a function to each value.
    pub(crate) fn map<U, E>(
        &self,
        mut each: impl FnMut(ModelRole, &T) -> Result<U, E>,
    ) -> Result<Roles<U>, E> {
        let model = each(ModelRole::Model, &self.model)?;
        let summarizer = self
            .summarizer
            .as_ref()
            .map(|one| each(ModelRole::Summarizer, one))
            .transpose()?;
        let checkpointer = self
            .checkpointer
            .as_ref()
            .map(|one| each(ModelRole::Checkpointer, one))
            .transpose()?;
        let judge = self
            .judge
            .as_ref()
            .map(|one| each(ModelRole::Judge, one))
            .transpose()?;
        Ok(Roles {
            model,
            summarizer,
            checkpointer,
            judge,
        })
    }

    /// The role that receives calls of this purpose. A recount goes to the model, since it counts
    /// the agent's next request.
    pub(crate) fn called_for(&self, purpose: Purpose) -> ModelRole {
        match purpose {
            Purpose::Judge => ModelRole::Judge,
            Purpose::Checkpoint if self.checkpointer.is_some() => ModelRole::Checkpointer,
            Purpose::Compaction | Purpose::Checkpoint if self.summarizer.is_some() => {
                ModelRole::Summarizer
            }
            Purpose::Compaction | Purpose::Checkpoint | Purpose::Recount | Purpose::Probe => {
                ModelRole::Model
            }
        }
    }

    /// The value of this role.
    pub(crate) fn get(&self, role: ModelRole) -> Option<&T> {
        self.iter()
            .find(|(other, _)| *other == role)
            .map(|(_, one)| one)
    }
}

impl Roles<String> {
    /// The names that the arguments give. A summarizer with the model's name is dropped: the model
    /// does its work. So is a checkpointer with the name of the model that writes summaries.
    pub(crate) fn from_arguments(setting: &SettingArgs, judge: Option<&str>) -> Self {
        let model = setting.model.clone();
        let summarizer = setting
            .summarizer
            .clone()
            .or_else(|| recorded_beside(&model, ModelRole::Summarizer));
        let summarizer = summarizer.filter(|summarizer| *summarizer != model);
        let checkpointer = setting
            .checkpointer
            .clone()
            .or_else(|| recorded_beside(&model, ModelRole::Checkpointer));
        let checkpointer = checkpointer
            .filter(|checkpointer| checkpointer != summarizer.as_ref().unwrap_or(&model));
        Roles {
            model,
            summarizer,
            checkpointer,
            judge: judge.map(str::to_owned),
        }
    }

    /// The name of the model that writes summaries.
    pub(crate) fn summarizer(&self) -> &str {
        self.summarizer.as_ref().unwrap_or(&self.model)
    }

    /// Fails at the first name of a model that cannot be opened. Nothing is written.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let opened = self.map(|role, name| {
            compactometer_models::by_name(name).map_err(|error| role.told(error))
        });
        opened.map(|_| ())
    }

    /// Opens the models, each under its cost limit, with recording if requested.
    ///
    /// # Errors
    /// If a model cannot be opened.
    pub(crate) fn open(
        &self,
        setting: &SettingArgs,
        cap: impl Fn(ModelRole) -> Option<Arc<CostLimit>>,
        journal: &Arc<OnceLock<TryJournal>>,
    ) -> anyhow::Result<Roles<Box<dyn ChatModel>>> {
        self.map(|role, name| {
            let record = setting.record.as_deref().map(|folder| role.folder(folder));
            let earlier = setting
                .earlier
                .iter()
                .map(|folder| role.folder(folder))
                .collect::<Vec<_>>();
            let opening = Opening {
                record: record.as_deref(),
                earlier: &earlier,
                requests_a_minute: setting.requests_per_minute,
                call_timeout: setting
                    .call_timeout
                    .map(|seconds| Duration::from_secs(seconds.get())),
                cost_limit: cap(role),
                journal: Arc::clone(journal),
            };
            compactometer_models::open(name, &opening).map_err(|error| role.told(error))
        })
    }
}

impl Roles<Box<dyn ChatModel>> {
    /// The models in the form that a run takes.
    pub(crate) fn models(&self) -> Models<'_> {
        let summarizer = self.summarizer.as_ref().unwrap_or(&self.model).name();
        Models {
            target: &*self.model,
            summarizer: self.summarizer.as_deref(),
            // One that was named in another way than the summarizer, and is the same.
            checkpointer: self
                .checkpointer
                .as_deref()
                .filter(|checkpointer| checkpointer.name() != summarizer),
            judge: self.judge.as_deref(),
        }
    }
}

/// This role's recording inside the model's, if there is one.
fn recorded_beside(model: &str, role: ModelRole) -> Option<String> {
    let recorded = cassette::folder(model)?;
    let (kind, rest) = model.split_once(':')?;
    let faults = rest.strip_prefix(recorded.to_str()?)?;
    let folder = role.folder(recorded);
    holds_calls(&folder).then(|| format!("{kind}:{}{faults}", folder.display()))
}

/// A run whose strategies write no summary leaves an empty recording, which could answer no call.
fn holds_calls(folder: &Path) -> bool {
    let mut files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.any(|file| {
        file.metadata()
            .is_ok_and(|about| about.is_file() && about.len() > 0)
    })
}
