//! Horizontal stacked bars, one for each strategy, with controls set apart.

use compactometer_formats::record::Family;
use plotters::style::{RGBColor, WHITE};

use super::WIDTH;
use super::axes::{Axes, LINE, Scale, swatches};
use super::colours::{BLACK, GREY};
use super::draw::text_width;
use super::figure::{Anchor, Figure};

/// One bar.
pub(super) struct BarRow<'s> {
    pub(super) name: &'s str,
    pub(super) family: Family,
    /// One number for each segment of [`Bars::segments`]; or why there is no bar.
    pub(super) parts: Result<Vec<f64>, String>,
    /// The text after the bar.
    pub(super) note: String,
}

/// A picture of bars.
pub(super) struct Bars<'s> {
    pub(super) rows: Vec<BarRow<'s>>,
    pub(super) segments: &'s [(RGBColor, &'s str)],
    pub(super) title: &'s str,
    /// The axis reaches at least to this number.
    pub(super) reach: f64,
    /// The label inside a segment, if there is room.
    pub(super) inside: fn(f64) -> String,
    /// A line across all bars, with its name.
    pub(super) mark: Option<(f64, &'s str)>,
}

const ROW: f64 = 30.0;
const FAMILY_GAP: f64 = 14.0;

impl Bars<'_> {
    pub(super) fn draw(&self, width: f64) -> Figure {
        let is_apart = |pair: &&[BarRow]| pair[0].family != pair[1].family;
        let gaps = FAMILY_GAP * self.rows.windows(2).filter(is_apart).count() as f64;
        let names = self
            .rows
            .iter()
            .map(|row| text_width(row.name))
            .fold(0.0, f64::max);
        let notes = self
            .rows
            .iter()
            .map(|row| text_width(&row.note))
            .fold(0.0, f64::max);
        let mut figure = Figure::new(width, 0.0);
        let left = names + 24.0;
        // A column has no room for them beside the names.
        let from = if width < WIDTH { 8.0 } else { left };
        let room = width - from - 16.0;
        let taken = swatches(&mut figure, (from, 18.0), room, self.segments);
        let top = 18.0 + taken + if self.mark.is_some() { LINE } else { 0.0 };
        let bottom = top + ROW * self.rows.len() as f64 + gaps;
        let totals = self
            .rows
            .iter()
            .filter_map(|row| row.parts.as_ref().ok())
            .map(|parts| parts.iter().sum());
        let x = Scale::covering(totals.chain([self.reach]));
        let right = width - 24.0 - notes.max(24.0);
        let axes = Axes {
            left,
            top,
            right,
            bottom,
            x,
            y: Scale::covering([1.0]),
        };
        figure.height = bottom + LINE * 2.6;
        axes.draw_x(&mut figure, self.title);
        if self.rows.is_empty() {
            figure.height += 60.0;
        }
        let mut y = top + ROW / 2.0;
        let mut ends = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            if at > 0 && row.family != self.rows[at - 1].family {
                y += FAMILY_GAP;
            }
            ends.push((self.draw_row(&mut figure, &axes, row, y), y));
            y += ROW;
        }
        self.draw_mark(&mut figure, &axes);
        // Over the mark, which would cross them out.
        for (row, end) in self.rows.iter().zip(ends) {
            draw_note(&mut figure, &row.note, end);
        }
        figure
    }

    /// Gives where the bar ends.
    fn draw_row(&self, figure: &mut Figure, axes: &Axes, row: &BarRow, y: f64) -> f64 {
        figure.text((axes.left - 10.0, y), row.name, Anchor::End);
        let parts = match &row.parts {
            Ok(parts) => parts,
            Err(why) => {
                figure.coloured_text((axes.left + 8.0, y), why.clone(), Anchor::Start, GREY);
                return axes.left;
            }
        };
        let mut sum = 0.0;
        for (part, (colour, _)) in parts.iter().zip(self.segments) {
            let (from, _) = axes.at(sum, 0.0);
            sum += part;
            let (to, _) = axes.at(sum, 0.0);
            if to - from >= 0.5 {
                figure.bar((from, y - 10.0), (to, y + 10.0), *colour);
            }
            let label = (self.inside)(*part);
            if to - from > text_width(&label) + 8.0 {
                figure.coloured_text(
                    ((from + to) / 2.0, y),
                    label,
                    Anchor::Middle,
                    readable_on(*colour),
                );
            }
        }
        axes.at(sum, 0.0).0
    }

    fn draw_mark(&self, figure: &mut Figure, axes: &Axes) {
        let Some((at, name)) = self.mark else { return };
        let (x, _) = axes.at(at, 0.0);
        figure.line(
            vec![(x, axes.top - 4.0), (x, axes.bottom)],
            BLACK,
            1.5,
            &[5.0, 4.0],
        );
        figure.text((x, axes.top - LINE * 0.7), name, Anchor::Middle);
    }
}

fn draw_note(figure: &mut Figure, note: &str, (x, y): (f64, f64)) {
    if !note.is_empty() {
        figure.bar(
            (x + 5.0, y - 9.0),
            (x + 11.0 + text_width(note), y + 9.0),
            WHITE,
        );
        figure.text((x + 8.0, y), note, Anchor::Start);
    }
}

/// Black or white, whichever has more contrast with the colour.
pub(crate) fn readable_on(colour: RGBColor) -> RGBColor {
    let light = luminance(colour);
    let [on_black, on_white] = [(light + 0.05) / 0.05, 1.05 / (light + 0.05)];
    if on_black > on_white { BLACK } else { WHITE }
}

/// Relative luminance, from 0 to 1, as the Web Content Accessibility Guidelines define it.
fn luminance(RGBColor(red, green, blue): RGBColor) -> f64 {
    let linear = |part: u8| {
        let part = f64::from(part) / 255.0;
        if part <= 0.04045 {
            part / 12.92
        } else {
            ((part + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

#[cfg(test)]
mod tests {
    use super::super::figure::FigureMark;
    use super::*;

    /// Orange once had white letters, with a contrast of 3.8.
    #[test]
    fn letters_have_the_contrast_that_readers_need() {
        let contrast = |one: RGBColor, other: RGBColor| {
            let (one, other) = (luminance(one), luminance(other));
            (one.max(other) + 0.05) / (one.min(other) + 0.05)
        };
        for colour in crate::render::plots::FATE_COLOURS {
            assert!(contrast(colour, readable_on(colour)) >= 4.5, "{colour:?}");
        }
    }

    /// With three families the axis once cut through the last bar.
    #[test]
    fn every_bar_is_above_the_axis() {
        let families = [Family::Recorded, Family::Reference, Family::Control];
        let row = |family| BarRow {
            name: "one",
            family,
            parts: Ok(vec![1.0]),
            note: String::new(),
        };
        let rows = families.into_iter().map(row).collect();
        let inside = |_: f64| String::new();
        let figure = Bars {
            rows,
            segments: &[(BLACK, "all")],
            title: "cost",
            reach: 0.0,
            inside,
            mark: None,
        }
        .draw(WIDTH);
        let bars = figure.marks.iter().filter_map(|mark| match mark {
            FigureMark::Bar {
                to, colour: BLACK, ..
            } => Some(to.1),
            _ => None,
        });
        let axis = figure.marks.iter().filter_map(|mark| match mark {
            FigureMark::Line { points, .. } if points[0].1 == points[1].1 => Some(points[0].1),
            _ => None,
        });
        let (lowest, axis) = (bars.fold(0.0, f64::max), axis.fold(0.0, f64::max));
        assert!(
            lowest > 0.0 && lowest < axis,
            "bars to {lowest}, axis at {axis}"
        );
    }

    #[test]
    fn the_mark_crosses_no_note_out() {
        let row = BarRow {
            name: "cheap",
            family: Family::Reference,
            parts: Ok(vec![0.95]),
            note: "0.950".to_owned(),
        };
        let segments = &[(BLACK, "all")];
        let mark = Some((1.0, "full"));
        let inside = |_: f64| String::new();
        let figure = Bars {
            rows: vec![row],
            segments,
            title: "cost",
            reach: 0.0,
            inside,
            mark,
        }
        .draw(WIDTH);
        let last = |wanted: fn(&FigureMark) -> bool| {
            figure.marks.iter().rposition(wanted).expect("it is drawn")
        };
        let line = last(|mark| matches!(mark, FigureMark::Line { dash, .. } if !dash.is_empty()));
        assert!(
            last(|mark| matches!(mark, FigureMark::Text { text, .. } if text == "0.950")) > line
        );
    }
}
