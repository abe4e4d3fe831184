//! The specs that are embedded in the program, by name.

use std::path::Path;

use compactometer_formats::suite::Suite;

use crate::generate::SpecError;
use crate::suite_spec::SuiteSpec;

/// A spec that is embedded in the program.
pub struct Embedded {
    /// The suite's name.
    pub name: &'static str,
    /// The purpose of the suite.
    pub about: &'static str,
    text: &'static str,
}

/// The skeletons that embedded specs name.
pub(crate) static SKELETONS: &[u8] = include_bytes!("../../../datasets/skeletons.jsonl.zst");

/// All embedded specs.
pub static ALL: &[Embedded] = &[
    Embedded {
        name: "agentic",
        about: "24 conversations of 150k to 820k tokens with the structure of recorded sessions of a coding agent: the default suite",
        text: include_str!("../../../datasets/agentic.toml"),
    },
    Embedded {
        name: "smoke",
        about: "16 conversations of 24k to 100k tokens in three domains: short, and denser than sessions",
        text: include_str!("../../../datasets/smoke.toml"),
    },
    Embedded {
        name: "standard",
        about: "120 conversations of 24k to 100k tokens in four domains, with splits for development, test and calibration",
        text: include_str!("../../../datasets/standard.toml"),
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
    ALL[0].spec()?.suite()
}

/// A suite of short conversations.
///
/// # Errors
/// As [`Embedded::spec`].
pub fn smoke() -> Result<Suite, SpecError> {
    ALL[1].spec()?.suite()
}

impl Embedded {
    /// The spec, parsed.
    ///
    /// # Errors
    /// [`SpecError`] if the embedded text is invalid. A test shows that none is.
    pub fn spec(&self) -> Result<SuiteSpec, SpecError> {
        let path = Path::new("datasets").join(self.name).with_extension("toml");
        Ok(match SuiteSpec::parse(self.text, &path)? {
            SuiteSpec::Rendered(spec) => SuiteSpec::Rendered(Box::new(spec.of_embedded(SKELETONS))),
            generated => generated,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_specs_are_right_and_named_as_their_suites() {
        for embedded in ALL {
            assert_eq!(
                embedded.spec().expect("the spec is right").name(),
                embedded.name
            );
        }
    }
}
