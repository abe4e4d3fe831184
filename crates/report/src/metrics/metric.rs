//! The row of a metric.

use compactometer_formats::summary::{MetricValue, StrategySummary};

use super::section::MetricsSection;
use super::unit::MetricUnit;
use super::value::{rounded, undefined, within};
use crate::data::{ProtocolRun, StrategyRecords};

/// Why a row has no costs and no waits.
pub(crate) const UNMETERED: &str = "it asks a model past the meter";

/// Why a row has no recall by texts.
pub(crate) const SEALED: &str = "only its provider's models read its summaries";

/// One metric.
pub struct Metric {
    /// Its id in `summary.json`.
    pub id: &'static str,
    /// What its value counts.
    pub unit: MetricUnit,
    /// Which way is better.
    pub better: Better,
    /// How it is computed.
    pub definition: &'static str,
    /// The table that shows it.
    pub section: MetricsSection,
    /// The heading of a page of `docs/measurement` that explains it.
    pub chapter: &'static str,
    /// Whether it can be under 0: what is corrected for chance, and differences.
    pub(crate) is_signed: bool,
    /// Whether it depends on which facts the text of a context holds.
    pub(crate) reads_texts: bool,
    /// The place of its column in the terminal's table, which has room for a few; pages show all.
    pub(crate) place: Option<u8>,
    pub(crate) compute: fn(&ProtocolRun, &StrategyRecords) -> MetricValue,
}

/// Which way a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither: a property to hold equal, not to win by.
    Neither,
}

impl Better {
    /// The word that reports print.
    pub fn name(self) -> &'static str {
        match self {
            Better::Higher => "higher",
            Better::Lower => "lower",
            Better::Neither => "neither",
        }
    }
}

impl Metric {
    /// What most metrics are: a share, better higher, without a column in the terminal's table. A
    /// row adds the rest.
    pub(super) const fn share(section: MetricsSection, chapter: &'static str) -> Self {
        Metric {
            id: "",
            unit: MetricUnit::Share,
            better: Better::Higher,
            definition: "",
            section,
            chapter,
            is_signed: false,
            reads_texts: matches!(
                section,
                MetricsSection::Recall | MetricsSection::Survival | MetricsSection::Retrieval
            ),
            place: None,
            compute: |_, _| undefined("not computed"),
        }
    }

    /// Its value for a strategy, with an interval that reaches no further than the metric does.
    pub(crate) fn measure(&self, run: &ProtocolRun, strategy: &StrategyRecords) -> MetricValue {
        let is_of_calls = ["Cost", "Latency"].contains(&self.chapter);
        if is_of_calls && run.is_unmetered(strategy.name) {
            return undefined(UNMETERED);
        }
        if self.reads_texts && strategy.is_sealed {
            return undefined(SEALED);
        }
        let value = (self.compute)(run, strategy);
        let least = if self.is_signed {
            f64::NEG_INFINITY
        } else {
            0.0
        };
        rounded(self.unit, within(self.unit, least, value))
    }

    /// What a summary has for a strategy.
    pub(crate) fn get<'s>(&self, strategy: &'s StrategySummary) -> Option<&'s MetricValue> {
        strategy.metrics.get(self.id)
    }

    /// The number, if it is defined.
    pub(crate) fn value(&self, strategy: &StrategySummary) -> Option<f64> {
        self.get(strategy)?.value
    }
}
