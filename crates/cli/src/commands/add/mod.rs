//! `add`: installs agents and packages of others, each in a folder of its own.

pub(super) mod adapters;
mod install;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow};
use clap::Args;
use compactometer_text::suggest::unknown;

use self::adapters::{ALL, Adapter, Registry};
use self::install::Packages;
use super::command_row::{CommandRow, parsed};
use crate::arguments::help::HelpGroup;
use crate::arguments::{agents, programs};
use crate::output::cache;
use crate::output::failure::{Failure, words};
use crate::output::terminal::{note, say};

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "add",
    about: "Install agents and packages of others, to compare them",
    group: HelpGroup::Rest,
    arguments: AddArgs::augment_args,
    run: |matches| add(&parsed(matches)?),
};

#[derive(clap::Args)]
#[command(
    after_help = "`list adapters` names the packages, which are strategies for `-s` then, and `list agents` the agents, for `--agent`. Each version is pinned, and packages come from the registries that npm and pip are set to. npm and Node 20 are needed for packages of npm, Python 3.11 for those of PyPI, and 3.12 for openhands-condenser."
)]
struct AddArgs {
    /// Adapters, and agents as `NAME` or `NAME@VERSION`.
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Take them away again.
    #[arg(long)]
    remove: bool,
}

/// What can be added.
enum Thing {
    Adapter(&'static Adapter),
    Agent(Box<compactometer_agents::Definition>),
}

fn add(args: &AddArgs) -> Result<(), Failure> {
    let things = args.names.iter().map(|name| thing(name));
    let things = things.collect::<Result<Vec<_>>>().map_err(Failure::usage)?;
    let mut failed = Vec::new();
    for thing in &things {
        let done = match args.remove {
            true => thing.remove(),
            false => thing.add(),
        };
        match done {
            Ok(said) => say(&format!("{said}\n"))?,
            Err(error) => {
                note(&words(&error));
                failed.push(thing.row());
            }
        }
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(Failure::failed(anyhow!("not done: {}", failed.join(", ")))),
    }
}

fn thing(name: &str) -> Result<Thing> {
    if let Some(adapter) = ALL.iter().find(|adapter| adapter.name == name) {
        return Ok(Thing::Adapter(adapter));
    }
    compactometer_agents::by_name(name)
        .map(|agent| Thing::Agent(Box::new(agent)))
        .ok_or_else(|| {
            let agents = compactometer_agents::all();
            let names = agents.iter().map(|agent| agent.name.as_str());
            anyhow!(unknown(
                "adapter or agent",
                name,
                ALL.iter().map(|one| one.name).chain(names)
            ))
        })
}

impl Thing {
    /// Its name and version, which is that of its folder.
    fn row(&self) -> String {
        match self {
            Thing::Adapter(adapter) => format!("{}@{}", adapter.name, adapter.version),
            Thing::Agent(agent) => agent.row(),
        }
    }

    fn folder(&self) -> Result<PathBuf> {
        let parent = match self {
            Thing::Adapter(_) => cache::folder().map(|cache| cache.join("adapters")),
            Thing::Agent(_) => agents::folder(),
        };
        let parent = parent.context("there is no cache folder: set XDG_CACHE_HOME to one")?;
        Ok(parent.join(match self {
            Thing::Adapter(adapter) => adapter.folder_name(),
            Thing::Agent(agent) => agent.row(),
        }))
    }

    fn packages(&self) -> Packages {
        match self {
            Thing::Adapter(adapter) => {
                let packages = adapter.packages.iter().map(|name| (*name).to_owned());
                let (mut npm, mut pip) = (packages.collect::<Vec<_>>(), Vec::new());
                if adapter.from == Registry::Pypi {
                    std::mem::swap(&mut npm, &mut pip);
                }
                Packages {
                    npm,
                    pip,
                    python: adapter.python,
                    files: adapter.files(),
                }
            }
            Thing::Agent(agent) => {
                let of_version = |names: &[String]| {
                    let names = names
                        .iter()
                        .map(|name| name.replace("{version}", &agent.version));
                    names.collect()
                };
                Packages {
                    npm: of_version(&agent.install.npm),
                    pip: of_version(&agent.install.pip),
                    python: adapters::PYTHON_LEAST,
                    files: Vec::new(),
                }
            }
        }
    }

    /// How it is used.
    fn trial(&self) -> String {
        match self {
            Thing::Adapter(adapter) => format!(
                "compactometer compare -s {},summarize,@controls",
                adapter.name
            ),
            Thing::Agent(agent) => {
                format!(
                    "compactometer compare agentic --sample 4 --agent {} -s summarize,@controls",
                    agent.name
                )
            }
        }
    }

    fn add(&self) -> Result<String> {
        let (row, folder) = (self.row(), self.folder()?);
        let began = Instant::now();
        let is_new = !folder.is_dir();
        if is_new {
            note(&format!("installing {row}"));
            self.packages()
                .install(&folder)
                .with_context(|| format!("{row} was not installed"))?;
        } else {
            self.packages().write_files(&folder)?;
        }
        if let Thing::Adapter(adapter) = self {
            programs::name_program(adapter.name, Some(&adapter.command(&folder)))?;
        }
        let how = match is_new {
            true => format!("installed in {:.0} s", began.elapsed().as_secs_f64()),
            false => "is installed".to_owned(),
        };
        Ok(format!("{row} {how}; try: {}", self.trial()))
    }

    fn remove(&self) -> Result<String> {
        let (row, folder) = (self.row(), self.folder()?);
        if let Thing::Adapter(adapter) = self {
            for name in adapter.beside().into_iter().chain([adapter.name]) {
                programs::name_program(name, None)?;
            }
        }
        if !folder.is_dir() {
            return Ok(format!("{row} is not installed"));
        }
        std::fs::remove_dir_all(&folder)
            .with_context(|| format!("remove `{}`", folder.display()))?;
        let with_it = match self {
            Thing::Adapter(adapter) => adapter.beside(),
            Thing::Agent(_) => Vec::new(),
        };
        Ok(match with_it.is_empty() {
            true => format!("{row} is removed"),
            false => format!("{row} is removed, and {} with it", with_it.join(", ")),
        })
    }
}
