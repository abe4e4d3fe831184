//! `list`: what there is, straight from the registries.

use anyhow::anyhow;
use compactometer_engine::strategies::{self, Faithful};
use compactometer_engine::strategy::StrategySpec;
use compactometer_formats::record::Family;
use compactometer_formats::schemas;
use compactometer_harness::entrants::all;
use compactometer_simulator::mock::profile::{self, Profile};
use compactometer_suites::generate::embedded;
use compactometer_suites::import;
use compactometer_text::suggest::unknown;

use crate::failure::Failure;
use crate::terminal::say;

/// What to list.
#[derive(clap::Args)]
pub(crate) struct ListArgs {
    /// `strategies`, `faithful`, `parameters`, `controls`, `suites`, `metrics`, `targets`, `formats`, `secrets`,
    /// `schemas`, `models`, `profiles` or `faults`.
    /// Default: all.
    pub(crate) kind: Option<String>,
}

/// A kind of thing and its rows: name, what it is, where it comes from.
struct Kind {
    name: &'static str,
    rows: fn() -> Vec<(String, String)>,
}

const KINDS: &[Kind] = &[
    Kind { name: "strategies", rows: || entrants(Family::Reference) },
    Kind { name: "faithful", rows: faithful },
    Kind { name: "parameters", rows: parameters },
    Kind { name: "controls", rows: || entrants(Family::Control) },
    Kind { name: "suites", rows: suites },
    Kind { name: "metrics", rows: metrics },
    Kind { name: "targets", rows: targets },
    Kind { name: "formats", rows: importers },
    Kind { name: "secrets", rows: secrets },
    Kind { name: "schemas", rows: schemas },
    Kind { name: "models", rows: models },
    Kind { name: "profiles", rows: profiles },
    Kind { name: "faults", rows: faults },
];

pub(crate) fn list(args: &ListArgs) -> Result<(), Failure> {
    let wanted = |kind: &&Kind| args.kind.as_deref().is_none_or(|name| name == kind.name);
    let kinds = KINDS.iter().filter(wanted).collect::<Vec<_>>();
    if kinds.is_empty() {
        let given = args.kind.as_deref().unwrap_or_default();
        return Err(Failure::usage(anyhow!(unknown("kind", given, KINDS.iter().map(|kind| kind.name)))));
    }
    say(&kinds.iter().map(|kind| section(kind)).collect::<Vec<_>>().join("\n"))
}

fn section(kind: &Kind) -> String {
    let rows = (kind.rows)();
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    let lines = rows.iter().map(|(name, about)| format!("  {name:<width$}  {about}\n")).collect::<String>();
    format!("{}\n{lines}", kind.name)
}

fn entrants(family: Family) -> Vec<(String, String)> {
    let of_family = all().filter(|entrant| entrant.family == family);
    of_family.map(|entrant| (entrant.name.clone(), format!("{} [{}]", entrant.about(), entrant.source()))).collect()
}

/// The documents' own forms: the defects that are switched on, and the invariants that they break.
fn faithful() -> Vec<(String, String)> {
    let row = |faithful: &&Faithful| {
        let defects = faithful.values.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        let breaks = faithful.breaks.iter().map(u8::to_string).collect::<Vec<_>>().join(", ");
        (faithful.name(), format!("{defects}; breaks invariants {breaks} [{}]", faithful.spec.source))
    };
    strategies::FAITHFUL.iter().map(row).collect()
}

/// `strategy.key`: what it does, its source's value, its unit and range.
fn parameters() -> Vec<(String, String)> {
    let of_strategy = |spec: &&'static StrategySpec| {
        let name = spec.name;
        spec.params
            .iter()
            .map(move |param| (format!("{name}.{}", param.name), format!("{}: {}", param.about, param.shown())))
    };
    strategies::ALL.iter().flat_map(of_strategy).collect()
}

/// Embedded generator specs.
fn suites() -> Vec<(String, String)> {
    embedded::ALL.iter().map(|embedded| (embedded.name.to_owned(), embedded.about.to_owned())).collect()
}

fn metrics() -> Vec<(String, String)> {
    let rows = compactometer_report::metrics::ALL.iter();
    rows.map(|metric| (metric.id.to_owned(), format!("{} ({})", metric.formula, metric.unit.name()))).collect()
}

/// The sources' own targets.
fn targets() -> Vec<(String, String)> {
    let rows = compactometer_report::targets::ALL.iter();
    rows.map(|target| (target.id.to_owned(), format!("{} [{}]", target.target, target.source))).collect()
}

/// What `import` reads.
fn importers() -> Vec<(String, String)> {
    import::ALL
        .iter()
        .map(|importer| (importer.name.to_owned(), format!("{} [{}]", importer.about, importer.source)))
        .collect()
}

/// Rows of what `import` masks.
fn secrets() -> Vec<(String, String)> {
    import::secrets::kinds().map(|(kind, about)| (kind.to_owned(), about.to_owned())).collect()
}

/// What `schema` prints.
fn schemas() -> Vec<(String, String)> {
    schemas::ALL.iter().map(|format| (format.name.to_owned(), format.about.to_owned())).collect()
}

fn models() -> Vec<(String, String)> {
    let of_kind = |kind: &&compactometer_models::ModelKind| {
        let about = kind.about;
        kind.forms().into_iter().map(move |form| (form, about.to_owned())).collect::<Vec<_>>()
    };
    compactometer_models::ALL.iter().flat_map(of_kind).collect()
}

/// `profile parameter`: its value, and its source or "assumed".
fn profiles() -> Vec<(String, String)> {
    let of_profile = |profile: &&'static Profile| {
        let about = (format!("mock:{}", profile.name), profile.about.to_owned());
        let rows = profile
            .parameters()
            .into_iter()
            .map(|row| (format!("mock:{} {}", profile.name, row.name), format!("{} [{}]", row.value, row.source)));
        std::iter::once(about).chain(rows).collect::<Vec<_>>()
    };
    profile::ALL.iter().flat_map(of_profile).collect()
}

/// What `--model MODEL+FAULT=RATE` can do to a model.
fn faults() -> Vec<(String, String)> {
    compactometer_simulator::faults::ALL.iter().map(|fault| (fault.name.to_owned(), fault.about.to_owned())).collect()
}
