//! Figures as PDF for print: vectors, with the letters that a figure uses as an embedded font, so
//! that a reader can search them and a publisher's check finds every font.

use std::collections::BTreeMap;

use pdf_writer::types::{CidFontType, FontFlags, LineJoinStyle, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Finish, Name, Pdf, Rect, Ref, Str};
use plotters::style::RGBColor;
use subsetter::GlyphRemapper;
use ttf_parser::{Face, GlyphId};

use super::draw::{FONT_BYTES, strokes};
use super::figure::{Anchor, Figure, FigureMark, Outline, TEXT};

/// Points for one of a figure's pixels: its letters have 6.9 points.
const SCALE: f32 = 0.5;
/// The font's name in the document; six letters before the plus mark a part of a font.
const FONT_NAME: Name = Name(b"COMPAC+DejaVuSans");
const FONT: Name = Name(b"F");
/// Units of an em in the widths of a PDF's font.
const EM: f32 = 1_000.0;
/// The length of a handle that makes a quarter of a circle, in radii.
const QUARTER: f64 = 0.552_284_75;

/// The width of an upright stroke, in [`EM`]s' parts.
const STEM: f32 = 80.0;
/// Glyphs are named by their number in the embedded font.
const SYSTEM_INFO: SystemInfo = SystemInfo {
    registry: Str(b"Adobe"),
    ordering: Str(b"Identity"),
    supplement: 0,
};

const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const PAGE: Ref = Ref::new(3);
const CONTENT: Ref = Ref::new(4);
const FONT_REF: Ref = Ref::new(5);
const CID_FONT: Ref = Ref::new(6);
const DESCRIPTOR: Ref = Ref::new(7);
const FONT_FILE: Ref = Ref::new(8);
const LETTERS: Ref = Ref::new(9);

/// The figure as a PDF of one page of its size.
pub(crate) fn pdf(figure: &Figure) -> Result<Vec<u8>, String> {
    let face = Face::parse(FONT_BYTES, 0).map_err(|error| error.to_string())?;
    let letters = Letters::of(figure, &face);
    let mut pen = PdfPen {
        content: Content::new(),
        height: figure.height,
        letters: &letters,
    };
    pen.content.transform([SCALE, 0.0, 0.0, SCALE, 0.0, 0.0]);
    pen.content.set_line_join(LineJoinStyle::RoundJoin);
    figure.marks.iter().for_each(|mark| pen.draw(mark));
    let content = pen.content.finish();
    let mut pdf = Pdf::new();
    pdf.catalog(CATALOG).pages(PAGES);
    pdf.pages(PAGES).kids([PAGE]).count(1);
    let [width, height] = [figure.width, figure.height].map(|length| length as f32 * SCALE);
    let mut page = pdf.page(PAGE);
    page.parent(PAGES)
        .media_box(Rect::new(0.0, 0.0, width, height))
        .contents(CONTENT);
    page.resources().fonts().pair(FONT, FONT_REF);
    page.finish();
    pdf.stream(CONTENT, &content);
    letters.write(&mut pdf, &face)?;
    Ok(pdf.finish())
}

/// The letters that a figure uses.
struct Letters {
    glyphs: BTreeMap<char, Glyph>,
    remapper: GlyphRemapper,
    /// The em, in a figure's pixels.
    size: f32,
    /// Of small letters, in the same.
    x_height: f32,
}

#[derive(Clone, Copy)]
struct Glyph {
    /// Its number in the embedded part of the font.
    id: u16,
    /// In [`EM`]s' parts.
    width: f32,
}

impl Letters {
    fn of(figure: &Figure, face: &Face<'_>) -> Self {
        let per_em = EM / f32::from(face.units_per_em());
        let texts = figure.marks.iter().filter_map(|mark| match mark {
            FigureMark::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
        let mut remapper = GlyphRemapper::new();
        let mut glyphs = BTreeMap::new();
        for letter in texts.flat_map(str::chars) {
            glyphs.entry(letter).or_insert_with(|| {
                // Glyph 0 is the box of a letter that the font has not.
                let found = face.glyph_index(letter).unwrap_or(GlyphId(0));
                let width = face.glyph_hor_advance(found).unwrap_or_default();
                Glyph {
                    id: remapper.remap(found.0),
                    width: f32::from(width) * per_em,
                }
            });
        }
        let units = f32::from(face.units_per_em());
        // The height of a text is that of its line, as where its width is measured.
        let line = f32::from(face.ascender()) - f32::from(face.descender());
        let size = TEXT as f32 * units / line;
        let edges = face
            .glyph_index('x')
            .and_then(|x| face.glyph_bounding_box(x));
        let x_height = edges.map_or(0.0, |edges| f32::from(edges.y_max) / units * size);
        Letters {
            glyphs,
            remapper,
            size,
            x_height,
        }
    }

    /// The text as the embedded font's numbers, and its width in a figure's pixels.
    fn coded(&self, text: &str) -> (Vec<u8>, f32) {
        let glyphs = || text.chars().filter_map(|letter| self.glyphs.get(&letter));
        let width: f32 = glyphs().map(|glyph| glyph.width).sum();
        let bytes = glyphs().flat_map(|glyph| glyph.id.to_be_bytes()).collect();
        (bytes, width / EM * self.size)
    }

    fn write(&self, pdf: &mut Pdf, face: &Face<'_>) -> Result<(), String> {
        let file =
            subsetter::subset(FONT_BYTES, 0, &self.remapper).map_err(|error| error.to_string())?;
        pdf.stream(FONT_FILE, &file)
            .pair(Name(b"Length1"), file.len() as i32);
        describe(pdf, face);
        pdf.type0_font(FONT_REF)
            .base_font(FONT_NAME)
            .encoding_predefined(Name(b"Identity-H"))
            .descendant_font(CID_FONT)
            .to_unicode(LETTERS);
        let mut font = pdf.cid_font(CID_FONT);
        font.subtype(CidFontType::Type2)
            .base_font(FONT_NAME)
            .system_info(SYSTEM_INFO)
            .font_descriptor(DESCRIPTOR)
            .cid_to_gid_map_predefined(Name(b"Identity"));
        let mut widths = font.widths();
        let glyphs = self.glyphs.values();
        let by_id: BTreeMap<u16, f32> = glyphs.map(|one| (one.id, one.width)).collect();
        for (id, width) in by_id {
            widths.consecutive(id, [width]);
        }
        widths.finish();
        font.finish();
        let mut letters = UnicodeCmap::new(Name(b"Letters"), SYSTEM_INFO);
        // What the font has not is one box, which says none of them.
        for (letter, glyph) in self.glyphs.iter().filter(|(_, glyph)| glyph.id != 0) {
            letters.pair(glyph.id, *letter);
        }
        pdf.cmap(LETTERS, &letters.finish());
        Ok(())
    }
}

/// The measures of the whole font.
fn describe(pdf: &mut Pdf, face: &Face<'_>) {
    let scaled = |length: i16| f32::from(length) * EM / f32::from(face.units_per_em());
    let edges = face.global_bounding_box();
    let [left, bottom, right, top] =
        [edges.x_min, edges.y_min, edges.x_max, edges.y_max].map(scaled);
    pdf.font_descriptor(DESCRIPTOR)
        .name(FONT_NAME)
        .flags(FontFlags::SYMBOLIC)
        .bbox(Rect::new(left, bottom, right, top))
        .italic_angle(0.0)
        .ascent(scaled(face.ascender()))
        .descent(scaled(face.descender()))
        .cap_height(scaled(face.capital_height().unwrap_or_default()))
        .stem_v(STEM)
        .font_file2(FONT_FILE);
}

struct PdfPen<'l> {
    content: Content,
    height: f64,
    letters: &'l Letters,
}

impl PdfPen<'_> {
    fn draw(&mut self, mark: &FigureMark) {
        match mark {
            FigureMark::Line {
                points,
                colour,
                width,
                dash,
            } => {
                for stroke in strokes(points, dash) {
                    self.path(&stroke, *colour, *width);
                }
            }
            FigureMark::Bar { from, to, colour } => {
                let corners = [*from, (to.0, from.1), *to, (from.0, to.1)];
                self.polygon(&corners, *colour);
            }
            FigureMark::Symbol { at, symbol, colour } => match symbol.outline(*at) {
                Outline::Disc(radius) => self.disc(*at, radius, *colour),
                Outline::Polygon(corners) => self.polygon(&corners, *colour),
                Outline::Strokes(lines) => {
                    for line in lines {
                        self.path(&line, *colour, 2.0);
                    }
                }
            },
            FigureMark::Text {
                at,
                text,
                colour,
                anchor,
                is_vertical,
            } => self.text(*at, text, *colour, *anchor, *is_vertical),
        }
    }

    /// A point of the page, whose y goes up.
    fn at(&self, (x, y): (f64, f64)) -> (f32, f32) {
        (x as f32, (self.height - y) as f32)
    }

    fn fill(&mut self, colour: RGBColor) {
        let [red, green, blue] = parts(colour);
        self.content.set_fill_rgb(red, green, blue);
    }

    fn path(&mut self, points: &[(f64, f64)], colour: RGBColor, width: f64) {
        let [red, green, blue] = parts(colour);
        self.content.set_stroke_rgb(red, green, blue);
        self.content.set_line_width(width as f32);
        self.outline(points);
        self.content.stroke();
    }

    fn polygon(&mut self, corners: &[(f64, f64)], colour: RGBColor) {
        self.fill(colour);
        self.outline(corners);
        self.content.close_path().fill_nonzero();
    }

    fn outline(&mut self, points: &[(f64, f64)]) {
        for (place, point) in points.iter().enumerate() {
            let (x, y) = self.at(*point);
            match place {
                0 => self.content.move_to(x, y),
                _ => self.content.line_to(x, y),
            };
        }
    }

    fn disc(&mut self, (x, y): (f64, f64), radius: f64, colour: RGBColor) {
        let handle = radius * QUARTER;
        let quarters = [
            [(radius, handle), (handle, radius), (0.0, radius)],
            [(-handle, radius), (-radius, handle), (-radius, 0.0)],
            [(-radius, -handle), (-handle, -radius), (0.0, -radius)],
            [(handle, -radius), (radius, -handle), (radius, 0.0)],
        ];
        self.fill(colour);
        let (from_x, from_y) = self.at((x + radius, y));
        self.content.move_to(from_x, from_y);
        for quarter in quarters {
            let [one, other, end] = quarter.map(|(dx, dy)| self.at((x + dx, y + dy)));
            self.content
                .cubic_to(one.0, one.1, other.0, other.1, end.0, end.1);
        }
        self.content.fill_nonzero();
    }

    fn text(
        &mut self,
        at: (f64, f64),
        text: &str,
        colour: RGBColor,
        anchor: Anchor,
        is_vertical: bool,
    ) {
        let (bytes, width) = self.letters.coded(text);
        let (x, y) = self.at(at);
        let back = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        };
        // Small letters are centred across the line.
        let drop = self.letters.x_height / 2.0;
        let matrix = if is_vertical {
            [0.0, 1.0, -1.0, 0.0, x + drop, y - back]
        } else {
            [1.0, 0.0, 0.0, 1.0, x - back, y - drop]
        };
        self.fill(colour);
        self.content.begin_text();
        self.content.set_font(FONT, self.letters.size);
        self.content.set_text_matrix(matrix);
        self.content.show(Str(&bytes));
        self.content.end_text();
    }
}

fn parts(RGBColor(red, green, blue): RGBColor) -> [f32; 3] {
    [red, green, blue].map(|part| f32::from(part) / 255.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::plots::draw::text_width;

    /// Letters once were a quarter wider than the room that a figure has for them, and hung above
    /// their line.
    #[test]
    fn letters_have_the_size_that_a_figure_measures() {
        let text = "stated facts, %";
        let mut figure = Figure::new(480.0, 100.0);
        figure.text((0.0, 50.0), text, Anchor::Start);
        let face = Face::parse(FONT_BYTES, 0).expect("the shipped font");
        let letters = Letters::of(&figure, &face);
        let (bytes, width) = letters.coded(text);
        let measured = text_width(text) as f32;
        assert_eq!(bytes.len(), 2 * text.len());
        assert!(
            (width / measured - 1.0).abs() < 0.03,
            "{width} of {measured}"
        );
        assert!((0.4..0.7).contains(&(letters.x_height / letters.size)));
    }
}
