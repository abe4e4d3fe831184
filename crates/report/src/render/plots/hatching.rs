//! Patterns of bars. Each colour has one, so that a legend's swatch has it too.

use plotters::style::RGBColor;

use super::colours::{GREEN, PURPLE, SKY, VERMILION, YELLOW};

/// Pixels between two strokes.
const GAP: f64 = 6.0;

/// How the strokes of a pattern run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hatching {
    Rising,
    Falling,
    Level,
    Upright,
}

/// The pattern of bars of this colour; colours far from all others in brightness need none.
pub(super) fn hatching(colour: RGBColor) -> Option<Hatching> {
    match colour {
        SKY => Some(Hatching::Rising),
        VERMILION | YELLOW => Some(Hatching::Falling),
        GREEN => Some(Hatching::Level),
        PURPLE => Some(Hatching::Upright),
        _ => None,
    }
}

/// The colour of strokes on a bar of this colour: darker, but light enough for a label across them.
pub(super) fn shaded(RGBColor(red, green, blue): RGBColor) -> RGBColor {
    let darker = |part: u8| (u16::from(part) * 7 / 10) as u8;
    RGBColor(darker(red), darker(green), darker(blue))
}

impl Hatching {
    /// One line through the rectangle, back and forth along its edges, since a stroke of its own
    /// for each would make large files.
    pub(super) fn strokes(self, from: (f64, f64), to: (f64, f64)) -> Vec<(f64, f64)> {
        let ((left, right), (top, bottom)) = (
            (from.0.min(to.0), from.0.max(to.0)),
            (from.1.min(to.1), from.1.max(to.1)),
        );
        let (width, height) = (right - left, bottom - top);
        let reach = match self {
            Hatching::Level => height,
            Hatching::Upright => width,
            Hatching::Rising | Hatching::Falling => width + height,
        };
        let stroke = |at: f64| match self {
            Hatching::Level => [(left, top + at), (right, top + at)],
            Hatching::Upright => [(left + at, bottom), (left + at, top)],
            Hatching::Rising | Hatching::Falling => {
                // From the lower or left edge to the upper or right one.
                let ends = [
                    (left + (at - height).max(0.0), top + at.min(height)),
                    (left + at.min(width), top + (at - width).max(0.0)),
                ];
                let turned = |(x, y): (f64, f64)| (x, top + bottom - y);
                if self == Hatching::Rising {
                    ends
                } else {
                    ends.map(turned)
                }
            }
        };
        let count = if reach.is_finite() {
            (reach / GAP) as usize
        } else {
            0
        };
        let strokes = (1..=count).map(|number| (number, stroke(GAP * number as f64 - GAP / 2.0)));
        strokes
            .flat_map(|(number, [one, other])| {
                if number % 2 == 0 {
                    [one, other]
                } else {
                    [other, one]
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strokes_stay_inside_their_bar() {
        for hatching in [
            Hatching::Rising,
            Hatching::Falling,
            Hatching::Level,
            Hatching::Upright,
        ] {
            for (from, to) in [
                ((10.0, 5.0), (310.0, 25.0)),
                ((10.0, 25.0), (14.0, 5.0)),
                ((3.0, 3.0), (3.0, 3.0)),
            ] {
                let strokes = hatching.strokes(from, to);
                let is_inside = |(x, y): &(f64, f64)| {
                    (from.0.min(to.0)..=from.0.max(to.0)).contains(x)
                        && (from.1.min(to.1)..=from.1.max(to.1)).contains(y)
                };
                assert!(strokes.iter().all(is_inside), "{hatching:?} {strokes:?}");
            }
            let large = hatching.strokes((0.0, 0.0), (60.0, 60.0));
            assert!(
                large.len() >= 20 && large.len() % 2 == 0,
                "{hatching:?} {large:?}"
            );
            assert!(
                hatching
                    .strokes((0.0, 0.0), (f64::INFINITY, f64::NAN))
                    .is_empty()
            );
        }
    }

    #[test]
    fn bars_next_to_each_other_differ_without_colour() {
        let brightness = |RGBColor(red, green, blue): RGBColor| {
            0.3 * f64::from(red) + 0.59 * f64::from(green) + 0.11 * f64::from(blue)
        };
        for pair in super::super::fates::COLOURS.windows(2) {
            let apart = (brightness(pair[0]) - brightness(pair[1])).abs();
            assert!(
                hatching(pair[0]) != hatching(pair[1]) || apart > 60.0,
                "{pair:?}"
            );
        }
    }
}
