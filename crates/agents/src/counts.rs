//! What is counted in a play.

use crate::desk::RefusedRequests;

/// What is counted in a play.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PlayCounts {
    /// The conversation's turns so far; what the agent says in two messages is one.
    pub(crate) turns: u32,
    /// Those that the agent took.
    pub(crate) played: u32,
    /// Requests after the recorded end of a turn.
    pub(crate) fillers: u32,
    /// Tokens of the first request beside the conversation.
    pub(crate) own_tokens: u32,
    /// Results that the tools gave.
    pub(crate) results: u32,
    /// Results that the next request holds whole.
    pub(crate) whole: u32,
    /// Results that the next request holds in part.
    pub(crate) cut: u32,
}

impl PlayCounts {
    /// The names and numbers of a record.
    pub(crate) fn by_name(self, refused: &RefusedRequests) -> Vec<(&'static str, u64)> {
        let numbers = [
            ("turns", self.turns),
            ("turns_played", self.played),
            ("turns_interrupted", self.fillers),
            ("own_tokens", self.own_tokens),
            ("results", self.results),
            ("results_whole", self.whole),
            ("results_cut", self.cut),
            ("requests_over_window", refused.over_window),
            ("requests_refused", refused.others.len() as u32),
            ("requests_repeated", refused.repeated),
        ];
        numbers.map(|(name, number)| (name, number.into())).to_vec()
    }

    /// How far a play came that broke off.
    pub(crate) fn words(self, why: &str, refused: &RefusedRequests) -> String {
        let mut words = format!(
            "{why}; it took {} turns, and the next was number {}",
            self.played, self.turns
        );
        if self.fillers > 0 {
            words += &format!("; {} were interrupted", self.fillers);
        }
        if refused.over_window > 0 {
            words += &format!("; {} requests were over the window", refused.over_window);
        }
        if let Some(last) = refused.others.last() {
            let number = refused.others.len();
            words += &format!("; {number} requests were refused, the last: {last}");
        }
        words
    }
}
