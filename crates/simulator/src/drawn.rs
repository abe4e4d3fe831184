//! Random weights of salience, which show how much of a result depends on weights that are assumed.

use crate::draw::{keyed, normal};
use crate::profile::Profile;

/// Marks a draw in a model's name, as in `mock:strong~7`.
pub(crate) const MARK: char = '~';

/// Each weight is multiplied by e to the power of a normal draw with this standard deviation. Assumed: nineteen in twenty are
/// between a third and three times the profile's weight.
const SCALE: f64 = 0.55;

/// The profile with randomly drawn weights. The same number gives the same weights.
pub(crate) fn drawn(profile: &Profile, number: u64) -> Profile {
    let mut rng = keyed("salience", number, []);
    let mut drawn = profile.clone();
    for (_, weight) in drawn.weights.named_mut() {
        *weight *= libm::exp(SCALE * normal(&mut rng));
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::STRONG;

    #[test]
    fn a_draw_keeps_signs_and_moves_weights_both_ways() {
        let draws: Vec<_> = (0..200).map(|number| drawn(&STRONG, number).weights.named()).collect();
        for (at, (name, own)) in STRONG.weights.named().into_iter().enumerate() {
            let factors: Vec<f64> = draws.iter().map(|weights| weights[at].1 / own).collect();
            assert!(factors.iter().all(|factor| *factor > 0.0), "{name}");
            let raised = factors.iter().filter(|factor| **factor > 1.0).count();
            assert!((70..=130).contains(&raised), "{name}: {raised}");
        }
        assert_eq!(drawn(&STRONG, 7), drawn(&STRONG, 7));
    }
}
