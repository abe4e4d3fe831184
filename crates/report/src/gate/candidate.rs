//! What was changed about a strategy since the baseline: a candidate is judged, and its changes are
//! named.
//!
//! Absent on purpose: changes of the program's own code, which no record describes. The report
//! names both commits.

use std::collections::BTreeSet;

use compactometer_formats::baseline::{Conditions, StrategyHead};
use compactometer_formats::manifest::StrategySettings;
use serde::Serialize;

/// One difference between a strategy's settings and the baseline's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SettingChange {
    /// `prompt`, `strategy`, `version`, `retained budget`, or a parameter's name.
    pub setting: String,
    /// The baseline's value; a prompt by its hash.
    pub before: String,
    /// The run's.
    pub after: String,
}

impl SettingChange {
    /// The change in words.
    pub(super) fn text(&self) -> String {
        format!("{} from {} to {}", self.setting, self.before, self.after)
    }
}

/// Every change, in the order in which a reader asks for them.
pub(super) fn changes(
    new: &StrategyHead,
    old: &StrategyHead,
    run: &Conditions,
    before: &Conditions,
) -> Vec<SettingChange> {
    let change = |setting: &str, before: &str, after: &str| {
        let change = || SettingChange {
            setting: setting.to_owned(),
            before: before.to_owned(),
            after: after.to_owned(),
        };
        (before != after).then(change)
    };
    let retained = |head: &StrategyHead, run: &Conditions| {
        head.budget
            .map_or(Some(run.retained), |budget| budget.retained)
            .map_or("none".to_owned(), |size| size.to_string())
    };
    let plain = [
        change("prompt", &old.prompt, &new.prompt),
        change(
            "retained budget",
            &retained(old, before),
            &retained(new, run),
        ),
    ];
    let Some((now, then)) = new.settings.as_ref().zip(old.settings.as_ref()) else {
        return plain.into_iter().flatten().collect();
    };
    let names: BTreeSet<&String> = now
        .parameters
        .keys()
        .chain(then.parameters.keys())
        .collect();
    let value = |of: &Option<&String>| of.map_or("none".to_owned(), Clone::clone);
    let parameters = names.into_iter().filter_map(|name| {
        change(
            name,
            &value(&then.parameters.get(name)),
            &value(&now.parameters.get(name)),
        )
    });
    let base = change("strategy", &then.base, &now.base);
    let version = |settings: &StrategySettings| {
        settings
            .version
            .clone()
            .unwrap_or_else(|| "none".to_owned())
    };
    let version = change("version", &version(then), &version(now));
    base.into_iter()
        .chain(version)
        .chain(plain.into_iter().flatten())
        .chain(parameters)
        .collect()
}

/// How much more the run was allowed to retain than the baseline: 1 if not more.
pub(super) fn more_room(
    new: &StrategyHead,
    old: &StrategyHead,
    run: &Conditions,
    before: &Conditions,
) -> f64 {
    let allowed = |head: &StrategyHead, run: &Conditions| {
        head.budget
            .map_or(Some(run.retained), |budget| budget.retained)
    };
    let sizes = allowed(new, run)
        .zip(allowed(old, before))
        .filter(|(_, old)| *old > 0);
    sizes.map_or(1.0, |(new, old)| (f64::from(new) / f64::from(old)).max(1.0))
}
