//! Figures as SVG and PNG, through plotters. The font is shipped, so that no machine's fonts change
//! a picture.

use std::io::Cursor;
use std::sync::OnceLock;

use image::{ImageOutputFormat, RgbImage};
use plotters::backend::{BitMapBackend, DrawingBackend, SVGBackend};
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Polygon, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{
    Color, FontDesc, FontFamily, FontStyle, FontTransform, IntoTextStyle, RGBColor, TextStyle,
    WHITE, register_font,
};

use super::figure::{Anchor, Figure, FigureMark, Outline, Symbol, TEXT};
use crate::phrases::in_xml;

/// The name under which the font is registered: what a browser without it falls back to is in it
/// too.
const FONT: &str = "DejaVu Sans, Verdana, sans-serif";
pub(super) const FONT_BYTES: &[u8] = include_bytes!("../../../assets/DejaVuSans.ttf");
/// Pixels of a PNG for one of the figure.
const PNG_SCALE: f64 = 2.0;
/// How much lower a PNG's level text must stand so that its small letters are centred, as an SVG's
/// are.
const PNG_DROP: f64 = 2.5;

/// The figure as an SVG document.
pub(crate) fn svg(figure: &Figure) -> Result<String, String> {
    let mut text = String::new();
    let size = (figure.width as u32, figure.height as u32);
    draw(
        figure,
        SVGBackend::with_string(&mut text, size).into_drawing_area(),
        1.0,
        0.0,
    )?;
    Ok(in_xml(&text))
}

/// The figure as a PNG at twice its size.
pub(crate) fn png(figure: &Figure) -> Result<Vec<u8>, String> {
    let (width, height) = (
        (figure.width * PNG_SCALE) as u32,
        (figure.height * PNG_SCALE) as u32,
    );
    let mut pixels = RgbImage::new(width, height);
    draw(
        figure,
        BitMapBackend::with_buffer(&mut pixels, (width, height)).into_drawing_area(),
        PNG_SCALE,
        PNG_DROP,
    )?;
    let mut png = Cursor::new(Vec::new());
    pixels
        .write_to(&mut png, ImageOutputFormat::Png)
        .map_err(|error| error.to_string())?;
    Ok(png.into_inner())
}

/// Width of a text of ordinary height, in the figure's pixels.
pub(crate) fn text_width(text: &str) -> f64 {
    // Measured large: the font's boxes are whole pixels.
    const LARGE: f64 = 10.0;
    let found = font(TEXT * LARGE)
        .ok()
        .and_then(|font| font.box_size(text).ok());
    found.map_or(text.chars().count() as f64 * TEXT * 0.6, |(width, _)| {
        f64::from(width) / LARGE
    })
}

fn font(size: f64) -> Result<FontDesc<'static>, String> {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    if !REGISTERED.get_or_init(|| register_font(FONT, FontStyle::Normal, FONT_BYTES).is_ok()) {
        return Err("the shipped font cannot be read".to_owned());
    }
    Ok(FontDesc::new(
        FontFamily::Name(FONT),
        size,
        FontStyle::Normal,
    ))
}

fn draw<B: DrawingBackend>(
    figure: &Figure,
    area: DrawingArea<B, Shift>,
    scale: f64,
    drop: f64,
) -> Result<(), String> {
    let pen = DrawPen { area, scale, drop };
    pen.area.fill(&WHITE).map_err(|error| error.to_string())?;
    for mark in &figure.marks {
        match mark {
            FigureMark::Line {
                points,
                colour,
                width,
                dash,
            } => {
                for stroke in strokes(points, dash) {
                    pen.path(&stroke, *colour, *width)?;
                }
            }
            FigureMark::Bar { from, to, colour } => pen.bar(*from, *to, *colour)?,
            FigureMark::Symbol { at, symbol, colour } => pen.symbol(*at, *symbol, *colour)?,
            FigureMark::Text {
                at,
                text,
                colour,
                anchor,
                is_vertical,
            } => {
                pen.text(*at, text, *colour, *anchor, *is_vertical)?;
            }
        }
    }
    pen.area.present().map_err(|error| error.to_string())
}

struct DrawPen<B: DrawingBackend> {
    area: DrawingArea<B, Shift>,
    scale: f64,
    drop: f64,
}

impl<B: DrawingBackend> DrawPen<B> {
    fn at(&self, point: (f64, f64)) -> (i32, i32) {
        (
            (point.0 * self.scale).round() as i32,
            (point.1 * self.scale).round() as i32,
        )
    }

    fn path(&self, points: &[(f64, f64)], colour: RGBColor, width: f64) -> Result<(), String> {
        let points: Vec<_> = points.iter().map(|point| self.at(*point)).collect();
        let width = (width * self.scale).round().max(1.0) as u32;
        self.area
            .draw(&PathElement::new(points, colour.stroke_width(width)))
            .map_err(|error| error.to_string())
    }

    fn bar(&self, from: (f64, f64), to: (f64, f64), colour: RGBColor) -> Result<(), String> {
        let rectangle = Rectangle::new([self.at(from), self.at(to)], colour.filled());
        self.area
            .draw(&rectangle)
            .map_err(|error| error.to_string())
    }

    fn symbol(&self, (x, y): (f64, f64), symbol: Symbol, colour: RGBColor) -> Result<(), String> {
        match symbol.outline((x, y)) {
            Outline::Disc(radius) => {
                let radius = (radius * self.scale) as i32;
                let circle = Circle::new(self.at((x, y)), radius, colour.filled());
                self.area.draw(&circle).map_err(|error| error.to_string())
            }
            Outline::Polygon(corners) => {
                let corners: Vec<_> = corners.into_iter().map(|corner| self.at(corner)).collect();
                let polygon = Polygon::new(corners, colour.filled());
                self.area.draw(&polygon).map_err(|error| error.to_string())
            }
            Outline::Strokes(lines) => lines
                .iter()
                .try_for_each(|line| self.path(line, colour, 2.0)),
        }
    }

    fn text(
        &self,
        at: (f64, f64),
        text: &str,
        colour: RGBColor,
        anchor: Anchor,
        is_vertical: bool,
    ) -> Result<(), String> {
        let font = font(TEXT * self.scale)?;
        let font = if is_vertical {
            font.transform(FontTransform::Rotate270)
        } else {
            font
        };
        let place = match anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let at = if is_vertical {
            at
        } else {
            (at.0, at.1 + self.drop)
        };
        let style: TextStyle = font
            .into_text_style(&self.area)
            .color(&colour)
            .pos(Pos::new(place, VPos::Center));
        self.area
            .draw(&Text::new(text, self.at(at), style))
            .map_err(|error| error.to_string())
    }
}

/// A line cut into the strokes of its dashes.
pub(super) fn strokes(points: &[(f64, f64)], dash: &[f64]) -> Vec<Vec<(f64, f64)>> {
    if dash.is_empty() {
        return vec![points.to_vec()];
    }
    let mut strokes = Vec::new();
    let (mut place, mut left) = (0, dash[0]);
    let mut stroke: Vec<(f64, f64)> = points.first().copied().into_iter().collect();
    for ends in points.windows(2) {
        let (mut from, to) = (ends[0], ends[1]);
        let mut length = libm::hypot(to.0 - from.0, to.1 - from.1);
        while length.is_finite() && length > left {
            from = between(from, to, left / length);
            length -= left;
            if place % 2 == 0 {
                stroke.push(from);
                strokes.push(std::mem::take(&mut stroke));
            } else {
                stroke = vec![from];
            }
            place += 1;
            left = dash[place % dash.len()];
        }
        left -= length;
        if place % 2 == 0 {
            stroke.push(to);
        }
    }
    if stroke.len() > 1 {
        strokes.push(stroke);
    }
    strokes
}

/// The point at a share of the way.
fn between(from: (f64, f64), to: (f64, f64), share: f64) -> (f64, f64) {
    (
        from.0 + (to.0 - from.0) * share,
        from.1 + (to.1 - from.1) * share,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_end_is_no_endless_work() {
        for end in [f64::INFINITY, f64::NAN] {
            assert!(strokes(&[(0.0, 0.0), (end, 0.0)], &[2.0, 1.0]).len() <= 1);
        }
    }

    #[test]
    fn dashes_follow_the_line_round_its_corners() {
        let line = [(0.0, 0.0), (3.0, 0.0), (3.0, 7.0)];
        let expected = vec![
            vec![(0.0, 0.0), (2.0, 0.0)],
            vec![(3.0, 0.0), (3.0, 2.0)],
            vec![(3.0, 3.0), (3.0, 5.0)],
            vec![(3.0, 6.0), (3.0, 7.0)],
        ];
        assert_eq!(strokes(&line, &[2.0, 1.0]), expected);
        assert_eq!(strokes(&line, &[]), vec![line.to_vec()]);
    }
}
