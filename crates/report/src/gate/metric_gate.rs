//! What a gate finds of one metric of one strategy.

use serde::Serialize;

use super::GateVerdict;

/// What a gate found of one metric.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MetricGate {
    /// The metric's id.
    pub metric: String,
    /// Its verdict.
    pub verdict: GateVerdict,
    /// Why the verdict is not better.
    pub reason: Option<String>,
    /// Units that have a score on both sides.
    pub units: usize,
    /// The baseline's mean over them.
    pub baseline: Option<f64>,
    /// The run's.
    pub run: Option<f64>,
    /// The run's value minus the baseline's.
    pub difference: Option<f64>,
    /// One-sided 96 % lower bound of the difference (t): 95 % would pass too many losses of the
    /// margin itself.
    pub low: Option<f64>,
    /// One-sided 95 % upper bound of the difference (t).
    pub high: Option<f64>,
    /// P of such units where the true difference is minus the margin, against a smaller loss; under
    /// 30 units the larger of the t and the sign-flip test's wherever the t test rejects.
    pub p_pass: Option<f64>,
    /// The same against a larger loss.
    pub p_regression: Option<f64>,
    /// `p_regression` after Holm over strategies and primary metrics.
    pub p_holm: Option<f64>,
    /// Whether the difference lies within the margin on both sides (two one-sided tests at .05,
    /// after Holm); a pass only says that the loss does.
    pub equivalent: Option<bool>,
    /// The larger p of these two tests, after Holm over strategies and primary metrics.
    pub p_equivalent: Option<f64>,
    /// The probability with which a loss of two margins is found at this number of units,
    /// simulated; absent if it is unknown.
    pub power: Option<f64>,
    /// The number of units at which that probability is .80, if it is less here and the number is
    /// known.
    pub units_needed: Option<usize>,
}
