//! A property of a suite, as manifests and summaries hold it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something measured on a suite itself, before any strategy runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Property {
    /// Its stable name.
    pub id: String,
    /// What is measured.
    pub name: String,
    /// A share from 0 to 1; absent if it is undefined.
    pub value: Option<f64>,
    /// Its upper bound; absent if the verdict depends on more than the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<f64>,
    /// Whether the suite is as it should be; absent if it cannot be decided.
    pub passed: Option<bool>,
    /// The counts behind the value, or why there is none.
    pub detail: String,
}

impl Property {
    /// A share that may be at most `most`; without a value if the whole is empty.
    pub fn share(
        id: &str,
        name: &str,
        count: usize,
        of: usize,
        most: f64,
        detail: String,
    ) -> Option<Self> {
        let value = (of > 0).then(|| count as f64 / of as f64)?;
        Some(Property::judged(
            id,
            name,
            value,
            Some(most),
            Some(value <= most),
            detail,
        ))
    }

    /// A value with its verdict. It is kept with nine decimals, so that it reads back to the same
    /// bits everywhere.
    pub fn judged(
        id: &str,
        name: &str,
        value: f64,
        most: Option<f64>,
        passed: Option<bool>,
        detail: String,
    ) -> Self {
        let value = Some((value * 1e9).round() / 1e9);
        Property {
            id: id.to_owned(),
            name: name.to_owned(),
            value,
            most,
            passed,
            detail,
        }
    }

    /// A property that this suite does not have.
    pub fn untold(id: &str, name: &str, why: &str) -> Self {
        let detail = format!("not applicable: {why}");
        Property {
            id: id.to_owned(),
            name: name.to_owned(),
            value: None,
            most: None,
            passed: None,
            detail,
        }
    }

    /// One line: value, bound, verdict and counts.
    pub fn line(&self) -> String {
        let Some(value) = self.value else {
            return format!("{}: {}", self.name, self.detail);
        };
        let most = self
            .most
            .map(|most| format!(", at most {most}"))
            .unwrap_or_default();
        let verdict = match self.passed {
            Some(true) => ", holds",
            Some(false) => ", FAILS",
            None if self.most.is_some() => ", cannot be told",
            None => "",
        };
        format!("{}: {value:.3}{most}{verdict} ({})", self.name, self.detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_value_bound_and_verdict() {
        let share = |count| {
            Property::share("p", "a share", count, 4, 0.25, format!("{count} of 4"))
                .expect("of four")
        };
        assert_eq!(
            share(1).line(),
            "a share: 0.250, at most 0.25, holds (1 of 4)"
        );
        assert_eq!(
            share(2).line(),
            "a share: 0.500, at most 0.25, FAILS (2 of 4)"
        );
        assert_eq!(
            Property::share("p", "a share", 0, 0, 0.25, String::new()),
            None
        );
        assert_eq!(
            Property::untold("p", "a share", "no parts").line(),
            "a share: not applicable: no parts"
        );
    }
}
