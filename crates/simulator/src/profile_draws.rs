//! Random draws of what a profile assumes, which show how much of a result depends on the
//! assumptions: its weights of salience, what it reads, its noise, its lists of files, and the
//! length of its replies.

use rand_chacha::ChaCha8Rng;

use crate::draw::{keyed, normal, uniform};
use crate::profile::{Profile, ProfileParam};

/// Marks a draw in a model's name, as in `mock:strong~7`.
pub(crate) const MARK: char = '~';

/// Each weight that was not fitted is multiplied by e to the power of a normal draw with this
/// standard deviation. Assumed: nineteen in twenty are between a third and three times the
/// profile's weight. A fitted weight moves by its standard error.
const SCALE: f64 = 0.55;

/// The share of the statements read, uniform for each fifth of the material.
const READ: ProfileParam<(f64, f64)> = ProfileParam {
    value: (0.4, 1.0),
    source: "measured: by pairs of tenths a small hosted model recalled 0.40 to 0.84 of 190,000 tokens, a strong one up to 1.00",
};

/// The scale of the noise on scores, uniform.
const NOISE: ProfileParam<(f64, f64)> = ProfileParam {
    value: (0.0, 2.0),
    source: "assumed: from `perfect-reader` to `weak`; measured selection is noisy",
};

/// Both ends of the share of its room that a reply uses, uniform.
const FILL: ProfileParam<(f64, f64)> = ProfileParam {
    value: (0.4, 1.0),
    source: "assumed: from the least of `weak` to all",
};

/// The tokens of a reply where more is allowed, uniform on a logarithmic scale: one length for each
/// draw.
const LENGTH: ProfileParam<(f64, f64)> = ProfileParam {
    value: (284.0, 4_694.0),
    source: "measured: from the shortest of `lost-in-compaction-length` to the longest of `claude-code`",
};

/// The largest share of its material that a reply has, uniform.
const MOST_SHARE: ProfileParam<(f64, f64)> = ProfileParam {
    value: (0.25, 1.0),
    source: "assumed: recorded requests are too long to show it",
};

/// The probability of a list of files where the prompt offers no place for them, uniform.
const LISTS_FILES: ProfileParam<(f64, f64)> = ProfileParam {
    value: (0.0, 1.0),
    source: "assumed: from never to always, since no recorded prompt shows it",
};

/// The profile with randomly drawn parameters. The same number gives the same draw.
pub(crate) fn drawn(profile: &Profile, number: u64) -> Profile {
    let mut rng = keyed("salience", number, []);
    let mut drawn = profile.clone();
    draw_weights(&mut drawn, profile, &mut rng);
    drawn.read = assumed(&READ, [(); 5].map(|()| within(&READ, &mut rng)));
    drawn.noise = assumed(&NOISE, within(&NOISE, &mut rng));
    let [one, other] = [(); 2].map(|()| within(&FILL, &mut rng));
    let (shortest, longest) = LENGTH.value;
    let length = (shortest * libm::pow(longest / shortest, uniform(&mut rng))) as u32;
    drawn.fill = assumed(&FILL, (one.min(other), one.max(other)));
    drawn.own_tokens = assumed(&LENGTH, Some((length, length)));
    drawn.most_share = assumed(&MOST_SHARE, within(&MOST_SHARE, &mut rng));
    drawn.lists_files = assumed(&LISTS_FILES, within(&LISTS_FILES, &mut rng));
    drawn
}

fn draw_weights(drawn: &mut Profile, profile: &Profile, rng: &mut ChaCha8Rng) {
    for (name, weight) in drawn.weights.by_name_mut() {
        let step = normal(rng);
        match profile.error_of(name) {
            Some(error) => *weight += error * step,
            None => *weight *= libm::exp(SCALE * step),
        }
    }
}

/// A value that was drawn from a range.
fn assumed<T>(range: &ProfileParam<(f64, f64)>, value: T) -> ProfileParam<T> {
    ProfileParam {
        value,
        source: range.source,
    }
}

/// Uniform in a range.
fn within(range: &ProfileParam<(f64, f64)>, rng: &mut ChaCha8Rng) -> f64 {
    let (least, most) = range.value;
    least + (most - least) * uniform(rng)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{CLAUDE_CODE, STRONG};

    #[test]
    fn a_draw_keeps_signs_and_moves_weights_both_ways() {
        let draws: Vec<_> = (0..200)
            .map(|number| drawn(&STRONG, number).weights.by_name())
            .collect();
        let used = STRONG
            .weights
            .by_name()
            .into_iter()
            .enumerate()
            .filter(|(_, (_, own))| *own != 0.0);
        for (at, (name, own)) in used {
            let factors: Vec<f64> = draws.iter().map(|weights| weights[at].1 / own).collect();
            assert!(factors.iter().all(|factor| *factor > 0.0), "{name}");
            let raised = factors.iter().filter(|factor| **factor > 1.0).count();
            assert!((70..=130).contains(&raised), "{name}: {raised}");
        }
        assert_eq!(drawn(&STRONG, 7), drawn(&STRONG, 7));
    }

    #[test]
    fn a_fitted_weight_moves_by_its_error() {
        let tool = |profile: &Profile| profile.weights.tool;
        let draws = (0..400)
            .map(|number| tool(&drawn(&CLAUDE_CODE, number)) - tool(&CLAUDE_CODE))
            .collect::<Vec<_>>();
        let error = CLAUDE_CODE.error_of("weight tool").expect("is fitted");
        let deviation =
            (draws.iter().map(|step| step * step).sum::<f64>() / draws.len() as f64).sqrt();
        assert!(
            (0.85 * error..=1.15 * error).contains(&deviation),
            "{deviation} for {error}"
        );
    }

    /// Every drawn parameter reaches all quarters of its range and never leaves it.
    #[test]
    fn draws_cover_their_ranges() {
        let draws: Vec<Profile> = (0..200).map(|number| drawn(&STRONG, number)).collect();
        let length = |of: &Profile| {
            of.own_tokens
                .value
                .map_or(0.0, |(least, _)| libm::log(f64::from(least) + 0.5))
        };
        let logarithms = ProfileParam {
            value: (libm::log(LENGTH.value.0), libm::log(LENGTH.value.1)),
            ..LENGTH
        };
        covers(
            "read",
            &READ,
            draws.iter().flat_map(|of| of.read.value).collect(),
        );
        covers(
            "noise",
            &NOISE,
            draws.iter().map(|of| of.noise.value).collect(),
        );
        covers(
            "fill",
            &FILL,
            draws
                .iter()
                .flat_map(|of| [of.fill.value.0, of.fill.value.1])
                .collect(),
        );
        covers("length", &logarithms, draws.iter().map(length).collect());
        covers(
            "most_share",
            &MOST_SHARE,
            draws.iter().map(|of| of.most_share.value).collect(),
        );
        covers(
            "lists_files",
            &LISTS_FILES,
            draws.iter().map(|of| of.lists_files.value).collect(),
        );
    }

    fn covers(name: &str, range: &ProfileParam<(f64, f64)>, values: Vec<f64>) {
        let (least, most) = range.value;
        let quarter = |value: &f64| ((value - least) / (most - least) * 4.0).floor();
        for wanted in [0.0, 1.0, 2.0, 3.0] {
            let share = values
                .iter()
                .filter(|value| quarter(value) == wanted)
                .count() as f64
                / values.len() as f64;
            assert!(
                (0.15..=0.35).contains(&share),
                "{name}: {share} in quarter {wanted}"
            );
        }
        assert!(
            values
                .iter()
                .all(|value| (0.0..4.0).contains(&quarter(value))),
            "{name}"
        );
        assert!(
            ["assumed", "measured"]
                .iter()
                .any(|word| range.source.starts_with(word)),
            "{name}"
        );
    }
}
