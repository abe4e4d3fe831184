//! Profiles of the mock: what kind of model it stands for. One row each; further profiles are further rows.
//!
//! Scores are log-odds of being written at a middling budget, so that a measured rate turns into a weight by a logarithm.
//! Each parameter carries where it comes from, and "assumed" where no measurement backs it. "Measured" means aggregates of
//! real summaries (the data set lost-in-compaction, 8be3154; latencies from claude-code-viewer, 9367cf0) or of a small real
//! model run here. Absent on purpose: a context window. No request is too long for the mock.

/// Every profile; the first is the default.
pub const ALL: &[&Profile] = &[&STRONG, &PERFECT_READER, &WEAK, &LOST_IN_THE_MIDDLE, &CONTINUES_CHAT, &PARAPHRASER];

/// A parameter with where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Param<T> {
    /// The value.
    pub value: T,
    /// The source, or what it is assumed to be.
    pub source: &'static str,
}

const fn assumed<T>(value: T) -> Param<T> {
    Param { value, source: "assumed" }
}

const fn of<T>(value: T, source: &'static str) -> Param<T> {
    Param { value, source }
}

/// How a mock reads, selects and writes.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The name users type after `mock:`.
    pub name: &'static str,
    /// One line for help and lists.
    pub about: &'static str,
    /// Chance that a statement is read at all, by fifths of what is given; for summaries and answers.
    pub read: Param<[f64; 5]>,
    /// Least and most share of the asked-for length that it uses; drawn anew for each material and seed.
    pub fill: Param<(f64, f64)>,
    /// Tokens it writes where neither the prompt nor the request names a limit.
    pub default_tokens: Param<u32>,
    /// Scale of the logistic noise on a statement's score.
    pub noise: Param<f64>,
    /// Statements that score lower are not written, whatever room is left.
    pub floor: Param<f64>,
    /// Words of a statement beyond which it keeps the best clauses alone.
    pub most_words: Param<usize>,
    /// What makes a statement worth writing; assumed, but for the position.
    pub weights: Weights,
    /// Added to a score for its place in the material, by fifths, in log-odds.
    pub position: Param<[f64; 5]>,
    /// Share of the written statements that are put in other words.
    pub reworded: Param<f64>,
    /// Chance that a reworded statement leaves an exact value out.
    pub value_omitted: Param<f64>,
    /// Chance of going on with the chat where the request ends on its instruction.
    pub continues: Param<f64>,
    /// The same where the conversation follows the instruction, and nothing follows the conversation.
    pub continues_open: Param<f64>,
    /// Faults of form that its replies have, as they are typed after `mock+`.
    pub faults: Param<&'static str>,
    /// Least share of a question's weight that a statement must cover to be given as the answer, from 0 to 1.
    pub answer_threshold: Param<f64>,
    /// Median and 95th percentile of the latency of a call, in milliseconds.
    pub latency_ms: Param<(f64, f64)>,
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
}

/// A capable summarizer: keeps to limits, reads all of the material, writes what matters.
pub const STRONG: Profile = Profile {
    name: "strong",
    about: "reads all, keeps to limits, writes what matters",
    read: of([1.0; 5], "assumed; one strong model read 90 % early, 77 % in the middle, 100 % late of 190,000 tokens"),
    fill: of((0.85, 1.0), "assumed; measured calls wrote 0.5 to 1.2 % of their input at a target of 20 %"),
    default_tokens: of(500, "measured: single calls wrote about 500 tokens whatever was asked"),
    noise: of(
        1.0,
        "assumed; of 1,015 measured pairs of runs both kept 55 facts and one kept 119, so selection is noisy",
    ),
    floor: assumed(-2.0),
    most_words: assumed(28),
    weights: Weights {
        // Measured role rates (user .113, assistant -.001, chance-corrected) are a keyword proxy that undercounts
        // paraphrase, so only their direction is taken.
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
    },
    position: of(
        [-0.24, -0.52, 0.08, -0.03, 0.45],
        "measured: survival by fifths .060 .045 .082 .074 .119, as log of each over their mean; intervals overlap",
    ),
    reworded: assumed(0.0),
    value_omitted: assumed(0.0),
    continues: assumed(0.0),
    continues_open: assumed(0.0),
    faults: assumed(""),
    answer_threshold: assumed(0.4),
    latency_ms: of((2_900.0, 9_500.0), "measured on 197 agent turns of a coding agent; assumed for compaction calls"),
};

/// No noise, no curve, every limit used up: what selection by salience can do at best.
pub const PERFECT_READER: Profile = Profile {
    name: "perfect-reader",
    about: "reads all, without noise, and uses every limit up: a bound, no model",
    read: of([1.0; 5], "assumed: a bound"),
    fill: of((1.0, 1.0), "assumed: a bound"),
    noise: of(0.0, "assumed: a bound"),
    floor: of(f64::NEG_INFINITY, "assumed: a bound"),
    most_words: of(usize::MAX, "assumed: a bound"),
    position: of([0.0; 5], "assumed: a bound"),
    answer_threshold: of(0.0, "assumed: a bound"),
    ..STRONG
};

/// A small model: misses much of what it is given, and its form fails often.
pub const WEAK: Profile = Profile {
    name: "weak",
    about: "misses much, is noisy, and loses the form that was asked for",
    read: of(
        [0.59, 0.52, 0.40, 0.58, 0.84],
        "measured: one small hosted model's recall of 190,000 tokens by tenths (1,692 questions), in pairs",
    ),
    fill: assumed((0.4, 1.0)),
    noise: assumed(2.0),
    default_tokens: assumed(300),
    faults: of(
        "missing-section=0.3,malformed-json=0.1,example-leak=0.6",
        "measured: of 10 checkpoints of a model of 0.5 billion weights 3 were missing, 1 was malformed, 6 held the example",
    ),
    answer_threshold: assumed(0.5),
    ..STRONG
};

/// Reads the start and the end better than what stands between.
pub const LOST_IN_THE_MIDDLE: Profile = Profile {
    name: "lost-in-the-middle",
    about: "reads the start and the end better than the middle",
    read: of(
        [0.758, 0.572, 0.538, 0.554, 0.632],
        "Liu et al. 2023 (arXiv 2307.03172): GPT-3.5-Turbo, 20 documents, accuracy by place; for summaries assumed",
    ),
    ..STRONG
};

/// Takes the conversation for its own and goes on with it.
pub const CONTINUES_CHAT: Profile = Profile {
    name: "continues-chat",
    about: "goes on with the chat in place of a summary",
    continues: of(0.17, "measured: 100 of 471 and 101 of 796 outputs of two models were no summaries; between the two"),
    continues_open: of(
        1.0,
        "measured: all 24 of a set-up whose instruction came first and nothing after the transcript",
    ),
    ..STRONG
};

/// Says things in other words, and not always with the exact value.
pub const PARAPHRASER: Profile = Profile {
    name: "paraphraser",
    about: "puts statements in other words and leaves exact values out at times",
    reworded: assumed(0.8),
    value_omitted: assumed(0.3),
    ..STRONG
};

/// The profile of that name.
pub fn by_name(name: &str) -> Option<&'static Profile> {
    ALL.iter().copied().find(|profile| profile.name == name)
}

/// A parameter as lists show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: String,
    /// Where the value comes from, or "assumed".
    pub source: &'static str,
}

impl Profile {
    /// Whether nothing that is given is overlooked.
    pub(super) fn reads_all(&self) -> bool {
        self.read.value.iter().all(|chance| *chance >= 1.0)
    }

    /// Every parameter with its value and source.
    pub fn parameters(&self) -> Vec<Row> {
        // Taken apart by name, so that a parameter cannot be left out.
        let Profile { name: _, about: _, read, fill, default_tokens, noise, floor, .. } = self;
        let Profile { most_words, weights, position, reworded, value_omitted, continues, .. } = self;
        let Profile { continues_open, faults, answer_threshold, latency_ms, .. } = self;
        let mut rows = vec![
            row("read", read),
            row("fill", fill),
            row("default_tokens", default_tokens),
            row("noise", noise),
            row("floor", floor),
            row("most_words", most_words),
            row("position", position),
            row("reworded", reworded),
            row("value_omitted", value_omitted),
            row("continues", continues),
            row("continues_open", continues_open),
            row("faults", faults),
            row("answer_threshold", answer_threshold),
            row("latency_ms", latency_ms),
        ];
        let of_weight = |(name, value): (&'static str, f64)| row(name, &assumed(value));
        rows.extend(weights.named().map(of_weight));
        rows
    }
}

fn row<T: std::fmt::Debug>(name: &'static str, param: &Param<T>) -> Row {
    Row { name, value: format!("{:?}", param.value), source: param.source }
}

impl Weights {
    /// Each weight by its name.
    pub fn named(&self) -> [(&'static str, f64); 11] {
        let mut copy = self.clone();
        copy.named_mut().map(|(name, value)| (name, *value))
    }

    /// The same, to be changed.
    pub(crate) fn named_mut(&mut self) -> [(&'static str, &mut f64); 11] {
        [
            ("weight rare", &mut self.rare),
            ("weight value", &mut self.value),
            ("weight modality", &mut self.modality),
            ("weight first_person", &mut self.first_person),
            ("weight user", &mut self.user),
            ("weight tool", &mut self.tool),
            ("weight tool_excluded", &mut self.tool_excluded),
            ("weight structured", &mut self.structured),
            ("weight odd_length", &mut self.odd_length),
            ("weight question", &mut self.question),
            ("weight earlier_summary", &mut self.earlier_summary),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_names_its_source() {
        for profile in ALL {
            let rows = profile.parameters();
            assert_eq!(rows.len(), 14 + 11);
            for row in rows {
                let is_told = ["assumed", "measured", "Liu et al."].iter().any(|word| row.source.starts_with(word));
                assert!(is_told, "{} {}: {}", profile.name, row.name, row.source);
            }
        }
    }
}
