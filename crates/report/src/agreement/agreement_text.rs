//! An agreement as people read it.

use std::fmt::Write as _;

use compactometer_formats::summary::MetricValue;

use super::{Agreement, FEWEST_STRATEGIES, LEAST_TAU, LeftOut, MetricAgreement, TauClaim};
use crate::metrics::MetricUnit;
use crate::numbers::grouped;
use crate::stats::FEWEST_UNITS;
use crate::vocabulary;

/// The only claim that the numbers permit, or that no claim is supported.
pub(super) fn words(found: &Agreement) -> String {
    let Agreement {
        mock,
        model,
        conversations,
        ..
    } = found;
    let answers = found.answered_by.as_ref().map_or(String::new(), |model| {
        format!(", with `{model}` answering in every run")
    });
    let scope = format!(
        "on {conversations} conversations of at most {} tokens{answers}",
        grouped(f64::from(found.most_tokens))
    );
    match found.claim {
        TauClaim::Reproduces => format!("the mock `{mock}` does reproduce `{model}` {scope}"),
        TauClaim::DoesNotReproduce => {
            format!("the mock `{mock}` does not reproduce `{model}` {scope}")
        }
        TauClaim::NotSupported => format!("no claim is supported: {} {scope}", why(found)),
    }
}

fn why(found: &Agreement) -> String {
    let Agreement {
        units, strategies, ..
    } = found;
    if *units < FEWEST_UNITS {
        return format!("{units} independent conversations are under {FEWEST_UNITS},");
    }
    if strategies.len() < FEWEST_STRATEGIES {
        return format!(
            "{} strategies are under {FEWEST_STRATEGIES},",
            strategies.len()
        );
    }
    if found
        .metrics
        .iter()
        .any(|metric| metric.tau.high.is_some_and(|high| high < LEAST_TAU))
    {
        return format!(
            "the model is not known to reproduce itself (a ceiling of {LEAST_TAU} or more)"
        );
    }
    format!("the intervals leave open whether tau is {LEAST_TAU}")
}

/// The taus, the values behind them and the claim, as a terminal shows them.
pub fn agreement_text(found: &Agreement) -> String {
    let Agreement {
        mock,
        model,
        units,
        strategies,
        ..
    } = found;
    let mut text = format!(
        "order of {} strategies under {mock} and {model}: Kendall's tau, 95 % percentile bootstrap over {units} conversations\n\n",
        strategies.len()
    );
    for metric in &found.metrics {
        // A text takes every line.
        let _ = writeln!(
            text,
            "{:<26} tau {}",
            vocabulary::name(metric.metric),
            format_value(&metric.tau)
        );
        let _ = writeln!(text, "{:<26} ceiling {}", "", format_value(&metric.ceiling));
    }
    for metric in found
        .metrics
        .iter()
        .filter(|metric| !metric.values.is_empty())
    {
        text.push_str(&values(metric, strategies));
    }
    text.push_str(&left_out(&found.left_out));
    let _ = writeln!(text, "\n{}", found.words);
    text + "This says nothing about other models, especially larger ones, or about other conversations.\n"
}

fn values(metric: &MetricAgreement, strategies: &[String]) -> String {
    let width = strategies.iter().map(String::len).max().unwrap_or(0);
    let mut text = format!(
        "\n{:<width$}  {:>6}  {:>6}\n",
        vocabulary::name(metric.metric),
        "mock",
        "model"
    );
    for (name, (mock, model)) in strategies.iter().zip(&metric.values) {
        let _ = writeln!(text, "{name:<width$}  {mock:>6.2}  {model:>6.2}");
    }
    text
}

/// The strategies that take no part because of what failed, each with its share.
fn left_out(strategies: &[LeftOut]) -> String {
    let mut text = String::new();
    for LeftOut {
        strategy,
        summarizer,
        reason,
    } in strategies
    {
        let _ = writeln!(text, "left out: {strategy}: under {summarizer}, {reason}");
    }
    if text.is_empty() {
        text
    } else {
        format!("\n{text}")
    }
}

fn format_value(value: &MetricValue) -> String {
    let Some(tau) = value.value else {
        return format!("- ({})", value.reason.as_deref().unwrap_or("undefined"));
    };
    let ends = value.low.zip(value.high).map_or(
        " (too few conversations for an interval)".to_owned(),
        |(low, high)| {
            format!(
                " [{}, {}]",
                MetricUnit::Ratio.show(low),
                MetricUnit::Ratio.show(high)
            )
        },
    );
    format!("{}{ends}", MetricUnit::Ratio.show(tau))
}
