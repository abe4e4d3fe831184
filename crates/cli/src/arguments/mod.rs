//! What commands are given: shared arguments, a folder's settings, and the models, suites,
//! recordings and stores that arguments name.

pub(crate) mod agents;
pub(crate) mod help;
pub(crate) mod programs;
pub(crate) mod recordings;
pub(crate) mod roles;
mod run;
pub(crate) mod settings_file;
pub(crate) mod stores;
pub(crate) mod suites;
pub(crate) mod transcripts;

pub(crate) use run::{
    DEFAULT_MODEL, PricesArg, RunArgs, SettingArgs, encoding, number, one_of, positive, protocols,
};
