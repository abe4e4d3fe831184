//! How the limits of a run are set. Each protocol is one row; plans and reports ask for what the
//! row says and name no protocol.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How limits are set.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// The same window, trigger and retained budget for all.
    #[default]
    Matched,
    /// Each strategy's own limits, stretched or shrunk by one scale.
    Published,
    /// The moments of the compactions that the recorded program made, and for each the size that it
    /// left, for all.
    Recorded,
}

/// What is known of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtocolRow {
    /// The protocol.
    pub protocol: Protocol,
    /// The name that users type and files use.
    pub name: &'static str,
    /// One line for help.
    pub about: &'static str,
    /// Whose limits it sets.
    pub limits: LimitsOf,
}

/// Whose limits a protocol sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitsOf {
    /// The run's: one context window, trigger and retained budget for all, which a sweep can vary.
    Run,
    /// Each strategy's own, times the run's scale.
    Strategy,
    /// Those of each recorded compaction, at its moment.
    Recording,
}

impl Protocol {
    /// Every protocol, in the order of the enum.
    pub const ALL: &[ProtocolRow] = &[
        ProtocolRow {
            protocol: Protocol::Matched,
            name: "matched",
            about: "one context window, trigger and retained budget for all",
            limits: LimitsOf::Run,
        },
        ProtocolRow {
            protocol: Protocol::Published,
            name: "published",
            about: "each strategy's own limits, times `--scale`",
            limits: LimitsOf::Strategy,
        },
        ProtocolRow {
            protocol: Protocol::Recorded,
            name: "recorded",
            about: "the moments and sizes of the recorded program's compactions; the default if `recorded` is among the strategies",
            limits: LimitsOf::Recording,
        },
    ];

    /// The name that users type and files use.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Whose limits it sets.
    pub const fn limits(self) -> LimitsOf {
        self.row().limits
    }

    /// Whether all rows have the run's window, trigger and retained budget. Only then can a sweep
    /// vary them.
    pub fn has_limits_of_run(self) -> bool {
        self.limits() == LimitsOf::Run
    }

    const fn row(self) -> &'static ProtocolRow {
        &Self::ALL[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::Protocol;

    #[test]
    fn each_protocol_has_its_own_row_under_the_name_that_files_use() {
        for (place, row) in Protocol::ALL.iter().enumerate() {
            assert_eq!(
                (row.protocol as usize, row.protocol.name()),
                (place, row.name)
            );
            assert_eq!(
                serde_json::to_value(row.protocol).expect("a name"),
                row.name
            );
        }
    }
}
