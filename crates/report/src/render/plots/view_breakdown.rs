//! The view over the rounds, by kind of content: the progressive plan's timeline, for every
//! strategy.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use compactometer_engine::journey::{Journey, Level};
use compactometer_formats::record::{CompactionRow, Family, Record};
use compactometer_formats::summary::Group;
use compactometer_formats::view_breakdown::ViewParts;
use compactometer_text::code::code;
use plotters::style::RGBColor;

use super::axes::{Axes, LINE, Scale, swatches};
use super::colours::{BLUE, GREEN, ORANGE, PURPLE, SKY, YELLOW};
use super::figure::{Anchor, Figure};
use super::{Plot, WIDTH, header, most_compacted};
use crate::data::{ProtocolRun, is_applied};

const SYSTEM: RGBColor = RGBColor(0x77, 0x77, 0x77);
/// Summaries take these in turn, so that they can be counted.
const SUMMARIES: [RGBColor; 2] = [BLUE, SKY];
const FILLER: RGBColor = RGBColor(0xbb, 0xbb, 0xbb);

/// What is stacked in a bar: a name for the CSV, a name for the legend, and a colour.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum StackedPart {
    System,
    Checkpoint,
    /// The summary at an even or at an odd place.
    Summary {
        is_odd: bool,
    },
    /// A summary of a strategy that shows each at a level.
    AtLevel(Reverse<Level>),
    Spoken,
    Ledger,
    Filler,
}

impl StackedPart {
    fn name(self) -> &'static str {
        match self {
            StackedPart::System => "system",
            StackedPart::Checkpoint => "checkpoint",
            StackedPart::Summary { .. } | StackedPart::AtLevel(_) => "summary",
            StackedPart::Spoken => "spoken",
            StackedPart::Ledger => "ledger",
            StackedPart::Filler => "filler",
        }
    }

    fn legend(self) -> &'static str {
        match self {
            StackedPart::System => "system prompt",
            StackedPart::Checkpoint => "checkpoint or pinned items",
            StackedPart::Summary { is_odd: false } => "a summary",
            StackedPart::Summary { is_odd: true } => "the next one",
            StackedPart::AtLevel(Reverse(Level::Detailed)) => "a summary, detailed",
            StackedPart::AtLevel(Reverse(Level::Moderate)) => "moderate",
            StackedPart::AtLevel(Reverse(Level::Compact)) => "compact",
            StackedPart::Spoken => "messages, word for word",
            StackedPart::Ledger => "copied by rule",
            StackedPart::Filler => "added by the engine",
        }
    }

    fn colour(self) -> RGBColor {
        match self {
            StackedPart::System => SYSTEM,
            StackedPart::Checkpoint => ORANGE,
            StackedPart::Summary { is_odd } => SUMMARIES[usize::from(is_odd)],
            StackedPart::AtLevel(Reverse(Level::Detailed)) => BLUE,
            StackedPart::AtLevel(Reverse(Level::Moderate)) => SKY,
            StackedPart::AtLevel(Reverse(Level::Compact)) => YELLOW,
            StackedPart::Spoken => GREEN,
            StackedPart::Ledger => PURPLE,
            StackedPart::Filler => FILLER,
        }
    }
}

/// A part of a bar.
struct Segment {
    kind: StackedPart,
    /// The record that it shows.
    record: Option<u32>,
    tokens: u32,
}

/// A view after a compaction.
struct RoundView<'r> {
    after: u32,
    parts: &'r ViewParts,
    journey: Option<&'r Journey>,
}

/// One strategy's views, one a round.
struct ViewPanel<'r> {
    record: &'r Record,
    views: Vec<RoundView<'r>>,
}

pub(super) fn plot(run: &ProtocolRun, _: &Group) -> Plot {
    let panels = panels(run);
    let scenario = panels
        .first()
        .map_or("", |panel| panel.record.case.scenario.as_str());
    let mut rows = vec![header(&[
        "scenario", "strategy", "round", "after", "kind", "record", "level", "tokens",
    ])];
    for panel in &panels {
        for (round, view) in (1..).zip(&panel.views) {
            for Segment {
                kind,
                record,
                tokens,
            } in view.segments()
            {
                let record = record.map_or(String::new(), |record| record.to_string());
                let level = if let StackedPart::AtLevel(Reverse(level)) = kind {
                    level.name()
                } else {
                    ""
                };
                let (round, after) = (format!("{round}"), view.after.to_string());
                let place = [
                    scenario.to_owned(),
                    panel.record.case.strategy.clone(),
                    round,
                    after,
                ];
                rows.push(
                    [
                        &place[..],
                        &[
                            kind.name().to_owned(),
                            record,
                            level.to_owned(),
                            tokens.to_string(),
                        ],
                    ]
                    .concat(),
                );
            }
        }
    }
    Plot {
        name: "view_by_round".to_owned(),
        title: "The view after each round",
        caption: format!(
            "Tokens by kind after each applied compaction of {}, the conversation with the most compactions; the CSV names each \
             summary's record. A strategy that shortens older summaries shows each at a level. What is said until the next round is added to it.",
            code(scenario)
        ),
        figure: draw(&panels),
        rows,
    }
}

/// The picture of one case: its view after each round.
pub(crate) fn of_case(record: &Record) -> Option<Figure> {
    let panel = ViewPanel::new(record)?;
    let mut figure = Figure::new(WIDTH, 0.0);
    let top = 18.0
        + swatches(
            &mut figure,
            (24.0, 18.0),
            WIDTH - 40.0,
            &legend(std::slice::from_ref(&panel)),
        );
    figure.height = top + PANEL * 1.6 + LINE * 3.6;
    let upper = top + LINE * 0.4;
    let x = Scale::counting(panel.views.len() + 1);
    let y = Scale::covering([panel.most()]);
    let axes = Axes {
        left: 92.0,
        top: upper,
        right: WIDTH - 16.0,
        bottom: upper + PANEL * 1.6,
        x,
        y,
    };
    axes.draw(&mut figure, "round", "tokens");
    panel.draw(&mut figure, &axes);
    Some(figure)
}

/// The strategies under test that compacted the first scenario, in the report's order.
fn panels<'r>(run: &ProtocolRun<'r>) -> Vec<ViewPanel<'r>> {
    let tested = most_compacted(run)
        .into_iter()
        .filter(|record| record.case.family != Family::Control);
    tested.filter_map(ViewPanel::new).collect()
}

impl<'r> ViewPanel<'r> {
    /// Nothing if no compaction is recorded with its view.
    fn new(record: &'r Record) -> Option<Self> {
        let rows = record.compactions.iter().filter(|row| is_applied(row));
        let view = |row: &'r CompactionRow| {
            let journey = row.event.journey.as_ref();
            Some(RoundView {
                after: row.event.after.0,
                parts: row.view.as_ref()?,
                journey,
            })
        };
        let views = rows.filter_map(view).collect::<Vec<_>>();
        (!views.is_empty()).then_some(ViewPanel { record, views })
    }

    /// Tokens of its largest view.
    fn most(&self) -> f64 {
        let sizes = self.views.iter().map(|view| {
            view.segments()
                .iter()
                .map(|part| f64::from(part.tokens))
                .sum()
        });
        sizes.fold(0.0, f64::max)
    }

    fn draw(&self, figure: &mut Figure, axes: &Axes) {
        for (round, view) in (1..).zip(&self.views) {
            let mut sum = 0.0;
            for part in view.segments() {
                let (left, bottom) = axes.at(f64::from(round) - 0.4, sum);
                sum += f64::from(part.tokens);
                let (right, top) = axes.at(f64::from(round) + 0.4, sum);
                // Neighbours of one colour stay apart.
                let gap = if matches!(part.kind, StackedPart::AtLevel(_)) {
                    ((bottom - top) * 0.2).min(1.5)
                } else {
                    0.0
                };
                figure.bar((left, bottom), (right, top + gap), part.kind.colour());
            }
        }
    }
}

impl RoundView<'_> {
    /// From the bottom up.
    fn segments(&self) -> Vec<Segment> {
        let parts = self.parts;
        let plain = |kind, tokens| Segment {
            kind,
            record: None,
            tokens,
        };
        let mut segments = vec![
            plain(StackedPart::System, parts.system),
            plain(StackedPart::Checkpoint, parts.checkpoint),
        ];
        for (place, (record, tokens)) in parts.summaries.iter().enumerate() {
            let kind = self.kind_of(place, *record);
            segments.push(Segment {
                kind,
                record: Some(*record),
                tokens: *tokens,
            });
        }
        let rest = [
            (StackedPart::Spoken, parts.spoken),
            (StackedPart::Ledger, parts.ledger),
            (StackedPart::Filler, parts.filler),
        ];
        segments.extend(rest.map(|(kind, tokens)| plain(kind, tokens)));
        segments.retain(|part| part.tokens > 0);
        segments
    }

    /// A summary by its level. Those without one alternate, so that neighbours can be told apart.
    fn kind_of(&self, place: usize, record: u32) -> StackedPart {
        let summaries = self.journey.map(|journey| &journey.summaries);
        let shown = summaries.and_then(|all| all.iter().find(|summary| summary.id == record));
        let unlevelled = StackedPart::Summary {
            is_odd: place % 2 == 1,
        };
        shown.map_or(unlevelled, |summary| {
            StackedPart::AtLevel(Reverse(summary.level))
        })
    }
}

/// The kinds that occur.
fn legend(panels: &[ViewPanel<'_>]) -> Vec<(RGBColor, &'static str)> {
    let views = panels.iter().flat_map(|panel| &panel.views);
    let kinds = views
        .flat_map(RoundView::segments)
        .map(|part| part.kind)
        .collect::<BTreeSet<_>>();
    kinds
        .into_iter()
        .map(|kind| (kind.colour(), kind.legend()))
        .collect()
}

const COLUMNS: usize = 2;
const PANEL: f64 = 190.0;

fn draw(panels: &[ViewPanel<'_>]) -> Figure {
    let mut figure = Figure::new(WIDTH, 0.0);
    let top = 18.0 + swatches(&mut figure, (24.0, 18.0), WIDTH - 40.0, &legend(panels));
    let y = Scale::covering(panels.iter().map(ViewPanel::most));
    let most = panels
        .iter()
        .map(|panel| panel.views.len())
        .max()
        .unwrap_or(0);
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
            Some(panel) => {
                figure.text(
                    (axes.left, axes.top - LINE * 0.6),
                    panel.record.case.strategy.as_str(),
                    Anchor::Start,
                );
                panel.draw(&mut figure, &axes);
            }
            None => axes.say_empty(
                &mut figure,
                "no compaction of this conversation is recorded with its view",
            ),
        }
    }
    figure
}
