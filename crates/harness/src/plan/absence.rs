//! After how long a user counts as back from an absence, so that the session shows the latest
//! checkpoint.

use compactometer_engine::recovery::Recovery;
use serde::Serialize;

/// Hours without a message; 0 is never.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Absence(f64);

impl Absence {
    /// The parameter as users type it.
    pub const PARAMETER: &str = "absence";
    /// What it does, for lists.
    pub const ABOUT: &str = "hours without a message after which the latest checkpoint is shown; 0 is never (hours, default 8, 0 to 100000)";
    /// What values it takes, for errors.
    pub const VALUES: &str = "a number of hours from 0 to 100000, where 0 is never";

    /// Nothing where the text is no such number.
    pub fn parse(text: &str) -> Option<Self> {
        text.trim()
            .parse::<f64>()
            .ok()
            .filter(|hours| (0.0..=100_000.0).contains(hours))
            .map(Absence)
    }

    /// The hours as a number.
    pub fn hours(self) -> f64 {
        self.0
    }

    /// The session's setting.
    pub(crate) fn within(self, recovery: Recovery) -> Recovery {
        const HOUR_MS: f64 = 3_600_000.0;
        Recovery {
            absence_ms: (self.0 > 0.0).then_some((self.0 * HOUR_MS) as i64),
            ..recovery
        }
    }
}
