//! What a person said, and whether it is left after compactions.

use compactometer_formats::losses::SentenceSeen;
use compactometer_text::sentences::SentenceLines;

use super::SeenContext;
use super::added::Added;
use crate::prepare::PreparedScenario;
use crate::prepare::said_in_messages::of_persons;

/// After more compactions a sentence is not followed.
const MOST_COMPACTIONS: usize = 3;

/// Each sentence of a person after each compaction that can be measured, up to the third after it
/// was last said.
pub(super) fn sentences_seen(
    prepared: &PreparedScenario,
    seen: &[SeenContext],
    added: &[Added],
) -> Vec<SentenceSeen> {
    let said = of_persons(&prepared.scenario, &prepared.messages);
    let ends = compactions(prepared);
    let mut found = Vec::new();
    for (SeenContext { left, .. }, added) in seen.iter().zip(added) {
        let lines = SentenceLines::new(left.view.texts());
        for one in &said {
            let Some(&last) = one.before(left.length).last() else {
                continue;
            };
            let compactions = ends
                .iter()
                .filter(|end| (last + 1..=left.length).contains(end));
            let compactions = compactions.count();
            if compactions <= MOST_COMPACTIONS {
                let is_left = one.is_in(&lines);
                let is_beside = |lines: &SentenceLines| is_left || one.is_in(lines);
                found.push(SentenceSeen {
                    session: prepared.scenario.id.clone(),
                    compaction: left.place,
                    sentence: one.sentence().text.clone(),
                    is_rule: one.sentence().is_rule,
                    said_at: prepared.messages[last].message.id.0,
                    compactions,
                    is_left,
                    with_ledger: is_beside(&added.ledger_lines),
                    with_hooks: added.hook_lines.iter().map(is_beside).collect(),
                });
            }
        }
    }
    found
}

/// Lengths of the log at all compactions that changed the context, ascending.
fn compactions(prepared: &PreparedScenario) -> Vec<usize> {
    let scenario = &prepared.scenario;
    let measured = scenario.compactions.iter().map(|made| made.after);
    let others = scenario.unmeasured.iter();
    let others = others.filter(|made| !made.reason.changed_nothing());
    let ends = measured.chain(others.filter_map(|made| made.after));
    let mut ends = ends
        .map(|after| prepared.index_of(after) + 1)
        .collect::<Vec<_>>();
    ends.sort_unstable();
    ends
}
