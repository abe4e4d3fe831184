//! A judge's verdicts beside the grades, as people read them.

use compactometer_formats::summary::{Judged, MetricValue};

use crate::metrics::MetricUnit;
use crate::numbers::grouped;
use crate::summary::judged::ALL;

/// What is shown first: the conversation contradicts these.
const FIRST: [&str; 3] = [ALL, "wrong_value", "stale"];

/// The judge's part of a report, as lines.
pub(crate) fn lines(judged: &Judged) -> Vec<String> {
    let cost = judged
        .cost_usd
        .map_or("unknown".to_owned(), |cost| format!("{cost:.3} US dollars"));
    let mut lines = vec![
        format!(
            "{} judged {} answers, {} without a verdict; {} calls, {} tokens in, {} out, cost {cost}",
            judged.model,
            judged.judgements,
            judged.unreadable,
            judged.calls,
            grouped(judged.tokens_in as f64),
            grouped(judged.tokens_out as f64),
        ),
        format!(
            "agreement with the grader: {}",
            format_value(&judged.agreement, "units")
        ),
        format!("Cohen's kappa: {}", format_value(&judged.kappa, "units")),
    ];
    let named = |name: &str| match name {
        ALL => "all answers that the grader calls wrong".to_owned(),
        "wrong_value" => "invented, forbidden or other facts' values (wrong_value)".to_owned(),
        "stale" => "replaced values (stale)".to_owned(),
        other => other.to_owned(),
    };
    let mut accepts: Vec<_> = judged.false_accepts.iter().collect();
    accepts.sort_by_key(|(name, _)| {
        FIRST
            .iter()
            .position(|first| first == name)
            .unwrap_or(FIRST.len())
    });
    let told = |(name, share): (&String, _)| {
        format!(
            "false accepts, {}: {}",
            named(name),
            format_value(share, "answers, Wilson")
        )
    };
    lines.extend(accepts.into_iter().map(told));
    lines.push(format!(
        "false rejects: {}",
        format_value(&judged.false_rejects, "right answers, Wilson")
    ));
    lines
}

fn format_value(value: &MetricValue, of: &str) -> String {
    let Some(found) = value.value else {
        return format!("- ({})", value.reason.as_deref().unwrap_or("undefined"));
    };
    let ends = value
        .low
        .zip(value.high)
        .map_or(String::new(), |(low, high)| {
            format!(
                " [{}, {}]",
                MetricUnit::Share.show(low),
                MetricUnit::Share.show(high)
            )
        });
    format!(
        "{}{ends} (n {} {of})",
        MetricUnit::Share.show(found),
        value.n
    )
}
