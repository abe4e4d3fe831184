//! The pictures of a report, each with its data as CSV. Every one shows all strategies in the same
//! style and order.

use std::collections::BTreeMap;

use compactometer_formats::record::{Family, Record};
use compactometer_formats::summary::{Group, StrategySummary, Summary};

use super::rows::number;
use crate::data::ProtocolRun;
use crate::phrases::slug;

mod axes;
mod bars;
mod colours;
mod context_size;
mod cost;
mod curves;
pub(crate) mod draw;
#[cfg(test)]
pub(crate) mod dummy;
mod fates;
mod figure;
mod hatching;
mod latency;
mod needed;
mod panels;
pub(crate) mod pdf;
mod recall;
mod rounds;
mod sizes;
mod splits;
mod survival;
mod view_breakdown;

pub(crate) use bars::readable_on;
pub(crate) use context_size::of_conversation as context_over;
pub(crate) use fates::{COLOURS as FATE_COLOURS, in_column as fates_in_column};
pub(crate) use recall::over_tokens_in_column;
pub(crate) use view_breakdown::of_case as views_of;

use figure::{Figure, RowStyle};

/// Width of a page's figures.
const WIDTH: f64 = 900.0;
/// Width of figures for a printed column: 240 points.
const COLUMN: f64 = 480.0;

/// A picture and what belongs to it.
pub(crate) struct Plot {
    /// Stem of its files.
    pub(crate) name: String,
    pub(crate) title: &'static str,
    pub(crate) caption: String,
    pub(crate) figure: Figure,
    /// Its data: header and rows.
    pub(crate) rows: Vec<Vec<String>>,
}

/// What a picture shows.
enum Drawing {
    /// One group, once for each.
    Group(fn(&ProtocolRun, &Group) -> Plot),
    /// The same, where a group has something to show.
    IfAny(fn(&ProtocolRun, &Group) -> Option<Plot>),
    /// The sweeps, shown with the first group; none if there were none.
    Report(fn(&Summary) -> Option<Plot>),
}

/// Every picture, in the order of reports. A new one needs its file and one line here.
const ALL: &[Drawing] = &[
    Drawing::IfAny(needed::plot),
    Drawing::Group(recall::over_tokens),
    Drawing::Group(recall::over_cost),
    Drawing::Group(fates::plot),
    Drawing::Report(sizes::plot),
    Drawing::Report(splits::plot),
    Drawing::Group(rounds::plot),
    Drawing::Group(survival::plot),
    Drawing::Group(context_size::plot),
    Drawing::Group(view_breakdown::plot),
    Drawing::Group(cost::plot),
    Drawing::Group(latency::plot),
    #[cfg(test)]
    Drawing::Group(dummy::plot),
];

/// The pictures of each group. Of several groups, each picture's file is named after its group.
pub(crate) fn all(runs: &[ProtocolRun], summary: &Summary) -> Vec<Vec<Plot>> {
    let groups = &summary.groups;
    let ending = |group: &Group| {
        if groups.len() > 1 {
            format!("-{}", slug(group))
        } else {
            String::new()
        }
    };
    let named = |plot: Plot, group: &Group| Plot {
        name: plot.name + &ending(group),
        ..plot
    };
    let of_group = |(at, (run, group)): (usize, (&ProtocolRun, &Group))| {
        let drawn = ALL.iter().filter_map(|drawing| match drawing {
            Drawing::Group(plot) => Some(named(plot(run, group), group)),
            Drawing::IfAny(plot) => plot(run, group).map(|plot| named(plot, group)),
            Drawing::Report(plot) if at == 0 => plot(summary),
            Drawing::Report(_) => None,
        });
        drawn.collect()
    };
    runs.iter()
        .filter(|run| !run.is_swept())
        .zip(groups)
        .enumerate()
        .map(of_group)
        .collect()
}

/// The records of the conversation with the most compactions, the first by id of several.
fn most_compacted<'r>(run: &ProtocolRun<'r>) -> Vec<&'r Record> {
    let mut compactions = BTreeMap::<&str, u32>::new();
    for record in run.records() {
        *compactions
            .entry(record.case.scenario.as_str())
            .or_default() += record.rounds();
    }
    let most = compactions
        .into_iter()
        .rev()
        .max_by_key(|(_, compactions)| *compactions)
        .map(|(scenario, _)| scenario);
    run.records()
        .filter(|record| Some(record.case.scenario.as_str()) == most)
        .collect()
}

/// Strategies with their styles, references first.
fn styled(group: &Group) -> Vec<(RowStyle, &StrategySummary)> {
    let rows = group.strategies.iter();
    let styles = styles(rows.map(|strategy| (strategy.family, strategy.approach.as_deref())));
    styles.into_iter().zip(&group.strategies).collect()
}

/// The style of each, by its family and approach.
fn styles<'r>(rows: impl Iterator<Item = (Family, Option<&'r str>)>) -> Vec<RowStyle> {
    let mut places: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    let (mut tested, mut controls) = (0, 0);
    let place = |places: &mut usize| {
        *places += 1;
        *places - 1
    };
    rows.map(|(family, approach)| match family {
        Family::Control => figure::control_style(place(&mut controls)),
        _ => {
            let of_approach = place(places.entry(approach).or_default());
            figure::style(approach, of_approach, place(&mut tested))
        }
    })
    .collect()
}

fn header(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use compactometer_formats::manifest::Manifest;

    use super::figure::{Anchor, FigureMark, TEXT};
    use super::*;
    use crate::common;

    fn plots(manifest: &Manifest, records: &[Record]) -> Vec<Plot> {
        let prices = common::prices();
        let runs = ProtocolRun::by_protocol(manifest, records, &prices);
        let summary = crate::summary::of_runs(&runs);
        let in_column = |group| [over_tokens_in_column(group), fates_in_column(group)];
        let of_page = all(&runs, &summary).into_iter().flatten();
        of_page
            .chain(summary.groups.iter().flat_map(in_column))
            .collect()
    }

    /// Each level text with its left, right, top and bottom edge.
    fn boxes(figure: &Figure) -> Vec<(&str, [f64; 4])> {
        let of = |mark| match mark {
            &FigureMark::Text {
                at: (x, y),
                ref text,
                anchor,
                is_vertical: false,
                ..
            } => {
                let width = draw::text_width(text);
                let left = match anchor {
                    Anchor::Start => x,
                    Anchor::Middle => x - width / 2.0,
                    Anchor::End => x - width,
                };
                Some((
                    text.as_str(),
                    [left, left + width, y - TEXT * 0.4, y + TEXT * 0.4],
                ))
            }
            _ => None,
        };
        figure.marks.iter().filter_map(of).collect()
    }

    fn assert_legible(plot: &Plot) {
        let texts = boxes(&plot.figure);
        for (at, (text, [left, right, top, bottom])) in texts.iter().enumerate() {
            let inside = *left >= 0.0
                && *right <= plot.figure.width
                && *top >= 0.0
                && *bottom <= plot.figure.height;
            assert!(inside, "`{text}` leaves the picture `{}`", plot.name);
            for (other, [left_2, right_2, top_2, bottom_2]) in &texts[at + 1..] {
                let meets = left < right_2 && left_2 < right && top < bottom_2 && top_2 < bottom;
                assert!(!meets, "`{text}` and `{other}` overlap in `{}`", plot.name);
            }
        }
    }

    /// The records with forty more strategies, each like `chained`.
    fn crowd(records: &[Record]) -> Vec<Record> {
        let of_chained = records
            .iter()
            .filter(|record| record.case.strategy == "chained");
        let named = |at: usize| {
            of_chained.clone().cloned().map(move |mut record| {
                record.case.strategy = format!("chained[tail={at}]");
                record
            })
        };
        records
            .iter()
            .cloned()
            .chain((1..=40).flat_map(named))
            .collect()
    }

    /// The rectangles that a picture's marks cover; lines of the grid, frames and white do not
    /// count.
    fn covered(figure: &Figure) -> Vec<[f64; 4]> {
        let of = |mark: &FigureMark| match mark {
            FigureMark::Line { colour, .. } if [colours::PALE, colours::GREY].contains(colour) => {
                Vec::new()
            }
            FigureMark::Line { points, .. } => points
                .windows(2)
                .map(|ends| {
                    let [(a, b), (c, d)] = [ends[0], ends[1]];
                    [a.min(c), a.max(c), b.min(d), b.max(d)]
                })
                .collect(),
            FigureMark::Bar { from, to, colour } if *colour != plotters::style::WHITE => {
                vec![[from.0, to.0, from.1, to.1]]
            }
            FigureMark::Symbol { at, .. } => vec![[at.0 - 5.0, at.0 + 5.0, at.1 - 5.0, at.1 + 5.0]],
            _ => Vec::new(),
        };
        let texts = boxes(figure).into_iter().map(|(_, edges)| edges);
        figure.marks.iter().flat_map(of).chain(texts).collect()
    }

    /// The share of the picture that its largest empty rectangle takes, on a grid of cells.
    fn emptiness(figure: &Figure) -> f64 {
        const CELLS: usize = 30;
        let mut is_full = [[false; CELLS]; CELLS];
        let cell = |place: f64, whole: f64| {
            ((place / whole * CELLS as f64).floor().max(0.0) as usize).min(CELLS - 1)
        };
        for [left, right, top, bottom] in covered(figure) {
            for row in is_full
                .iter_mut()
                .take(cell(bottom, figure.height) + 1)
                .skip(cell(top, figure.height))
            {
                row[cell(left, figure.width)..=cell(right, figure.width)].fill(true);
            }
        }
        let mut largest = 0;
        for top in 0..CELLS {
            let mut column = [false; CELLS];
            for bottom in top..CELLS {
                (0..CELLS).for_each(|at| column[at] |= is_full[bottom][at]);
                let widest = column
                    .split(|is_full| *is_full)
                    .map(<[bool]>::len)
                    .max()
                    .unwrap_or(0);
                largest = largest.max(widest * (bottom - top + 1));
            }
        }
        largest as f64 / (CELLS * CELLS) as f64
    }

    #[test]
    fn no_picture_is_a_third_empty() {
        let (manifest, records) = common::simulated::run(5);
        let (swept, sweeps) = common::simulated::swept(5);
        let all = plots(&manifest, &records).into_iter();
        for plot in all.chain(plots(&swept, &sweeps)) {
            let empty = emptiness(&plot.figure);
            assert!(
                plot.name == "dummy_picture" || empty < 1.0 / 3.0,
                "{}: {empty:.2} of it is one empty rectangle",
                plot.name
            );
        }
    }

    #[test]
    fn texts_neither_overlap_nor_leave_the_picture() {
        let (manifest, mut records) = common::simulated::run(5);
        plots(&manifest, &records).iter().for_each(assert_legible);
        plots(&manifest, &crowd(&records))
            .iter()
            .for_each(assert_legible);
        // A strategy that fails to compact: window and trigger come close to each other.
        let mut tall = records.clone();
        tall.iter_mut()
            .flat_map(|record| record.turns.last_mut())
            .for_each(|turn| turn.input = 100_000);
        plots(&manifest, &tall).iter().for_each(assert_legible);
        // Everything at one size and one recall: no label finds a place beside its point.
        let same = records
            .iter()
            .find(|record| record.case.strategy == "chained")
            .cloned()
            .expect("it was simulated");
        for record in &mut records {
            let (case, group) = (record.case.clone(), record.case.group.clone());
            *record = Record {
                case,
                ..same.clone()
            };
            record.case.group = group;
        }
        plots(&manifest, &records).iter().for_each(assert_legible);
        plots(&common::manifest(&[], 0, 0), &[])
            .iter()
            .for_each(assert_legible);
    }

    #[test]
    fn pictures_of_sweeps_are_legible_and_mark_what_fails() {
        let (manifest, records) = common::simulated::swept(5);
        let drawn = plots(&manifest, &records);
        drawn.iter().for_each(assert_legible);
        for name in ["recall_by_size", "recall_by_split"] {
            let plot = drawn
                .iter()
                .find(|plot| plot.name == name)
                .expect("the run had sweeps");
            let has = |text: &str| boxes(&plot.figure).iter().any(|(found, _)| *found == text);
            assert!(has("chained (fails)") && has("summarize"), "{name}");
            assert!(
                plot.caption.contains("summarize 1,800"),
                "the written budget is beside the curves: {}",
                plot.caption
            );
        }
        let alone = plots(&manifest, &records[..1]);
        assert!(
            alone.iter().all(|plot| plot.name != "recall_by_split"),
            "one point is not a curve"
        );
    }

    /// A strategy that fails keeps whole views, which lie far outside the sizes that are compared.
    #[test]
    fn points_of_failures_are_left_out_and_everything_stays_in_its_frame() {
        let (manifest, mut records) = common::simulated::swept(5);
        let failing = records
            .iter_mut()
            .filter(|record| record.case.strategy == "chained");
        failing
            .flat_map(|record| &mut record.compactions)
            .for_each(|row| row.event.tokens_retained = 90_000);
        let drawn = plots(&manifest, &records);
        let plot = drawn
            .iter()
            .find(|plot| plot.name == "recall_by_size")
            .expect("the run had sweeps");
        let legend = plot.figure.marks.iter().filter_map(|mark| match mark {
            FigureMark::Text { at, text, .. } if text == "summarize" => Some(at.0),
            _ => None,
        });
        let legend = legend.fold(f64::INFINITY, f64::min);
        // In the legend, symbols are 25 pixels left of the names.
        let inside = |x: f64| x < legend - 50.0 || x == legend - 25.0;
        let symbols = plot.figure.marks.iter().filter_map(|mark| match mark {
            FigureMark::Symbol { at, .. } => Some(at.0),
            _ => None,
        });
        assert!(
            symbols.clone().count() > 4 && symbols.clone().all(inside),
            "{:?}",
            symbols.collect::<Vec<_>>()
        );
        assert!(
            plot.rows.iter().any(|row| row[0] == "chained"),
            "the data still has them"
        );
    }

    #[test]
    fn one_round_is_said_and_not_drawn() {
        let (manifest, mut records) = common::simulated::run(5);
        for record in &mut records {
            record.observations.retain(|seen| seen.round <= 1);
        }
        let drawn = plots(&manifest, &records);
        let says = |name: &str| {
            let plot = drawn
                .iter()
                .find(|plot| plot.name == name)
                .expect("it is drawn");
            boxes(&plot.figure)
                .iter()
                .any(|(text, _)| *text == axes::ONE_ROUND)
        };
        assert!(says("survival"));
        drawn.iter().for_each(assert_legible);
    }

    #[test]
    fn every_picture_has_its_data() {
        let (manifest, records) = common::simulated::run(5);
        for plot in plots(&manifest, &records) {
            let columns = plot.rows[0].len();
            assert!(
                plot.rows.len() > 8 && plot.rows.iter().all(|row| row.len() == columns),
                "{}",
                plot.name
            );
        }
    }
}
