//! An agreement as a document: what it claims, the taus, and the values behind them.

use compactometer_formats::summary::MetricValue;

use super::{Agreement, FEWEST_STRATEGIES, LEAST_TAU, MetricAgreement, TauClaim};
use crate::document::{Block, Document, Table, TableRow};
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

impl Agreement {
    /// The taus, the values behind them and the claim, for a terminal of that many columns.
    pub fn terminal(&self, columns: usize) -> String {
        self.document().terminal(columns)
    }

    /// The same as Markdown.
    pub fn markdown(&self) -> String {
        self.document().markdown(2)
    }

    /// The same as a page of HTML that needs no other file.
    ///
    /// # Errors
    /// Where the template of pages does not render.
    pub fn html(&self) -> Result<String, minijinja::Error> {
        self.document().html()
    }

    fn document(&self) -> Document {
        let Agreement { mock, model, .. } = self;
        let mut document = Document::new(format!("Agreement of {mock} and {model}"));
        let scope = "It says nothing about other models, especially larger ones, or about other conversations.";
        document.add(Block::Paragraph(
            format!("Claim: {}. {scope}", self.words).into(),
        ));
        let method = format!(
            "The order of {} strategies: Kendall's tau, with 95 % percentile bootstrap intervals over {} conversations.",
            self.strategies.len(),
            self.units
        );
        document.add(Block::Note(method.into()));
        document.add(Block::Table(self.taus()));
        document.extend(Block::list(self.metrics.iter().flat_map(undefined)));
        for metric in &self.metrics {
            if !metric.values.is_empty() {
                document.add(Block::Table(self.values(metric)));
            }
        }
        let left_out = self.left_out.iter().map(|left| {
            format!(
                "left out: {}: under {}, {}",
                left.strategy, left.summarizer, left.reason
            )
        });
        document.extend(Block::list(left_out));
        document
    }

    fn taus(&self) -> Table {
        let columns = ["metric", "tau", "95 %", "ceiling", "95 %"];
        let rows = self.metrics.iter().map(|metric| {
            let name = vocabulary::name(metric.metric).to_owned();
            let numbers = [&metric.tau, &metric.ceiling].map(number_and_ends);
            TableRow::new([name].into_iter().chain(numbers.into_iter().flatten()))
        });
        Table::of_text(columns).numbers(1..).with_rows(rows)
    }

    /// Each strategy's value of a metric under the mock and under the model.
    fn values(&self, metric: &MetricAgreement) -> Table {
        let name = vocabulary::name(metric.metric);
        let rows = self.strategies.iter().zip(&metric.values);
        let rows = rows.map(|(name, (mock, model))| {
            TableRow::new([name.clone(), format!("{mock:.2}"), format!("{model:.2}")])
        });
        Table::of_text([name.as_str(), "mock", "model"])
            .numbers(1..)
            .with_rows(rows)
    }
}

/// Why a metric's numbers are missing, and which have no interval.
fn undefined(metric: &MetricAgreement) -> Vec<String> {
    let name = vocabulary::name(metric.metric);
    let whys = [("tau", &metric.tau), ("ceiling", &metric.ceiling)].map(|(what, value)| {
        let why = match (value.value, value.low) {
            (None, _) => value.reason.as_deref().unwrap_or("undefined"),
            (Some(_), None) => "too few conversations for an interval",
            (Some(_), Some(_)) => return None,
        };
        Some(format!("{name}, {what}: {why}"))
    });
    whys.into_iter().flatten().collect()
}

/// A value, and the ends of its interval.
fn number_and_ends(value: &MetricValue) -> [String; 2] {
    let show = |number| MetricUnit::Ratio.show(number);
    let ends = value.low.zip(value.high);
    let ends = ends.map(|(low, high)| format!("[{}, {}]", show(low), show(high)));
    [value.value.map(show), ends].map(|shown| shown.unwrap_or_else(|| "-".to_owned()))
}
