//! Why a run cannot be held against a baseline.

use compactometer_formats::protocol::Protocol;

/// Why a run cannot be held against a baseline.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Mismatch {
    /// Conditions that must be the same are not.
    #[error(
        "the run and the baseline differ in {what}: `{run}` against `{baseline}`; run it with the baseline's settings, or \
         accept the new run with `--update`"
    )]
    Condition {
        /// Which.
        what: String,
        /// The run's.
        run: String,
        /// The baseline's.
        baseline: String,
    },
    /// A strategy that one side lacks.
    #[error(
        "`{strategy}` under the {} protocol is only in the {side}; choose with `--strategy`, or accept what the run has with \
         `--update`", protocol.name()
    )]
    OneSided {
        /// Its name.
        strategy: String,
        /// Its protocol.
        protocol: Protocol,
        /// The side that has it.
        side: &'static str,
    },
    /// A baseline that lists each strategy once for each retained budget.
    #[error(
        "the baseline was made under several retained budgets, and a gate compares one; rewrite it with `--update`"
    )]
    Swept,
    /// A run without the replay that a gate reads.
    #[error(
        "the run has no {what} at its own context window and retained budget, which a gate reads; run it again with `compactometer run`"
    )]
    NoDefault {
        /// What is missing.
        what: &'static str,
    },
    /// A case that a sweep made, among those of the default replay.
    #[error(
        "`{strategy}` on `{scenario}` has another retained budget than the run; run it again into another folder"
    )]
    OtherSize {
        /// The strategy.
        strategy: String,
        /// The conversation.
        scenario: String,
    },
    /// Two cases where one is judged.
    #[error(
        "`{strategy}` on `{scenario}` is in the run's default replay twice; run it again into another folder"
    )]
    Twice {
        /// The strategy.
        strategy: String,
        /// The conversation.
        scenario: String,
    },
    /// A strategy that neither side has.
    #[error("{0}")]
    Unknown(String),
    /// Nothing to judge.
    #[error("the run has no strategy under test, only controls")]
    NothingTested,
    /// Bytes mean nothing where a model draws.
    #[error(
        "`--exact` compares bytes and works only with the mock; `{model}` may answer differently each time"
    )]
    Exact {
        /// The model.
        model: String,
    },
    /// A baseline whose scores cannot be scores.
    #[error(
        "the baseline's {metric} of `{unit}` is `{value}`, which its records do not support; rewrite it with `--update`"
    )]
    Score {
        /// The metric.
        metric: String,
        /// The unit.
        unit: String,
        /// The value.
        value: f64,
    },
}
