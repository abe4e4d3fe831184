//! When a row compacts under its own limits: at so many messages or turns, at a share of its
//! window, after a pause, or at some of these together.

use std::fmt;

use serde::{Serialize, Serializer};

/// A condition for a compaction: one of several groups of terms of which all hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Trigger(Vec<Vec<TriggerTerm>>);

#[derive(Clone, Copy, Debug, PartialEq)]
enum TriggerTerm {
    /// The view has so many messages beside the system prompt.
    Messages(usize),
    /// The agent has taken so many turns since the last compaction.
    Turns(usize),
    /// The agent has said nothing for so many minutes, after which a provider's cache is cold.
    Minutes(u32),
    /// The request has reached this share of the window.
    Share(f64),
}

/// What a trigger is held against.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    pub(crate) messages: usize,
    pub(crate) turns: usize,
    /// Since the agent's last message or result, in milliseconds; nothing where the log has no
    /// times.
    pub(crate) pause_ms: Option<i64>,
    pub(crate) request_tokens: u32,
    pub(crate) window: u32,
}

impl Trigger {
    /// The parameter as users type it.
    pub const PARAMETER: &str = "when";
    /// What it does, for lists.
    pub const ABOUT: &str = "when a compaction starts under published limits, such as `40 messages or 60 %`, `20 turns and 50 %`, or `60 minutes` \
                             without a message of the agent; under others the run's trigger counts (condition, default the strategy's own)";
    /// What values it takes, for errors.
    pub const VALUES: &str = "numbers of `messages`, `turns` or `minutes`, and shares of the context window such as `60 %` or `.6`, joined by `and` and `or`";

    /// Nothing where the text is no such condition.
    pub fn parse(text: &str) -> Option<Self> {
        let groups = text
            .split(" or ")
            .map(|group| group.split(" and ").map(TriggerTerm::parse).collect());
        groups.collect::<Option<_>>().map(Trigger)
    }

    pub(crate) fn is_met(&self, now: Now) -> bool {
        self.0
            .iter()
            .any(|group| group.iter().all(|term| term.is_met(now)))
    }

    /// The size of a request at which it may start a compaction, if it names any.
    pub(crate) fn tokens(&self, window: u32) -> Option<u32> {
        let shares = self.0.iter().flatten().filter_map(|term| match term {
            TriggerTerm::Share(share) => Some(size(*share, window)),
            _ => None,
        });
        shares.min()
    }
}

/// A unit, which may lack its last letter, and the term of a number of them.
type CountedUnit = (&'static str, fn(u32) -> TriggerTerm);

const COUNTED: [CountedUnit; 3] = [
    ("messages", |count| TriggerTerm::Messages(count as usize)),
    ("turns", |count| TriggerTerm::Turns(count as usize)),
    ("minutes", TriggerTerm::Minutes),
];

impl TriggerTerm {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        for (unit, term) in COUNTED {
            let number = text
                .strip_suffix(unit)
                .or_else(|| text.strip_suffix(&unit[..unit.len() - 1]));
            if let Some(number) = number {
                return number
                    .trim()
                    .parse()
                    .ok()
                    .filter(|count| *count > 0)
                    .map(term);
            }
        }
        let share = match text.strip_suffix('%') {
            Some(percent) => percent.trim().parse::<f64>().ok()? / 100.0,
            None => text.parse::<f64>().ok()?,
        };
        (share > 0.0 && share <= 1.0).then_some(TriggerTerm::Share(share))
    }

    fn is_met(self, now: Now) -> bool {
        match self {
            TriggerTerm::Messages(least) => now.messages >= least,
            TriggerTerm::Turns(least) => now.turns >= least,
            TriggerTerm::Minutes(least) => now
                .pause_ms
                .is_some_and(|pause| pause >= i64::from(least) * 60_000),
            TriggerTerm::Share(share) => now.request_tokens >= size(share, now.window),
        }
    }
}

fn size(share: f64, window: u32) -> u32 {
    (share * f64::from(window)) as u32
}

impl fmt::Display for Trigger {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let group = |group: &Vec<TriggerTerm>| {
            group
                .iter()
                .map(TriggerTerm::to_string)
                .collect::<Vec<_>>()
                .join(" and ")
        };
        out.write_str(&self.0.iter().map(group).collect::<Vec<_>>().join(" or "))
    }
}

impl fmt::Display for TriggerTerm {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TriggerTerm::Messages(count) => write!(out, "{count} messages"),
            TriggerTerm::Turns(count) => write!(out, "{count} turns"),
            TriggerTerm::Minutes(count) => write!(out, "{count} minutes"),
            TriggerTerm::Share(share) => write!(out, "{} %", (share * 1e6).round() / 1e4),
        }
    }
}

impl Serialize for Trigger {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_and_met() {
        let now = Now {
            messages: 40,
            turns: 9,
            pause_ms: Some(3_600_000),
            request_tokens: 600,
            window: 1_000,
        };
        for (text, shown, is_met) in [
            ("40 messages", "40 messages", true),
            ("41messages", "41 messages", false),
            ("9 turns", "9 turns", true),
            ("60 minutes", "60 minutes", true),
            ("61 minute", "61 minutes", false),
            (".6", "60 %", true),
            ("60.1 %", "60.1 %", false),
            ("10 turns or .5", "10 turns or 50 %", true),
            ("10 turns and .5", "10 turns and 50 %", false),
            (
                "10 turns and .5 or 1 message",
                "10 turns and 50 % or 1 messages",
                true,
            ),
        ] {
            let trigger = Trigger::parse(text).expect(text);
            assert_eq!(
                (trigger.to_string().as_str(), trigger.is_met(now)),
                (shown, is_met),
                "{text}"
            );
            assert_eq!(Trigger::parse(shown).expect("it reads back"), trigger);
        }
        for wrong in [
            "",
            "soon",
            "0 messages",
            "-3 turns",
            "1.5",
            "0",
            "NaN",
            "40 messages or",
            "messages",
            "3.5 turns",
            "0 minutes",
            "1 hour",
            "40",
        ] {
            assert_eq!(Trigger::parse(wrong), None, "{wrong}");
        }
        let untimed = Now {
            pause_ms: None,
            ..now
        };
        assert!(!Trigger::parse("1 minute").expect("one").is_met(untimed));
        let tokens = |text: &str| Trigger::parse(text).expect(text).tokens(1_000);
        assert_eq!((tokens(".5 or .3"), tokens("4 turns")), (Some(300), None));
    }
}
