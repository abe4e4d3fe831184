//! Profiles of the mock: the kinds of model that it simulates. Each profile is one constant.
//!
//! Scores are log-odds of being written at a medium budget, so that the logarithm turns a measured
//! rate into a weight. Each parameter has a source, which is "assumed" if no measurement supports
//! it. "Measured" refers to aggregates of real summaries (the data set lost-in-compaction, 8be3154;
//! latencies from claude-code-viewer, 9367cf0) or to a run of a small real model for this project.
//! "Fitted" refers to what `studies/fit` prints. Absent on purpose: a context window. No request is
//! too long for the mock.

/// All profiles. The first is the default.
pub const ALL: &[&Profile] = &[
    &CLAUDE_CODE,
    &STRONG,
    &PERFECT_READER,
    &WEAK,
    &LOST_IN_THE_MIDDLE,
    &CONTINUES_CHAT,
    &PARAPHRASER,
    &LOST_IN_COMPACTION_LENGTH,
    &CLAUDE_CODE_LENGTH,
];

/// A parameter with its source.
#[derive(Clone, Debug, PartialEq)]
pub struct Param<T> {
    /// The value.
    pub value: T,
    /// The source, or the reason for an assumption.
    pub source: &'static str,
}

const fn assumed<T>(value: T) -> Param<T> {
    Param {
        value,
        source: "assumed",
    }
}

const fn param<T>(value: T, source: &'static str) -> Param<T> {
    Param { value, source }
}

/// How a mock reads, selects and writes.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The name users type after `mock:`.
    pub name: &'static str,
    /// One line for help and lists.
    pub about: &'static str,
    /// The probability that a statement is read at all, by fifths of the material; for summaries
    /// and answers.
    pub read: Param<[f64; 5]>,
    /// The smallest and largest share of the requested length that it uses, drawn for each material
    /// and seed.
    pub fill: Param<(f64, f64)>,
    /// The smallest and largest number of tokens of its replies where neither the prompt nor the
    /// request allows less, drawn for each material and seed. Without it, a reply uses the room
    /// that it is given.
    pub own_tokens: Param<Option<(u32, u32)>>,
    /// The largest share of its material that such a reply has.
    pub most_share: Param<f64>,
    /// The number of tokens that it writes if neither the prompt nor the request sets a limit.
    pub default_tokens: Param<u32>,
    /// The scale of the logistic noise on a statement's score.
    pub noise: Param<f64>,
    /// Statements with a lower score are not written, however much room is left.
    pub floor: Param<f64>,
    /// A statement with more words than this is reduced to its best clauses.
    pub most_words: Param<usize>,
    /// The features that make a statement worth writing. All are assumed except those that `fitted`
    /// names.
    pub weights: Weights,
    /// The weights that are not assumed.
    pub fitted: Param<&'static [Fitted]>,
    /// Added to a score for the statement's position in the material, by fifths, in log-odds.
    pub position: Param<[f64; 5]>,
    /// The share of the written statements that are paraphrased.
    pub reworded: Param<f64>,
    /// The probability that a paraphrased statement omits an exact value.
    pub value_omitted: Param<f64>,
    /// The probability that an absolute path is named relative to the folder that most of the
    /// material's are in.
    pub relative: Param<f64>,
    /// The probability of continuing the chat if the request ends with its instruction.
    pub continues: Param<f64>,
    /// The probability of continuing the chat if the request ends with the conversation.
    pub continues_open: Param<f64>,
    /// Faults of form in its replies, as typed after `mock+`.
    pub faults: Param<&'static str>,
    /// The smallest share of a question's weight that a statement must cover to be the answer, from
    /// 0 to 1.
    pub answer_threshold: Param<f64>,
    /// The median and 95th percentile of a call's latency, in milliseconds.
    pub latency_ms: Param<(f64, f64)>,
}

/// A weight that was fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fitted {
    /// The weight's name, without its prefix.
    pub name: &'static str,
    /// Its standard error, in log-odds.
    pub error: f64,
}

const fn fit(name: &'static str, error: f64) -> Fitted {
    Fitted { name, error }
}

/// Weights of generic salience, in log-odds.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// Terms that are rare in the request, multiplied by a share from 0 to 1.
    pub rare: f64,
    /// The first identifier, number or path of a sentence. Up to three more count a third each.
    pub value: f64,
    /// Added to `value` if the value is a path.
    pub path: f64,
    /// Added to `value` if the value is a number, hash or other opaque text; a name adds nothing.
    pub opaque: f64,
    /// For each unit of the natural logarithm of the number of statements with the value. The value
    /// that adds most counts.
    pub repeated: f64,
    /// Words of obligation, choice, preference or need: half for one word, full from two on.
    pub modality: f64,
    /// A user who refers to themselves.
    pub first_person: f64,
    /// Typed by the user instead of written by the assistant.
    pub user: f64,
    /// Part of a user's message of more than 600 characters.
    pub pasted: f64,
    /// Returned by a tool, or an argument of a call.
    pub tool: f64,
    /// Added to `tool` if the prompt asks to leave tool output out.
    pub tool_excluded: f64,
    /// Logs, code, JSON and similar instead of sentences.
    pub structured: f64,
    /// Fewer than four or more than sixty words.
    pub odd_length: f64,
    /// Questions, because a question matters less than its answer.
    pub question: f64,
    /// Part of an earlier summary.
    pub earlier_summary: f64,
}

/// A capable summarizer: it keeps to limits, reads all of the material and writes what matters.
pub const STRONG: Profile = Profile {
    name: "strong",
    about: "reads all, keeps to limits, and writes what matters by general signs",
    read: param(
        [1.0; 5],
        "assumed; one strong model read 90 % early, 77 % in the middle, 100 % late of 190,000 tokens",
    ),
    fill: param(
        (0.85, 1.0),
        "assumed, and more than was measured: calls asked for 20 % of their input wrote 0.5 to 1.2 % of it, as \
         `lost-in-compaction-length` does",
    ),
    own_tokens: assumed(None),
    most_share: assumed(1.0),
    default_tokens: param(
        500,
        "measured: single calls wrote about 500 tokens whatever was asked; here only where nothing limits a reply",
    ),
    noise: param(
        1.0,
        "assumed; of 1,015 measured pairs of runs both kept 55 facts and one kept 119, so selection is noisy",
    ),
    floor: assumed(-2.0),
    most_words: assumed(28),
    weights: Weights {
        // Only the direction of the measured role rates is used (user .113, assistant -.001,
        // chance-corrected), because they come from a keyword proxy that undercounts paraphrases.
        rare: 1.0,
        value: 1.2,
        path: 0.0,
        opaque: 0.0,
        repeated: 0.0,
        modality: 1.5,
        first_person: 0.4,
        user: 1.0,
        pasted: 1.0,
        tool: -3.0,
        tool_excluded: -2.0,
        structured: -4.0,
        odd_length: -1.5,
        question: -2.0,
        earlier_summary: 0.8,
    },
    fitted: assumed(&[]),
    position: param(
        [-0.24, -0.52, 0.08, -0.03, 0.45],
        "measured: survival by fifths .060 .045 .082 .074 .119, as log of each over their mean; intervals overlap",
    ),
    reworded: assumed(0.0),
    value_omitted: assumed(0.0),
    relative: assumed(0.0),
    continues: assumed(0.0),
    continues_open: assumed(0.0),
    faults: assumed(""),
    answer_threshold: assumed(0.4),
    latency_ms: param(
        (2_900.0, 9_500.0),
        "measured on 197 agent turns of a coding agent; assumed for compaction calls",
    ),
};

/// No noise, no position effect, and every limit used in full: the best that selection by salience
/// can achieve.
pub const PERFECT_READER: Profile = Profile {
    name: "perfect-reader",
    about: "reads all, without noise, and uses every limit in full: an upper bound, not a model",
    read: param([1.0; 5], "assumed: a bound"),
    fill: param((1.0, 1.0), "assumed: a bound"),
    noise: param(0.0, "assumed: a bound"),
    floor: param(f64::NEG_INFINITY, "assumed: a bound"),
    most_words: param(usize::MAX, "assumed: a bound"),
    position: param([0.0; 5], "assumed: a bound"),
    answer_threshold: param(0.0, "assumed: a bound"),
    ..STRONG
};

/// A small model that misses much of the material and often fails to keep to the form.
pub const WEAK: Profile = Profile {
    name: "weak",
    about: "misses much, is noisy, and often fails to keep to the requested form",
    read: param(
        [0.59, 0.52, 0.40, 0.58, 0.84],
        "measured: one small hosted model's recall of 190,000 tokens by tenths (1,692 questions), in pairs",
    ),
    fill: assumed((0.4, 1.0)),
    noise: assumed(2.0),
    default_tokens: assumed(300),
    faults: param(
        "missing-section=0.3,malformed-json=0.1,example-leak=0.6",
        "measured: of 10 checkpoints of a model of 0.5 billion weights 3 were missing, 1 was malformed, 6 held the example",
    ),
    answer_threshold: assumed(0.5),
    ..STRONG
};

/// Reads the start and the end better than the middle.
pub const LOST_IN_THE_MIDDLE: Profile = Profile {
    name: "lost-in-the-middle",
    about: "reads the start and the end better than the middle",
    read: param(
        [0.758, 0.572, 0.538, 0.554, 0.632],
        "Liu et al. 2023 (arXiv 2307.03172): GPT-3.5-Turbo, 20 documents, accuracy by place; for summaries assumed",
    ),
    ..STRONG
};

/// Mistakes the conversation for its own and continues it.
pub const CONTINUES_CHAT: Profile = Profile {
    name: "continues-chat",
    about: "continues the chat instead of writing a summary",
    continues: param(
        0.17,
        "measured: 100 of 471 and 101 of 796 outputs of two models were not summaries; between the two",
    ),
    continues_open: param(
        1.0,
        "measured: all 24 of a set-up whose instruction came first and nothing after the transcript",
    ),
    ..STRONG
};

/// Paraphrases statements, and sometimes omits their exact values.
pub const PARAPHRASER: Profile = Profile {
    name: "paraphraser",
    about: "paraphrases statements and sometimes omits exact values",
    reworded: assumed(0.8),
    value_omitted: assumed(0.3),
    ..STRONG
};

/// Writes as little as measured calls, whatever is asked. Only the length is fitted.
pub const LOST_IN_COMPACTION_LENGTH: Profile = Profile {
    name: "lost-in-compaction-length",
    about: "writes about 500 tokens whatever is asked, as calls of the data set lost-in-compaction; otherwise `strong`",
    own_tokens: param(
        Some((284, 713)),
        "measured: 0.49 to 1.23 % of the input (10th and 90th percentile; median 0.85 %) at a target of 20 %, for chunks of \
         58,000 tokens",
    ),
    ..STRONG
};

/// Writes as much as an agent's own compactions of a full window. Only the length is fitted.
pub const CLAUDE_CODE_LENGTH: Profile = Profile {
    name: "claude-code-length",
    about: "writes as much as Claude Code's summaries of a full window, where there is room; otherwise `strong`",
    own_tokens: param(
        Some((1_855, 4_694)),
        "fitted by `studies/fit` to 28 sessions of Claude Code 2.0 and 2.1: the first and ninth decile of a log-normal length with a \
         median of 2,951, which does not grow with the material (correlation -.01); for material under 90,000 tokens assumed",
    ),
    ..STRONG
};

/// What compactions of Claude Code kept, as `studies/fit` fits it. The default.
pub const CLAUDE_CODE: Profile = Profile {
    name: "claude-code",
    about: "keeps what recorded compactions of Claude Code kept: the agent's own words rather than tool output",
    own_tokens: CLAUDE_CODE_LENGTH.own_tokens,
    // The recorded requests have 90,000 tokens and more, so nothing shows what is written of
    // little.
    most_share: assumed(0.5),
    weights: Weights {
        // Statements are ranked by what was fitted; the weights of plain language are assumed. With
        // the weights of `strong` for these two, the mock kept more of the values of recorded
        // sessions than was kept.
        rare: 0.0,
        value: 0.0,
        path: 0.64,
        opaque: -0.12,
        repeated: -0.34,
        user: 2.94,
        pasted: -2.88,
        tool: -3.31,
        structured: 0.0,
        ..STRONG.weights
    },
    fitted: param(
        &[
            fit("path", 0.08),
            fit("opaque", 0.14),
            fit("repeated", 0.03),
            fit("user", 0.47),
            fit("pasted", 0.58),
            fit("tool", 0.16),
        ],
        "fitted by `studies/fit` to 6,984 exact values of 28 recorded sessions of Claude Code 2.0 and 2.1",
    ),
    relative: param(
        0.94,
        "fitted by `studies/fit`: of the paths below the directories of 28 sessions of Claude Code that summaries kept, 208 were \
         relative and 14 absolute",
    ),
    ..STRONG
};

/// The profile with this name.
pub fn by_name(name: &str) -> Option<&'static Profile> {
    ALL.iter().copied().find(|profile| profile.name == name)
}

/// A parameter, as lists show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// What it does, with its unit.
    pub about: &'static str,
    /// Its value.
    pub value: String,
    /// The source of the value, or "assumed".
    pub source: &'static str,
}

impl Profile {
    /// Whether it reads every statement of the material.
    pub(crate) fn reads_all(&self) -> bool {
        self.read.value.iter().all(|chance| *chance >= 1.0)
    }

    /// The standard error of a weight, if it was fitted.
    pub(crate) fn error_of(&self, weight: &str) -> Option<f64> {
        let name = weight.strip_prefix("weight ")?;
        self.fitted
            .value
            .iter()
            .find(|fitted| fitted.name == name)
            .map(|fitted| fitted.error)
    }

    /// Every parameter with its value and source.
    pub fn parameters(&self) -> Vec<Row> {
        // Destructured by name, so that no parameter can be forgotten.
        let Profile {
            name: _,
            about: _,
            read,
            fill,
            own_tokens,
            most_share,
            default_tokens,
            ..
        } = self;
        let Profile {
            noise,
            floor,
            most_words,
            weights,
            fitted,
            position,
            reworded,
            value_omitted,
            relative,
            continues,
            ..
        } = self;
        let Profile {
            continues_open,
            faults,
            answer_threshold,
            latency_ms,
            ..
        } = self;
        let mut rows = vec![
            row("read", read),
            row("fill", fill),
            row("own_tokens", own_tokens),
            row("most_share", most_share),
            row("default_tokens", default_tokens),
            row("noise", noise),
            row("floor", floor),
            row("most_words", most_words),
            row("position", position),
            row("reworded", reworded),
            row("value_omitted", value_omitted),
            row("relative", relative),
            row("continues", continues),
            row("continues_open", continues_open),
            row("faults", faults),
            row("answer_threshold", answer_threshold),
            row("latency_ms", latency_ms),
        ];
        let of_weight = |(name, value): (&'static str, f64)| {
            row(
                name,
                &Param {
                    value,
                    source: self.error_of(name).map_or("assumed", |_| fitted.source),
                },
            )
        };
        rows.extend(weights.named().map(of_weight));
        rows
    }
}

fn row<T: std::fmt::Debug>(name: &'static str, param: &Param<T>) -> Row {
    Row {
        name,
        about: about(name),
        value: format!("{:?}", param.value),
        source: param.source,
    }
}

/// What a parameter does, with its unit.
fn about(name: &str) -> &'static str {
    match name {
        "read" => "probability that a statement is read, by fifths of the material",
        "fill" => {
            "least and most share of a requested length that a reply uses, drawn for each material and seed"
        }
        "own_tokens" => {
            "least and most tokens of a reply that nothing keeps shorter, drawn likewise; none: it uses its room"
        }
        "most_share" => "largest share of its material that such a reply has",
        "default_tokens" => "tokens of a reply where neither prompt nor request sets a limit",
        "noise" => "scale of the logistic noise on a statement's score, in log-odds",
        "floor" => "score under which no statement is written, in log-odds",
        "most_words" => "words from which on a statement is cut to its best clauses",
        "position" => "added to a score by the statement's fifth of the material, in log-odds",
        "reworded" => "share of the written statements that are paraphrased",
        "value_omitted" => "probability that a paraphrase omits an exact value",
        "relative" => {
            "probability that an absolute path is named relative to the folder of most of the material's paths"
        }
        "continues" => {
            "probability of continuing the chat if the request ends with its instruction"
        }
        "continues_open" => "the same if the request ends with the conversation",
        "faults" => "faults of form in replies, as typed after `mock+`",
        "answer_threshold" => {
            "least share of a question's weight that a statement must cover to be the answer"
        }
        "latency_ms" => "median and 95th percentile of a call's latency, in milliseconds",
        "weight rare" => {
            "added for terms that are rare in the request, times a share from 0 to 1; log-odds, as all weights"
        }
        "weight value" => {
            "added for the first identifier, number or path of a sentence; up to three more count a third each"
        }
        "weight path" => "added to that of a value that is a path",
        "weight opaque" => "added to that of a number, hash or other opaque value",
        "weight repeated" => {
            "added for each unit of the natural logarithm of the number of statements with the value"
        }
        "weight modality" => {
            "added for words of obligation, choice or need: half for one, full from two on"
        }
        "weight first_person" => "added if users refer to themselves",
        "weight user" => "added to what the user types, in messages of up to 600 characters",
        "weight pasted" => "added to longer messages of the user",
        "weight tool" => "added to results of tools and arguments of calls",
        "weight tool_excluded" => "added to that if the prompt asks to leave tool output out",
        "weight structured" => "added to logs, code and JSON",
        "weight odd_length" => "added to fewer than four or more than sixty words",
        "weight question" => "added to questions",
        "weight earlier_summary" => "added to parts of an earlier summary",
        _ => "",
    }
}

impl Weights {
    /// Each weight with its name.
    pub fn named(&self) -> [(&'static str, f64); 15] {
        let mut copy = self.clone();
        copy.named_mut().map(|(name, value)| (name, *value))
    }

    /// Each weight with its name, for changing it.
    pub(crate) fn named_mut(&mut self) -> [(&'static str, &mut f64); 15] {
        [
            ("weight rare", &mut self.rare),
            ("weight value", &mut self.value),
            ("weight path", &mut self.path),
            ("weight opaque", &mut self.opaque),
            ("weight repeated", &mut self.repeated),
            ("weight modality", &mut self.modality),
            ("weight first_person", &mut self.first_person),
            ("weight user", &mut self.user),
            ("weight pasted", &mut self.pasted),
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
            assert_eq!(rows.len(), 17 + 15);
            for row in rows {
                let is_told = ["assumed", "measured", "fitted", "Liu et al."]
                    .iter()
                    .any(|word| row.source.starts_with(word));
                assert!(
                    is_told && !row.about.is_empty(),
                    "{} {}: {}",
                    profile.name,
                    row.name,
                    row.source
                );
            }
        }
    }
}
