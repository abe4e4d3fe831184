//! Whether what a scenario says of its user's sentences is so.

use compactometer_engine::log::Log;
use compactometer_engine::message::{Part, Role};
use compactometer_text::sentences::Sentence;

use crate::scenario::{SaidSentence, Wording};

/// Each sentence is in the messages that it names, has words enough to be found again, and is taken
/// back later than it was said, if at all.
pub(super) fn check_said(said: &[SaidSentence], log: &Log) -> Vec<String> {
    let mut faults = Vec::new();
    for (number, sentence) in (1..).zip(said) {
        let mut fault = |what: String| faults.push(format!("sentence {number} in `said` {what}"));
        let Some(last) = sentence.wordings.last() else {
            fault("has no wording; give the words and the message that has them".to_owned());
            continue;
        };
        for Wording { said_in, text } in &sentence.wordings {
            let message = log.get(*said_in).map(|counted| &counted.message);
            let is_said = message.is_some_and(|message| {
                let texts = message.parts.iter().filter_map(|part| match part {
                    Part::Text { text } => Some(text),
                    _ => None,
                });
                message.role == Role::User && texts.into_iter().any(|whole| whole.contains(text))
            });
            if !is_said {
                fault(format!(
                    "is not what the user says in message `{}`; name one that has `{text}`",
                    said_in.0
                ));
            }
            if Sentence::of(text).is_none() {
                fault(format!(
                    "has too few or too many words to be found again: `{text}`"
                ));
            }
        }
        let ids = sentence.wordings.iter().map(|wording| wording.said_in);
        if !ids.is_sorted() {
            fault("lists its wordings out of order; sort them by message".to_owned());
        }
        if sentence
            .valid_to
            .is_some_and(|end| end <= last.said_in || log.get(end).is_none())
        {
            fault("is taken back in no later message; name one of the scenario".to_owned());
        }
    }
    faults
}
