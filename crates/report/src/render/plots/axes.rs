//! A pair of axes with round ticks, titles with units, and a legend beside them.

use compactometer_formats::summary::MetricValue;

use super::colours::{BLACK, GREY, PALE};
use super::draw::text_width;
use super::figure::{Anchor, Figure, RowStyle, TEXT};

/// Room for one line of text.
pub(super) const LINE: f64 = 22.0;

/// Pixels between the intervals of two strategies at one place.
const APART: f64 = 3.0;
/// Why a panel over rounds is empty.
pub(super) const ONE_ROUND: &str = "one round: a curve needs two; the CSV has the values";

/// Share of a step by which a sum may pass a tick and still end there: shares are rounded to nine
/// digits.
const SLACK: f64 = 1e-6;

/// A linear scale with ticks at multiples of a round step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    pub(super) min: f64,
    pub(super) max: f64,
    step: f64,
}

impl Scale {
    /// From 0, or a step under the lowest number, to a step over the highest, with about five
    /// ticks.
    pub(super) fn covering(numbers: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = numbers
            .into_iter()
            .fold((0.0_f64, 0.0_f64), |(low, high), number| {
                (low.min(number), high.max(number))
            });
        let high = if high > low { high } else { low + 1.0 };
        let step = round_step((high - low) / 5.0);
        Scale {
            min: (low / step + SLACK).floor() * step,
            max: ((high / step - SLACK).ceil() * step).max(step),
            step,
        }
    }

    /// From a step under the lowest number to a step over the highest.
    pub(super) fn around(numbers: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = numbers
            .into_iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), number| {
                (low.min(number), high.max(number))
            });
        if high <= low || !high.is_finite() {
            return Scale::covering([high].into_iter().filter(|high| high.is_finite()));
        }
        let step = round_step((high - low) / 5.0);
        Scale {
            min: (low / step + SLACK).floor() * step,
            max: (high / step - SLACK).ceil() * step,
            step,
        }
    }

    /// From 0 to exactly `most`, with ticks at whole numbers.
    pub(super) fn counting(most: usize) -> Self {
        let max = most.max(1) as f64;
        Scale {
            min: 0.0,
            max,
            step: round_step(max / 8.0).max(1.0),
        }
    }

    /// The same, with room for what is drawn aside of the last number.
    pub(super) fn with_room(self) -> Self {
        Scale {
            max: self.max + 0.3,
            ..self
        }
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        let scale = *self;
        let count = ((scale.max - scale.min) / scale.step + 1e-9).floor() as i64;
        (0..=count).map(move |at| scale.min + at as f64 * scale.step)
    }

    fn place(&self, number: f64) -> f64 {
        (number - self.min) / (self.max - self.min)
    }

    fn show(&self, number: f64) -> String {
        if self.step >= 1.0 {
            return crate::numbers::grouped(number);
        }
        let digits = if self.step >= 0.095 {
            1
        } else if self.step >= 0.0095 {
            2
        } else {
            3
        };
        format!("{:.digits$}", number + 0.0)
    }
}

/// 1, 2 or 5 times a power of ten, at least `about`.
fn round_step(about: f64) -> f64 {
    let mut power = 1.0;
    while power * 10.0 <= about {
        power *= 10.0;
    }
    while power > about {
        power /= 10.0;
    }
    [1.0, 2.0, 5.0]
        .into_iter()
        .map(|times| times * power)
        .find(|step| *step >= about * 0.999)
        .unwrap_or(10.0 * power)
}

/// The inside of a pair of axes, in pixels, and its scales.
pub(super) struct Axes {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
    pub(super) x: Scale,
    pub(super) y: Scale,
}

impl Axes {
    pub(super) fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let across = self.left + self.x.place(x) * (self.right - self.left);
        (
            across,
            self.bottom - self.y.place(y) * (self.bottom - self.top),
        )
    }

    /// Grid, tick labels and titles.
    pub(super) fn draw(&self, figure: &mut Figure, x_title: &str, y_title: &str) {
        self.frame(figure, true);
        self.name_across(figure, x_title);
        let widest = self
            .y
            .ticks()
            .map(|tick| text_width(&self.y.show(tick)))
            .fold(0.0, f64::max);
        figure.vertical_text(
            (
                self.left - 8.0 - widest - LINE * 0.7,
                (self.top + self.bottom) / 2.0,
            ),
            y_title,
        );
        figure.line(
            vec![(self.left, self.top), (self.left, self.bottom)],
            GREY,
            1.0,
            &[],
        );
    }

    /// Grid and tick labels of one panel of several, without titles.
    pub(super) fn frame(&self, figure: &mut Figure, has_levels: bool) {
        for tick in self.y.ticks() {
            let (_, y) = self.at(self.x.min, tick);
            figure.line(vec![(self.left, y), (self.right, y)], PALE, 1.0, &[]);
            if has_levels {
                figure.text((self.left - 8.0, y), self.y.show(tick), Anchor::End);
            }
        }
        self.numbers_across(figure);
    }

    /// Only the horizontal axis, with grid lines across the inside.
    pub(super) fn draw_x(&self, figure: &mut Figure, title: &str) {
        self.numbers_across(figure);
        self.name_across(figure, title);
    }

    /// The title below the middle, or as near to it as the figure has room.
    fn name_across(&self, figure: &mut Figure, title: &str) {
        let most = figure.width - 8.0 - text_width(title) / 2.0;
        let across = ((self.left + self.right) / 2.0).min(most);
        figure.text((across, self.bottom + LINE * 1.9), title, Anchor::Middle);
    }

    fn numbers_across(&self, figure: &mut Figure) {
        for tick in self.x.ticks() {
            let (x, _) = self.at(tick, self.y.min);
            figure.line(vec![(x, self.top), (x, self.bottom)], PALE, 1.0, &[]);
            figure.text(
                (x, self.bottom + LINE * 0.7),
                self.x.show(tick),
                Anchor::Middle,
            );
        }
        figure.line(
            vec![(self.left, self.bottom), (self.right, self.bottom)],
            GREY,
            1.0,
            &[],
        );
    }

    /// A curve through points with their symbols.
    pub(super) fn curve(&self, figure: &mut Figure, points: &[(f64, f64)], style: RowStyle) {
        let places: Vec<_> = points.iter().map(|(x, y)| self.at(*x, *y)).collect();
        if places.len() > 1 {
            figure.line(places.clone(), style.colour, 2.0, style.dash);
        }
        places.iter().for_each(|place| figure.symbol(*place, style));
    }

    /// A curve through values, with their intervals if it has a place among the curves: each is
    /// drawn a little right of the one before, so that they do not cover each other.
    pub(super) fn curve_with_intervals(
        &self,
        figure: &mut Figure,
        values: &[(f64, &MetricValue)],
        style: RowStyle,
        place: Option<usize>,
    ) {
        let aside = self.aside(place.unwrap_or(0));
        let place_of = |x: f64| self.within(x + aside);
        let points = values
            .iter()
            .filter_map(|(x, value)| Some((place_of(*x), value.value?)))
            .collect::<Vec<_>>();
        for (x, value) in values.iter().filter(|_| place.is_some()) {
            if let (Some(low), Some(high)) = (value.low, value.high) {
                let x = place_of(*x);
                figure.line(
                    vec![self.at(x, low), self.at(x, high)],
                    style.colour,
                    1.0,
                    &[],
                );
            }
        }
        self.curve(figure, &points, style);
    }

    /// The distance on the x axis by which what is at this place among several is drawn aside.
    pub(super) fn aside(&self, place: usize) -> f64 {
        place as f64 * APART * (self.x.max - self.x.min) / (self.right - self.left)
    }

    /// The number, or the end of the x axis if it would lie beyond.
    pub(super) fn within(&self, x: f64) -> f64 {
        x.min(self.x.max)
    }

    /// The legend of the curves, beside the panel.
    pub(super) fn legend(&self, figure: &mut Figure, entries: &[(RowStyle, &str)]) {
        legend(figure, (self.right + 12.0, self.top + 10.0), entries, true);
    }

    /// Says in an empty panel why it is empty.
    pub(super) fn say_empty(&self, figure: &mut Figure, why: &str) {
        let lines = wrap(why, self.right - self.left - 40.0);
        let middle = (
            (self.left + self.right) / 2.0,
            (self.top + self.bottom) / 2.0,
        );
        for (at, line) in lines.iter().enumerate() {
            let y = middle.1 + (at as f64 - (lines.len() as f64 - 1.0) / 2.0) * LINE;
            let half = text_width(line) / 2.0 + 6.0;
            figure.bar(
                (middle.0 - half, y - LINE / 2.0),
                (middle.0 + half, y + LINE / 2.0),
                plotters::style::WHITE,
            );
            figure.coloured_text((middle.0, y), line.clone(), Anchor::Middle, GREY);
        }
    }
}

/// The axes of one panel of several that lie below each other, each `height` high, beside a legend
/// of these names.
pub(super) fn beside_legend<'n>(
    names: impl IntoIterator<Item = &'n str>,
    (panel, height): (f64, f64),
    x: Scale,
    y: Scale,
) -> Axes {
    let right = super::WIDTH - 16.0 - legend_width(names);
    let (top, bottom) = (panel * height + 20.0, (panel + 1.0) * height - LINE * 2.6);
    Axes {
        left: 84.0,
        top,
        right,
        bottom,
        x,
        y,
    }
}

/// A legend of lines with symbols, one a row, downwards from a corner.
pub(super) fn legend(
    figure: &mut Figure,
    (x, y): (f64, f64),
    entries: &[(RowStyle, &str)],
    has_lines: bool,
) {
    for (at, (style, name)) in entries.iter().enumerate() {
        let y = y + LINE * at as f64;
        if has_lines {
            figure.line(vec![(x, y), (x + 34.0, y)], style.colour, 2.0, style.dash);
        }
        figure.symbol((x + 17.0, y), *style);
        figure.text((x + 42.0, y), *name, Anchor::Start);
    }
}

/// A legend of symbols below a panel, in columns from a corner; gives the height taken.
pub(super) fn legend_in_columns(
    figure: &mut Figure,
    (left, top): (f64, f64),
    width: f64,
    entries: &[(RowStyle, &str)],
) -> f64 {
    let column = legend_width(entries.iter().map(|(_, name)| *name));
    let across = ((width / column) as usize).max(1);
    let down = entries.len().div_ceil(across);
    for (at, column_entries) in entries.chunks(down.max(1)).enumerate() {
        let corner = (left + column * at as f64, top);
        legend(figure, corner, column_entries, false);
    }
    LINE * down as f64
}

/// The height of a picture with a legend of so many names below its top, at least this.
pub(super) fn with_legend(least: f64, names: usize) -> f64 {
    least.max(20.0 + LINE * (names as f64 + 1.0))
}

/// The width that a legend of these names takes.
pub(super) fn legend_width<'n>(names: impl IntoIterator<Item = &'n str>) -> f64 {
    52.0 + names.into_iter().map(text_width).fold(0.0, f64::max)
}

/// Swatches with names, in rows of at most `width`; gives the height taken.
pub(super) fn swatches(
    figure: &mut Figure,
    (left, top): (f64, f64),
    width: f64,
    entries: &[(plotters::style::RGBColor, &str)],
) -> f64 {
    let (mut x, mut y) = (left, top);
    for (colour, name) in entries {
        let needed = 20.0 + text_width(name) + 18.0;
        if x + needed > left + width && x > left {
            (x, y) = (left, y + LINE);
        }
        figure.bar(
            (x, y - TEXT * 0.4),
            (x + TEXT * 0.8, y + TEXT * 0.4),
            *colour,
        );
        figure.coloured_text((x + 20.0, y), *name, Anchor::Start, BLACK);
        x += needed;
    }
    y + LINE - top
}

/// Breaks a text at spaces into lines of at most that width.
pub(super) fn wrap(text: &str, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line} {word}")) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_end_on_round_ticks() {
        let scale = Scale::covering([0.13, 0.97]);
        assert_eq!(
            scale
                .ticks()
                .map(|tick| scale.show(tick))
                .collect::<Vec<_>>(),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        let tokens = Scale::covering([9_600.0, 31_000.0]);
        assert_eq!(tokens.show(tokens.max), "40,000");
        assert_eq!(Scale::covering([100.000_000_2]).max, 100.0);
        let signed = Scale::covering([-0.03, 0.5]);
        assert!(signed.min <= -0.03 && signed.max >= 0.5);
        assert_eq!(Scale::covering([0.0]).max, 1.0);
        assert_eq!(
            Scale::counting(2).ticks().collect::<Vec<_>>(),
            [0.0, 1.0, 2.0]
        );
        assert_eq!(Scale::counting(130).ticks().last(), Some(120.0));
    }
}
