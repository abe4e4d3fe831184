//! Answers questions about order. If a question lists items under letters or numbers and asks for
//! their order, each item is looked up as a separate question, and the items are ordered by the
//! position of what was found.
//!
//! Absent on purpose: dates, and words such as "before". Only the position of what is found counts.

use crate::reading::pieces::MaterialTurn;
use crate::writing::recollect::UNKNOWN;

/// One item of a list in a question.
#[derive(Debug, PartialEq)]
pub(crate) struct OrderItem<'q> {
    label: &'q str,
    text: &'q str,
}

/// The items that a question lists, if it asks for their order.
pub(crate) fn items(question: &str) -> Option<Vec<OrderItem<'_>>> {
    let (asked, _) = question.split_once('(')?;
    let asked = asked.to_lowercase();
    let asks = [
        "order",
        "sequence",
        "chronolog",
        "earliest",
        "first to last",
    ]
    .iter()
    .any(|word| asked.contains(word));
    let items: Vec<OrderItem> = question.split('(').skip(1).filter_map(item).collect();
    (asks && items.len() > 1).then_some(items)
}

/// A letter or number in brackets as the label, followed by the item.
fn item(listed: &str) -> Option<OrderItem<'_>> {
    let (label, text) = listed.split_once(')')?;
    let is_label =
        (1..=2).contains(&label.len()) && label.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let text = text.trim();
    (is_label && !text.is_empty()).then_some(OrderItem { label, text })
}

/// The labels of the items for which `find` finds something, ordered by where the material states
/// what was found.
pub(crate) fn answer(
    items: &[OrderItem],
    turns: &[MaterialTurn],
    find: impl Fn(&str) -> String,
) -> String {
    let place = |item: &OrderItem| {
        let found = find(item.text);
        turns
            .iter()
            .enumerate()
            .find_map(|(turn, given)| Some((turn, given.text.find(&found)?)))
    };
    let mut found: Vec<_> = items
        .iter()
        .filter_map(|item| Some((place(item)?, item.label)))
        .collect();
    found.sort_unstable();
    let labels: Vec<&str> = found.iter().map(|(_, label)| *label).collect();
    if labels.is_empty() {
        UNKNOWN.to_owned()
    } else {
        labels.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::pieces::Voice;

    #[test]
    fn a_list_is_read_only_where_an_order_is_asked_for() {
        let listed = |question| {
            items(question).map(|items| items.iter().map(|item| item.label).collect::<Vec<_>>())
        };
        assert_eq!(
            listed("In what order: (a) Where is the key? (b) Who has it?"),
            Some(vec!["a", "b"])
        );
        assert_eq!(
            listed("Which came earliest (1) the flood (2) the fire (of May)?"),
            Some(vec!["1", "2"])
        );
        for other in [
            "Which of these is it: (a) red (b) blue?",
            "Which order (KX-1) is late?",
            "In what order?",
        ] {
            assert_eq!(listed(other), None, "{other}");
        }
    }

    #[test]
    fn items_follow_each_other_as_what_is_found_does() {
        let turns =
            ["The key is red. The door is blue.", "The roof is green."].map(|text| MaterialTurn {
                speaker: Voice::User,
                text,
                message: 0,
            });
        let question = "In which order: (P) roof (Q) cellar (R) door (S) key?";
        let find = |item: &str| match item {
            "roof" => "The roof is green.".to_owned(),
            "door" => "The door is blue.".to_owned(),
            "key?" => "The key is red.".to_owned(),
            _ => UNKNOWN.to_owned(),
        };
        assert_eq!(
            answer(&items(question).expect("it lists"), &turns, find),
            "S, R, P"
        );
        assert_eq!(
            answer(&items(question).expect("it lists"), &turns, |_| UNKNOWN
                .to_owned()),
            UNKNOWN
        );
    }
}
