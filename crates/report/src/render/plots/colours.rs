//! The colours of pictures.

use plotters::style::RGBColor;

pub(crate) const BLACK: RGBColor = RGBColor(0x1a, 0x1a, 0x1a);
pub(crate) const GREY: RGBColor = RGBColor(0x59, 0x59, 0x59);
/// Of what random old text reaches.
pub(crate) const BAND: RGBColor = RGBColor(0xe9, 0xe9, 0xe9);
/// Of what lies between two bounds.
pub(crate) const RANGE: RGBColor = RGBColor(0xbf, 0xdc, 0xee);
pub(crate) const PALE: RGBColor = RGBColor(0xdd, 0xdd, 0xdd);
// After Okabe and Ito, "Color Universal Design" (2008).
pub(crate) const BLUE: RGBColor = RGBColor(0x00, 0x72, 0xb2);
pub(crate) const SKY: RGBColor = RGBColor(0x56, 0xb4, 0xe9);
pub(crate) const GREEN: RGBColor = RGBColor(0x00, 0x9e, 0x73);
pub(crate) const VERMILION: RGBColor = RGBColor(0xd5, 0x5e, 0x00);
pub(crate) const ORANGE: RGBColor = RGBColor(0xe6, 0x9f, 0x00);
pub(crate) const PURPLE: RGBColor = RGBColor(0xcc, 0x79, 0xa7);
pub(crate) const YELLOW: RGBColor = RGBColor(0xf0, 0xe4, 0x42);

/// The colours of the strategies of one approach, in the order in which they are given; olive where
/// a strategy has none.
pub(crate) fn shades(approach: Option<&str>) -> [RGBColor; 3] {
    match approach {
        Some("prompt") => [BLUE, SKY, RGBColor(0x00, 0x3f, 0x66)],
        Some("middleware") => [VERMILION, ORANGE, RGBColor(0x8a, 0x3c, 0x00)],
        Some("chain") => [
            GREEN,
            RGBColor(0x00, 0x57, 0x3f),
            RGBColor(0x4c, 0xc3, 0xa1),
        ],
        Some("levels") => [
            PURPLE,
            RGBColor(0x8e, 0x3a, 0x6b),
            RGBColor(0xe3, 0xa9, 0xca),
        ],
        _ => [
            RGBColor(0x80, 0x80, 0x00),
            RGBColor(0x4d, 0x4d, 0x00),
            RGBColor(0xb3, 0xb3, 0x3b),
        ],
    }
}
