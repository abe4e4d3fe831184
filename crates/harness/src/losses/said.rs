//! What a person said, and whether it is left after compactions.

use std::collections::BTreeMap;

use compactometer_formats::losses::SentenceSeen;
use compactometer_formats::scenario::Speaker;
use compactometer_text::sentences::{Lines, Sentence, sentences};

use super::added::Added;
use super::{Seen, texts};
use crate::prepare::PreparedScenario;

/// After more compactions a sentence is not followed.
const MOST_COMPACTIONS: usize = 3;

/// A sentence, and the messages in which persons said it.
struct Said {
    sentence: Sentence,
    at: Vec<usize>,
}

/// Each sentence of a person after each compaction that can be measured, up to the third after it
/// was last said.
pub(super) fn said(
    prepared: &PreparedScenario,
    seen: &[Seen],
    added: &[Added],
) -> Vec<SentenceSeen> {
    let said = sentences_of_persons(prepared);
    let ends = compactions(prepared);
    let mut found = Vec::new();
    for (Seen { left, .. }, added) in seen.iter().zip(added) {
        let lines = Lines::new(left.view.texts());
        for one in said.values() {
            let before = one.at.partition_point(|message| *message < left.length);
            let Some(last) = before.checked_sub(1).map(|last| one.at[last]) else {
                continue;
            };
            let compactions = ends
                .iter()
                .filter(|end| (last + 1..=left.length).contains(end));
            let compactions = compactions.count();
            if compactions <= MOST_COMPACTIONS {
                let is_left = lines.say(&one.sentence);
                let is_beside = |lines: &Lines| is_left || lines.say(&one.sentence);
                found.push(SentenceSeen {
                    session: prepared.scenario.id.clone(),
                    compaction: left.place,
                    sentence: one.sentence.text.clone(),
                    is_rule: one.sentence.is_rule,
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

fn sentences_of_persons(prepared: &PreparedScenario) -> BTreeMap<String, Said> {
    let mut said = BTreeMap::<_, Said>::new();
    for (index, counted) in prepared.messages.iter().enumerate() {
        if prepared.scenario.speaker(&counted.message) != Speaker::User {
            continue;
        }
        for sentence in texts(counted).flat_map(sentences) {
            let same = said.entry(sentence.text.to_lowercase());
            let one = same.or_insert_with(|| Said {
                sentence,
                at: Vec::new(),
            });
            if one.at.last() != Some(&index) {
                one.at.push(index);
            }
        }
    }
    said
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
