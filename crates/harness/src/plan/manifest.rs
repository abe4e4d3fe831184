//! What a run's manifest says of its plan.

use compactometer_formats::manifest::{Manifest, StrategySettings, VERSION};
use compactometer_formats::protocol::LimitsOf;
use compactometer_formats::record::{Family, text_hash};
use compactometer_formats::scenario::Scenario;

use super::{Absence, Entrant, EntrantKind, Plan, Trigger};

impl Plan {
    /// The manifest of a run of this plan. Build, command, suite, tokenizer, prices and reference
    /// are the caller's to add.
    pub fn manifest(&self) -> Manifest {
        let options = &self.options;
        let settings = options.entrants.iter().map(identity);
        Manifest {
            version: VERSION,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            commit: String::new(),
            command: Vec::new(),
            suite: String::new(),
            suite_hash: self.suite_hash.clone(),
            notes: Vec::new(),
            window: self.sizes.window,
            trigger: self.sizes.trigger,
            retained: self.sizes.retained,
            sweep: self.sweep.sizes(),
            splits: self.sweep.splits.clone(),
            swept_cases: (!self.sweep.is_empty())
                .then(|| self.cases.iter().filter(|case| self.is_swept(case)).count()),
            protocols: options.protocols.iter().copied().collect(),
            scale: options.scale,
            strategies: options
                .entrants
                .iter()
                .map(|entrant| entrant.name.clone())
                .collect(),
            reference: None,
            pairs: options.entrants.iter().filter_map(pair).collect(),
            prompts: options.entrants.iter().filter_map(prompt).collect(),
            settings: options
                .entrants
                .iter()
                .filter_map(|entrant| self.settings_of(entrant))
                .collect(),
            matcher: text_hash(&compactometer_text::behaviour::results()),
            settings_hash: text_hash(
                &settings
                    .map(|settings| settings.to_string())
                    .collect::<String>(),
            ),
            prices_hash: String::new(),
            tokenizer: String::new(),
            summarizer: options.summarizer.clone(),
            target: options.target.clone(),
            checkpointer: options.checkpointer.clone(),
            judge: options.judge.clone(),
            latency_is_result: true,
            seed: options.seed,
            properties: Vec::new(),
            headline_metrics: Vec::new(),
            newest_talk: Vec::new(),
            versions: self
                .suite
                .iter()
                .filter_map(|prepared| version(&prepared.scenario))
                .collect(),
            cases: self.cases.len(),
            conversations: self.suite.len(),
            groups: self.groups(),
        }
    }
}

/// A conversation's id, with the program and the version that compacted it.
fn version(scenario: &Scenario) -> Option<(String, String)> {
    let program = scenario.source.split(':').next().unwrap_or_default();
    let mut versions = scenario
        .compactions
        .iter()
        .filter_map(|made| made.version.as_deref())
        .collect::<Vec<_>>();
    versions.dedup();
    let version = match versions[..] {
        [] => return None,
        [one] => format!("{program} {one}"),
        _ => format!("{program}, several versions"),
    };
    Some((scenario.id.clone(), version))
}

/// What tells an entrant's settings from another's. One with neither addition nor absence has the
/// identity that it had before there were any.
fn identity(entrant: &Entrant) -> serde_json::Value {
    let name = &entrant.name;
    let settings = match &entrant.entry {
        EntrantKind::Custom(custom) => serde_json::json!(custom.identity()),
        _ => serde_json::json!(entrant.settings()),
    };
    let identity = match (entrant.addition, entrant.absence) {
        (None, None) => serde_json::json!([name, settings]),
        (Some(addition), None) => serde_json::json!([name, settings, addition]),
        (addition, Some(absence)) => {
            serde_json::json!([name, settings, addition, { "absence": absence }])
        }
    };
    match &entrant.trigger {
        Some(trigger) => serde_json::json!([identity, { "when": trigger }]),
        None => identity,
    }
}

/// A strategy's name and that of the one that it is compared with, where it is not the run's
/// reference.
fn pair(entrant: &Entrant) -> Option<(String, String)> {
    Some((entrant.name.clone(), entrant.reference.clone()?))
}

/// A strategy's name and the hash of its prompt. Controls have no prompt.
fn prompt(entrant: &Entrant) -> Option<(String, String)> {
    let settings = entrant.settings()?;
    Some((entrant.name.clone(), text_hash(settings.prompt())))
}

impl Plan {
    /// A strategy's name and what it was run with. Controls have no settings.
    fn settings_of(&self, entrant: &Entrant) -> Option<(String, StrategySettings)> {
        let addition = entrant.addition.map(|addition| {
            (
                addition.text.row().parameter.to_owned(),
                addition.tokens.to_string(),
            )
        });
        let absence = entrant
            .absence
            .map(|absence| (Absence::PARAMETER.to_owned(), absence.hours().to_string()));
        let trigger = entrant
            .trigger
            .as_ref()
            .map(|trigger| (Trigger::PARAMETER.to_owned(), trigger.to_string()));
        let base = match &entrant.entry {
            EntrantKind::Strategy(spec, _) if entrant.family == Family::Faithful => {
                spec.published_name()
            }
            EntrantKind::Control(_) | EntrantKind::Recorded(_) if addition.is_none() => {
                return None;
            }
            _ => entrant.entry_name().to_owned(),
        };
        let parameters = entrant
            .parameters()
            .into_iter()
            .chain(addition)
            .chain(absence)
            .chain(trigger)
            .collect();
        let without_effect = self
            .options
            .protocols
            .iter()
            .find(|protocol| protocol.limits() != LimitsOf::Strategy)
            .and_then(|protocol| entrant.without_effect(*protocol, self.sizes).ok())
            .unwrap_or_default();
        let without_effect = without_effect.into_iter().map(str::to_owned).collect();
        let version = match &entrant.entry {
            EntrantKind::Custom(custom) => {
                Some(custom.version().to_owned()).filter(|version| !version.is_empty())
            }
            EntrantKind::Strategy(spec, _) if entrant.family == Family::Custom => {
                Some(spec.source.to_owned())
            }
            _ => None,
        };
        Some((
            entrant.name.clone(),
            StrategySettings {
                base,
                version,
                unmetered: entrant.is_unmetered(),
                parameters,
                without_effect,
            },
        ))
    }
}
