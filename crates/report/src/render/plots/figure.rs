//! A picture as a list of marks in pixels, before any file format: plots build one, [`super::draw`]
//! draws it.

use plotters::style::RGBColor;

use super::colours::{BLACK, shades};
use super::hatching::{hatching, shaded};

/// Height of ordinary text.
pub(crate) const TEXT: f64 = 16.0;
const SYMBOL_RADIUS: f64 = 5.0;

/// A picture on white; x to the right, y down.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figure {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// Later ones lie above earlier ones.
    pub(crate) marks: Vec<FigureMark>,
}

/// One thing to draw.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FigureMark {
    Line {
        points: Vec<(f64, f64)>,
        colour: RGBColor,
        width: f64,
        dash: Dash,
    },
    Bar {
        from: (f64, f64),
        to: (f64, f64),
        colour: RGBColor,
    },
    Symbol {
        at: (f64, f64),
        symbol: Symbol,
        colour: RGBColor,
    },
    Text {
        at: (f64, f64),
        text: String,
        colour: RGBColor,
        anchor: Anchor,
        is_vertical: bool,
    },
}

/// Where a text lies on its point; all are centred across their line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Lengths of stroke and gap in pixels; empty for a whole line.
pub(crate) type Dash = &'static [f64];

/// The shape of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Symbol {
    Disc,
    Square,
    Triangle,
    Diamond,
    Wedge,
    Cross,
    Plus,
}

/// What a symbol covers, around its place.
pub(crate) enum Outline {
    /// The radius.
    Disc(f64),
    /// The corners.
    Polygon(Vec<(f64, f64)>),
    /// Two crossing lines, 2 pixels wide.
    Strokes([[(f64, f64); 2]; 2]),
}

impl Symbol {
    pub(crate) fn outline(self, (x, y): (f64, f64)) -> Outline {
        let r = SYMBOL_RADIUS;
        let corners: &[(f64, f64)] = match self {
            Symbol::Disc => return Outline::Disc(r),
            Symbol::Cross => {
                let [falling, rising] = [-r, r].map(|dy| [(x - r, y + dy), (x + r, y - dy)]);
                return Outline::Strokes([falling, rising]);
            }
            Symbol::Plus => {
                return Outline::Strokes([[(x - r, y), (x + r, y)], [(x, y - r), (x, y + r)]]);
            }
            Symbol::Square => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            Symbol::Triangle => &[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
            Symbol::Wedge => &[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)],
            Symbol::Diamond => &[(0.0, -1.3), (1.1, 0.0), (0.0, 1.3), (-1.1, 0.0)],
        };
        let corners = corners.iter().map(|(dx, dy)| (x + r * dx, y + r * dy));
        Outline::Polygon(corners.collect())
    }
}

/// How one strategy is drawn, in every picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RowStyle {
    pub(crate) colour: RGBColor,
    pub(crate) symbol: Symbol,
    pub(crate) dash: Dash,
}

impl Figure {
    pub(crate) fn new(width: f64, height: f64) -> Self {
        Figure {
            width,
            height,
            marks: Vec::new(),
        }
    }

    pub(crate) fn line(
        &mut self,
        points: Vec<(f64, f64)>,
        colour: RGBColor,
        width: f64,
        dash: Dash,
    ) {
        self.marks.push(FigureMark::Line {
            points,
            colour,
            width,
            dash,
        });
    }

    /// A bar with the pattern of its colour, so that colours which a reader sees alike still
    /// differ.
    pub(crate) fn bar(&mut self, from: (f64, f64), to: (f64, f64), colour: RGBColor) {
        self.marks.push(FigureMark::Bar { from, to, colour });
        let strokes = hatching(colour)
            .map(|hatching| hatching.strokes(from, to))
            .unwrap_or_default();
        if strokes.len() > 1 {
            self.line(strokes, shaded(colour), 1.0, &[]);
        }
    }

    pub(crate) fn symbol(&mut self, at: (f64, f64), style: RowStyle) {
        self.marks.push(FigureMark::Symbol {
            at,
            symbol: style.symbol,
            colour: style.colour,
        });
    }

    pub(crate) fn text(&mut self, at: (f64, f64), text: impl Into<String>, anchor: Anchor) {
        self.coloured_text(at, text, anchor, BLACK);
    }

    pub(crate) fn coloured_text(
        &mut self,
        at: (f64, f64),
        text: impl Into<String>,
        anchor: Anchor,
        colour: RGBColor,
    ) {
        self.marks.push(FigureMark::Text {
            at,
            text: text.into(),
            colour,
            anchor,
            is_vertical: false,
        });
    }

    pub(crate) fn vertical_text(&mut self, at: (f64, f64), text: impl Into<String>) {
        let text = text.into();
        self.marks.push(FigureMark::Text {
            at,
            text,
            colour: BLACK,
            anchor: Anchor::Middle,
            is_vertical: true,
        });
    }
}

const GREYS: [RGBColor; 3] = [
    RGBColor(0x33, 0x33, 0x33),
    RGBColor(0x77, 0x77, 0x77),
    RGBColor(0xa5, 0xa5, 0xa5),
];
const SYMBOLS: [Symbol; 7] = [
    Symbol::Disc,
    Symbol::Square,
    Symbol::Triangle,
    Symbol::Diamond,
    Symbol::Wedge,
    Symbol::Cross,
    Symbol::Plus,
];
const DASHES: [Dash; 5] = [
    &[9.0, 4.0],
    &[2.5, 3.0],
    &[14.0, 4.0, 2.5, 4.0],
    &[5.0, 3.0],
    &[18.0, 5.0],
];

/// The style of a strategy: its hue is its approach's, its shade comes from its place among those
/// of the approach, its symbol from its place among all that are tested. Past the shades, the line
/// is dashed.
pub(crate) fn style(approach: Option<&str>, of_approach: usize, of_all: usize) -> RowStyle {
    let shades = shades(approach);
    let dash: Dash = if of_approach < shades.len() {
        &[]
    } else {
        DASHES[of_approach % DASHES.len()]
    };
    RowStyle {
        colour: shades[of_approach % shades.len()],
        symbol: SYMBOLS[of_all % SYMBOLS.len()],
        dash,
    }
}

/// The style of the control at that place among the controls: grey and dashed.
pub(crate) fn control_style(place: usize) -> RowStyle {
    RowStyle {
        colour: GREYS[place % GREYS.len()],
        symbol: SYMBOLS[place % SYMBOLS.len()],
        dash: DASHES[place % DASHES.len()],
    }
}
