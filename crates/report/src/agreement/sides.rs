//! The runs that are compared, held to each other.

use std::collections::BTreeSet;

use compactometer_formats::manifest::Manifest;
use compactometer_formats::mock_name::is_mock;
use compactometer_formats::prices::PriceTable;

use super::{DrawnUnits, LeftOut};
use crate::data::run_files::RunFiles;
use crate::data::{ProtocolRun, StrategyRecords};
use crate::metrics::failures::why_not_compared;
use crate::metrics::scores::{PrimaryMetric, UnitScores};

/// The mock's run, the model's, and the model's with another seed.
pub(super) struct Sides<'r> {
    pub(super) runs: Vec<ProtocolRun<'r>>,
    /// Strategies that compacted in every run and failed too often in none.
    names: Vec<&'r str>,
    pub(super) left_out: Vec<LeftOut>,
}

impl<'r> Sides<'r> {
    pub(super) fn new(
        mock: &'r RunFiles,
        model: &'r RunFiles,
        again: Option<&'r RunFiles>,
        prices: &'r PriceTable,
    ) -> Result<Self, AgreementError> {
        let files: Vec<&RunFiles> = [mock, model].into_iter().chain(again).collect();
        let answered_by = |files: &RunFiles| files.manifest.target_model().to_owned();
        let pair = files
            .iter()
            .find(|files| files.manifest.target.is_some())
            .map(|files| &files.manifest);
        if let Some(pair) = pair.filter(|_| {
            files
                .iter()
                .any(|files| answered_by(files) != answered_by(mock))
        }) {
            let (summarizer, target) = (pair.summarizer.clone(), pair.target_model().to_owned());
            return Err(AgreementError::TwoModels { summarizer, target });
        }
        if !is_mock(&mock.manifest.summarizer) {
            return Err(AgreementError::NoMock(mock.manifest.summarizer.clone()));
        }
        if is_mock(&model.manifest.summarizer) {
            return Err(AgreementError::NoModel(model.manifest.summarizer.clone()));
        }
        if let Some(again) = again.filter(|again| !is_again(&model.manifest, &again.manifest)) {
            let told = |manifest: &Manifest| {
                format!("`{}` with seed {}", manifest.summarizer, manifest.seed)
            };
            return Err(AgreementError::NotAgain {
                model: told(&model.manifest),
                again: told(&again.manifest),
            });
        }
        for other in &files[1..] {
            alike(&mock.manifest, &other.manifest)?;
        }
        let runs: Vec<_> = files
            .iter()
            .filter_map(|files| matched(files, prices))
            .collect();
        if runs.len() < files.len() {
            return Err(AgreementError::Differs(
                "protocols (each run needs the matched one)",
            ));
        }
        let mut names = common(&runs);
        let left_out: Vec<LeftOut> = names.iter().flat_map(|name| failing(&runs, name)).collect();
        names.retain(|name| left_out.iter().all(|left| left.strategy != *name));
        Ok(Sides {
            runs,
            names,
            left_out,
        })
    }

    /// The model that answered in every run, if it is not the one whose order it is.
    pub(super) fn answered_by(&self) -> Option<String> {
        let has_target = self.runs.iter().any(|run| run.manifest.target.is_some());
        self.runs
            .first()
            .filter(|_| has_target)
            .map(|run| run.manifest.target_model().to_owned())
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn strategies<'s>(
        &'s self,
        run: &'s ProtocolRun<'r>,
    ) -> impl Iterator<Item = &'s StrategyRecords<'r>> {
        self.names.iter().filter_map(|name| run.strategy(name))
    }

    /// Runs are whole and of one suite, so each strategy has every group.
    pub(super) fn units(&self) -> usize {
        self.runs.first().map_or(0, ProtocolRun::units)
    }

    pub(super) fn conversations(&self) -> usize {
        let of_first = self.runs.iter().take(1).flat_map(|run| &run.strategies);
        let records = of_first.flat_map(|strategy| strategy.records());
        records
            .map(|record| record.case.scenario.as_str())
            .collect::<BTreeSet<_>>()
            .len()
    }

    pub(super) fn most_tokens(&self) -> u32 {
        let records = self
            .runs
            .iter()
            .flat_map(|run| &run.strategies)
            .flat_map(|strategy| strategy.records());
        records
            .flat_map(|record| &record.observations)
            .map(|seen| seen.log_tokens)
            .max()
            .unwrap_or(0)
    }

    /// The first metric that every strategy has in every run, and each run's values of it.
    pub(super) fn scores(
        &self,
        primary: PrimaryMetric,
    ) -> Option<(&'static str, Vec<DrawnUnits<'_>>)> {
        let of_run = |run: &ProtocolRun<'r>, metric| {
            let scores: Vec<UnitScores> = self
                .strategies(run)
                .map(|strategy| UnitScores::new(metric, strategy))
                .collect::<Option<_>>()?;
            let drawn =
                move |times: &[u32]| scores.iter().map(|scores| scores.drawn(times)).collect();
            Some(Box::new(drawn) as DrawnUnits<'_>)
        };
        primary.metrics().iter().find_map(|metric| {
            let runs: Option<Vec<_>> = self.runs.iter().map(|run| of_run(run, metric)).collect();
            Some((*metric, runs?))
        })
    }
}

fn is_again(model: &Manifest, again: &Manifest) -> bool {
    model.summarizer == again.summarizer && model.seed != again.seed
}

fn matched<'r>(files: &'r RunFiles, prices: &'r PriceTable) -> Option<ProtocolRun<'r>> {
    let runs = ProtocolRun::by_protocol(&files.manifest, &files.records, prices);
    runs.into_iter().find(|run| {
        run.protocol.has_limits_of_run() && run.retained == Some(files.manifest.retained)
    })
}

/// Strategies under test that compacted something in every run.
fn common<'r>(runs: &[ProtocolRun<'r>]) -> Vec<&'r str> {
    let compacts = |run: &ProtocolRun<'r>, name: &str| {
        run.strategy(name)
            .is_some_and(|strategy| strategy.records().any(|record| record.rounds() > 0))
    };
    let tested = runs
        .iter()
        .take(1)
        .flat_map(|run| &run.strategies)
        .filter(|strategy| strategy.family.is_tested());
    tested
        .map(|strategy| strategy.name)
        .filter(|name| runs.iter().all(|run| compacts(run, name)))
        .collect()
}

/// The runs in which a strategy fails, or exceeds the window, too often: what it keeps there is no
/// order of memory.
fn failing(runs: &[ProtocolRun], name: &str) -> Vec<LeftOut> {
    let of_run = |run: &ProtocolRun| {
        let (_, reason) = why_not_compared(run, run.strategy(name)?)?;
        let (own, seed) = (&run.manifest.summarizer, run.manifest.seed);
        // The run of the ceiling has the same model.
        let is_alone = runs
            .iter()
            .filter(|other| other.manifest.summarizer == *own)
            .count()
            == 1;
        let summarizer = if is_alone {
            own.clone()
        } else {
            format!("{own} with seed {seed}")
        };
        Some(LeftOut {
            strategy: name.to_owned(),
            summarizer,
            reason,
        })
    };
    runs.iter().filter_map(of_run).collect()
}

/// What must be equal in runs whose orders are compared.
fn alike(one: &Manifest, other: &Manifest) -> Result<(), AgreementError> {
    let prompts = || {
        one.prompts
            .iter()
            .all(|(name, hash)| other.prompts.get(name).is_none_or(|other| other == hash))
    };
    for (field, is_equal) in [
        ("suite", one.suite_hash == other.suite_hash),
        (
            "window",
            (one.window, one.trigger) == (other.window, other.trigger),
        ),
        ("retained budget", one.retained == other.retained),
        ("tokenizer", one.tokenizer == other.tokenizer),
        ("prompts", prompts()),
    ] {
        if !is_equal {
            return Err(AgreementError::Differs(field));
        }
    }
    Ok(())
}

/// Runs whose orders cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AgreementError {
    /// In a run, different models summarized and answered, and the one that answered did not answer
    /// in the others.
    #[error(
        "`{summarizer}` summarized and `{target}` answered in one of the runs, and another model answered in another; let one model \
         answer in all of them, or run each without `--summarizer`"
    )]
    TwoModels {
        /// Who wrote.
        summarizer: String,
        /// Who answered.
        target: String,
    },
    /// The first run is not of a mock.
    #[error(
        "the first run is of `{0}`, which is not a mock; name the mock's run first, then the model's"
    )]
    NoMock(String),
    /// The second run is of a mock.
    #[error(
        "the second run is of `{0}`, which is a mock; name the mock's run first, then the model's"
    )]
    NoModel(String),
    /// The ceiling is not of the same model with another seed.
    #[error(
        "a ceiling is the same model with another seed; the runs are of {model} and of {again}"
    )]
    NotAgain {
        /// The model's run.
        model: String,
        /// The run that should be its repetition.
        again: String,
    },
    /// The runs were made under different conditions.
    #[error(
        "the runs differ in {0}; run both with the same arguments but `--model`, `--summarizer`, `--seed` and `--out`"
    )]
    Differs(&'static str),
}
