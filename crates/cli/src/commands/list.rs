//! `list`: prints the registries.

use std::collections::BTreeMap;

use anyhow::anyhow;
use clap::Args;
use compactometer_agents::Definition;
use compactometer_engine::strategies;
use compactometer_engine::strategy::StrategySpec;
use compactometer_formats::added_text::{AddedText, AddedTextRow};
use compactometer_formats::prices::{PriceRow, PriceTable, PriceTier};
use compactometer_formats::record::Family;
use compactometer_formats::schemas;
use compactometer_harness::entrants::{all, own};
use compactometer_harness::plan::{Absence, Trigger};
use compactometer_simulator::profile::{self, Profile};
use compactometer_suites::embedded;
use compactometer_suites::import;
use compactometer_text::suggest::unknown;
use compactometer_text::wrapping::wrapped;
use serde_json::{Value, json};

use super::add::adapters::{self, Adapter};
use super::command_row::{CommandRow, parsed};
use crate::arguments::agents;
use crate::arguments::help::HelpGroup;
use crate::output::failure::Failure;
use crate::output::terminal::{known_width, say, say_json};

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "list",
    about: "List strategies, controls, metrics, targets, formats, schemas, models and prices",
    group: HelpGroup::Rest,
    arguments: ListArgs::augment_args,
    run: |matches| list(&parsed(matches)?),
};

#[derive(clap::Args)]
pub(crate) struct ListArgs {
    /// `strategies`, `faithful`, `parameters`, `controls`, `adapters`, `agents`, `suites`, `metrics`, `targets`,
    /// `formats`, `secrets`, `schemas`, `models`, `prices`, `profiles` or `faults`. Without one, the
    /// kinds are listed.
    pub(crate) kind: Option<String>,
    /// Print names and what they are as JSON, of one kind or of all.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A registry's name, what it holds, and its rows: the name of an entry and what it is.
struct ListedKind {
    name: &'static str,
    about: &'static str,
    rows: fn() -> Vec<(String, String)>,
}

const KINDS: &[ListedKind] = &[
    ListedKind {
        name: "strategies",
        about: "ways of compacting, for `-s`",
        rows: || [entrants(Family::Custom), entrants(Family::Reference)].concat(),
    },
    ListedKind {
        name: "faithful",
        about: "the same as their documents published them, with what they break",
        rows: faithful,
    },
    ListedKind {
        name: "parameters",
        about: "of strategies, as `-s NAME:PARAMETER=VALUE`",
        rows: parameters,
    },
    ListedKind {
        name: "controls",
        about: "rows that every comparison has beside it",
        rows: || entrants(Family::Control),
    },
    ListedKind {
        name: "adapters",
        about: "packages of others, for `add` and then `-s`",
        rows: || {
            let row = |adapter: &Adapter| (adapter.name.to_owned(), adapter.about.to_owned());
            adapters::ALL.iter().map(row).collect()
        },
    },
    ListedKind {
        name: "agents",
        about: "of others, for `add` and then `--agent`",
        rows: agents,
    },
    ListedKind {
        name: "suites",
        about: "conversations that the program brings",
        rows: suites,
    },
    ListedKind {
        name: "metrics",
        about: "ids in summary.json, with definitions",
        rows: metrics,
    },
    ListedKind {
        name: "targets",
        about: "what the source documents ask of themselves",
        rows: targets,
    },
    ListedKind {
        name: "formats",
        about: "transcripts that `import` and `losses` read",
        rows: importers,
    },
    ListedKind {
        name: "secrets",
        about: "what imports mask",
        rows: secrets,
    },
    ListedKind {
        name: "schemas",
        about: "of the files that this program writes",
        rows: schemas,
    },
    ListedKind {
        name: "models",
        about: "names for `--model`",
        rows: models,
    },
    ListedKind {
        name: "prices",
        about: "US dollars per million tokens",
        rows: prices,
    },
    ListedKind {
        name: "profiles",
        about: "what the simulated models assume",
        rows: profiles,
    },
    ListedKind {
        name: "faults",
        about: "failures that a simulated model can have",
        rows: faults,
    },
];

fn list(args: &ListArgs) -> Result<(), Failure> {
    let wanted = |kind: &&ListedKind| args.kind.as_deref().is_none_or(|name| name == kind.name);
    let kinds = KINDS.iter().filter(wanted).collect::<Vec<_>>();
    if kinds.is_empty() {
        let given = args.kind.as_deref().unwrap_or_default();
        return Err(Failure::usage(anyhow!(unknown(
            "kind",
            given,
            KINDS.iter().map(|kind| kind.name)
        ))));
    }
    if args.json {
        return say_json(
            &kinds
                .iter()
                .map(|kind| (kind.name, row_values(kind)))
                .collect::<BTreeMap<_, _>>(),
        );
    }
    let width = known_width().unwrap_or(usize::MAX);
    match args.kind {
        Some(_) => kinds
            .iter()
            .try_for_each(|kind| say(&section(kind.name, &(kind.rows)(), width))),
        None => say(&section("compactometer list KIND", &counted(), width)),
    }
}

/// Every kind, with the number of its rows and what they are.
fn counted() -> Vec<(String, String)> {
    let row = |kind: &ListedKind| {
        let about = format!("{:>3}  {}", (kind.rows)().len(), kind.about);
        (kind.name.to_owned(), about)
    };
    KINDS.iter().map(row).collect()
}

/// The rows of a kind, for programs.
fn row_values(kind: &ListedKind) -> Vec<Value> {
    (kind.rows)()
        .into_iter()
        .map(|(name, about)| json!({"name": name, "about": about}))
        .collect()
}

fn section(heading: &str, rows: &[(String, String)], width: usize) -> String {
    let names = rows
        .iter()
        .map(|(name, _)| name.chars().count())
        .max()
        .unwrap_or_default()
        + 4;
    let row = |(name, about): &(String, String)| {
        let lines = wrapped(about, width.saturating_sub(names));
        let lines = lines.iter().enumerate().map(|(at, line)| {
            let name = if at == 0 {
                format!("  {name}")
            } else {
                String::new()
            };
            format!("{name:<names$}{line}\n")
        });
        lines.collect::<String>()
    };
    format!("{heading}\n{}", rows.iter().map(row).collect::<String>())
}

fn entrants(family: Family) -> Vec<(String, String)> {
    let of_family = all().filter(|entrant| entrant.family == family);
    of_family
        .map(|entrant| {
            (
                entrant.name.clone(),
                format!("{} [{}]", entrant.about(), entrant.source()),
            )
        })
        .collect()
}

/// The as-published forms: the deviations that are switched on, and the invariants that they break.
fn faithful() -> Vec<(String, String)> {
    let row = |spec: &&StrategySpec| {
        let published = spec.published.as_ref()?;
        let deviations = published
            .values
            .iter()
            .map(|(name, _)| *name)
            .collect::<Vec<_>>()
            .join(", ");
        let breaks = published
            .breaks
            .iter()
            .map(u8::to_string)
            .collect::<Vec<_>>()
            .join(", ");
        Some((
            spec.published_name(),
            format!("{deviations}; breaks invariants {breaks} [{}]", spec.source),
        ))
    };
    strategies::ALL.iter().filter_map(row).collect()
}

/// The ledger of all, then for each `strategy.key`: what it does, its default, unit and range.
/// Those that switch a point of the published form on say only what that does.
fn parameters() -> Vec<(String, String)> {
    let of_strategy = |spec: &&'static StrategySpec| {
        let name = spec.name;
        spec.params().map(move |param| {
            let about = match param.is_deviation() {
                true => format!("`faithful`, as published: {}", param.about),
                false => format!("{} ({})", param.about, param.shown()),
            };
            (format!("{name}.{}", param.name), about)
        })
    };
    let added = |row: AddedTextRow| {
        let AddedTextRow {
            parameter, about, ..
        } = row;
        match row.text {
            AddedText::Ledger => (
                format!("STRATEGY.{parameter}"),
                format!(
                    "{about}, within its budget; on `recorded` added to it (tokens, default none)"
                ),
            ),
            _ => (
                format!("recorded.{parameter}"),
                format!("{about}, added to what the program left (tokens, default none)"),
            ),
        }
    };
    let trigger = (
        format!("STRATEGY.{}", Trigger::PARAMETER),
        Trigger::ABOUT.to_owned(),
    );
    let absence = (
        format!("STRATEGY.{}", Absence::PARAMETER),
        Absence::ABOUT.to_owned(),
    );
    AddedText::ROWS
        .into_iter()
        .map(added)
        .chain([absence, trigger])
        .chain(own().iter().chain(strategies::ALL).flat_map(of_strategy))
        .collect()
}

/// The agents, and whether they are installed.
fn agents() -> Vec<(String, String)> {
    let folder = agents::folder();
    let row = |agent: &Definition| {
        let is_installed = folder
            .as_deref()
            .is_some_and(|folder| agent.folder(folder).is_dir());
        let installed = if is_installed {
            "installed"
        } else {
            "not installed"
        };
        let about = format!(
            "{} {}, told that its model is `{}`; {installed} [{}]",
            agent.title, agent.version, agent.model, agent.licence
        );
        (agent.name.clone(), about)
    };
    compactometer_agents::all().iter().map(row).collect()
}

/// Embedded generator specs.
fn suites() -> Vec<(String, String)> {
    embedded::ALL
        .iter()
        .map(|embedded| (embedded.name.to_owned(), embedded.about.to_owned()))
        .collect()
}

fn metrics() -> Vec<(String, String)> {
    let rows = compactometer_report::metrics::ALL.iter();
    rows.map(|metric| {
        (
            metric.id.to_owned(),
            format!("{} ({})", metric.definition, metric.unit.name()),
        )
    })
    .collect()
}

/// The rows of the shipped table.
fn prices() -> Vec<(String, String)> {
    let Ok(table) = PriceTable::shipped() else {
        return Vec::new();
    };
    let row = |row: &PriceRow| {
        let tiers = row.tiers().map(|tier| {
            let above =
                if tier.above_tokens == 0 { String::new() } else { format!("above {} tokens: ", tier.above_tokens) };
            let PriceTier { input, cache_write, cache_read, output, .. } = tier;
            format!("{above}input {input}, cache write {cache_write}, cache read {cache_read}, output {output}")
        });
        let tiers = tiers.collect::<Vec<_>>().join("; ");
        (
            row.name.clone(),
            format!(
                "{tiers} US dollars per million tokens [{}, {}]",
                row.date, row.source
            ),
        )
    };
    table.model.iter().map(row).collect()
}

/// The targets that the sources set themselves.
fn targets() -> Vec<(String, String)> {
    let rows = compactometer_report::targets::ALL.iter();
    rows.map(|target| {
        (
            target.id.to_owned(),
            format!("{} [{}]", target.target, target.source),
        )
    })
    .collect()
}

/// The formats that `import` reads.
fn importers() -> Vec<(String, String)> {
    import::ALL
        .iter()
        .map(|importer| {
            (
                importer.name.to_owned(),
                format!(
                    "{} [{}]. Compactions: {} {}",
                    importer.about, importer.source, importer.compactions, importer.particulars
                ),
            )
        })
        .collect()
}

/// The kinds of secrets that `import` masks.
fn secrets() -> Vec<(String, String)> {
    import::secrets::kinds()
        .map(|(kind, about)| (kind.to_owned(), about.to_owned()))
        .collect()
}

/// The formats whose schema `schema` prints.
fn schemas() -> Vec<(String, String)> {
    schemas::ALL
        .iter()
        .map(|format| (format.name.to_owned(), format.about.to_owned()))
        .collect()
}

/// Every form of a model's name, a mock described by its profile, and what the parameters of mocks
/// do.
fn models() -> Vec<(String, String)> {
    let of_kind = |kind: compactometer_models::ModelKind| {
        let row = |form: String| {
            let about =
                of_profile(&form).map_or(kind.about.to_owned(), |about| format!("a mock: {about}"));
            (form, about)
        };
        kind.forms().into_iter().map(row).collect::<Vec<_>>()
    };
    let faults = (
        "MODEL+FAULT=RATE".to_owned(),
        "any of these that fails at times, as in `mock+empty=0.1` (`list faults`)".to_owned(),
    );
    let parameters = profile::ALL[0].parameters().into_iter();
    let parameters = parameters.map(|row| {
        (
            format!("a mock's {}", row.name),
            format!("{}; values: `list profiles`", row.about),
        )
    });
    compactometer_models::all()
        .into_iter()
        .flat_map(of_kind)
        .chain([faults])
        .chain(parameters)
        .collect()
}

fn of_profile(form: &str) -> Option<&'static str> {
    let name = form.strip_prefix("mock:")?;
    let mut profiles = profile::ALL.iter();
    profiles
        .find(|profile| profile.name == name)
        .map(|profile| profile.about)
}

/// For each parameter of a profile: its value, what it does, and its source or "assumed".
fn profiles() -> Vec<(String, String)> {
    let of_profile = |profile: &&'static Profile| {
        let about = (format!("mock:{}", profile.name), profile.about.to_owned());
        let rows = profile.parameters().into_iter().map(|row| {
            (
                format!("mock:{} {}", profile.name, row.name),
                format!("{}: {} [{}]", row.value, row.about, row.source),
            )
        });
        std::iter::once(about).chain(rows).collect::<Vec<_>>()
    };
    profile::ALL.iter().flat_map(of_profile).collect()
}

/// The faults that `--model MODEL+FAULT=RATE` can inject.
fn faults() -> Vec<(String, String)> {
    compactometer_simulator::faults::ALL
        .iter()
        .map(|fault| (fault.name.to_owned(), fault.about.to_owned()))
        .collect()
}
