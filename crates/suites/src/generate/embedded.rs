//! The specs that come with the program, by name.

use std::path::Path;

use compactometer_formats::suite::Suite;

use crate::generate::generate;
use crate::generate::spec::{Spec, SpecError};

/// A spec that comes with the program.
pub struct Embedded {
    /// The suite's name.
    pub name: &'static str,
    /// What the suite is for.
    pub about: &'static str,
    text: &'static str,
}

/// Every embedded spec.
pub static ALL: &[Embedded] = &[
    Embedded {
        name: "smoke",
        about: "16 conversations of 24k to 100k tokens in three domains: the suite that runs when none is named",
        text: include_str!("../../../../datasets/smoke.toml"),
    },
    Embedded {
        name: "standard",
        about: "120 conversations of 24k to 100k tokens in four domains, with splits for development, test and calibration",
        text: include_str!("../../../../datasets/standard.toml"),
    },
];

/// The embedded spec of that name.
pub fn by_name(name: &str) -> Option<&'static Embedded> {
    ALL.iter().find(|embedded| embedded.name == name)
}

/// The suite that runs when none is named.
///
/// # Errors
/// As [`Embedded::spec`].
pub fn smoke() -> Result<Suite, SpecError> {
    ALL[0].spec().map(|spec| generate(&spec))
}

impl Embedded {
    /// The spec, parsed.
    ///
    /// # Errors
    /// [`SpecError`] where the embedded text is wrong; a test holds that none is.
    pub fn spec(&self) -> Result<Spec, SpecError> {
        Spec::parse(self.text, &Path::new("datasets").join(self.name).with_extension("toml"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_specs_are_right_and_named_as_their_suites() {
        for embedded in ALL {
            assert_eq!(embedded.spec().expect("the spec is right").name, embedded.name);
        }
    }
}
