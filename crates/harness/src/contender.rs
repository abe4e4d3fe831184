//! What is compared: reference strategies of the engine and controls of this crate, chosen by name, with their settings.

use std::path::Path;
use std::sync::Arc;

use compactometer_disk::input::{Kind, read_text};
use compactometer_engine::budget::{Budget, BudgetError};
use compactometer_engine::params::{PROMPT, ParamError, Settings};
use compactometer_engine::session::Policy;
use compactometer_engine::strategies;
use compactometer_engine::strategy::{Strategy, StrategySpec};
use compactometer_formats::record::{Family, Protocol};
use compactometer_text::suggest::unknown;

use crate::controls::evidence::Evidence;
use crate::controls::{self, Control};
use crate::loaded::Loaded;

/// One entry of a comparison.
#[derive(Clone)]
pub struct Contender {
    /// The name in reports: that of its entry, or an alias.
    pub name: String,
    /// What it is to a comparison.
    pub family: Family,
    /// What it is.
    pub entry: Entry,
}

/// The matched protocol's limits, in tokens.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Context window.
    pub window: u32,
    /// Where a compaction starts.
    pub trigger: u32,
    /// What it may leave.
    pub retained: u32,
}

/// What a contender is.
#[derive(Clone)]
pub enum Entry {
    /// A strategy under test, with its settings.
    Strategy(&'static StrategySpec, Settings),
    /// A yardstick.
    Control(&'static Control),
}

impl Contender {
    /// Every strategy with its source's settings, mended and as written, then every control.
    pub fn all() -> impl Iterator<Item = Contender> {
        let plain = strategies::ALL.iter().map(|spec| Contender {
            name: spec.name.to_owned(),
            family: Family::Reference,
            entry: Entry::Strategy(spec, Settings::defaults(spec)),
        });
        let faithful = strategies::ALL.iter().filter_map(|spec| {
            // A test of the engine holds that every published value fits.
            let entry = Entry::Strategy(spec, Settings::published(spec).ok()??);
            Some(Contender { name: spec.published_name(), family: Family::Faithful, entry })
        });
        let controls = controls::ALL.iter().map(|control| Contender {
            name: control.name.to_owned(),
            family: Family::Control,
            entry: Entry::Control(control),
        });
        plain.chain(faithful).chain(controls)
    }

    /// One line for help and lists.
    pub fn about(&self) -> &'static str {
        match &self.entry {
            Entry::Strategy(spec, _) => spec.about,
            Entry::Control(control) => control.about,
        }
    }

    /// Where it comes from.
    pub fn source(&self) -> &'static str {
        match &self.entry {
            Entry::Strategy(spec, _) => spec.source,
            Entry::Control(_) => "MEASUREMENT, controls",
        }
    }

    /// What its session does about answers that break the rules: a document's own form is measured as it is.
    pub fn policy(&self) -> Policy {
        if self.family == Family::Faithful { Policy::Observe } else { Policy::Enforce }
    }

    /// Its settings, where it has any.
    pub fn settings(&self) -> Option<&Settings> {
        match &self.entry {
            Entry::Strategy(_, settings) => Some(settings),
            Entry::Control(_) => None,
        }
    }

    /// Whether it compacts at all.
    pub fn compacts(&self) -> bool {
        match &self.entry {
            Entry::Strategy(..) => true,
            Entry::Control(control) => control.compacts,
        }
    }

    /// Its limits and, under them, its settings: under the matched protocol `sizes` are the same for all, under the
    /// published one a strategy's own limits are scaled, and a control has `sizes`.
    ///
    /// # Errors
    /// [`LimitsError`] where parameters or limits contradict each other.
    pub fn resolve(&self, protocol: Protocol, sizes: Sizes, scale: f64) -> Result<(Budget, Contender), LimitsError> {
        let Sizes { window, trigger, retained } = sizes;
        let (spec, settings) = match &self.entry {
            Entry::Control(control) => {
                return Ok((Budget::matched(window, trigger, retained, control.tail_share)?, self.clone()));
            }
            Entry::Strategy(spec, settings) => (*spec, settings),
        };
        let limits = (spec.limits)(settings)?;
        let (budget, factor) = match protocol {
            Protocol::Matched => {
                let budget = Budget::matched(window, trigger, retained, limits.tail_share())?;
                (budget, f64::from(window) / f64::from(limits.window))
            }
            Protocol::Published => (Budget::published(limits, scale)?, scale),
        };
        let entry = Entry::Strategy(spec, settings.scaled(spec, factor));
        Ok((budget, Contender { entry, ..self.clone() }))
    }

    /// What its reader is given in place of what it wrote, where that is not the same.
    pub(crate) fn evidence(&self) -> Option<Evidence> {
        match &self.entry {
            Entry::Strategy(..) => None,
            Entry::Control(control) => control.evidence,
        }
    }

    /// Builds it for one scenario.
    pub fn build(&self, loaded: &Arc<Loaded>, seed: u64) -> Arc<dyn Strategy> {
        match &self.entry {
            Entry::Strategy(spec, settings) => (spec.build)(settings),
            Entry::Control(control) => (control.build)(loaded, seed),
        }
    }
}

/// The contenders that a user's list names, each once, in order of the registries, aliases after their base: names,
/// `@reference`, `@faithful`, `@controls`, `@all`, or `ALIAS=NAME:key=value:key=value`. `sweeps` are `NAME.key=v1,v2`: each value makes
/// one more contender beside NAME.
///
/// # Errors
/// [`SelectError`] naming what was given and what it may be.
pub fn select<'n>(
    names: impl IntoIterator<Item = &'n str>,
    sweeps: impl IntoIterator<Item = &'n str>,
) -> Result<Vec<Contender>, SelectError> {
    let mut chosen: Vec<Contender> = Vec::new();
    for name in names.into_iter().map(str::trim).filter(|name| !name.is_empty()) {
        let found = match name.split_once('=') {
            Some((alias, base)) => vec![aliased(alias, base)?],
            None => Contender::all().filter(|contender| is_named(contender, name)).collect(),
        };
        if found.is_empty() {
            return Err(unknown_name(name));
        }
        chosen.extend(found);
    }
    for sweep in sweeps {
        chosen.extend(swept(sweep)?);
    }
    let place = |contender: &Contender| Contender::all().position(|known| known.is_same_entry(contender));
    chosen.sort_by_key(place);
    let mut seen: Vec<Contender> = Vec::new();
    for contender in chosen {
        match seen.iter().find(|other| other.name == contender.name) {
            Some(other) if other.settings() == contender.settings() => {}
            Some(_) => return Err(SelectError::Twice(contender.name)),
            None => seen.push(contender),
        }
    }
    if seen.is_empty() { Err(unknown_name("")) } else { Ok(seen) }
}

impl Contender {
    fn is_same_entry(&self, other: &Contender) -> bool {
        match (&self.entry, &other.entry) {
            (Entry::Strategy(one, _), Entry::Strategy(spec, _)) => one.name == spec.name && self.family == other.family,
            (Entry::Control(one), Entry::Control(control)) => one.name == control.name,
            _ => false,
        }
    }
}

fn is_named(contender: &Contender, name: &str) -> bool {
    match name {
        "@all" => true,
        "@reference" => contender.family == Family::Reference,
        "@faithful" => contender.family == Family::Faithful,
        "@controls" => contender.family == Family::Control,
        _ => contender.name == name,
    }
}

fn aliased(alias: &str, base: &str) -> Result<Contender, SelectError> {
    if alias.split_once(':').is_some_and(|(name, _)| strategy(name).is_ok()) {
        return Err(SelectError::Nameless(format!("{alias}={base}")));
    }
    let mut parts = base.split(':');
    let mut contender = strategy(parts.next().unwrap_or_default())?;
    for part in parts {
        let (key, value) = part.split_once('=').ok_or_else(|| SelectError::Assignment(part.to_owned()))?;
        contender.assign(key, value)?;
    }
    let is_plain = alias.starts_with(char::is_alphanumeric)
        && alias.chars().all(|letter| letter.is_alphanumeric() || "-_.".contains(letter));
    if !is_plain || Contender::all().any(|known| known.name == alias) {
        return Err(SelectError::Alias(alias.to_owned()));
    }
    Ok(Contender { name: alias.to_owned(), ..contender })
}

fn swept(sweep: &str) -> Result<Vec<Contender>, SelectError> {
    let (target, values) = sweep.split_once('=').ok_or_else(|| SelectError::Assignment(sweep.to_owned()))?;
    let (name, key) = target.split_once('.').ok_or_else(|| SelectError::Assignment(sweep.to_owned()))?;
    let with_value = |value: &str| {
        let mut contender = strategy(name)?;
        contender.assign(key, value)?;
        Ok(Contender { name: format!("{name}[{key}={}]", shown(key, value)), ..contender })
    };
    values.split(',').map(str::trim).map(with_value).collect()
}

/// A value as it stands in names. Of a prompt's path the file alone: records and reports hold no place on a machine.
fn shown<'v>(key: &str, value: &'v str) -> &'v str {
    let file = Path::new(value).file_name().and_then(|file| file.to_str());
    file.filter(|_| key == PROMPT).unwrap_or(value)
}

/// The strategy of that name, mended or as written.
fn strategy(name: &str) -> Result<Contender, SelectError> {
    let strategies = || Contender::all().filter(|contender| contender.family.is_tested());
    strategies().find(|contender| contender.name == name).ok_or_else(|| {
        let names = strategies().map(|contender| contender.name).collect::<Vec<_>>();
        SelectError::Unknown(unknown("strategy", name, names.iter().map(String::as_str)))
    })
}

impl Contender {
    /// Sets one parameter; a prompt is given as the path of a file.
    fn assign(&mut self, key: &str, value: &str) -> Result<(), SelectError> {
        let Entry::Strategy(spec, settings) = &mut self.entry else { return Ok(()) };
        if key != PROMPT {
            return Ok(settings.set(spec, key, value)?);
        }
        let text = read_text(Path::new(value), Kind::PROMPT)
            .map_err(|source| SelectError::Prompt { path: value.to_owned(), source })?;
        Ok(settings.set(spec, key, &text)?)
    }
}

fn unknown_name(name: &str) -> SelectError {
    let all = Contender::all().map(|contender| contender.name).collect::<Vec<_>>();
    let choices = all.iter().map(String::as_str).chain(["@reference", "@faithful", "@controls", "@all"]);
    SelectError::Unknown(unknown("strategy", name, choices))
}

/// A list of strategies that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SelectError {
    /// A name that is neither a strategy, a control nor a group of them.
    #[error("{0}")]
    Unknown(String),
    /// Two contenders with one name and different settings.
    #[error("`{0}` names two strategies with different settings; give each its own name")]
    Twice(String),
    /// A part that should assign a value.
    #[error("`{0}` assigns nothing; write `NAME=BASE:key=value`, or `--set strategy.key=value,value`")]
    Assignment(String),
    /// A strategy with another parameter, and no name to stand in reports.
    #[error("`{0}` changes a parameter and has no name of its own; write `NAME={0}`")]
    Nameless(String),
    /// An alias that cannot stand in reports.
    #[error(
        "`{0}` is no name for an alias: letters, digits, `-`, `_` and `.`, a letter or digit first, and no strategy's own name"
    )]
    Alias(String),
    /// A parameter that cannot be used.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// A prompt's file that cannot be read.
    #[error("cannot read the prompt `{path}`")]
    Prompt {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
}

/// Limits that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LimitsError {
    /// Parameters that contradict each other.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// Limits that contradict each other.
    #[error(transparent)]
    Budget(#[from] BudgetError),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str], sweeps: &[&str]) -> Result<Vec<String>, String> {
        let chosen = select(list.iter().copied(), sweeps.iter().copied()).map_err(|error| error.to_string())?;
        Ok(chosen.into_iter().map(|contender| contender.name).collect())
    }

    #[test]
    fn lists_are_resolved_in_order_of_the_registries() {
        assert_eq!(names(&["null", "chained", "chained"], &[]), Ok(vec!["chained".to_owned(), "null".to_owned()]));
        let all = 2 * strategies::ALL.len() + controls::ALL.len();
        assert_eq!(names(&["@all"], &[]).map(|all| all.len()), Ok(all));
        assert_eq!(names(&["@reference"], &[]).map(|all| all.len()), Ok(strategies::ALL.len()));
    }

    #[test]
    fn aliases_and_sweeps_stand_beside_their_base() {
        let chosen = names(&["null", "chained", "short=chained:asked=400:tail=5"], &["chained.tail=5,20"]);
        let expected = ["chained", "short", "chained[tail=5]", "chained[tail=20]", "null"];
        assert_eq!(chosen, Ok(expected.map(str::to_owned).to_vec()));
    }

    #[test]
    fn what_cannot_be_used_says_why() {
        let error = |list: &[&str], sweeps: &[&str]| names(list, sweeps).expect_err("refused");
        assert!(error(&["chaned"], &[]).contains("`chaned` (did you mean `chained`?)"));
        assert!(error(&["x=chaned"], &[]).contains("did you mean `chained`"));
        assert!(error(&["null=chained"], &[]).contains("no name for an alias"));
        assert!(error(&["..=chained"], &[]).contains("no name for an alias"));
        assert!(error(&["x=chained:tail"], &[]).contains("`tail` assigns nothing"));
        assert!(error(&["chained:tail=5"], &[]).contains("write `NAME=chained:tail=5`"));
        assert!(error(&["x=chained:tail=5", "x=chained:tail=6"], &[]).contains("`x` names two"));
        assert!(error(&["x=chained:prompt=missing.md"], &[]).contains("`missing.md`"));
        assert!(error(&[], &["chained.threshold=2"]).contains("from 0.01 to 1"));
        assert!(error(&[], &["chained"]).contains("assigns nothing"));
        assert!(error(&[" "], &[]).contains("choose from"));
    }

    #[test]
    fn a_sweep_over_prompts_names_their_files_without_their_folder() {
        let prompt = concat!(env!("CARGO_MANIFEST_DIR"), "/../engine/src/strategies/chained/prompt.md");
        let chosen = names(&["null"], &[&format!("chained.prompt={prompt}")]);
        assert_eq!(chosen, Ok(vec!["chained[prompt=chained.md]".to_owned(), "null".to_owned()]));
    }

    #[test]
    fn limits_scale_with_the_window_and_the_scale() {
        let chained = select(["chained"], []).expect("known").remove(0);
        let sizes = Sizes { window: 12_800, trigger: 10_240, retained: 3_840 };
        let (matched, resolved) = chained.resolve(Protocol::Matched, sizes, 1.0).expect("holds");
        assert_eq!((matched.window, matched.trigger, matched.retained), (12_800, 10_240, Some(3_840)));
        assert_eq!(resolved.settings().map(|settings| settings.value("asked")), Some(Some(80.0)));
        assert_eq!(
            resolved.settings().map(|settings| settings.value("message_limit")),
            Some(Some(2_000.0)),
            "characters stay"
        );
        let (published, _) = chained.resolve(Protocol::Published, sizes, 0.1).expect("holds");
        assert_eq!((published.window, published.trigger, published.retained), (12_800, 9_360, None));
    }
}
