//! What is given to commands: the arguments that several share, a folder's settings, and what arguments name: models, suites,
//! recordings, stores.

pub(crate) mod help;
pub(crate) mod recordings;
pub(crate) mod roles;
mod run;
pub(crate) mod settings;
pub(crate) mod stores;
pub(crate) mod suites;

pub(crate) use run::{PricesArg, RunArgs, SettingArgs, encoding, positive};
