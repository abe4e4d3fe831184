//! The documents' own forms: the plain strategies with the defects of their sources switched on, so that mending is an
//! ablation anybody can repeat. A defect is a parameter like any other; there is no second strategy.

use super::{chained, handoff, progressive, threshold_summary};
use crate::params::{ParamError, Settings};
use crate::strategy::StrategySpec;

/// A strategy as its document describes it.
pub struct Faithful {
    /// The plain form.
    pub spec: &'static StrategySpec,
    /// Parameters that differ from the plain form, and their values in the document.
    pub values: &'static [(&'static str, &'static str)],
    /// Invariants that it breaks, by their numbers in the engine's README.
    pub breaks: &'static [u8],
}

/// Every document's own form, in the order of [`super::ALL`].
pub const FAITHFUL: &[&Faithful] =
    &[&threshold_summary::FAITHFUL, &progressive::FAITHFUL, &handoff::FAITHFUL, &chained::FAITHFUL];

impl Faithful {
    /// The name that users type.
    pub fn name(&self) -> String {
        format!("{}-faithful", self.spec.name)
    }

    /// The document's own settings.
    ///
    /// # Errors
    /// [`ParamError`] where a value does not fit its parameter.
    pub fn settings(&self) -> Result<Settings, ParamError> {
        let mut settings = Settings::defaults(self.spec);
        for (name, value) in self.values {
            settings.set(self.spec, name, value)?;
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_faithful_value_differs_from_the_plain_form_and_fits() {
        for faithful in FAITHFUL {
            let settings = faithful.settings().expect("fits");
            let plain = Settings::defaults(faithful.spec);
            assert!((faithful.spec.limits)(&settings).is_ok(), "{}", faithful.name());
            for (name, value) in faithful.values {
                let mut only = Settings::defaults(faithful.spec);
                only.set(faithful.spec, name, value).expect("fits");
                assert_ne!(only, plain, "{} {name}", faithful.name());
            }
            assert!(faithful.breaks.iter().all(|number| (1..=22).contains(number)), "{}", faithful.name());
            assert!(faithful.breaks.is_sorted());
        }
    }
}
