//! Where the facts ended, by strategy.

use compactometer_formats::fate::Fate;
use compactometer_formats::summary::Group;
use plotters::style::RGBColor;

use super::bars::{BarRow, Bars};
use super::colours::{BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, YELLOW};
use super::{COLUMN, Plot, WIDTH, header};
use crate::data::ProtocolRun;
use crate::phrases::row_name;
use crate::vocabulary::of_fate;

/// In the order of [`Fate::STATED`]: what is held in blues, what is lost in warm colours.
pub(crate) const COLOURS: [RGBColor; 10] = [
    BLUE,
    SKY,
    GREEN,
    VERMILION,
    ORANGE,
    PURPLE,
    YELLOW,
    GREY,
    RGBColor(0xbb, 0xbb, 0xbb),
    BLACK,
];

pub(super) fn plot(_: &ProtocolRun, group: &Group) -> Plot {
    drawn(group, WIDTH)
}

/// The same for a printed column.
pub(crate) fn in_column(group: &Group) -> Plot {
    drawn(group, COLUMN)
}

fn drawn(group: &Group, width: f64) -> Plot {
    let share = |shares: &std::collections::BTreeMap<String, f64>, fate: &Fate| {
        shares.get(fate.name()).copied().unwrap_or(0.0)
    };
    // A fate that no strategy shows needs no place in the legend.
    let occurs = |fate: &Fate| {
        group
            .strategies
            .iter()
            .any(|strategy| share(&strategy.fates, fate) > 0.0)
    };
    let shown: Vec<(&Fate, RGBColor)> = Fate::STATED
        .iter()
        .zip(COLOURS)
        .filter(|(fate, _)| occurs(fate))
        .collect();
    let names: Vec<String> = shown.iter().map(|(fate, _)| of_fate(**fate)).collect();
    let colours = shown.iter().map(|(_, colour)| *colour);
    let segments: Vec<(RGBColor, &str)> = colours.zip(names.iter().map(String::as_str)).collect();
    let mut rows = vec![header(&["strategy", "fate", "share"])];
    let mut bars = Vec::new();
    for strategy in &group.strategies {
        let written = |fate: &&Fate| **fate != Fate::Sealed || occurs(fate);
        for fate in Fate::STATED.iter().filter(written) {
            rows.push(vec![
                strategy.name.clone(),
                fate.name().to_owned(),
                share(&strategy.fates, fate).to_string(),
            ]);
        }
        let parts = if strategy.fates.is_empty() {
            Err("no fact is stated at an observation point".to_owned())
        } else {
            Ok(shown
                .iter()
                .map(|(fate, _)| 100.0 * share(&strategy.fates, fate))
                .collect())
        };
        bars.push(BarRow {
            name: row_name(strategy),
            family: strategy.family,
            parts,
            note: String::new(),
        });
    }
    let title = "stated facts at the last observation point, %";
    let inside = |percent: f64| format!("{percent:.0}");
    let figure = Bars {
        rows: bars,
        segments: &segments,
        title,
        reach: 100.0,
        inside,
        mark: None,
    }
    .draw(width);
    Plot {
        name: "fates".to_owned(),
        title: "Where each fact ended",
        caption:
            "Shares of all stated facts, decoys left out, at each conversation's last observation point; means over \
                  conversations. Blue and green are still held; grey is no longer valid; the rest is lost, by cause. What is missing \
                  to 100 was in contexts that count as empty."
                .to_owned(),
        figure,
        rows,
    }
}
