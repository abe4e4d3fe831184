//! What a plan will take, from dry runs of a few of its conversations.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Instant;

use compactometer_engine::tokens::Encoding;
use compactometer_harness::plan::{Plan, PlannedCase};

use super::{CostEstimate, Tariffs};
use crate::output::failure::Failure;

/// Most conversations that are tried.
const CONVERSATIONS: usize = 20;
/// Most cases of them, except that two conversations are always tried.
const CASES: usize = 400;

/// What a plan will take: calls, tokens, cost, and hours at a rate of requests per minute. The
/// conversations are taken at equal intervals of the suite.
pub(crate) fn forecast(
    plan: &Plan,
    counter: Encoding,
    tariffs: Tariffs,
    rate: Option<NonZeroU32>,
) -> Result<String, Failure> {
    let mut of = BTreeMap::<&str, Vec<&PlannedCase>>::new();
    for case in &plan.cases {
        of.entry(&case.prepared.scenario.id).or_default().push(case);
    }
    let all = plan.suite.len();
    let rows = plan.cases.len().div_ceil(all.max(1)).max(1);
    let tried = (CASES / rows).clamp(2, CONVERSATIONS).min(all);
    let (mut counts, mut dollars, mut seconds) = (
        [const { Vec::new() }; 3],
        [const { Vec::new() }; 2],
        Vec::new(),
    );
    for step in 0..tried {
        let id = plan.suite[step * all / tried].scenario.id.as_str();
        let begun = Instant::now();
        let (counted, cost) =
            CostEstimate::new(of.get(id).map_or(&[], Vec::as_slice), counter, tariffs)?.totals();
        seconds.push(begun.elapsed().as_secs_f64());
        counts
            .iter_mut()
            .zip(counted)
            .for_each(|(values, count)| values.push(count));
        for (values, cost) in dollars.iter_mut().zip(cost.iter().flatten()) {
            values.push(*cost);
        }
    }
    let seconds = Total::new(&seconds, all);
    let [calls, input, output] = counts.map(|values| Total::new(&values, all));
    let [low, high] =
        dollars.map(|values| (values.len() == tried).then(|| Total::new(&values, all)));
    let cost = match low.zip(high) {
        Some((_, high)) if high.sum == 0.0 => "none".to_owned(),
        Some((low, high)) => format!(
            "{:.2} to {:.2} US dollars {}",
            low.sum,
            high.sum,
            high.spread()
        ),
        None => "unknown; `--prices FILE` names prices".to_owned(),
    };
    let mut time = format!(
        "{:.2} hours of one thread {}",
        seconds.sum / 3_600.0,
        seconds.spread()
    );
    if let Some(rate) = rate {
        let hours = calls.sum / f64::from(rate.get()) / 60.0;
        time = format!("{hours:.1} hours at {rate} requests per minute, and {time}");
    }
    let from = if tried == all {
        format!("all {all} conversations")
    } else {
        format!("{tried} of {all} conversations")
    };
    let lines = [
        format!("estimate from dry runs of {from} with the mock; \u{b1} is two standard errors"),
        format!("calls   {}", calls.shown()),
        format!("tokens  {} in, {} out", input.shown(), output.shown()),
        format!("cost    {cost}"),
        format!("time    {time}"),
    ];
    Ok(lines.join("\n"))
}

/// A sum over all conversations, from some of them.
struct Total {
    sum: f64,
    /// Two standard errors, as a share of the sum; unknown of one value.
    spread: Option<f64>,
}

impl Total {
    fn new(values: &[f64], all: usize) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count.max(1.0);
        let squares = values
            .iter()
            .map(|value| (value - mean).powi(2))
            .sum::<f64>();
        // Conversations that were all tried leave nothing to guess.
        let error = (squares / (count - 1.0) / count * (1.0 - count / all as f64)).sqrt();
        let spread = (values.len() > 1).then(|| if mean > 0.0 { 2.0 * error / mean } else { 0.0 });
        Total {
            sum: mean * all as f64,
            spread,
        }
    }

    fn spread(&self) -> String {
        match self.spread {
            Some(spread) => format!("(\u{b1} {:.0} %)", spread * 100.0),
            None => "(spread unknown)".to_owned(),
        }
    }

    fn shown(&self) -> String {
        format!("{:.0} {}", self.sum, self.spread())
    }
}

#[cfg(test)]
mod tests {
    use super::Total;

    #[test]
    fn a_sample_gives_the_sum_and_its_spread() {
        let total = Total::new(&[8.0, 12.0, 10.0, 10.0], 40);
        assert!((total.sum - 400.0).abs() < 1e-9);
        // The standard deviation is 1.633, so the standard error is .816, and .775 since a tenth of
        // all was tried.
        assert!(
            total
                .spread
                .is_some_and(|spread| (spread - 0.1549).abs() < 1e-3),
            "{:?}",
            total.spread
        );
        assert_eq!(Total::new(&[8.0, 12.0], 2).spread, Some(0.0));
        assert_eq!(Total::new(&[8.0], 2).spread, None);
        assert_eq!(Total::new(&[0.0, 0.0], 9).spread, Some(0.0));
    }
}
