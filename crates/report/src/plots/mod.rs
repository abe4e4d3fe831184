//! The pictures of a report, each with its data as CSV. Every one shows all strategies in the same style and order.

use compactometer_schema::record::Family;
use compactometer_schema::summary::{Group, StrategySummary};

use crate::data::Run;

mod axes;
mod bars;
mod context;
mod cost;
mod fates;
pub(crate) mod figure;
mod recall;
pub(crate) mod render;
mod rounds;

use figure::{Figure, Style};

/// Width of every figure.
const WIDTH: f64 = 900.0;

/// A picture and what belongs to it.
pub(crate) struct Plot {
    /// Stem of its files.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) caption: String,
    pub(crate) figure: Figure,
    /// Its data: header and rows.
    pub(crate) rows: Vec<Vec<String>>,
}

/// Every picture, in the order of reports.
pub(crate) const ALL: &[fn(&Run, &Group) -> Plot] =
    &[fates::plot, recall::plot, rounds::plot, context::plot, cost::plot];

/// Strategies with their styles, references first.
fn styled(group: &Group) -> Vec<(Style, &StrategySummary)> {
    let (mut references, mut controls) = (0, 0);
    let style = |strategy: &StrategySummary| {
        let is_control = strategy.family == Family::Control;
        let place = if is_control { &mut controls } else { &mut references };
        *place += 1;
        figure::style(*place - 1, is_control)
    };
    let styles: Vec<Style> = group.strategies.iter().map(style).collect();
    styles.into_iter().zip(&group.strategies).collect()
}

fn header(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn number(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}
