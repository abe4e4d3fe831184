//! Profiles of the mock: the kinds of model that it simulates. Each profile is one constant.
//!
//! Scores are log-odds of being written at a medium budget, so that the logarithm turns a measured
//! rate into a weight. Each parameter has a source, which is "assumed" if no measurement supports
//! it. "Measured" refers to aggregates of real summaries (the data set lost-in-compaction, 8be3154;
//! latencies from claude-code-viewer, 9367cf0) or to a run of a small real model for this project.
//! "Fitted" refers to what `studies/fit` prints. Absent on purpose: a context window. No request is
//! too long for the mock.

mod parameters;

use std::fmt::Debug;

pub use parameters::{Profile, STRONG, Weights};

/// All profiles. The first is the default.
pub const ALL: &[&Profile] = &[
    &CLAUDE_CODE,
    &STRONG,
    &PERFECT_READER,
    &WEAK,
    &LOST_IN_COMPACTION_LENGTH,
];

/// A parameter with its source.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileParam<T> {
    /// The value.
    pub value: T,
    /// The source, or the reason for an assumption.
    pub source: &'static str,
}

const fn assumed<T>(value: T) -> ProfileParam<T> {
    ProfileParam {
        value,
        source: "assumed",
    }
}

const fn param<T>(value: T, source: &'static str) -> ProfileParam<T> {
    ProfileParam { value, source }
}

/// A weight that was fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fitted {
    /// The weight's name, without its prefix.
    pub name: &'static str,
    /// Its standard error, in log-odds.
    pub error: f64,
}

const fn fit(name: &'static str, error: f64) -> Fitted {
    Fitted { name, error }
}

/// No noise, no position effect, and every limit used in full: the best that selection by salience
/// can achieve.
pub const PERFECT_READER: Profile = Profile {
    name: "perfect-reader",
    about: "reads all, without noise, and uses every limit in full: an upper bound, not a model",
    read: param([1.0; 5], "assumed: a bound"),
    fill: param((1.0, 1.0), "assumed: a bound"),
    noise: param(0.0, "assumed: a bound"),
    floor: param(f64::NEG_INFINITY, "assumed: a bound"),
    most_words: param(usize::MAX, "assumed: a bound"),
    position: param([0.0; 5], "assumed: a bound"),
    answer_threshold: param(0.0, "assumed: a bound"),
    ..STRONG
};

/// A small model that misses much of the material and often fails to keep to the form.
pub const WEAK: Profile = Profile {
    name: "weak",
    about: "misses much, is noisy, and often fails to keep to the requested form",
    read: param(
        [0.59, 0.52, 0.40, 0.58, 0.84],
        "measured: one small hosted model's recall of 190,000 tokens by tenths (1,692 questions), in pairs",
    ),
    fill: assumed((0.4, 1.0)),
    noise: assumed(2.0),
    default_tokens: assumed(300),
    faults: param(
        "missing-section=0.3,malformed-json=0.1,example-leak=0.6",
        "measured: of 10 checkpoints of a model of 0.5 billion weights 3 were missing, 1 was malformed, 6 held the example",
    ),
    answer_threshold: assumed(0.5),
    ..STRONG
};

/// Writes as little as measured calls, whatever is asked. Only the length is fitted.
pub const LOST_IN_COMPACTION_LENGTH: Profile = Profile {
    name: "lost-in-compaction-length",
    about: "writes about 500 tokens whatever is asked, as calls of the data set lost-in-compaction; otherwise `strong`",
    own_tokens: param(
        Some((284, 713)),
        "measured: 0.49 to 1.23 % of the input (10th and 90th percentile; median 0.85 %) at a target of 20 %, for chunks of \
         58,000 tokens",
    ),
    ..STRONG
};

/// What compactions of Claude Code kept, as `studies/fit` fits it. The default.
pub const CLAUDE_CODE: Profile = Profile {
    name: "claude-code",
    about: "keeps what recorded compactions of Claude Code kept: the agent's own words rather than tool output",
    own_tokens: param(
        Some((1_855, 4_694)),
        "fitted by `studies/fit` to 28 sessions of Claude Code 2.0 and 2.1: the first and ninth decile of a log-normal length with a \
         median of 2,951, which does not grow with the material (correlation -.01); for material under 90,000 tokens assumed",
    ),
    // The recorded requests have 90,000 tokens and more, so nothing shows what is written of
    // little.
    most_share: assumed(0.5),
    position: assumed([0.0; 5]),
    floor: param(
        -1.0,
        "fitted by `studies/fit`: with it, summaries of 28 sessions hold about the share of all exact values that those of Claude Code do",
    ),
    weights: Weights {
        rare: 0.0,
        value: 0.0,
        user: 1.52,
        // Chosen by hand: no weight reaches what Claude Code keeps of what users typed (`studies/fit`
        // prints both), since its prompt asks for all of it. At twice the weight, `summarize` keeps
        // .76 after one compaction instead of .70.
        sentence: 3.5,
        pasted: -0.75,
        tool: -3.18,
        address: -0.48,
        read: -0.33,
        edited: 0.59,
        extension: 1.20,
        repeated: 0.83,
        crowded: -0.07,
        distance: -0.36,
        structured: -3.0,
        ..STRONG.weights
    },
    fitted: param(
        &[
            fit("user", 0.44),
            fit("pasted", 0.69),
            fit("tool", 0.36),
            fit("address", 0.23),
            fit("read", 0.41),
            fit("edited", 0.43),
            fit("extension", 0.18),
            fit("repeated", 0.14),
            fit("crowded", 0.11),
            fit("distance", 0.07),
        ],
        "fitted by `studies/fit` to 19,469 exact values of 28 recorded sessions of Claude Code 2.0 and 2.1",
    ),
    relative: param(
        0.95,
        "fitted by `studies/fit`: of the paths below the directories of 28 sessions of Claude Code that summaries kept, 247 were \
         relative and 13 absolute",
    ),
    ..STRONG
};

/// The profile with this name.
pub fn by_name(name: &str) -> Option<&'static Profile> {
    ALL.iter().copied().find(|profile| profile.name == name)
}

/// A parameter, as lists show it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileRow {
    /// Its name.
    pub name: &'static str,
    /// What it does, with its unit.
    pub about: &'static str,
    /// Its value.
    pub value: String,
    /// The source of the value, or "assumed".
    pub source: &'static str,
}

impl Profile {
    /// Whether it reads every statement of the material.
    pub(crate) fn reads_all(&self) -> bool {
        self.read.value.iter().all(|chance| *chance >= 1.0)
    }

    /// The standard error of a weight, if it was fitted.
    pub(crate) fn error_of(&self, weight: &str) -> Option<f64> {
        let name = weight.strip_prefix("weight ")?;
        self.fitted
            .value
            .iter()
            .find(|fitted| fitted.name == name)
            .map(|fitted| fitted.error)
    }

    /// Every parameter with its value and source.
    pub fn parameters(&self) -> Vec<ProfileRow> {
        let weights = self.weights.by_name().into_iter().zip(Weights::ABOUT);
        let of_weight = weights.map(|((name, value), about)| {
            let source = self
                .error_of(name)
                .map_or("assumed", |_| self.fitted.source);
            ProfileRow::new(name, about, &param(value, source))
        });
        self.rows().into_iter().chain(of_weight).collect()
    }
}

impl ProfileRow {
    fn new<T: Debug>(name: &'static str, about: &'static str, param: &ProfileParam<T>) -> Self {
        ProfileRow {
            name,
            about,
            value: format!("{:?}", param.value),
            source: param.source,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_names_its_source() {
        for profile in ALL {
            for row in profile.parameters() {
                let is_told = ["assumed", "measured", "fitted", "Liu et al."]
                    .iter()
                    .any(|word| row.source.starts_with(word));
                assert!(
                    is_told && !row.about.is_empty(),
                    "{} {}: {}",
                    profile.name,
                    row.name,
                    row.source
                );
            }
        }
    }
}
