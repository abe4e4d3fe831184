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
