//! Whether a mock puts strategies in the order in which a model does: Kendall's tau-b over
//! strategies, with an interval over units, beside what the model agrees with itself.
//!
//! Absent on purpose: controls, whose order is known beforehand and would flatter any pair of runs;
//! strategies that fail too often in one of the runs, whose place in the order is that of what
//! keeps everything; other protocols than the matched one; and every claim but the one about these
//! conversations and this model.

mod agreement_document;
mod sides;

use compactometer_formats::prices::PriceTable;
use compactometer_formats::summary::MetricValue;
use serde::Serialize;

pub use self::sides::AgreementError;
use self::sides::Sides;
use crate::data::run_files::RunFiles;
use crate::metrics::MetricUnit;
use crate::metrics::answered::reader_strength;
use crate::metrics::scores::PrimaryMetric;
use crate::metrics::value::{defined, rounded, undefined};
use crate::stats::kendall::tau_b;
use crate::stats::nine_digits;
use crate::stats::{FEWEST_UNITS, bootstrap};

/// From this tau on an order is reproduced: four of five pairs the same way round, where nothing is
/// tied. Assumed.
pub const LEAST_TAU: f64 = 0.6;
/// Fewer strategies than this have too few pairs for an order. Assumed.
pub const FEWEST_STRATEGIES: usize = 4;

/// How far a mock's order of strategies is a model's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// The version of this form.
    pub version: u32,
    /// The mock.
    pub mock: String,
    /// The model.
    pub model: String,
    /// The model that answered the questions in every run, if it is a third one or the mock: then
    /// the order is that of the summaries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<String>,
    /// The strategies under test that compacted in every run and failed too often in none, in order
    /// of the report.
    pub strategies: Vec<String>,
    /// Those that failed, or exceeded the window, too often.
    pub left_out: Vec<LeftOut>,
    /// Groups, the units of statistics.
    pub units: usize,
    /// Conversations.
    pub conversations: usize,
    /// Tokens of the longest one, as far as it was looked at.
    pub most_tokens: u32,
    /// Whether the model was run again with another seed.
    pub has_ceiling: bool,
    /// Context recall, then answer recall.
    pub metrics: Vec<MetricAgreement>,
    /// What can be claimed.
    pub claim: TauClaim,
    /// The same in words; reports may use no others.
    pub words: String,
}

/// A strategy that takes no part in the order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Its name.
    pub strategy: String,
    /// The mock or the model under which it failed.
    pub summarizer: String,
    /// What failed, with its share.
    pub reason: String,
}

/// One metric's part.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricAgreement {
    /// The metric's id; raw recall where chance is unknown in one of the runs.
    pub metric: &'static str,
    /// Each strategy's value under the mock and under the model, in order of
    /// [`Agreement::strategies`].
    pub values: Vec<(f64, f64)>,
    /// Tau-b of mock and model; `n` counts units.
    pub tau: MetricValue,
    /// Tau-b of the model and itself with another seed.
    pub ceiling: MetricValue,
}

/// What a reader may take from the taus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TauClaim {
    /// Every tau is at least [`LEAST_TAU`], by the lower end of its interval.
    Reproduces,
    /// Some tau is under it, by the upper end, and the model is known to reach it with itself.
    DoesNotReproduce,
    /// Neither, or too little is known.
    NotSupported,
}

/// Compares a mock's run with a model's, and the model's with one of another seed.
///
/// # Errors
/// [`AgreementError`] where the runs are not of one suite and configuration, or not of a mock and a
/// model.
pub fn agreement(
    mock: &RunFiles,
    model: &RunFiles,
    again: Option<&RunFiles>,
    prices: &PriceTable,
) -> Result<Agreement, AgreementError> {
    let sides = Sides::new(mock, model, again, prices)?;
    let metrics: Vec<_> = PrimaryMetric::COMPARED
        .iter()
        .map(|primary| metric(&sides, *primary))
        .collect();
    let claim = claim(&sides, &metrics);
    let mut found = Agreement {
        version: 1,
        mock: mock.manifest.summarizer.clone(),
        model: model.manifest.summarizer.clone(),
        answered_by: sides.answered_by(),
        strategies: sides.names(),
        left_out: sides.left_out.clone(),
        units: sides.units(),
        conversations: sides.conversations(),
        most_tokens: sides.most_tokens(),
        has_ceiling: again.is_some(),
        metrics,
        claim,
        words: String::new(),
    };
    found.words = agreement_document::words(&found);
    Ok(found)
}

fn metric(sides: &Sides, primary: PrimaryMetric) -> MetricAgreement {
    let undefined = |reason: &str| rounded(MetricUnit::Ratio, undefined(reason));
    let no_ceiling =
        || undefined("no ceiling recorded: the model was not run again with another seed");
    let Some((metric, runs)) = sides.scores(primary) else {
        let metric = primary.metrics()[0];
        let why = undefined("a strategy has no value in one of the runs");
        return MetricAgreement {
            metric,
            values: Vec::new(),
            ceiling: why.clone(),
            tau: why,
        };
    };
    let [mock, model] = [&runs[0], &runs[1]];
    let all = vec![1; sides.units()];
    let values = means(mock, &all)
        .zip(means(model, &all))
        .map_or(Vec::new(), |(mock, model)| {
            mock.into_iter()
                .zip(model)
                .map(|(one, other)| (nine_digits(one), nine_digits(other)))
                .collect()
        });
    let weak = (primary == PrimaryMetric::Answers)
        .then(|| {
            sides
                .runs
                .iter()
                .find_map(|run| Some((run, reader_strength(run).err()?)))
        })
        .flatten();
    if let Some((run, why)) = weak {
        let why = undefined(&format!("`{}`: {why}", run.manifest.summarizer));
        return MetricAgreement {
            metric,
            values,
            ceiling: why.clone(),
            tau: why,
        };
    }
    let ceiling = runs
        .get(2)
        .map_or_else(no_ceiling, |again| tau(model, again, sides.units()));
    MetricAgreement {
        metric,
        values,
        tau: tau(mock, model, sides.units()),
        ceiling,
    }
}

/// By strategy, a value for each unit, given how often each is drawn.
type DrawnUnits<'s> = Box<dyn Fn(&[u32]) -> Vec<Vec<Option<f64>>> + 's>;

/// Each strategy's mean over drawn units; nothing if a strategy has no value.
fn means(scores: &DrawnUnits<'_>, times: &[u32]) -> Option<Vec<f64>> {
    let mean = |values: &Vec<Option<f64>>| {
        let drawn = values
            .iter()
            .zip(times)
            .filter_map(|(value, times)| Some(((*value)?, f64::from(*times))));
        let (sum, count) = drawn.fold((0.0, 0.0), |(sum, count), (value, times)| {
            (sum + value * times, count + times)
        });
        (count > 0.0).then(|| sum / count)
    };
    scores(times).iter().map(mean).collect()
}

fn tau(one: &DrawnUnits<'_>, other: &DrawnUnits<'_>, units: usize) -> MetricValue {
    let drawn = |times: &[u32]| tau_b(&means(one, times)?, &means(other, times)?);
    let Some(value) = drawn(&vec![1; units]) else {
        return rounded(
            MetricUnit::Ratio,
            undefined("all strategies have the same value in one of the runs"),
        );
    };
    rounded(
        MetricUnit::Ratio,
        defined(value, bootstrap::interval(units, drawn), units),
    )
}

/// Every metric with a tau takes part, and context recall must have one.
fn claim(sides: &Sides, metrics: &[MetricAgreement]) -> TauClaim {
    let has_tau = |metric: &&MetricAgreement| metric.tau.value.is_some();
    let told = metrics.iter().filter(has_tau).collect::<Vec<_>>();
    let has_context = metrics.first().is_some_and(|first| has_tau(&first));
    if sides.units() < FEWEST_UNITS || sides.names().len() < FEWEST_STRATEGIES || !has_context {
        return TauClaim::NotSupported;
    }
    // A model that does not agree with itself would agree with no mock.
    let is_attainable =
        |metric: &&MetricAgreement| metric.ceiling.low.is_some_and(|low| low >= LEAST_TAU);
    if told
        .iter()
        .filter(|metric| misses(metric))
        .any(is_attainable)
    {
        return TauClaim::DoesNotReproduce;
    }
    if told.iter().all(|metric| reaches(metric)) {
        TauClaim::Reproduces
    } else {
        TauClaim::NotSupported
    }
}

fn misses(metric: &MetricAgreement) -> bool {
    metric.tau.high.is_some_and(|high| high < LEAST_TAU)
}

fn reaches(metric: &MetricAgreement) -> bool {
    metric.tau.low.is_some_and(|low| low >= LEAST_TAU)
}
