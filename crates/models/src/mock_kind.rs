//! The mock as a kind of model.

use compactometer_engine::model::ChatModel;
use compactometer_simulator::{mock, profile};

use crate::{KindForm, ModelKind};

pub(crate) const KIND: ModelKind = ModelKind {
    name: "mock",
    about: "writes by rules: free, fast and exact; shows a mechanism and no model",
    form: KindForm::Listed {
        variants: || profile::ALL.iter().map(|profile| profile.name).collect(),
        build: |name| mock::by_name(name).map(|mock| Box::new(mock) as Box<dyn ChatModel>),
    },
};
