//! How many tokens a session may hold, and how a compaction splits them.

pub mod estimate;

use serde::{Deserialize, Serialize};

use crate::budget::estimate::Estimator;

/// Token limits of one session, on the measuring scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Budget {
    /// The target model's context window.
    pub window: u32,
    /// Whether the window is a guess of ours beside a source's trigger, so that no request is
    /// refused for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub assumed_window: bool,
    /// Size of the next request at which a compaction starts; 0 is never.
    pub trigger: u32,
    /// What a compaction may leave beside the system prompt and the pending part; none where a
    /// strategy's own limits rule.
    pub retained: Option<u32>,
    /// How much is kept verbatim.
    pub tail: Tail,
    /// Most tokens that the strategy writes.
    pub written: u32,
    /// What the trigger is compared with.
    #[serde(default, skip_serializing_if = "Estimator::is_exact")]
    pub estimator: Estimator,
}

/// How much of the recent conversation is kept verbatim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Tail {
    /// As many whole messages as fit that many tokens.
    Tokens(u32),
    /// That many messages.
    Messages(u32),
}

/// What a strategy's source fixes, in tokens of its own window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The context window that the source has in mind.
    pub window: u32,
    /// Whether the source names none, and nobody else did: see [`Budget::assumed_window`].
    pub assumed_window: bool,
    /// Size of the next request at which a compaction starts; 0 is never.
    pub trigger: u32,
    /// How much is kept verbatim.
    pub tail: Tail,
    /// Most tokens that the strategy writes.
    pub written: u32,
    /// What the source compares with its trigger.
    pub estimator: Estimator,
}

/// Mean tokens of a message, for setting a tail in messages beside one in tokens: measured as 232
/// over the Claude Code sessions that the importer is tested on (tau-bench: 108).
pub(crate) const TOKENS_PER_MESSAGE: u32 = 232;

impl Limits {
    /// The share of what is kept and written that is kept.
    pub fn tail_share(&self) -> f64 {
        let tail = match self.tail {
            Tail::Tokens(tokens) => tokens,
            Tail::Messages(messages) => messages.saturating_mul(TOKENS_PER_MESSAGE),
        };
        f64::from(tail) / (f64::from(tail) + f64::from(self.written)).max(1.0)
    }
}

impl Budget {
    /// The token limit of each of two answers that share `written`: at least 1, since providers
    /// refuse a limit of 0.
    pub(crate) fn half_of_written(&self) -> u32 {
        (self.written / 2).max(1)
    }

    /// The context window beyond which a provider would refuse a request, if there is one.
    pub fn binding_window(&self) -> Option<u32> {
        (!self.assumed_window).then_some(self.window)
    }

    /// The same window, trigger and retained budget for every strategy; the tail gets `tail_share`
    /// of what is retained.
    ///
    /// # Errors
    /// [`BudgetError`] where the parts do not fit into each other.
    ///
    /// ```
    /// use compactometer_engine::budget::{Budget, Tail};
    ///
    /// // A window of 12,000 tokens: compact at 9,600, leave at most 3,600, a quarter of them verbatim.
    /// let budget = Budget::matched(12_000, 9_600, 3_600, 0.25)?;
    /// assert_eq!((budget.tail, budget.written), (Tail::Tokens(900), 2_700));
    /// assert!(Budget::matched(12_000, 9_600, 9_600, 0.25).is_err(), "a compaction has to leave less than starts it");
    /// # Ok::<(), compactometer_engine::budget::BudgetError>(())
    /// ```
    pub fn matched(
        window: u32,
        trigger: u32,
        retained: u32,
        tail_share: f64,
    ) -> Result<Self, BudgetError> {
        if retained >= trigger {
            let why = format!(
                "retained budget `{retained}` must be under the trigger, `{trigger}` tokens"
            );
            return Err(BudgetError(why));
        }
        let tail = (f64::from(retained) * tail_share.clamp(0.0, 1.0)).floor() as u32;
        Budget {
            window,
            assumed_window: false,
            trigger,
            retained: Some(retained),
            tail: Tail::Tokens(tail),
            written: retained - tail,
            estimator: Estimator::Exact,
        }
        .checked()
    }

    /// A strategy's own limits, shrunk or stretched by `scale`; a tail in messages stays as it is.
    ///
    /// # Errors
    /// As [`Budget::matched`].
    pub fn published(limits: Limits, scale: f64) -> Result<Self, BudgetError> {
        let scaled = |tokens: u32| (f64::from(tokens) * scale).round() as u32;
        let tail = match limits.tail {
            Tail::Tokens(tokens) => Tail::Tokens(scaled(tokens)),
            messages @ Tail::Messages(_) => messages,
        };
        let (window, trigger, written) = (
            scaled(limits.window),
            scaled(limits.trigger),
            scaled(limits.written),
        );
        let Limits {
            assumed_window,
            estimator,
            ..
        } = limits;
        let budget = Budget {
            window,
            assumed_window,
            trigger,
            retained: None,
            tail,
            written,
            estimator,
        };
        if limits.trigger == 0 {
            Ok(budget)
        } else {
            budget.checked()
        }
    }

    fn checked(self) -> Result<Self, BudgetError> {
        let Budget {
            window, trigger, ..
        } = self;
        if (1..=window).contains(&trigger) {
            return Ok(self);
        }
        Err(BudgetError(format!(
            "trigger `{trigger}` must lie between 1 and the context window, `{window}` tokens"
        )))
    }
}

/// Limits that contradict each other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BudgetError(String);
