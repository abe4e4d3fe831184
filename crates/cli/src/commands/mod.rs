//! One file for each command.

pub(crate) mod agreement;
pub(crate) mod checkpoint;
pub(crate) mod compare;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod gate;
pub(crate) mod generate;
pub(crate) mod import;
pub(crate) mod list;
pub(crate) mod probes;
pub(crate) mod report;
pub(crate) mod salience;
pub(crate) mod schema;
pub(crate) mod serve;
