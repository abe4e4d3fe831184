//! What `progressive` never compresses: the task definition and the architecture decisions (the
//! progressive plan, phase 2).
//!
//! Pins are taken from each answer and only ever added to. Their room is a share of what may be
//! written, a bound of ours: an item that finds no room stays in the summary of its own round and
//! ages with it, and the block says so. Absent on purpose: removal, and any reading of what an item
//! says; a later decision follows the one that it replaces.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::decisions::{self, ArchitectureDecision};
use crate::conversation::record::{History, RecordKind};
use crate::tokens::{MESSAGE_OVERHEAD, TokenCounter};

/// The pinned items of a session, oldest first; the body of its pinned records.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Pins {
    goal: Vec<String>,
    requirements: Vec<String>,
    constraints: Vec<String>,
    #[serde(deserialize_with = "decisions::from_record")]
    pub(super) architecture_decisions: Vec<ArchitectureDecision>,
    /// Whether an item found no room.
    full: bool,
}

/// The headings of the prompt whose items are pinned, in the order of [`Pins::lists`].
const HEADINGS: [&str; 4] = [
    "Goal",
    "Requirements",
    "Constraints",
    "Architecture Decisions",
];
/// The place of the last of them.
const DECISIONS: usize = 3;

impl Pins {
    /// What the last round left, and the number of its record; none where nothing is pinned.
    pub(super) fn latest(history: &History) -> Option<(Pins, u32)> {
        // Records of before pins had a kind of their own are checkpoints.
        let saved = history
            .latest(RecordKind::Pinned)
            .or_else(|| history.latest(RecordKind::Checkpoint))?;
        let pins = serde_json::from_str::<Pins>(&saved.body).ok()?;
        (pins != Pins::default()).then_some((pins, saved.number))
    }

    /// These and the new items of an answer to messages up to that time, as far as all fit `room`
    /// tokens; and the answer without them.
    pub(super) fn with(
        &self,
        answer: &str,
        at_ms: Option<i64>,
        room: u32,
        counter: &dyn TokenCounter,
    ) -> (Pins, String) {
        let (items, mut rest) = part(answer);
        let mut pins = self.clone();
        let mut left_over: [Vec<&str>; 4] = Default::default();
        for (list, item) in &items {
            if pins.holds(*list, item) {
                continue;
            }
            let mut longer = pins.clone();
            longer.push(*list, item, at_ms);
            if longer.tokens(counter) <= room {
                pins = longer;
            } else {
                pins.full = true;
                left_over[*list].push(item);
            }
        }
        for (heading, items) in HEADINGS
            .iter()
            .zip(left_over)
            .filter(|(_, items)| !items.is_empty())
        {
            rest.push_str(&section(heading, &items));
        }
        let rest = rest.trim();
        // An answer that holds only pinned items still has to represent its messages.
        (
            pins,
            if rest.is_empty() {
                answer.to_owned()
            } else {
                rest.to_owned()
            },
        )
    }

    /// The block before the summaries.
    pub(super) fn text(&self) -> String {
        let mut text = "Pinned, carried word for word through every compaction:".to_owned();
        for (heading, items) in HEADINGS
            .iter()
            .zip(self.lists())
            .filter(|(_, items)| !items.is_empty())
        {
            text.push_str(&section(heading, &items));
        }
        if self.full { text + FULL } else { text }
    }

    /// Tokens of the block as a message. What it says when it is full is always counted, so that
    /// this sentence never makes it grow.
    pub(super) fn tokens(&self, counter: &dyn TokenCounter) -> u32 {
        MESSAGE_OVERHEAD
            + counter.count_text(
                &Pins {
                    full: true,
                    ..self.clone()
                }
                .text(),
            )
    }

    /// Tokens that the block takes of the budget: none where there is no block.
    pub(super) fn tokens_shown(&self, counter: &dyn TokenCounter) -> u32 {
        if self.is_empty() {
            0
        } else {
            self.tokens(counter)
        }
    }

    /// Whether nothing is pinned.
    pub(super) fn is_empty(&self) -> bool {
        self.lists().iter().all(|items| items.is_empty())
    }

    /// Whether an item of that list says the same.
    fn holds(&self, list: usize, item: &str) -> bool {
        let item = match list {
            DECISIONS => ArchitectureDecision::read(0, item, None).text(),
            _ => item.to_owned(),
        };
        self.lists()[list]
            .iter()
            .any(|pinned| is_same(pinned, &item))
    }

    fn push(&mut self, list: usize, item: &str, at_ms: Option<i64>) {
        match list {
            0 => self.goal.push(item.to_owned()),
            1 => self.requirements.push(item.to_owned()),
            2 => self.constraints.push(item.to_owned()),
            _ => {
                let id = self
                    .architecture_decisions
                    .last()
                    .map_or(1, |last| last.id.saturating_add(1));
                self.architecture_decisions
                    .push(ArchitectureDecision::read(id, item, at_ms));
            }
        }
    }

    fn lists(&self) -> [Vec<Cow<'_, str>>; 4] {
        let decisions = self
            .architecture_decisions
            .iter()
            .map(|decision| Cow::Owned(decision.text()))
            .collect();
        [
            borrowed(&self.goal),
            borrowed(&self.requirements),
            borrowed(&self.constraints),
            decisions,
        ]
    }
}

fn borrowed(items: &[String]) -> Vec<Cow<'_, str>> {
    items
        .iter()
        .map(|item| Cow::Borrowed(item.as_str()))
        .collect()
}

const FULL: &str = "\n\n(No more fits here; later ones stand in the summaries of their parts.)";

fn section(heading: &str, items: &[impl AsRef<str>]) -> String {
    let lines = items
        .iter()
        .map(|item| format!("- {}", item.as_ref()))
        .collect::<Vec<_>>();
    format!("\n\n{heading}:\n{}", lines.join("\n"))
}

/// The items under the pinned headings, each with the index of its list, and the answer without
/// them.
fn part(answer: &str) -> (Vec<(usize, String)>, String) {
    let mut items: Vec<(usize, String)> = Vec::new();
    let mut rest = String::new();
    // The list that is open, and the indent of its items once there is one.
    let mut open: Option<(usize, Option<usize>)> = None;
    for line in answer.lines() {
        if let Some((list, value)) = heading(line) {
            open = value.is_empty().then_some((list, None));
            items.extend(Some((list, value.to_owned())).filter(|_| !value.is_empty()));
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let item = line
            .trim()
            .strip_prefix(['-', '*', '•'])
            .filter(|item| item.starts_with(' '));
        match (open, item) {
            (Some(_), _) if line.trim().is_empty() => {}
            (Some((_, Some(first))), _) if indent > first => {
                if let Some((_, last)) = items.last_mut() {
                    last.push(' ');
                    last.push_str(item.unwrap_or(line).trim());
                }
            }
            (Some((list, _)), Some(item)) => {
                open = Some((list, Some(indent)));
                items.push((list, item.trim().to_owned()));
            }
            _ => {
                open = None;
                rest.push_str(line);
                rest.push('\n');
            }
        }
    }
    items.retain(|(_, item)| !says_nothing(item));
    (items, rest.trim_end().to_owned())
}

/// A pinned heading and what follows it on its line, with or without Markdown's marks.
fn heading(line: &str) -> Option<(usize, &str)> {
    let marks = ['#', '*', '_', '-', ' '];
    let bare = line.trim_start_matches(marks);
    let (name, value) = bare.split_once(':').unwrap_or((bare, ""));
    let singular = |name: &str| {
        name.trim_matches(marks)
            .trim_end_matches(['s', 'S'])
            .to_lowercase()
    };
    let list = HEADINGS
        .iter()
        .position(|heading| singular(heading) == singular(name))?;
    Some((list, value.trim_start_matches(['*', '_']).trim()))
}

fn says_nothing(item: &str) -> bool {
    let item = item
        .trim_matches(|letter: char| !letter.is_alphanumeric())
        .to_lowercase();
    ["", "none", "n/a", "nothing", "none stated", "not stated"].contains(&item.as_str())
}

/// Whether two items say the same but for case, blanks and the last mark.
fn is_same(one: &str, other: &str) -> bool {
    let words = |item: &str| {
        let item = item.trim_end_matches(['.', ';', '!']).to_lowercase();
        item.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    words(one) == words(other)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::conversation::record::SessionRecord;
    use crate::tokens::Encoding;

    fn with(pins: &Pins, answer: &str, room: u32) -> (Pins, String) {
        pins.with(answer, Some(7), room, &Encoding::O200k)
    }

    #[test]
    fn items_are_taken_verbatim_and_the_rest_is_the_summary() {
        let answer = "Goal:\n- Move billing to `eu-9`\n\nConstraints:\n- None\n\nArchitecture Decisions:\n\n- Use pg 16; reason: \
                      JSON; impact: no Redis\n- Split the API\n  - reason: load\n\nSummary: moved two tables.\n\nNext Steps:\n- ship";
        let (pins, rest) = with(&Pins::default(), answer, 1_000);
        assert_eq!(rest, "Summary: moved two tables.\n\nNext Steps:\n- ship");
        let block = "Pinned, carried word for word through every compaction:\n\nGoal:\n- Move billing to `eu-9`\n\nArchitecture \
                     Decisions:\n- Use pg 16; reason: JSON; impact: no Redis\n- Split the API; reason: load";
        assert_eq!(pins.text(), block);
        let decision = ArchitectureDecision::read(2, "Split the API; reason: load", Some(7));
        assert_eq!(pins.architecture_decisions[1], decision);
    }

    #[test]
    fn models_mark_headings_in_their_own_ways() {
        for goal in [
            "Goal: ship",
            "**Goal:** ship",
            "## Goal\n- ship",
            "- Goal: ship",
            "__Goals__:\n\n* ship",
        ] {
            let (pins, rest) = with(
                &Pins::default(),
                &format!("{goal}\n\nSummary: work on Goal: more"),
                1_000,
            );
            assert_eq!(
                (pins.goal, rest.as_str()),
                (vec!["ship".to_owned()], "Summary: work on Goal: more"),
                "{goal}"
            );
        }
        let (pins, rest) = with(
            &Pins::default(),
            "Constraints:\nSummary: nothing was said of any.",
            1_000,
        );
        assert_eq!(
            (pins, rest.as_str()),
            (Pins::default(), "Summary: nothing was said of any.")
        );
    }

    #[test]
    fn what_is_pinned_already_is_not_pinned_twice() {
        let (first, _) = with(&Pins::default(), "Goal:\n- Ship it.\nSummary: a", 1_000);
        let (second, rest) = with(&first, "Goal:\n- ship  it\nSummary: b", 1_000);
        assert_eq!((second, rest.as_str()), (first, "Summary: b"));
    }

    #[test]
    fn what_finds_no_room_stays_in_its_summary_and_the_block_says_so() {
        let (first, _) = with(&Pins::default(), "Goal:\n- Ship it\nSummary: a", 45);
        let (second, rest) = with(
            &first,
            "Architecture Decisions:\n- Use pg for all that is kept\n\nSummary: b",
            45,
        );
        assert_eq!(
            second,
            Pins {
                full: true,
                ..first.clone()
            }
        );
        assert!(
            second.text().ends_with("summaries of their parts.)")
                && !first.text().contains("No more")
        );
        assert_eq!(
            rest,
            "Summary: b\n\nArchitecture Decisions:\n- Use pg for all that is kept"
        );
        let (none, rest) = with(&Pins::default(), "Goal:\n- Ship it\nSummary: a", 0);
        assert_eq!(
            (none.goal.len(), rest.as_str()),
            (0, "Summary: a\n\nGoal:\n- Ship it")
        );
    }

    #[test]
    fn an_answer_of_pins_alone_stays_whole() {
        assert_eq!(
            with(&Pins::default(), "Goal:\n- Ship it", 1_000).1,
            "Goal:\n- Ship it"
        );
    }

    #[test]
    fn records_of_before_pins_had_a_kind_of_their_own_still_read() {
        let saved = |number: u32, kind: &str, body: &str| {
            let json = serde_json::json!({
                "number": number, "kind": kind, "covers": null, "tokens_before": 9, "tokens_after": 5,
                "usage": {"input": 1, "output": 1}, "created_at_ms": null, "body": body,
            });
            serde_json::from_value::<SessionRecord>(json).unwrap()
        };
        let old = saved(1, "checkpoint", "{\"goal\":[\"Ship it\"]}");
        let new = saved(3, "pinned", "{\"goal\":[\"Ship it\",\"Soon\"]}");
        let goals = |history: Vec<SessionRecord>| {
            Pins::latest(&History::from(history)).map(|(pins, number)| (pins.goal, number))
        };
        assert_eq!(
            goals(vec![old.clone()]),
            Some((vec!["Ship it".to_owned()], 1))
        );
        assert_eq!(
            goals(vec![old, new]),
            Some((vec!["Ship it".to_owned(), "Soon".to_owned()], 3))
        );
        let texts = saved(
            4,
            "pinned",
            "{\"architecture_decisions\":[\"Use pg; reason: JSON\",\"Split\"]}",
        );
        let (pins, _) = Pins::latest(&History::from(vec![texts])).unwrap();
        let ids = pins
            .architecture_decisions
            .iter()
            .map(|decision| (decision.id, decision.reason.as_str()));
        assert_eq!(
            ids.collect::<Vec<_>>(),
            [(1, "JSON"), (2, "")],
            "decisions were texts once"
        );
        let again = serde_json::from_str::<Pins>(&serde_json::to_string(&pins).unwrap()).unwrap();
        assert_eq!(again, pins);
        let of_000 = saved(0, "checkpoint", "{\"active_goals\":[\"Ship it\"]}");
        assert_eq!(
            goals(vec![of_000]),
            None,
            "a checkpoint of the strategic plan pins nothing"
        );
    }

    proptest! {
        #[test]
        fn pins_only_grow_and_keep_to_their_room(
            rooms in prop::collection::vec(30_u32..200, 1..20),
            items in prop::collection::vec((0..4_usize, "[a-z 一-龥]{1,60}"), 1..60),
        ) {
            let mut pins = Pins::default();
            let mut largest = 0;
            for (round, chunk) in items.chunks(3).enumerate() {
                let answer = chunk.iter().map(|(list, item)| format!("{}:\n- {item}\n\n", HEADINGS[*list])).collect::<String>();
                let room = rooms[round % rooms.len()];
                largest = largest.max(room);
                let (next, rest) = with(&pins, &format!("{answer}Summary: x"), room);
                for (before, after) in pins.lists().iter().zip(next.lists()) {
                    prop_assert!(after.starts_with(before), "{:?} after {:?}", after, before);
                }
                if next.lists() != pins.lists() {
                    prop_assert!(next.tokens(&Encoding::O200k) <= room);
                }
                prop_assert!(next.is_empty() || next.tokens(&Encoding::O200k) <= largest);
                for (list, item) in chunk {
                    let item = item.trim();
                    let pinned = next.holds(*list, item);
                    prop_assert!(pinned || says_nothing(item) || rest.contains(item), "{item:?} is nowhere");
                }
                pins = next;
            }
        }
    }
}
