//! Profiles of the mock: what kind of summarizer it stands for. One row each; further profiles are further rows.
//!
//! Scores are log-odds of being written at a middling budget, so that a measured rate turns into a weight by a logarithm.
//! "Assumed" marks what no measurement backs; "measured" what aggregates of real
//! summaries say (the data set lost-in-compaction, 8be3154; latencies from claude-code-viewer, 9367cf0).

/// Every profile; the first is the default.
pub const ALL: &[&Profile] = &[&STRONG];

/// How a mock reads, selects and writes.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The name users type after `mock:`.
    pub name: &'static str,
    /// Least and most share of the asked-for length that it uses; drawn anew for each material and seed.
    pub fill: (f64, f64),
    /// Tokens it writes where neither the prompt nor the request names a limit.
    pub default_tokens: u32,
    /// Scale of the logistic noise on a statement's score.
    pub noise: f64,
    /// Statements that score lower are not written, whatever room is left.
    pub floor: f64,
    /// Words of a statement beyond which it keeps the best clauses alone.
    pub most_words: usize,
    /// What makes a statement worth writing.
    pub weights: Weights,
    /// Least share of a question's weight that a statement must cover to be given as the answer, from 0 to 1.
    pub answer_threshold: f64,
    /// Median latency of a call, in milliseconds.
    pub latency_p50_ms: f64,
    /// 95th percentile of the latency of a call, in milliseconds.
    pub latency_p95_ms: f64,
}

/// Weights of generic salience, in log-odds.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// Terms that are rare in the request; times a share from 0 to 1.
    pub rare: f64,
    /// The first identifier, number or path of a sentence; further ones, up to three, count a third each.
    pub value: f64,
    /// Words of obligation, choice, preference or need; halved for the first, whole from the second on.
    pub modality: f64,
    /// A user who speaks of himself.
    pub first_person: f64,
    /// Said by the user rather than by the assistant.
    pub user: f64,
    /// Returned by a tool, or an argument of a call.
    pub tool: f64,
    /// Added to `tool` where the prompt asks to leave tool output out.
    pub tool_excluded: f64,
    /// Logs, code, JSON and the like rather than sentences.
    pub structured: f64,
    /// Fewer than four or more than sixty words.
    pub odd_length: f64,
    /// Questions: what is asked matters less than what is settled.
    pub question: f64,
    /// Part of an earlier summary.
    pub earlier_summary: f64,
    /// The place in the material, by fifths.
    pub position: [f64; 5],
}

/// A capable summarizer: keeps to limits, reads all of the material, writes what matters. It reads every position alike
/// (assumed), so it has no read curve.
pub const STRONG: Profile = Profile {
    name: "strong",
    // Assumed. Measured calls on a 20 % target wrote 0.5-1.2 % of their input (p10-p90), which would make the budget moot.
    fill: (0.85, 1.0),
    // Measured: single calls wrote about 500 tokens whatever was asked.
    default_tokens: 500,
    // Assumed: with position in measured log-odds, a logistic of scale 1 is the consistent choice. The measured pairs (kept
    // by both of two runs 55, by one 119 of 1,015) tell that selection is about this noisy.
    noise: 1.0,
    // Assumed.
    floor: -2.0,
    // Assumed.
    most_words: 28,
    weights: Weights {
        // Assumed, all down to `earlier_summary`. Measured role rates (user .113, assistant -.001, chance-corrected) are a
        // keyword proxy that undercounts paraphrase, so only their direction is taken.
        rare: 1.0,
        value: 1.2,
        modality: 1.5,
        first_person: 0.4,
        user: 1.0,
        tool: -3.0,
        tool_excluded: -2.0,
        structured: -4.0,
        odd_length: -1.5,
        question: -2.0,
        earlier_summary: 0.8,
        // Measured: survival by fifths .060 .045 .082 .074 .119, as log of each over their mean; intervals overlap.
        position: [-0.24, -0.52, 0.08, -0.03, 0.45],
    },
    // Assumed.
    answer_threshold: 0.4,
    // Measured on 197 agent turns of a coding agent; assumed for compaction calls.
    latency_p50_ms: 2_900.0,
    latency_p95_ms: 9_500.0,
};

/// The profile of that name.
pub fn by_name(name: &str) -> Option<&'static Profile> {
    ALL.iter().copied().find(|profile| profile.name == name)
}
