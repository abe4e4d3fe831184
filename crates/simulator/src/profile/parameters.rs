//! What a profile consists of. Each parameter is one row below: its name, its value in `strong` with
//! the source of that value, and what it does. Fields, lists and help are made from these rows.
//!
//! "Measured" and "assumed" are explained in the module above.

use super::{Fitted, ProfileParam, ProfileRow, assumed, param};

/// Makes `Profile`, `STRONG` and the rows of a list from one row for each parameter.
macro_rules! parameters {
    ($($name:ident: $type:ty = $strong:expr => $about:literal;)*) => {
        /// How a mock reads, selects and writes.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Profile {
            /// The name users type after `mock:`.
            pub name: &'static str,
            /// One line for help and lists.
            pub about: &'static str,
            /// The features that make a statement worth writing. All are assumed except those that
            /// `fitted` names.
            pub weights: Weights,
            /// The weights that are not assumed.
            pub fitted: ProfileParam<&'static [Fitted]>,
            $(#[doc = $about] pub $name: ProfileParam<$type>,)*
        }

        /// A capable summarizer: it keeps to limits, reads all of the material and writes what
        /// matters.
        pub const STRONG: Profile = Profile {
            name: "strong",
            about: "reads all, keeps to limits, and writes what matters by general signs",
            weights: Weights::STRONG,
            fitted: assumed(&[]),
            $($name: $strong,)*
        };

        impl Profile {
            /// Every parameter but the weights.
            pub(super) fn rows(&self) -> Vec<ProfileRow> {
                vec![$(ProfileRow::new(stringify!($name), $about, &self.$name)),*]
            }
        }
    };
}

/// Makes `Weights` and their list from one row for each weight.
macro_rules! weights {
    ($($name:ident = $strong:expr => $about:literal;)*) => {
        /// Weights of generic salience, in log-odds.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Weights {
            $(#[doc = $about] pub $name: f64,)*
        }

        impl Weights {
            pub(super) const STRONG: Weights = Weights { $($name: $strong,)* };

            /// What each weight does, in the order of [`Weights::by_name`].
            pub(super) const ABOUT: &[&'static str] = &[$($about),*];

            /// Each weight with its name.
            pub fn by_name(&self) -> Vec<(&'static str, f64)> {
                vec![$((concat!("weight ", stringify!($name)), self.$name)),*]
            }

            /// Each weight with its name, for changing it.
            pub(crate) fn by_name_mut(&mut self) -> Vec<(&'static str, &mut f64)> {
                vec![$((concat!("weight ", stringify!($name)), &mut self.$name)),*]
            }
        }
    };
}

parameters! {
    read: [f64; 5] = param(
        [1.0; 5],
        "assumed; one strong model read 90 % early, 77 % in the middle, 100 % late of 190,000 tokens",
    ) => "probability that a statement is read, by fifths of the material";
    fill: (f64, f64) = param(
        (0.85, 1.0),
        "assumed, and more than was measured: calls asked for 20 % of their input wrote 0.5 to 1.2 % \
         of it, as `lost-in-compaction-length` does",
    ) => "least and most share of a requested length that a reply uses, drawn for each material and seed";
    own_tokens: Option<(u32, u32)> = assumed(None)
        => "least and most tokens of a reply that nothing keeps shorter, drawn likewise; none: it uses its room";
    most_share: f64 = assumed(1.0) => "largest share of its material that such a reply has";
    default_tokens: u32 = param(
        500,
        "measured: single calls wrote about 500 tokens whatever was asked; here only where nothing \
         limits a reply",
    ) => "tokens of a reply where neither prompt nor request sets a limit";
    noise: f64 = param(
        1.0,
        "assumed; of 1,015 measured pairs of runs both kept 55 facts and one kept 119, so selection \
         is noisy",
    ) => "scale of the logistic noise on a statement's score, in log-odds";
    floor: f64 = assumed(-2.0) => "score under which no statement with an exact value is written, in log-odds, where a reply may have 2.8 % of its material; \
            lower by the natural logarithm of how much more it may have";
    most_words: usize = assumed(28) => "words from which on a statement is cut to its best clauses";
    position: [f64; 5] = param(
        [-0.24, -0.52, 0.08, -0.03, 0.45],
        "measured: survival by fifths .060 .045 .082 .074 .119, as log of each over their mean; \
         intervals overlap",
    ) => "added to a score by the statement's fifth of the material, in log-odds";
    relative: f64 = assumed(0.0)
        => "probability that a file is named relative to the folder of most of the material's paths";
    lists_files: f64 = param(
        1.0,
        "assumed: every recorded prompt asks for files, so nothing shows what models do where none does",
    ) => "probability of a list of the files that calls touched where the prompt offers no place for files";
    faults: &'static str = assumed("") => "faults of form in replies, as typed after `mock+`";
    answer_threshold: f64 = assumed(0.4)
        => "least share of a question's weight that a statement must cover to be the answer";
    latency_ms: (f64, f64) = param(
        (2_900.0, 9_500.0),
        "measured on 197 agent turns of a coding agent; assumed for compaction calls",
    ) => "median and 95th percentile of a call's latency, in milliseconds";
}

// Only the direction of the measured role rates is used (user .113, assistant -.001,
// chance-corrected), because they come from a keyword proxy that undercounts paraphrases.
weights! {
    rare = 1.0 => "added for terms that are rare in the request, times a share from 0 to 1; log-odds, as all weights";
    // Of several values in a statement, the one that adds most counts.
    value = 1.2 => "added for an exact value: an identifier, number or path";
    edited = 1.0 => "added to that of a file that a call created or changed";
    read = 0.0 => "added to that of a file that a call read";
    address = 0.0 => "added to that of a value that says what a call acts on";
    extension = 0.0 => "added to that of a value with a file's extension";
    repeated = 0.0 => "added for each unit of the natural logarithm of the number of messages with the value";
    crowded = 0.0 => "added for each unit of the natural logarithm of the number of distinct values in the message of its mentions that has the fewest";
    distance = 0.0 => "added for each unit of the natural logarithm of 50 and the tokens since the last mention";
    modality = 1.5 => "added for words of obligation, choice or need: half for one, full from two on";
    first_person = 0.4 => "added if users refer to themselves";
    user = 1.0 => "added to values that the user types, in messages of up to 600 characters";
    sentence = 1.0 => "added to sentences without an exact value that the user types, in such messages";
    pasted = 1.0 => "added to what only longer messages of the user have";
    tool = -3.0 => "added to values that only results of tools have, and to statements of tools without a value";
    tool_excluded = -2.0 => "added to that if the prompt asks to leave tool output out";
    values_unasked = -0.3 => "added to exact values if the prompt does not ask for any";
    files_unasked = -0.3 => "added to those of files that calls touched if the prompt does not ask for files";
    structured = -4.0 => "added to logs, code and JSON";
    odd_length = -1.5 => "added to fewer than four or more than sixty words";
    question = -2.0 => "added to questions";
    announced = -1.5 => "added to what the agent announces that it will do at once";
    earlier_summary = 0.8 => "added to parts of an earlier summary";
}

impl Weights {
    /// The weights of what the material shows of a value, by name.
    pub const FEATURES: [&'static str; 10] = [
        "user",
        "pasted",
        "tool",
        "address",
        "read",
        "edited",
        "extension",
        "repeated",
        "crowded",
        "distance",
    ];

    /// These weights, in their order.
    pub(crate) fn of_features(&self) -> [f64; Weights::FEATURES.len()] {
        [
            self.user,
            self.pasted,
            self.tool,
            self.address,
            self.read,
            self.edited,
            self.extension,
            self.repeated,
            self.crowded,
            self.distance,
        ]
    }
}
