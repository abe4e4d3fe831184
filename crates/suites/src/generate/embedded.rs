//! The specs that are embedded in the program, by name.

use std::path::Path;

use compactometer_formats::suite::Suite;

use crate::generate::generate;
use crate::generate::spec::{Spec, SpecError};

/// A spec that is embedded in the program.
pub struct Embedded {
    /// The suite's name.
    pub name: &'static str,
    /// The purpose of the suite.
    pub about: &'static str,
    text: &'static str,
}

/// All embedded specs.
pub static ALL: &[Embedded] = &[
    Embedded {
        name: "agentic",
        about: "12 conversations of 50k to 112k tokens in four domains, like recorded sessions of coding agents: the default suite",
        text: include_str!("../../../../datasets/agentic.toml"),
    },
    Embedded {
        name: "smoke",
        about: "16 conversations of 24k to 100k tokens in three domains: short, and denser than sessions",
        text: include_str!("../../../../datasets/smoke.toml"),
    },
    Embedded {
        name: "standard",
        about: "120 conversations of 24k to 100k tokens in four domains, with splits for development, test and calibration",
        text: include_str!("../../../../datasets/standard.toml"),
    },
];

/// The embedded spec with this name.
pub fn by_name(name: &str) -> Option<&'static Embedded> {
    ALL.iter().find(|embedded| embedded.name == name)
}

/// The default suite.
///
/// # Errors
/// As [`Embedded::spec`].
pub fn agentic() -> Result<Suite, SpecError> {
    ALL[0].spec().map(|spec| generate(&spec))
}

/// A suite of short conversations.
///
/// # Errors
/// As [`Embedded::spec`].
pub fn smoke() -> Result<Suite, SpecError> {
    ALL[1].spec().map(|spec| generate(&spec))
}

impl Embedded {
    /// The spec, parsed.
    ///
    /// # Errors
    /// [`SpecError`] if the embedded text is invalid. A test shows that none is.
    pub fn spec(&self) -> Result<Spec, SpecError> {
        Spec::parse(
            self.text,
            &Path::new("datasets").join(self.name).with_extension("toml"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_specs_are_right_and_named_as_their_suites() {
        for embedded in ALL {
            assert_eq!(
                embedded.spec().expect("the spec is right").name,
                embedded.name
            );
        }
    }
}
