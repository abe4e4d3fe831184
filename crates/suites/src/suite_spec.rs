//! A suite's spec, of either kind: conversations from templates, or rendered from skeletons.

use std::path::Path;

use compactometer_formats::suite::Suite;

use crate::generate::{Spec, SpecError, generate_telling};
use crate::skeletons::SkeletonSpec;

/// A spec of either kind.
#[derive(Clone, Debug)]
pub enum SuiteSpec {
    /// Conversations from templates.
    Generated(Box<Spec>),
    /// Conversations with the structure of recorded ones.
    Rendered(Box<SkeletonSpec>),
}

impl SuiteSpec {
    /// The spec in a text. One that names skeletons is rendered from them; their file is relative
    /// to `path`, which errors name.
    ///
    /// # Errors
    /// [`SpecError`] with the file, the key, the value and the accepted values.
    pub fn parse(text: &str, path: &Path) -> Result<Self, SpecError> {
        let names_skeletons = text
            .parse::<toml::Table>()
            .is_ok_and(|keys| keys.contains_key("skeletons"));
        match names_skeletons {
            true => SkeletonSpec::parse(text, path).map(|spec| SuiteSpec::Rendered(Box::new(spec))),
            false => Spec::parse(text, path).map(|spec| SuiteSpec::Generated(Box::new(spec))),
        }
    }

    /// The suite's name.
    pub fn name(&self) -> &str {
        match self {
            SuiteSpec::Generated(spec) => &spec.name,
            SuiteSpec::Rendered(spec) => spec.name(),
        }
    }

    /// The suite.
    ///
    /// # Errors
    /// [`SpecError`] if the skeletons cannot be read, or a key does not fit them.
    pub fn suite(&self) -> Result<Suite, SpecError> {
        self.suite_telling(&mut |_, _| ())
    }

    /// Like [`SuiteSpec::suite`]. Calls `tell` with the number of conversations and the number of
    /// those that are written, as they are.
    ///
    /// # Errors
    /// As [`SuiteSpec::suite`].
    pub fn suite_telling(&self, tell: &mut dyn FnMut(usize, usize)) -> Result<Suite, SpecError> {
        match self {
            SuiteSpec::Generated(spec) => {
                let mut written = 0;
                Ok(generate_telling(spec, &mut |_| {
                    written += 1;
                    tell(spec.conversations(), written);
                }))
            }
            SuiteSpec::Rendered(spec) => spec.suite(),
        }
    }
}
