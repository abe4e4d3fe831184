//! Which of the user's sentences a context still says.

use compactometer_engine::view::{Entry, View};
use compactometer_formats::record::SaidCount;
use compactometer_text::sentences::SentenceLines;

use crate::prepare::PreparedScenario;
use crate::prepare::said_in_messages::text;

/// Sentences that had this many compactions and more are counted together.
const MOST: usize = 4;

/// Counts sentences, given by their places in the list of what was said, by the compactions since
/// they were last said, which were made at these lengths of the log; and those that a view says.
pub(crate) fn said_counts(
    prepared: &PreparedScenario,
    view: &View,
    (length, eligible): (usize, &[u32]),
    compacted: &[usize],
) -> Vec<SaidCount> {
    if eligible.is_empty() {
        return Vec::new();
    }
    let (said, is_held) = (prepared.said_in_messages(), sentences_in(prepared, view));
    let mut counts = vec![SaidCount::default(); MOST + 1];
    for place in eligible.iter().map(|place| *place as usize) {
        let last = said.all[place].before(length).last();
        let since = compacted.iter().filter(|end| Some(*end) > last).count();
        let count = &mut counts[since.min(MOST)];
        count.all += 1;
        count.held += u32::from(is_held[place]);
    }
    counts
}

/// For each sentence, whether the view says it.
fn sentences_in(prepared: &PreparedScenario, view: &View) -> Vec<bool> {
    let said = prepared.said_in_messages();
    let mut is_held = vec![false; said.all.len()];
    let mut written = Vec::new();
    for entry in view.entries() {
        match entry {
            Entry::Kept(counted) => {
                let index = prepared.index_of(counted.message.id);
                let places = said.said_in.get(index);
                places
                    .iter()
                    .for_each(|place| is_held[*place as usize] = true);
            }
            Entry::Written(_) => written.extend(entry.parts().filter_map(|(part, _)| text(part))),
        }
    }
    let lines = SentenceLines::new(written);
    for (is_held, one) in is_held.iter_mut().zip(&said.all) {
        *is_held |= one.is_in(&lines);
    }
    is_held
}
