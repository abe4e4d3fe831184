//! Records in the order in which they are looked at: protocol, then strategy, then unit of
//! statistics, then scenario.

pub(crate) mod decisions;
pub(crate) mod fates;
pub(crate) mod run_files;

use std::collections::{BTreeMap, BTreeSet};

use compactometer_engine::event::Outcome;
use compactometer_formats::fate::Fate;
use compactometer_formats::manifest::Manifest;
use compactometer_formats::mock_name::has_mock;
use compactometer_formats::prices::PriceTable;
use compactometer_formats::protocol::Protocol;
use compactometer_formats::record::{
    CallRow, CompactionRow, FactRow, Family, Fit, Misbound, Observation, ObservationKind, Record,
};
use compactometer_formats::summary::Latency;
use compactometer_text::code::code;
use serde::Serialize;

/// The control that keeps everything.
pub(crate) const FULL: &str = "full";
/// The control that keeps nothing within the budget.
pub(crate) const NULL: &str = "null";
/// The controls that keep as much as a strategy without a summary: random text, and the newest
/// values.
pub(crate) const SAME_SIZE: [&str; 2] = [RANDOM_DROP, VALUE_LIST];
/// The newest exact values, as many as a compaction may leave.
pub(crate) const VALUE_LIST: &str = "value-list";
/// Old text at random, as much as a compaction may leave: what others are compared with where no
/// reference is named.
pub(crate) const RANDOM_DROP: &str = "random-drop";
/// The control that keeps the newest talk.
pub const RECENT_TALK: &str = "recent-talk";
/// The control that knows the facts.
pub(crate) const ORACLE: &str = "oracle";

/// One protocol's part of a run: the manifest, its records by strategy, and the prices they are
/// costed at.
pub(crate) struct ProtocolRun<'r> {
    pub(crate) protocol: Protocol,
    /// Tokens that a compaction may leave under the matched protocol.
    pub(crate) retained: Option<u32>,
    /// The share of them that a sweep keeps verbatim; absent where each strategy's own applies.
    pub(crate) split: Option<f64>,
    pub(crate) manifest: &'r Manifest,
    pub(crate) prices: &'r PriceTable,
    pub(crate) strategies: Vec<StrategyRecords<'r>>,
}

/// One strategy's records.
#[derive(Clone)]
pub(crate) struct StrategyRecords<'r> {
    pub(crate) name: &'r str,
    pub(crate) family: Family,
    /// Whether a context had a summary that only its provider's models read.
    pub(crate) is_sealed: bool,
    pub(crate) units: Vec<UnitRecords<'r>>,
}

/// The records of one group: one unit of statistics.
#[derive(Clone)]
pub(crate) struct UnitRecords<'r> {
    pub(crate) group: &'r str,
    pub(crate) records: Vec<&'r Record>,
}

impl<'r> ProtocolRun<'r> {
    /// One for each protocol: those of the manifest in its order, then those that records alone
    /// name; then that with the run's limits under each further retained budget and split.
    pub(crate) fn by_protocol(
        manifest: &'r Manifest,
        records: &'r [Record],
        prices: &'r PriceTable,
    ) -> Vec<Self> {
        let of_records = records
            .iter()
            .map(|record| record.case.protocol)
            .collect::<BTreeSet<_>>();
        let unlisted = of_records
            .into_iter()
            .filter(|protocol| !manifest.protocols.contains(protocol));
        let protocols = manifest.protocols.iter().copied().chain(unlisted);
        let retained =
            |protocol: Protocol| protocol.has_limits_of_run().then_some(manifest.retained);
        let headlines = protocols.map(|protocol| (protocol, retained(protocol), None));
        let swept = manifest
            .protocols
            .iter()
            .copied()
            .find(|protocol| protocol.has_limits_of_run());
        let sizes = swept.into_iter().flat_map(|swept| {
            manifest
                .sweep
                .iter()
                .map(move |size| (swept, Some(*size), None))
        });
        let splits = swept.into_iter().flat_map(|swept| {
            manifest
                .splits
                .iter()
                .map(move |split| (swept, Some(manifest.retained), Some(*split)))
        });
        let parts = headlines.chain(sizes).chain(splits);
        parts
            .map(|limits| Self::new(limits, manifest, records, prices))
            .collect()
    }

    /// Strategies in the manifest's order, those that it does not name last; references before
    /// controls.
    fn new(
        (protocol, retained, split): (Protocol, Option<u32>, Option<f64>),
        manifest: &'r Manifest,
        records: &'r [Record],
        prices: &'r PriceTable,
    ) -> Self {
        let is_of = |record: &&Record| {
            let case = &record.case;
            let at_size =
                manifest.sweep.is_empty() || retained.is_none() || case.budget.retained == retained;
            case.protocol == protocol && case.split == split && at_size
        };
        let mut by_name: BTreeMap<&str, Vec<&Record>> = BTreeMap::new();
        for record in records.iter().filter(is_of) {
            by_name
                .entry(&record.case.strategy)
                .or_default()
                .push(record);
        }
        let place = |name: &str| {
            manifest
                .strategies
                .iter()
                .position(|listed| listed == name)
                .unwrap_or(usize::MAX)
        };
        let mut strategies: Vec<_> = by_name
            .into_iter()
            .filter_map(|(name, records)| StrategyRecords::new(name, records))
            .collect();
        strategies.sort_by_key(|strategy| (strategy.family, place(strategy.name)));
        ProtocolRun {
            protocol,
            retained,
            split,
            manifest,
            prices,
            strategies,
        }
    }

    /// Whether it is a point of a sweep, and not what tables and comparisons show.
    pub(crate) fn is_swept(&self) -> bool {
        self.split.is_some()
            || self
                .retained
                .is_some_and(|retained| retained != self.manifest.retained)
    }

    pub(crate) fn strategy(&self, name: &str) -> Option<&StrategyRecords<'r>> {
        self.strategies
            .iter()
            .find(|strategy| strategy.name == name)
    }

    pub(crate) fn records(&self) -> impl Iterator<Item = &'r Record> {
        self.strategies
            .iter()
            .flat_map(|strategy| strategy.records())
    }

    /// Whether a mock wrote or answered.
    pub(crate) fn is_mock(&self) -> bool {
        has_mock(&self.manifest.summarizer, self.manifest.target.as_deref())
    }

    /// Whether a strategy asks a model past the meter, so that its calls are in no cost and in no
    /// wait.
    pub(crate) fn is_unmetered(&self, strategy: &str) -> bool {
        self.manifest
            .settings
            .get(strategy)
            .is_some_and(|settings| settings.unmetered)
    }

    /// What the run's latencies are worth.
    pub(crate) fn latency(&self) -> Latency {
        match () {
            () if self.is_mock() => Latency::Assumed,
            () if !self.manifest.latency_is_result => Latency::NoResult,
            () => Latency::Measured,
        }
    }

    /// The run's models that the price table does not know.
    pub(crate) fn no_price(&self) -> String {
        let unknown = self
            .manifest
            .models()
            .find(|model| self.prices.row(model).is_none());
        let unknown = code(unknown.unwrap_or(&self.manifest.summarizer));
        format!(
            "the price table has no row for model {unknown}; add one to a copy of `datasets/prices.toml` and give it as `--prices FILE`"
        )
    }

    /// Groups with any record.
    pub(crate) fn units(&self) -> usize {
        let units = self.strategies.iter().flat_map(|strategy| &strategy.units);
        units.map(|unit| unit.group).collect::<BTreeSet<_>>().len()
    }
}

impl<'r> StrategyRecords<'r> {
    pub(crate) fn new(name: &'r str, records: Vec<&'r Record>) -> Option<Self> {
        let family = records.first()?.case.family;
        let mut fates = records
            .iter()
            .flat_map(|record| &record.observations)
            .flat_map(|seen| &seen.fates.0);
        let is_sealed = fates.any(|fate| *fate == Fate::Sealed);
        let mut by_group: BTreeMap<&str, Vec<&Record>> = BTreeMap::new();
        for record in records {
            by_group.entry(&record.case.group).or_default().push(record);
        }
        let unit = |(group, mut records): (&'r str, Vec<&'r Record>)| {
            records.sort_by_key(|record| &record.case.scenario);
            UnitRecords { group, records }
        };
        Some(StrategyRecords {
            name,
            family,
            is_sealed,
            units: by_group.into_iter().map(unit).collect(),
        })
    }

    pub(crate) fn records(&self) -> impl Iterator<Item = &'r Record> {
        self.units
            .iter()
            .flat_map(|unit| unit.records.iter().copied())
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = &'r CompactionRow> {
        self.records().flat_map(|record| &record.compactions)
    }

    pub(crate) fn calls(&self) -> impl Iterator<Item = &'r CallRow> {
        self.rows().flat_map(|row| &row.calls)
    }
}

/// Whether a decision changed the view.
pub(crate) fn is_applied(row: &CompactionRow) -> bool {
    row.event.outcome == Outcome::Applied
}

/// The observations at the points that the conversation's length implies.
pub(crate) fn points(record: &Record) -> impl Iterator<Item = &Observation> {
    record
        .observations
        .iter()
        .filter(|observation| observation.kind == ObservationKind::Point)
}

/// The observations at those points, where questions are asked and before uses: all that are the
/// same for every strategy.
pub(crate) fn visits(record: &Record) -> impl Iterator<Item = &Observation> {
    let seen = record.observations.iter();
    seen.filter(|observation| observation.kind != ObservationKind::Compaction)
}

/// One fact at one observation, as recall counts it.
pub(crate) struct Look<'r> {
    /// Index in [`Record::facts`].
    pub(crate) index: usize,
    pub(crate) fact: &'r FactRow,
    pub(crate) round: u32,
    pub(crate) is_present: bool,
    /// Whether an agent could use the context; otherwise the context counts as empty.
    pub(crate) is_usable: bool,
    /// The number of random contexts that held it.
    pub(crate) random_hits: u32,
    /// Absent if bound recall leaves the fact out.
    pub(crate) binding: Option<LookBinding>,
    /// Whether a clause of the context says something about it; for facts without a subject.
    pub(crate) is_stated: bool,
    /// How often the words around it in written text fit it better than another value, as a share;
    /// for facts without a subject.
    pub(crate) fit: Option<f64>,
}

/// Whether a context gives a value to its own subject.
pub(crate) struct LookBinding {
    /// 1 or 0.
    pub(crate) own: f64,
    /// The own subject's share of those to which the context gives the value, beyond that of a
    /// random subject.
    pub(crate) corrected: f64,
    /// The number of random contexts that do.
    pub(crate) random_own: f64,
}

/// The headline set of an observation, without decoys, generic values and what is no longer valid.
pub(crate) fn looks<'r>(
    record: &'r Record,
    observation: &'r Observation,
) -> impl Iterator<Item = Look<'r>> {
    let listed = observation.eligible.iter().enumerate();
    listed.filter_map(move |(place, index)| {
        let index = *index as usize;
        let (fact, fate) = ranked(record, observation, index)?;
        let random_hits = observation.selection_hits.get(place).copied().unwrap_or(0);
        let is_usable = observation.unusable.is_none();
        let is_present = fate.is_present() && is_usable;
        let binding = fact.has_subject.then(|| binding(observation, place));
        let fit = fit(observation, index as u32).filter(|_| is_present);
        Some(Look {
            index,
            fact,
            round: observation.round,
            is_present,
            is_usable,
            random_hits,
            binding,
            is_stated: is_stated(observation, index as u32),
            fit,
        })
    })
}

fn is_stated(observation: &Observation, fact: u32) -> bool {
    observation.stated.binary_search(&fact).is_ok()
}

/// The looks at all of a record's points.
pub(crate) fn looks_at_points(record: &Record) -> impl Iterator<Item = Look<'_>> {
    points(record).flat_map(|observation| looks(record, observation))
}

/// The facts of the record's points that hold there and are not old: those out of the headline set.
pub(crate) fn recent_looks(record: &Record) -> impl Iterator<Item = Look<'_>> {
    points(record).flat_map(move |observation| {
        let is_old = |index: &usize| observation.eligible.binary_search(&(*index as u32)).is_ok();
        let others = (0..record.facts.len()).filter(move |index| !is_old(index));
        others.filter_map(move |index| {
            let (fact, fate) =
                ranked(record, observation, index).filter(|(_, fate)| *fate != Fate::Unstated)?;
            let is_usable = observation.unusable.is_none();
            Some(Look {
                index,
                fact,
                round: observation.round,
                is_present: fate.is_present() && is_usable,
                is_usable,
                random_hits: 0,
                binding: None,
                is_stated: false,
                fit: None,
            })
        })
    })
}

fn fit(observation: &Observation, fact: u32) -> Option<f64> {
    let Fit(_, points, rivals) = observation.fits.iter().find(|Fit(of, ..)| *of == fact)?;
    (*rivals > 0).then(|| f64::from(*points) / f64::from(2 * rivals))
}

/// How the eligible fact at that place is bound. A context that no agent can use binds nothing.
fn binding(observation: &Observation, place: usize) -> LookBinding {
    let fact = observation.eligible[place];
    let random_own = f64::from(observation.selection_bound.get(place).copied().unwrap_or(0));
    if observation.unusable.is_some() {
        return LookBinding {
            own: 0.0,
            corrected: 0.0,
            random_own,
        };
    }
    let own = f64::from(u8::from(observation.bound.contains(&fact)));
    let misbound = observation
        .misbound
        .iter()
        .find(|Misbound(of, ..)| *of == fact);
    let corrected = misbound.map_or(own, |Misbound(_, wrong, rivals)| {
        let wrong = f64::from(*wrong);
        (own - wrong / rivals) / (own + wrong)
    });
    LookBinding {
        own,
        corrected,
        random_own,
    }
}

/// The same for the facts that were asked for; a fact is present if context and retrieved text
/// together hold it.
pub(crate) fn prompted_looks<'r>(
    record: &'r Record,
    observation: &'r Observation,
) -> impl Iterator<Item = Look<'r>> {
    let found = observation
        .prompted
        .as_ref()
        .map_or(&[][..], |prompted| &prompted.found);
    let asked =
        looks(record, observation).filter(|look| observation.asked.contains(&(look.index as u32)));
    let is_usable = observation.unusable.is_none();
    asked.map(move |look| {
        let is_present = look.is_present || (is_usable && found.contains(&(look.index as u32)));
        Look { is_present, ..look }
    })
}

/// Whether the context held each fact that the next turn uses.
pub(crate) fn uses<'r>(
    record: &'r Record,
    observation: &'r Observation,
) -> impl Iterator<Item = bool> {
    let used = observation.used.iter();
    let is_usable = observation.unusable.is_none();
    let ranked = used.filter_map(move |index| ranked(record, observation, *index as usize));
    ranked.map(move |(_, fate)| is_usable && fate.is_present())
}

/// The same where generic values count too.
pub(crate) fn uses_with_generic<'r>(
    record: &'r Record,
    observation: &'r Observation,
) -> impl Iterator<Item = bool> {
    let is_usable = observation.unusable.is_none();
    let valid = observation
        .used
        .iter()
        .filter_map(move |index| valid(record, observation, *index as usize));
    valid.map(move |(_, fate)| is_usable && fate.is_present())
}

fn ranked<'r>(
    record: &'r Record,
    observation: &Observation,
    index: usize,
) -> Option<(&'r FactRow, Fate)> {
    valid(record, observation, index).filter(|(fact, _)| !fact.generic)
}

fn valid<'r>(
    record: &'r Record,
    observation: &Observation,
    index: usize,
) -> Option<(&'r FactRow, Fate)> {
    let fact = record.facts.get(index)?;
    let fate = *observation.fates.0.get(index)?;
    (!fact.decoy && fate != Fate::Superseded).then_some((fact, fate))
}

/// The name by which a format writes a plain enum, for example `prohibition`.
pub(crate) fn label(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => "?".to_owned(),
    }
}
