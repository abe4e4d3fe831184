//! Whether each parameter of each strategy changes something: a context, or at least a request to
//! the summarizer. Numbers are halved and doubled, choices made otherwise, and each defect of a
//! document is switched on, under limits of the run and of the document, and with a summarizer that
//! fails in the ways that a defect needs.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, anyhow, ensure};
use compactometer_engine::params::{Param, ParamUnit};
use compactometer_engine::strategy::StrategySpec;
use serde_json::Value;

use super::desk::{RunFolder, SMALL, SourcesDesk, list};
use super::sourced_row::{Finding, SourceDocument, SourceRow, SourceVerdict};

/// Where parameters are tried: what it is called, and its arguments.
const CIRCUMSTANCES: [(&str, &[&str]); 6] = [
    ("under limits of the run", &["--protocol", "matched"]),
    (
        "under the document's limits",
        &["--protocol", "published", "--scale", ".18"],
    ),
    (
        "where JSON comes in a code fence",
        &["--model", "mock+fenced-json=.4"],
    ),
    (
        "where JSON is malformed",
        &["--model", "mock+malformed-json=.4"],
    ),
    (
        "where answers go on with the chat",
        &["--model", "mock+continues-chat=.4"],
    ),
    ("where answers are empty", &["--model", "mock+empty=.4"]),
];

/// Values in place of the half and the double, and what has to be set beside them.
const BESIDE: &[(&str, &str, &[&str], &str)] = &[
    ("", "ahead", &[], "predictive=on"),
    ("", "shift", &[], "predictive=on"),
    ("", "other_threads", &["9000"], "stale_count=faithful"),
    ("", "trigger", &[], "window=80000"),
    ("", "one_piece", &[], "window=10001"),
    ("summarize", "window", &["10001"], ""),
    ("prompt-checkpoint", "window", &["10001"], ""),
    ("middleware-checkpoint", "window", &["10001"], ""),
    ("hybrid-checkpoint", "window", &["10001"], ""),
    ("threshold-summary", "threshold", &[], "window=400000"),
    ("threshold-summary", "window", &["81000"], "calls=1"),
    ("threshold-summary", "unguarded", &[], "window=81000"),
    ("handoff", "threshold", &[], "window=500000"),
    ("handoff", "window", &["201000"], ""),
    ("handoff", "off", &[], "threshold=0"),
    ("chained", "message_limit", &["250"], ""),
    ("chained", "model", &["claude-3-haiku-20240307"], ""),
    ("chained", "lookup", &[], "model=claude-3-haiku-20240307"),
];

/// Defects that change nothing here, and why.
const UNSEEN: &[(&str, &str, &str)] = &[
    (
        "",
        "section",
        "no simulated model names threads or external APIs",
    ),
    (
        "threshold-summary",
        "gapless",
        "ids of generated conversations have no gaps",
    ),
    (
        "threshold-summary",
        "strict",
        "a request of exactly the threshold is rare",
    ),
    (
        "chained",
        "unmarked",
        "it shows in the store's records, and in no context",
    ),
    (
        "chained",
        "negative",
        "the corrected form refuses such a window, and says so",
    ),
];

/// A value of a parameter that is tried.
struct Variation {
    param: &'static Param,
    value: String,
    beside: &'static str,
}

pub(super) fn rows(document: SourceDocument, desk: &mut SourcesDesk) -> Vec<SourceRow> {
    let specs = document.strategies();
    specs
        .flat_map(|spec| of_strategy(document, spec, desk))
        .collect()
}

fn of_strategy(
    document: SourceDocument,
    spec: &'static StrategySpec,
    desk: &mut SourcesDesk,
) -> Vec<SourceRow> {
    let claim = format!(
        "each parameter of `{}` changes contexts or requests",
        spec.name
    );
    let (found, seen) = match seen(spec, desk) {
        Ok(seen) => (parameters(spec, &seen), seen),
        Err(error) => (
            (SourceVerdict::Fails, format!("{error:#}"), String::new()),
            BTreeMap::new(),
        ),
    };
    let parameters = SourceRow::new(document, ("parameters", claim), found);
    let defects = spec
        .params()
        .filter(|param| param.is_deviation())
        .map(|param| {
            let claim = format!("`{}`: {}", spec.name, param.about);
            let found = defect(spec, param, seen.get(param.name));
            let command = format!(
                "compactometer compare datasets/{SMALL} -s {0},other={0}:{1}=faithful",
                spec.name, param.name
            );
            SourceRow::new(document, (AS_PUBLISHED, claim), found).by(command)
        });
    std::iter::once(parameters).chain(defects).collect()
}

/// The place of defects that the strategies correct.
const AS_PUBLISHED: &str = "as published";

/// Whether every parameter beside the switches of defects changes something.
fn parameters(spec: &StrategySpec, seen: &BTreeMap<&str, String>) -> Finding {
    let own = spec
        .params()
        .filter(|param| !param.is_deviation())
        .map(|param| param.name);
    let (live, dead): (Vec<_>, Vec<_>) = own.partition(|name| seen.contains_key(name));
    let value = format!("{} of {}", live.len(), live.len() + dead.len());
    match dead.is_empty() {
        true => (SourceVerdict::Holds, value, String::new()),
        false => (
            SourceVerdict::Fails,
            format!("{value}; nothing changes with {}", dead.join(", ")),
            String::new(),
        ),
    }
}

/// What the switch of a defect changes.
fn defect(spec: &StrategySpec, param: &Param, seen: Option<&String>) -> Finding {
    let corrected = format!(
        "corrected; `-s {}:{}=faithful` has it",
        spec.name, param.name
    );
    let unseen = UNSEEN
        .iter()
        .find(|(strategy, name, _)| is_for(strategy, name, spec, param));
    match (seen, unseen) {
        (Some(place), _) => (SourceVerdict::Dropped, place.clone(), corrected),
        (None, Some((.., why))) => (
            SourceVerdict::Dropped,
            format!("nothing changes: {why}"),
            corrected,
        ),
        (None, None) => (
            SourceVerdict::Fails,
            "changes neither contexts nor requests".to_owned(),
            String::new(),
        ),
    }
}

fn is_for(strategy: &str, name: &str, spec: &StrategySpec, param: &Param) -> bool {
    (strategy.is_empty() || strategy == spec.name) && name == param.name
}

/// The parameters that change something, and where that was seen first.
fn seen(
    spec: &'static StrategySpec,
    desk: &mut SourcesDesk,
) -> Result<BTreeMap<&'static str, String>> {
    let mut left = spec
        .params()
        .flat_map(|param| variations(spec, param))
        .collect::<Vec<_>>();
    let mut seen = BTreeMap::new();
    for (at, (place, arguments)) in CIRCUMSTANCES.iter().enumerate() {
        left.retain(|one| !seen.contains_key(one.param.name));
        if left.is_empty() {
            break;
        }
        let rows = rows_of(spec, &left);
        let all = [&[SMALL, "-s", rows.as_str()], *arguments].concat();
        let run = desk.run(&format!("effects-{}-{at}", spec.name), &all)?;
        for (at, one) in left.iter().enumerate() {
            let row = format!("v{at}");
            if let Some(what) = difference(&run, &row, &base(spec, &left, one))? {
                let mut noted = list(&run.manifest["settings"][&row]["without_effect"]);
                ensure!(
                    !noted.any(|name| name == one.param.name),
                    "`{}` is noted as without effect, and {what} differ",
                    one.param.name
                );
                seen.entry(one.param.name)
                    .or_insert_with(|| format!("{what} differ {place}"));
            }
        }
    }
    Ok(seen)
}

/// The strategy, what variations are compared with where something is set beside them, and the
/// variations, as `-s` takes them.
fn rows_of(spec: &StrategySpec, all: &[Variation]) -> String {
    let name = spec.name;
    let mut rows = vec![name.to_owned()];
    rows.extend(
        beside(all)
            .iter()
            .enumerate()
            .map(|(at, set)| format!("b{at}={name}:{set}")),
    );
    rows.extend(all.iter().enumerate().map(|(at, one)| {
        let beside = if one.beside.is_empty() {
            String::new()
        } else {
            format!(":{}", one.beside)
        };
        format!("v{at}={name}:{}={}{beside}", one.param.name, one.value)
    }));
    rows.join(",")
}

/// The row that a variation is compared with.
fn base(spec: &StrategySpec, all: &[Variation], one: &Variation) -> String {
    let place = beside(all).iter().position(|set| *set == one.beside);
    place.map_or(spec.name.to_owned(), |place| format!("b{place}"))
}

/// What is set beside variations, each once.
fn beside(all: &[Variation]) -> Vec<&'static str> {
    let set = all
        .iter()
        .map(|one| one.beside)
        .filter(|beside| !beside.is_empty());
    set.collect::<BTreeSet<_>>().into_iter().collect()
}

/// What differs between two rows.
fn difference(run: &RunFolder, row: &str, base: &str) -> Result<Option<&'static str>> {
    let (Some(one), Some(other)) = (run.of(row).next(), run.of(base).next()) else {
        return Err(anyhow!("no record of `{row}` or `{base}`"));
    };
    let contexts = |record: &Value| {
        let made = list(&record["compactions"]);
        let made = made.map(|made| {
            [
                made["inserted"].clone(),
                made["left"].clone(),
                made["after"].clone(),
            ]
        });
        (record["contexts"].clone(), made.collect::<Vec<_>>())
    };
    let calls = |record: &Value| {
        let calls = list(&record["compactions"]).flat_map(|made| list(&made["calls"]));
        calls
            .map(|call| call["request"].clone())
            .collect::<Vec<_>>()
    };
    let found = |record: &Value| [record["observations"].clone(), record["probes"].clone()];
    Ok(if contexts(one) != contexts(other) {
        Some("contexts")
    } else if calls(one) != calls(other) {
        Some("requests")
    } else if found(one) != found(other) {
        Some("what is found when asked for")
    } else {
        None
    })
}

fn variations(spec: &StrategySpec, param: &'static Param) -> Vec<Variation> {
    let special = BESIDE
        .iter()
        .find(|(strategy, name, ..)| is_for(strategy, name, spec, param));
    let beside = special.map_or("", |(.., beside)| beside);
    let values = match special.map_or(&[][..], |(_, _, values, _)| values) {
        [] => others(param),
        values => values.iter().map(|value| (*value).to_owned()).collect(),
    };
    values
        .into_iter()
        .map(|value| Variation {
            param,
            value,
            beside,
        })
        .collect()
}

/// The half and the double, as far as they are in range, or the other choices.
fn others(param: &Param) -> Vec<String> {
    if let ParamUnit::Choice(names) = param.unit {
        let default = param.chosen(param.default);
        return names
            .iter()
            .filter(|name| Some(**name) != default)
            .map(|name| (*name).to_owned())
            .collect();
    }
    let is_whole = !matches!(param.unit, ParamUnit::Share | ParamUnit::Temperature);
    let rounded = |number: f64| if is_whole { number.floor() } else { number };
    let (least, greatest) = param.range;
    let near = [param.default / 2.0, param.default * 2.0].map(rounded);
    let near = near
        .into_iter()
        .filter(|number| (least..=greatest).contains(number) && *number != param.default);
    near.map(|number| number.to_string()).collect()
}
