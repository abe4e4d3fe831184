//! What a run is made of: a conversation, the summarizer's answers, limits and ways of asking.

use compactometer_engine::budget::{Budget, Limits};
use compactometer_engine::estimate::Estimator;
use compactometer_engine::params::Settings;
use compactometer_engine::session::{Policy, SessionConfig};
use compactometer_engine::strategies;
use compactometer_engine::strategy::StrategySpec;
use proptest::prelude::*;

use crate::invariants::conversation::{Opening, Step, opening, step};
use crate::invariants::model::{Answer, answer};

/// All that a run is made of.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) opening: Opening,
    pub(crate) steps: Vec<Step>,
    pub(crate) answers: Vec<Answer>,
    pub(crate) setting: Setting,
}

/// Limits and ways of asking.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    /// The source's own limits, scaled, in place of one budget for all.
    pub(crate) published: bool,
    /// Whether the summarizer's window binds.
    pub(crate) narrow: bool,
    /// Tokens beside the view.
    pub(crate) overhead: u32,
    /// Whether a compaction is asked for once more after each that was applied.
    pub(crate) insists: bool,
    /// Whether tokens are those of an encoding.
    pub(crate) exact: bool,
    /// Messages that are said while a compaction is prepared in the background; 0 where each is
    /// decided in place.
    pub(crate) meanwhile: usize,
    /// Most tokens of a ledger beside the strategy; 0 if there is none.
    pub(crate) ledger: u32,
    /// The place in `strategies::ALL` of the strategy that is asked before this one, if there is
    /// one.
    pub(crate) first: Option<usize>,
}

pub(crate) fn case() -> impl Strategy<Value = Case> {
    let overhead = prop_oneof![6 => Just(0), 1 => Just(300), 1 => Just(TRIGGER + 50)];
    let exact = prop::bool::weighted(0.01);
    let meanwhile = prop_oneof![3 => Just(0), 1 => 1_usize..5];
    let ledger = prop_oneof![2 => Just(0), 1 => 1_u32..150];
    let first = prop_oneof![3 => Just(None), 1 => (0..strategies::ALL.len()).prop_map(Some)];
    let setting = (
        any::<bool>(),
        any::<bool>(),
        overhead,
        any::<bool>(),
        exact,
        meanwhile,
        ledger,
        first,
    )
        .prop_map(
            |(published, narrow, overhead, insists, exact, meanwhile, ledger, first)| Setting {
                published,
                narrow,
                overhead,
                insists,
                exact,
                meanwhile,
                ledger,
                first,
            },
        );
    let steps = prop::collection::vec(step(), 1..40);
    (
        opening(),
        steps,
        prop::collection::vec(answer(), 1..4),
        setting,
    )
        .prop_map(|(opening, steps, answers, setting)| Case {
            opening,
            steps,
            answers,
            setting,
        })
}

const WINDOW: u32 = 1_000;
const TRIGGER: u32 = 800;
/// Holds a prompt and an answer, and of a long conversation only pieces.
const SUMMARIZER_WINDOW: u32 = 1_200;

/// A strategy's settings and a session's limits, both scaled to the same window.
pub(crate) fn limits(spec: &StrategySpec, setting: Setting) -> (Settings, SessionConfig) {
    let settings = Settings::defaults(spec);
    let limits = (spec.limits)(&settings).unwrap();
    let scale = f64::from(WINDOW) / f64::from(limits.window);
    let budget = if setting.published {
        Budget::published(
            Limits {
                estimator: Estimator::Exact,
                ..limits
            },
            scale,
        )
        .unwrap()
    } else {
        Budget::matched(WINDOW, TRIGGER, 300, limits.tail_share()).unwrap()
    };
    let config = SessionConfig {
        budget,
        overhead: setting.overhead,
        summarizer_window: setting.narrow.then_some(SUMMARIZER_WINDOW),
        automatic: true,
        policy: Policy::Enforce,
    };
    (settings.scaled(spec, scale), config)
}
