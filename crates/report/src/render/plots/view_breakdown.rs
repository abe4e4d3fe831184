//! The view over the rounds, by kind of content: the progressive plan's timeline, for every strategy.

use compactometer_formats::record::{Family, Record};
use compactometer_formats::summary::Group;
use compactometer_formats::view_breakdown::ViewParts;
use compactometer_text::code::code;
use plotters::style::RGBColor;

use super::axes::{Axes, LINE, Scale, swatches};
use super::figure::{Anchor, BLUE, Figure, GREEN, ORANGE, PURPLE, SKY};
use super::{Plot, WIDTH, first_conversation, header};
use crate::data::{ProtocolRun, is_applied};

const SYSTEM: RGBColor = RGBColor(0x77, 0x77, 0x77);
/// Summaries take these in turn, so that they can be counted.
const SUMMARIES: [RGBColor; 2] = [BLUE, SKY];
const FILLER: RGBColor = RGBColor(0xbb, 0xbb, 0xbb);

const LEGEND: [(RGBColor, &str); 7] = [
    (SYSTEM, "system prompt"),
    (ORANGE, "checkpoint"),
    (SUMMARIES[0], "a summary"),
    (SUMMARIES[1], "the next one"),
    (GREEN, "messages, word for word"),
    (PURPLE, "ledger"),
    (FILLER, "added by the engine"),
];

/// One strategy's views, one a round.
struct ViewPanel<'r> {
    record: &'r Record,
    views: Vec<(u32, &'r ViewParts)>,
}

pub(super) fn plot(run: &ProtocolRun, _: &Group) -> Plot {
    let panels = panels(run);
    let scenario = panels.first().map_or("", |panel| panel.record.case.scenario.as_str());
    let mut rows = vec![header(&["scenario", "strategy", "round", "after", "kind", "record", "tokens"])];
    for panel in &panels {
        for (round, (after, view)) in (1..).zip(&panel.views) {
            for (kind, record, tokens, _) in segments(view) {
                let record = record.map_or(String::new(), |record: u32| record.to_string());
                let place =
                    [scenario.to_owned(), panel.record.case.strategy.clone(), format!("{round}"), format!("{after}")];
                rows.push([&place[..], &[kind.to_owned(), record, tokens.to_string()]].concat());
            }
        }
    }
    Plot {
        name: "view_by_round".to_owned(),
        title: "The view after each round",
        caption: format!(
            "Tokens by kind after each applied compaction of {}, the first conversation by id; the CSV names each \
             summary's record. What is said until the next round is added to it.",
            code(scenario)
        ),
        figure: draw(&panels),
        rows,
    }
}

/// The strategies under test that compacted the first scenario, in the report's order.
fn panels<'r>(run: &ProtocolRun<'r>) -> Vec<ViewPanel<'r>> {
    let tested = first_conversation(run).into_iter().filter(|record| record.case.family != Family::Control);
    let panel = |record: &'r Record| {
        let rows = record.compactions.iter().filter(|row| is_applied(row));
        let views = rows.filter_map(|row| Some((row.event.after.0, row.view.as_ref()?))).collect::<Vec<_>>();
        (!views.is_empty()).then_some(ViewPanel { record, views })
    };
    tested.filter_map(panel).collect()
}

/// From the bottom up: kind, record, tokens, colour.
fn segments(view: &ViewParts) -> Vec<(&'static str, Option<u32>, u32, RGBColor)> {
    let mut segments = vec![("system", None, view.system, SYSTEM), ("checkpoint", None, view.checkpoint, ORANGE)];
    for (place, (record, tokens)) in view.summaries.iter().enumerate() {
        segments.push(("summary", Some(*record), *tokens, SUMMARIES[place % SUMMARIES.len()]));
    }
    segments.extend([("spoken", None, view.spoken, GREEN), ("ledger", None, view.ledger, PURPLE)]);
    segments.push(("filler", None, view.filler, FILLER));
    segments.retain(|(_, _, tokens, _)| *tokens > 0);
    segments
}

/// The legend, which names ledgers only if there are some.
fn legend(panels: &[ViewPanel<'_>]) -> Vec<(RGBColor, &'static str)> {
    let has_ledger = panels.iter().flat_map(|panel| &panel.views).any(|(_, view)| view.ledger > 0);
    LEGEND.into_iter().filter(|(colour, _)| has_ledger || *colour != PURPLE).collect()
}

const COLUMNS: usize = 2;
const PANEL: f64 = 190.0;

fn draw(panels: &[ViewPanel<'_>]) -> Figure {
    let mut figure = Figure::new(WIDTH, 0.0);
    let top = 18.0 + swatches(&mut figure, (24.0, 18.0), WIDTH - 40.0, &legend(panels));
    let sizes = panels.iter().flat_map(|panel| &panel.views);
    let sizes = sizes.map(|(_, view)| segments(view).iter().map(|(_, _, tokens, _)| f64::from(*tokens)).sum());
    let y = Scale::covering(sizes);
    let most = panels.iter().map(|panel| panel.views.len()).max().unwrap_or(0);
    let rows = panels.len().div_ceil(COLUMNS).max(1);
    figure.height = top + rows as f64 * (PANEL + LINE * 3.6);
    let width = WIDTH / COLUMNS as f64;
    for place in 0..panels.len().max(1) {
        let (column, row) = ((place % COLUMNS) as f64, (place / COLUMNS) as f64);
        let upper = top + row * (PANEL + LINE * 3.6) + LINE;
        let axes = Axes {
            left: column * width + 92.0,
            top: upper,
            right: (column + 1.0) * width - 16.0,
            bottom: upper + PANEL,
            // A round's bar is centred on its number.
            x: Scale::counting(most + 1),
            y,
        };
        axes.draw(&mut figure, "round", "tokens");
        match panels.get(place) {
            Some(panel) => draw_panel(&mut figure, &axes, panel),
            None => axes.say_empty(&mut figure, "no compaction of this conversation is recorded with its view"),
        }
    }
    figure
}

fn draw_panel(figure: &mut Figure, axes: &Axes, panel: &ViewPanel<'_>) {
    figure.text((axes.left, axes.top - LINE * 0.6), panel.record.case.strategy.as_str(), Anchor::Start);
    for (round, (_, view)) in (1..).zip(&panel.views) {
        let mut sum = 0.0;
        for (_, _, tokens, colour) in segments(view) {
            let from = axes.at(f64::from(round) - 0.4, sum);
            sum += f64::from(tokens);
            figure.bar(from, axes.at(f64::from(round) + 0.4, sum), colour);
        }
    }
}
