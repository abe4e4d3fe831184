//! Cue words: generic English words that show what a heading, a key or a statement is about.

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::FixedState;

use crate::reading::terms::{ReadTerm, number, stem, terms};

/// A topic of statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cue {
    Goal,
    Decision,
    Preference,
    Constraint,
    Reference,
    State,
    Pending,
    Done,
    Error,
}

const KINDS: usize = 9;

/// The weight of each [`Cue`] in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cues([f64; KINDS]);

impl Cues {
    /// The cues in the words of a text.
    pub(crate) fn new(text: &str) -> Self {
        Cues::of_stems(
            terms(text)
                .iter()
                .flat_map(|term| split_name(term))
                .map(stem),
        )
    }

    /// The cues in words that are already stems.
    pub(crate) fn of_stems(stems: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let mut cues = Cues::default();
        let known = stems
            .into_iter()
            .filter_map(|stem| LEXICON.get(&number(stem.as_ref())));
        known.for_each(|sense| cues.add_sense(sense));
        cues
    }

    /// The cues of a place that takes texts, from its name, its description and the place around
    /// it. A place for decisions also takes other binding statements, at half the weight.
    pub(crate) fn of_place(name: &str, description: &str, outer: &Cues) -> Self {
        let mut cues = Cues::default();
        cues.add_all(&Cues::new(name), 3.0);
        cues.add_all(&Cues::new(description), 0.5);
        cues.add_all(outer, 0.5);
        let binding = cues.get(Cue::Decision) / 2.0;
        cues.add(Cue::Preference, binding);
        cues.add(Cue::Constraint, binding + cues.get(Cue::Preference) / 2.0);
        cues
    }

    /// The cues of a general place for statements that fit nowhere else: binding ones first, then
    /// the current state.
    pub(crate) fn general() -> Self {
        let mut cues = Cues::default();
        cues.add(Cue::Decision, 1.0);
        cues.add(Cue::State, 0.5);
        cues
    }

    /// Adds to the weight of one cue.
    pub(crate) fn add(&mut self, kind: Cue, weight: f64) {
        self.0[kind as usize] += weight;
    }

    /// Adds the cues of a word.
    pub(crate) fn add_sense(&mut self, sense: &Sense) {
        sense.kinds.iter().for_each(|kind| self.add(*kind, 1.0));
    }

    /// Adds all cues of another text, weighted.
    pub(crate) fn add_all(&mut self, other: &Cues, weight: f64) {
        self.0
            .iter_mut()
            .zip(other.0)
            .for_each(|(mine, theirs)| *mine += weight * theirs);
    }

    /// The weight of one cue.
    pub(crate) fn get(&self, kind: Cue) -> f64 {
        self.0[kind as usize]
    }

    /// Whether the cue outweighs every other.
    pub(crate) fn is_mostly(&self, kind: Cue) -> bool {
        let mine = self.get(kind);
        mine > 0.0 && self.0.iter().all(|weight| *weight <= mine)
    }

    /// A fit below this is chance, such as one word of a place's description.
    pub(crate) const LEAST_FIT: f64 = 0.35;

    /// How well a statement fits a place by their cues, which is 0 if they share none. Long lists
    /// of cues count no more than short ones.
    pub(crate) fn fit(&self, place: &Cues) -> f64 {
        let dot: f64 = self
            .0
            .iter()
            .zip(place.0)
            .map(|(mine, theirs)| mine * theirs)
            .sum();
        let length = libm::sqrt(place.0.iter().map(|weight| weight * weight).sum());
        if length > 0.0 { dot / length } else { 0.0 }
    }

    /// Obligation, choice, preference or need: how binding a statement is.
    pub(crate) fn modality(&self) -> f64 {
        [
            Cue::Decision,
            Cue::Preference,
            Cue::Constraint,
            Cue::Pending,
            Cue::Goal,
        ]
        .map(|kind| self.get(kind))
        .iter()
        .sum()
    }
}

/// Whether a stem has no subject of its own.
pub(crate) fn is_stop_word(stem: &str) -> bool {
    LEXICON
        .get(&number(stem))
        .is_some_and(|sense| sense.is_stop_word)
}

/// The words of a name such as `next_steps` or `File/Component`.
pub(crate) fn split_name<'t>(term: &ReadTerm<'t>) -> impl Iterator<Item = &'t str> {
    term.text
        .split(['_', '-', '/', '\''])
        .filter(|word| !word.is_empty())
}

/// Whether a stem is neither a stop word nor a cue word.
pub(crate) fn is_subject(stem: &str) -> bool {
    stem.chars().count() > 2 && !LEXICON.contains_key(&number(stem))
}

/// The meaning of a single word.
#[derive(Debug, Default)]
pub(crate) struct Sense {
    /// The topics that it is a cue for.
    kinds: Vec<Cue>,
    /// Whether it is a stop word.
    pub(crate) is_stop_word: bool,
}

/// The words that have a meaning, by the numbers of their stems.
pub(crate) type Lexicon = HashMap<u64, Sense, FixedState>;

/// Cue words and stop words.
pub(crate) static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| {
    let mut lexicon = Lexicon::default();
    for (kind, words) in WORDS {
        for word in words.split_whitespace() {
            lexicon
                .entry(number(&stem(word)))
                .or_default()
                .kinds
                .push(*kind);
        }
    }
    for word in STOP_WORDS.split_whitespace() {
        lexicon.entry(number(word)).or_default().is_stop_word = true;
    }
    lexicon
});

/// Words without a subject of their own, as stems.
const STOP_WORDS: &str = "a about after an and ani any are as at be becaus been befor but by can could did do doe does dur for \
                          from had has hav have he her his how i if in into is it its let look may me my of on onc onli or our \
                          she should so some somebody someon still than that the their them then there thes they thi this \
                          through to us wa was we wer were what when wher which while who whom whos why will with would you \
                          your";

/// The words of each topic. They include what people say and the names of headings and keys. A word
/// may have several topics.
const WORDS: &[(Cue, &str)] = &[
    (
        Cue::Goal,
        "goal aim want wants objective intent intention purpose help build like task request original primary need",
    ),
    (
        Cue::Decision,
        "decide decided decision decisions agree agreed choose chose chosen choice settle settled pick picked use using \
         adopt switch approve approved instead technical technology architecture architectural pattern design go rationale",
    ),
    (
        Cue::Preference,
        "prefer prefers preferred preference preferences like likes rather always please style format tone favourite \
         favorite usually wish keep",
    ),
    (
        Cue::Constraint,
        "must never always only cannot don't dont forbidden avoid limit limits constraint constraints require required \
         requirement rule rules mustn't without except at-most budget deadline important critical",
    ),
    (
        Cue::Reference,
        "file files path paths table tables database databases column url link endpoint api apis reference references \
         directory folder branch commit ticket document name called id ids thread threads channel repository code component \
         module account number key",
    ),
    (
        Cue::State,
        "state status current currently now progress working active so-far running step workflow last latest today live",
    ),
    (
        Cue::Pending,
        "pending remaining todo to-do next later still open outstanding follow-up tomorrow unresolved upcoming soon before \
         step steps need needs immediate due",
    ),
    (
        Cue::Done,
        "done complete completed finished created added fixed updated changed changes implemented wrote written deployed ran \
         passed merged moved removed renamed work progress timeline sent booked saved modified",
    ),
    (
        Cue::Error,
        "error errors fail failed fails failure bug crash exception issue issues problem problems broken timeout resolution \
         resolved workaround traceback unresolved incident",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_and_statements_meet() {
        let place = |heading: &str| Cues::new(heading);
        let best = |statement: &str| {
            let places = [
                "Original goal",
                "Key decisions",
                "user_preferences",
                "context_references files",
                "Errors",
            ];
            let cues = Cues::new(statement);
            places
                .into_iter()
                .max_by(|one, other| cues.fit(&place(one)).total_cmp(&cues.fit(&place(other))))
        };
        assert_eq!(best("We decided on Postgres"), Some("Key decisions"));
        assert_eq!(best("I prefer short answers"), Some("user_preferences"));
        assert_eq!(best("The build failed with an exception"), Some("Errors"));
        assert_eq!(
            best("Look into the file a.rs in that folder"),
            Some("context_references files")
        );
    }
}
