//! The mock as a kind of model.

use compactometer_engine::model::ChatModel;
use compactometer_simulator::{mock, profile};

use crate::{Form, ModelKind};

pub(crate) const KIND: ModelKind = ModelKind {
    name: "mock",
    about: "extracts by general salience; free, fast and exact: mechanism, not model; takes faults: `mock+empty=0.1`",
    form: Form::Listed {
        variants: || profile::ALL.iter().map(|profile| profile.name).collect(),
        build: |name| mock::by_name(name).map(|mock| Box::new(mock) as Box<dyn ChatModel>),
    },
};
