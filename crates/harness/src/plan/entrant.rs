//! One strategy or control of a comparison, with its settings and limits.

use std::num::NonZeroU32;
use std::sync::Arc;

use compactometer_engine::budget::Budget;
use compactometer_engine::params::Settings;
use compactometer_engine::session::Policy;
use compactometer_engine::strategy::with_ledger::LedgerRoom;
use compactometer_engine::strategy::{Strategy, StrategySpec};
use compactometer_formats::protocol::{LimitsOf, Protocol};
use compactometer_formats::record::Family;

use crate::additions::Addition;
use crate::plan::custom::{CustomStrategy, tools_of};
use crate::plan::limits_error::LimitsError;
use crate::plan::{Absence, Trigger};
use crate::prepare::{Evidence, PreparedScenario};

/// One strategy or control of a comparison.
#[derive(Clone)]
pub struct Entrant {
    /// The name in reports: that of its entry, or an alias.
    pub name: String,
    /// Whether it is a strategy under test, and in which form, or a control.
    pub family: Family,
    /// What it is.
    pub entry: EntrantKind,
    /// What is added to what it leaves, if something is.
    pub addition: Option<Addition>,
    /// After how long a user counts as back from an absence, if not after the session's default.
    pub absence: Option<Absence>,
    /// When it compacts under published limits, if not at its own trigger.
    pub trigger: Option<Trigger>,
    /// The entrant that it is compared with in place of the run's reference.
    pub reference: Option<String>,
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
    /// The share of it that is kept verbatim; each strategy's own if absent.
    pub split: Option<f64>,
}

/// What an entrant runs.
#[derive(Clone)]
pub enum EntrantKind {
    /// A strategy under test, with its settings.
    Strategy(&'static StrategySpec, Settings),
    /// A yardstick.
    Control(&'static Control),
    /// What a recorded program did.
    Recorded(&'static RecordedProgram),
    /// A strategy of the user's own.
    Custom(Arc<dyn CustomStrategy>),
}

/// The compactions that the program of a transcript made, to be compared with strategies.
pub struct RecordedProgram {
    /// The name users type.
    pub name: &'static str,
    /// One line for help and lists.
    pub about: &'static str,
    /// Builds it for one scenario.
    pub build: fn(&Arc<PreparedScenario>) -> Arc<dyn Strategy>,
}

/// A yardstick that may read the scenario; strategies may not.
pub struct Control {
    /// The name users type.
    pub name: &'static str,
    /// One line for help and lists.
    pub about: &'static str,
    /// The share of the retained budget that goes to the verbatim tail.
    pub tail_share: f64,
    /// Whether it compacts at all.
    pub compacts: bool,
    /// What a reader is given in place of what it wrote, if that differs.
    pub(crate) evidence: Option<Evidence>,
    /// Builds it for one scenario, with the case's seed.
    pub build: fn(&Arc<PreparedScenario>, u64) -> Arc<dyn Strategy>,
}

impl Entrant {
    /// The name of the strategy or control that it runs. An alias has its base's.
    pub(crate) fn entry_name(&self) -> &str {
        match &self.entry {
            EntrantKind::Strategy(spec, _) => spec.name,
            EntrantKind::Control(control) => control.name,
            EntrantKind::Recorded(program) => program.name,
            EntrantKind::Custom(custom) => custom.name(),
        }
    }

    /// One line for help and lists.
    pub fn about(&self) -> &str {
        match &self.entry {
            EntrantKind::Strategy(spec, _) => spec.about,
            EntrantKind::Control(control) => control.about,
            EntrantKind::Recorded(program) => program.about,
            EntrantKind::Custom(custom) => custom.about(),
        }
    }

    /// The document that describes it, or its own version.
    pub fn source(&self) -> &str {
        match &self.entry {
            EntrantKind::Strategy(spec, _) => spec.source,
            EntrantKind::Control(_) | EntrantKind::Recorded(_) => "docs/measurement.md",
            EntrantKind::Custom(custom) => custom.version(),
        }
    }

    /// What its session does about answers that break the rules. A strategy that deviates as
    /// published, and what a program did, is measured as it is.
    pub fn policy(&self) -> Policy {
        let deviates = match &self.entry {
            EntrantKind::Strategy(spec, settings) => spec.params().any(|param| {
                settings
                    .value(param.name)
                    .is_some_and(|value| param.deviates(value))
            }),
            EntrantKind::Custom(custom) => custom.deviates(),
            EntrantKind::Control(_) | EntrantKind::Recorded(_) => false,
        };
        let is_as_it_is = deviates || matches!(self.family, Family::Faithful | Family::Recorded);
        if is_as_it_is {
            Policy::Observe
        } else {
            Policy::Enforce
        }
    }

    /// Its settings; a control and a strategy of the user's own have none.
    pub fn settings(&self) -> Option<&Settings> {
        match &self.entry {
            EntrantKind::Strategy(_, settings) => Some(settings),
            EntrantKind::Control(_) | EntrantKind::Recorded(_) | EntrantKind::Custom(_) => None,
        }
    }

    /// The control that it runs, if it is none of the strategies under test.
    fn control(&self) -> Option<&'static Control> {
        match &self.entry {
            EntrantKind::Control(control) => Some(control),
            EntrantKind::Strategy(..) | EntrantKind::Recorded(_) | EntrantKind::Custom(_) => None,
        }
    }

    /// Whether it has a tail whose share of the retained budget can be chosen.
    pub(crate) fn has_tail(&self) -> bool {
        matches!(&self.entry, EntrantKind::Strategy(spec, _) if spec.params().any(|param| param.name == "tail"))
    }

    /// Whether it compacts at all: a strategy that its own parameters switch off does not, whoever
    /// sets its limits.
    pub fn compacts(&self) -> bool {
        match &self.entry {
            EntrantKind::Control(control) => control.compacts,
            EntrantKind::Strategy(spec, settings) => {
                (spec.limits)(settings).map_or(true, |limits| limits.trigger > 0)
            }
            EntrantKind::Recorded(_) | EntrantKind::Custom(_) => true,
        }
    }

    /// The parameters that were changed and change nothing under that protocol, since the run sets
    /// the limits that they are part of.
    ///
    /// # Errors
    /// As [`Entrant::resolve`].
    pub(super) fn without_effect(
        &self,
        protocol: Protocol,
        sizes: Sizes,
    ) -> Result<Vec<&'static str>, LimitsError> {
        let EntrantKind::Strategy(spec, settings) = &self.entry else {
            return Ok(Vec::new());
        };
        if protocol.limits() == LimitsOf::Strategy || !self.compacts() {
            return Ok(Vec::new());
        }
        // What a session is built from: its limits, and the values that are read beside these.
        let built = |settings: &Settings| -> Result<_, LimitsError> {
            let entry = EntrantKind::Strategy(spec, settings.clone());
            let entrant = Entrant {
                entry,
                ..self.clone()
            };
            let (budget, resolved) = entrant.resolve(protocol, sizes, 1.0)?;
            let read = spec.params().filter(|param| !param.of_limits);
            let read = read.map(|param| resolved.settings()?.value(param.name));
            Ok((budget, entrant.compacts(), read.collect::<Vec<_>>()))
        };
        let own = built(settings)?;
        let published = self.family == Family::Faithful;
        let changed = spec.params().filter(|param| {
            param.of_limits && !published && settings.value(param.name) != Some(param.default)
        });
        let mut without = Vec::new();
        for param in changed {
            // One that its other parameters do not allow without it has an effect.
            if built(&settings.with_default(param)).is_ok_and(|other| other == own) {
                without.push(param.name);
            }
        }
        let of_trigger = self.trigger.as_ref().map(|_| Trigger::PARAMETER);
        Ok(without.into_iter().chain(of_trigger).collect())
    }

    /// Its limits, and itself with the settings that they scale. Under the matched protocol
    /// everyone gets `sizes`; under the published one a strategy's own limits are scaled; a control
    /// and a strategy of the user's own get `sizes`.
    ///
    /// # Errors
    /// [`LimitsError`] where parameters or limits contradict each other.
    pub fn resolve(
        &self,
        protocol: Protocol,
        sizes: Sizes,
        scale: f64,
    ) -> Result<(Budget, Entrant), LimitsError> {
        let (budget, resolved) = self.resolve_alone(protocol, self.with_room(sizes), scale)?;
        // What a recorded program left may be little; a ledger then takes half of it.
        let most = budget
            .retained
            .filter(|_| protocol.has_limits_of_run())
            .unwrap_or(budget.window)
            / 2;
        match self.addition.map(|addition| addition.tokens.get()) {
            // Nobody asked for just that many tokens.
            Some(tokens) if tokens > most && self.family == Family::Idea => {
                let tokens = NonZeroU32::new(most).unwrap_or(NonZeroU32::MIN);
                let addition = self
                    .addition
                    .map(|addition| Addition { tokens, ..addition });
                Ok((
                    budget,
                    Entrant {
                        addition,
                        ..resolved
                    },
                ))
            }
            Some(tokens) if tokens > most => Err(LimitsError::Addition {
                name: self.name.clone(),
                tokens,
                most,
            }),
            _ => Ok((budget, resolved)),
        }
    }

    /// A ledger is added to what a program left, and within the budget of a strategy.
    fn room(&self) -> LedgerRoom {
        if self.family == Family::Recorded {
            LedgerRoom::Added
        } else {
            LedgerRoom::Within
        }
    }

    /// The sizes with room for what is added to them.
    fn with_room(&self, sizes: Sizes) -> Sizes {
        let added = self
            .addition
            .filter(|_| self.room() == LedgerRoom::Added)
            .map_or(0, |addition| addition.tokens.get());
        let retained = sizes
            .retained
            .saturating_add(added)
            .min(sizes.trigger.saturating_sub(1))
            .max(sizes.retained);
        Sizes { retained, ..sizes }
    }

    fn resolve_alone(
        &self,
        protocol: Protocol,
        sizes: Sizes,
        scale: f64,
    ) -> Result<(Budget, Entrant), LimitsError> {
        let Sizes {
            window,
            trigger,
            retained,
            split,
        } = sizes;
        if let EntrantKind::Strategy(spec, settings) = &self.entry
            && protocol.limits() == LimitsOf::Strategy
        {
            let budget = Budget::published((spec.limits)(settings)?, scale)?;
            let entry = EntrantKind::Strategy(spec, settings.scaled(spec, scale));
            return Ok((
                budget,
                Entrant {
                    entry,
                    ..self.clone()
                },
            ));
        }
        let window = match &self.entry {
            EntrantKind::Custom(custom) => custom.window().unwrap_or(window),
            _ => window,
        };
        let share = split.map_or_else(|| self.tail_share(), Ok)?;
        Ok((
            Budget::matched(window, trigger, retained, share)?,
            self.in_window(window)?,
        ))
    }

    /// Whether it asks a model past the meter.
    pub(crate) fn is_unmetered(&self) -> bool {
        matches!(&self.entry, EntrantKind::Custom(custom) if custom.is_unmetered())
    }

    /// Whether all requests to its summarizer are known. They are not where a transcript only
    /// contains what was written, or where a program asks past the meter.
    pub(crate) fn has_requests(&self) -> bool {
        self.family != Family::Recorded && !self.is_unmetered()
    }

    /// The share of the retained budget that it keeps verbatim.
    pub(super) fn tail_share(&self) -> Result<f64, LimitsError> {
        Ok(match &self.entry {
            EntrantKind::Strategy(spec, settings) => (spec.limits)(settings)?.tail_share(),
            EntrantKind::Control(control) => control.tail_share,
            EntrantKind::Custom(custom) => custom.tail_share(),
            EntrantKind::Recorded(_) => 0.0,
        })
    }

    /// Whether it is a strategy whose split between tail and summary is the one that it has by
    /// default, and not one that the user chose.
    pub(super) fn has_default_split(&self) -> bool {
        let EntrantKind::Strategy(spec, settings) = &self.entry else {
            return matches!(self.entry, EntrantKind::Custom(_));
        };
        let share = |settings| (spec.limits)(settings).map(|limits| limits.tail_share());
        matches!((share(settings), share(&Settings::defaults(spec))), (Ok(own), Ok(default)) if own == default)
    }

    /// Itself with the settings that scale with the window.
    pub(super) fn in_window(&self, window: u32) -> Result<Entrant, LimitsError> {
        let entry = match &self.entry {
            EntrantKind::Strategy(spec, settings) => {
                let limits = (spec.limits)(settings)?;
                EntrantKind::Strategy(
                    spec,
                    settings.in_window(spec, f64::from(window) / f64::from(limits.window)),
                )
            }
            EntrantKind::Custom(custom) => EntrantKind::Custom(
                custom
                    .in_window(window)?
                    .unwrap_or_else(|| Arc::clone(custom)),
            ),
            other => other.clone(),
        };
        Ok(Entrant {
            entry,
            ..self.clone()
        })
    }

    /// Its prompt, if it is not the strategy's own.
    pub(super) fn changed_prompt(&self) -> Option<&str> {
        let EntrantKind::Strategy(spec, settings) = &self.entry else {
            return None;
        };
        (settings.prompt() != spec.prompt).then(|| settings.prompt())
    }

    /// Its parameters as a user would type them, before they are scaled.
    pub(super) fn parameters(&self) -> Vec<(String, String)> {
        match &self.entry {
            EntrantKind::Strategy(spec, settings) => {
                let typed = spec.params().filter_map(|param| {
                    let value = settings.value(param.name)?;
                    Some((
                        param.name.to_owned(),
                        param
                            .chosen(value)
                            .map_or_else(|| value.to_string(), str::to_owned),
                    ))
                });
                typed.collect()
            }
            EntrantKind::Custom(custom) => custom.parameters(),
            EntrantKind::Control(_) | EntrantKind::Recorded(_) => Vec::new(),
        }
    }

    /// What its reader is given in place of what it wrote, if that differs.
    pub(crate) fn evidence(&self) -> Option<Evidence> {
        self.control()?.evidence
    }

    /// Builds it for one scenario.
    pub fn build(&self, prepared: &Arc<PreparedScenario>, seed: u64) -> Arc<dyn Strategy> {
        let strategy = match &self.entry {
            EntrantKind::Strategy(spec, settings) => (spec.build)(settings),
            EntrantKind::Control(control) => (control.build)(prepared, seed),
            EntrantKind::Recorded(program) => (program.build)(prepared),
            EntrantKind::Custom(custom) => {
                let messages = prepared.messages.iter().map(|counted| &counted.message);
                custom.build(&tools_of(&prepared.scenario.tools, messages), seed)
            }
        };
        match self.addition {
            Some(addition) => addition.beside(strategy, self.room(), prepared),
            None => strategy,
        }
    }
}
