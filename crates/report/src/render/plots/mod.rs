//! The pictures of a report, each with its data as CSV. Every one shows all strategies in the same style and order.

use compactometer_formats::record::{Family, Record};
use compactometer_formats::summary::{Group, StrategySummary};

use super::rows::number;
use super::words::slug;
use crate::data::ProtocolRun;

mod axes;
mod bars;
mod context;
mod cost;
pub(crate) mod draw;
#[cfg(test)]
pub(crate) mod dummy;
mod fates;
mod figure;
mod recall;
mod rounds;
mod sizes;

mod survival;
mod view_breakdown;

pub(crate) use bars::readable_on;
pub(crate) use fates::COLOURS as FATE_COLOURS;

use figure::{Figure, Style};

/// Width of every figure.
const WIDTH: f64 = 900.0;

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
    /// All groups in one picture, shown with the first group; none if there is nothing to compare.
    Report(fn(&[Group]) -> Option<Plot>),
}

/// Every picture, in the order of reports. A new one needs its file and one line here.
const ALL: &[Drawing] = &[
    Drawing::Group(fates::plot),
    Drawing::Group(recall::plot),
    Drawing::Group(rounds::plot),
    Drawing::Group(survival::plot),
    Drawing::Group(context::plot),
    Drawing::Group(view_breakdown::plot),
    Drawing::Group(cost::plot),
    Drawing::Report(sizes::plot),
    #[cfg(test)]
    Drawing::Group(dummy::plot),
];

/// The pictures of each group. Of several groups, each picture's file is named after its group.
pub(crate) fn all(runs: &[ProtocolRun], groups: &[Group]) -> Vec<Vec<Plot>> {
    let ending = |group: &Group| if groups.len() > 1 { format!("-{}", slug(group)) } else { String::new() };
    let of_group = |(at, (run, group)): (usize, (&ProtocolRun, &Group))| {
        let drawn = ALL.iter().filter_map(|drawing| match drawing {
            Drawing::Group(plot) => {
                let plot = plot(run, group);
                Some(Plot { name: plot.name + &ending(group), ..plot })
            }
            Drawing::Report(plot) if at == 0 => plot(groups),
            Drawing::Report(_) => None,
        });
        drawn.collect()
    };
    runs.iter().zip(groups).enumerate().map(of_group).collect()
}

/// The records of the first conversation by id.
fn first_conversation<'r>(run: &ProtocolRun<'r>) -> Vec<&'r Record> {
    let first = run.records().map(|record| &record.case.scenario).min();
    run.records().filter(|record| Some(&record.case.scenario) == first).collect()
}

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

#[cfg(test)]
mod tests {
    use compactometer_formats::manifest::Manifest;

    use super::figure::{Anchor, Mark, TEXT};
    use super::*;
    use crate::common;

    fn plots(manifest: &Manifest, records: &[Record]) -> Vec<Plot> {
        let prices = common::prices();
        let runs = ProtocolRun::by_protocol(manifest, records, &prices);
        let summary = crate::summary::of_runs(&runs);
        all(&runs, &summary.groups).into_iter().flatten().collect()
    }

    /// Each level text with its left, right, top and bottom edge.
    fn boxes(figure: &Figure) -> Vec<(&str, [f64; 4])> {
        let of = |mark| match mark {
            &Mark::Text { at: (x, y), ref text, anchor, is_vertical: false, .. } => {
                let width = draw::text_width(text);
                let left = match anchor {
                    Anchor::Start => x,
                    Anchor::Middle => x - width / 2.0,
                    Anchor::End => x - width,
                };
                Some((text.as_str(), [left, left + width, y - TEXT * 0.4, y + TEXT * 0.4]))
            }
            _ => None,
        };
        figure.marks.iter().filter_map(of).collect()
    }

    fn assert_legible(plot: &Plot) {
        let texts = boxes(&plot.figure);
        for (at, (text, [left, right, top, bottom])) in texts.iter().enumerate() {
            let inside = *left >= 0.0 && *right <= plot.figure.width && *top >= 0.0 && *bottom <= plot.figure.height;
            assert!(inside, "`{text}` leaves the picture `{}`", plot.name);
            for (other, [left_2, right_2, top_2, bottom_2]) in &texts[at + 1..] {
                let meets = left < right_2 && left_2 < right && top < bottom_2 && top_2 < bottom;
                assert!(!meets, "`{text}` and `{other}` overlap in `{}`", plot.name);
            }
        }
    }

    #[test]
    fn texts_neither_overlap_nor_leave_the_picture() {
        let (manifest, mut records) = common::simulated::run(5);
        plots(&manifest, &records).iter().for_each(assert_legible);
        // A strategy that fails to compact: window and trigger come close to each other.
        let mut tall = records.clone();
        tall.iter_mut().flat_map(|record| record.turns.last_mut()).for_each(|turn| turn.input = 100_000);
        plots(&manifest, &tall).iter().for_each(assert_legible);
        // Everything at one size and one recall: no label finds a place beside its point.
        let same = records.iter().find(|record| record.case.strategy == "chained").cloned().expect("it was simulated");
        for record in &mut records {
            let (case, group) = (record.case.clone(), record.case.group.clone());
            *record = Record { case, ..same.clone() };
            record.case.group = group;
        }
        plots(&manifest, &records).iter().for_each(assert_legible);
        plots(&common::manifest(&[], 0, 0), &[]).iter().for_each(assert_legible);
    }

    #[test]
    fn every_picture_has_its_data() {
        let (manifest, records) = common::simulated::run(5);
        for plot in plots(&manifest, &records) {
            let columns = plot.rows[0].len();
            assert!(plot.rows.len() > 8 && plot.rows.iter().all(|row| row.len() == columns), "{}", plot.name);
        }
    }
}
