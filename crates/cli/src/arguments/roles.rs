//! The models of a run by what they do there: their flags, their places in a recording, and which of them a call goes to.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use compactometer_engine::meter::Purpose;
use compactometer_engine::model::ChatModel;
use compactometer_harness::run::Models;
use compactometer_models::cost_limit::CostLimit;
use compactometer_models::{Opening, cassette};

use crate::arguments::SettingArgs;

/// What a model does in a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Answers, and writes where no other does.
    Model,
    /// Writes summaries and checkpoints.
    Summarizer,
    /// Judges answers.
    Judge,
}

impl Role {
    /// Its flag, without hyphens.
    pub(crate) const fn flag(self) -> &'static str {
        match self {
            Role::Model => "model",
            Role::Summarizer => "summarizer",
            Role::Judge => "judge",
        }
    }

    /// Where its calls are recorded: a recording holds one model's calls, so the others have folders within the model's.
    pub(crate) fn folder(self, record: &Path) -> PathBuf {
        if self == Role::Model { record.to_owned() } else { record.join(self.flag()) }
    }

    /// What is wrong with it. Of the model, of which every run has one, it goes without its flag.
    pub(crate) fn told(self, error: impl Into<anyhow::Error>) -> anyhow::Error {
        let error = error.into();
        if self == Role::Model { error } else { error.context(format!("`--{}`", self.flag())) }
    }
}

/// One thing for each model of a run.
#[derive(Clone, Copy)]
pub(crate) struct Roles<T> {
    pub(crate) model: T,
    /// Where summaries are not the model's.
    pub(crate) summarizer: Option<T>,
    /// Where answers are judged.
    pub(crate) judge: Option<T>,
}

impl<T> Roles<T> {
    /// Each that there is, in order of its role.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Role, &T)> {
        let others = [(Role::Summarizer, &self.summarizer), (Role::Judge, &self.judge)];
        let others = others.into_iter().filter_map(|(role, other)| Some((role, other.as_ref()?)));
        std::iter::once((Role::Model, &self.model)).chain(others)
    }

    /// The same of what each comes to.
    pub(crate) fn map<U, E>(&self, mut each: impl FnMut(Role, &T) -> Result<U, E>) -> Result<Roles<U>, E> {
        let model = each(Role::Model, &self.model)?;
        let summarizer = self.summarizer.as_ref().map(|one| each(Role::Summarizer, one)).transpose()?;
        let judge = self.judge.as_ref().map(|one| each(Role::Judge, one)).transpose()?;
        Ok(Roles { model, summarizer, judge })
    }

    /// Whose the calls of that purpose are. A recount is the model's: it counts the next request of the agent.
    pub(crate) fn called_for(&self, purpose: Purpose) -> Role {
        match purpose {
            Purpose::Judge => Role::Judge,
            Purpose::Compaction | Purpose::Checkpoint if self.summarizer.is_some() => Role::Summarizer,
            Purpose::Compaction | Purpose::Checkpoint | Purpose::Recount | Purpose::Probe => Role::Model,
        }
    }

    /// What that role has.
    pub(crate) fn of(&self, role: Role) -> Option<&T> {
        self.iter().find(|(other, _)| *other == role).map(|(_, one)| one)
    }
}

impl Roles<String> {
    /// The names that the arguments give. A summarizer that is the model is none of its own.
    pub(crate) fn named(setting: &SettingArgs, judge: Option<&str>) -> Self {
        let model = setting.model.clone();
        let summarizer = setting.summarizer.clone().or_else(|| recorded_beside(&model));
        let summarizer = summarizer.filter(|summarizer| *summarizer != model);
        Roles { model, summarizer, judge: judge.map(str::to_owned) }
    }

    /// Who writes summaries.
    pub(crate) fn summarizer(&self) -> &str {
        self.summarizer.as_ref().unwrap_or(&self.model)
    }

    /// The models, each under its cap, recorded where that is asked for.
    ///
    /// # Errors
    /// Where one cannot be opened.
    pub(crate) fn open(
        &self,
        setting: &SettingArgs,
        cap: impl Fn(Role) -> Option<Arc<CostLimit>>,
    ) -> anyhow::Result<Roles<Box<dyn ChatModel>>> {
        self.map(|role, name| {
            let record = setting.record.as_deref().map(|folder| role.folder(folder));
            let requests_a_minute = setting.requests_per_minute;
            let opening = Opening { record: record.as_deref(), requests_a_minute, cost_limit: cap(role) };
            compactometer_models::open(name, &opening).map_err(|error| role.told(error))
        })
    }
}

impl Roles<Box<dyn ChatModel>> {
    /// The same, as a run calls them.
    pub(crate) fn models(&self) -> Models<'_> {
        Models { target: &*self.model, summarizer: self.summarizer.as_deref(), judge: self.judge.as_deref() }
    }
}

/// The recording of a summarizer that stands within that of the model.
fn recorded_beside(model: &str) -> Option<String> {
    let recorded = cassette::folder(model)?;
    let (kind, rest) = model.split_once(':')?;
    let faults = rest.strip_prefix(recorded.to_str()?)?;
    let folder = Role::Summarizer.folder(recorded);
    holds_calls(&folder).then(|| format!("{kind}:{}{faults}", folder.display()))
}

/// A run whose strategies write nothing leaves an empty recording, which answers nobody.
fn holds_calls(folder: &Path) -> bool {
    let mut files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.any(|file| file.metadata().is_ok_and(|about| about.is_file() && about.len() > 0))
}
