//! What a ledger knows of a value, and how much it expects the next calls to need it.

use super::LedgerKind;
use crate::message::MessageId;

/// How a value was mentioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueMention {
    /// A call took it as an address.
    Call,
    /// The agent wrote it into a longer argument.
    Written,
    /// The agent said it.
    Agent,
    /// The user said it.
    User,
    /// A tool returned it.
    Result,
}

/// Whose word for a value counts most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// Only results of tools and the agent's program have it.
    Results,
    /// The agent said it or passed it to a tool.
    Agent,
    /// The user said it.
    User,
}

impl ValueMention {
    fn source(self) -> Source {
        match self {
            ValueMention::Result => Source::Results,
            ValueMention::Call | ValueMention::Written | ValueMention::Agent => Source::Agent,
            ValueMention::User => Source::User,
        }
    }

    /// What one mention is worth. A call that took a value foretells the next use better than
    /// anything else; most of what tools return beside paths is never needed again.
    fn weight(self, kind: LedgerKind) -> f64 {
        match self {
            ValueMention::Call => 8.0,
            ValueMention::Result if kind != LedgerKind::Path => 0.25,
            ValueMention::Written
            | ValueMention::Agent
            | ValueMention::User
            | ValueMention::Result => 1.0,
        }
    }
}

/// After so many calls a mention counts half as much.
const HALF_LIFE: f64 = 100.0;

/// What is known of a value.
#[derive(Clone, Debug)]
pub(super) struct KnownValue {
    pub(super) kind: LedgerKind,
    /// The message that said it first.
    pub(super) first: MessageId,
    /// The number of calls that took it.
    pub(super) calls: u32,
    /// Whether user or agent said it.
    pub(super) is_stated: bool,
    pub(super) source: Source,
    /// What it belongs to: the tool and argument that took it last, the words around its first
    /// mention by user or agent, or the name that a result gives it.
    pub(super) bound: Box<str>,
    /// Whether that is a tool and an argument.
    pub(super) is_bound_to_call: bool,
    /// What is before it where user or agent said it last.
    pub(super) subject: Option<Box<str>>,
    weight: f64,
    /// The number of calls before its last mention.
    pub(super) last: u32,
}

impl KnownValue {
    pub(super) fn new(kind: LedgerKind, first: MessageId) -> Self {
        let bound = Box::default();
        KnownValue {
            kind,
            first,
            calls: 0,
            is_stated: false,
            source: Source::Results,
            bound,
            is_bound_to_call: false,
            subject: None,
            weight: 0.0,
            last: 0,
        }
    }

    /// Counts a mention after that many calls.
    pub(super) fn mention(&mut self, mention: ValueMention, now: u32) {
        self.weight = self.weight_at(now) + mention.weight(self.kind);
        self.last = now;
        self.calls += u32::from(mention == ValueMention::Call);
        self.is_stated |= matches!(mention, ValueMention::User | ValueMention::Agent);
        self.source = self.source.max(mention.source());
    }

    /// Whether it is worth a line. A time in a result, and a number among other numbers, belong to
    /// nothing.
    pub(super) fn may_be_needed(&self) -> bool {
        let is_taken_up = self.calls > 0 || self.is_stated;
        match self.kind {
            LedgerKind::Time => is_taken_up,
            LedgerKind::Number => is_taken_up || self.bound.contains(char::is_alphabetic),
            LedgerKind::Path | LedgerKind::Url | LedgerKind::Id => true,
        }
    }

    /// Its weight after that many calls.
    pub(super) fn weight_at(&self, now: u32) -> f64 {
        self.weight * libm::exp2(-f64::from(now - self.last) / HALF_LIFE)
    }

    /// A call took it. What it is for says more than the words of its first mention; a path needs
    /// neither.
    pub(super) fn bind_to_call(&mut self, tool: &str, argument: &str) {
        if self.kind != LedgerKind::Path {
            let bound = if argument.is_empty() {
                tool.to_owned()
            } else {
                format!("{tool}.{argument}")
            };
            (self.bound, self.is_bound_to_call) = (bound.into(), true);
        }
    }

    /// User or agent say it among these words. Call before the mention is counted: words of theirs
    /// replace the name that a result gave it.
    pub(super) fn bind_to_words(&mut self, words: impl FnOnce() -> String) {
        let is_free = !self.is_stated && !self.is_bound_to_call;
        if is_free || self.bound.is_empty() {
            self.bound = words().into();
        }
    }

    /// A result gives it this name.
    pub(super) fn bind_to_name(&mut self, name: impl FnOnce() -> Option<String>) {
        if self.bound.is_empty() {
            self.bound = name().unwrap_or_default().into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mention_counts_half_after_a_hundred_calls_and_a_new_one_adds_to_it() {
        let mut value = KnownValue::new(LedgerKind::Id, MessageId(1));
        value.mention(ValueMention::Call, 10);
        assert_eq!(
            [10, 110, 210].map(|now| value.weight_at(now)),
            [8.0, 4.0, 2.0]
        );
        value.mention(ValueMention::User, 110);
        assert_eq!(value.weight_at(110), 5.0);
    }
}
