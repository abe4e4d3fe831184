//! Environment variables that nothing reads.

use compactometer_text::suggest::unknown;

use super::DoctorCheck;
use crate::arguments::settings_file::PREFIX;
use crate::commands::program;

/// Variables without a flag: the API key, and those of builds, scripts and tests.
const OTHERS: [&str; 11] = [
    "COMPACTOMETER_API_KEY",
    "COMPACTOMETER_COMMIT",
    "COMPACTOMETER_CLIENTS_PYTHON",
    "COMPACTOMETER_PEERS_CACHE",
    "COMPACTOMETER_REAL_MODEL",
    "COMPACTOMETER_REAL_MODEL_DIR",
    "COMPACTOMETER_REAL_MODEL_PORT",
    "COMPACTOMETER_REAL_MODEL_THREADS",
    "COMPACTOMETER_REQUIRE_SHARED",
    "COMPACTOMETER_REQUIRE_TOOLS",
    "COMPACTOMETER_SHARED",
];

pub(super) fn checks() -> Vec<DoctorCheck> {
    let command = program();
    let mut known = OTHERS.map(str::to_owned).to_vec();
    add_variables(&command, &mut known);
    let set = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let mut unread = set
        .filter(|name| name.starts_with(PREFIX) && !known.contains(name))
        .collect::<Vec<_>>();
    unread.sort_unstable();
    let told = |name: &String| {
        DoctorCheck::warning(
            "settings",
            unknown("variable", name, known.iter().map(String::as_str)),
        )
    };
    let checks = unread.iter().map(told).collect::<Vec<_>>();
    if checks.is_empty() {
        vec![DoctorCheck::ok(
            "settings",
            "flags and variables are all known",
        )]
    } else {
        checks
    }
}

fn add_variables(command: &clap::Command, known: &mut Vec<String>) {
    let variables = command
        .get_arguments()
        .filter_map(|arg| arg.get_env()?.to_str());
    known.extend(variables.map(str::to_owned));
    known.sort_unstable();
    known.dedup();
    command
        .get_subcommands()
        .for_each(|one| add_variables(one, known));
}
