//! Finds which messages of the last request a changed request still has.

use std::collections::HashMap;

use super::Print;

/// The most places of one content that are looked at, which are the latest.
const MOST_PLACES: usize = 8;

/// For each message of the new request, the message of the old one that it is. Both stay in order,
/// and as many as possible are matched: a longest increasing run of the places that each new
/// message could have.
pub(super) fn matched(old: &[Print], new: &[Print]) -> Vec<Option<usize>> {
    let mut places: HashMap<Print, Vec<usize>> = HashMap::new();
    for (at, print) in old.iter().enumerate().rev() {
        let known = places.entry(*print).or_default();
        if known.len() < MOST_PLACES {
            known.push(at);
        }
    }
    // The links that end the best run of each length, and the link before each.
    let (mut ends, mut links): (Vec<usize>, Vec<Link>) = (Vec::new(), Vec::new());
    for (new, print) in new.iter().enumerate() {
        for old in places.get(print).into_iter().flatten() {
            let length = ends.partition_point(|end| links[*end].old < *old);
            let before = length.checked_sub(1).map(|length| ends[length]);
            // Of two new messages with one content, the first is the old one.
            let is_known = ends.get(length).is_some_and(|end| links[*end].old == *old);
            if is_known {
                continue;
            }
            links.push(Link {
                old: *old,
                new,
                before,
            });
            match ends.get_mut(length) {
                Some(end) => *end = links.len() - 1,
                None => ends.push(links.len() - 1),
            }
        }
    }
    let mut found = vec![None; new.len()];
    let mut next = ends.last().copied();
    while let Some(link) = next.map(|at| &links[at]) {
        found[link.new] = Some(link.old);
        next = link.before;
    }
    found
}

struct Link {
    old: usize,
    new: usize,
    before: Option<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_possible_are_matched_in_order() {
        let prints = |text: &str| {
            text.bytes()
                .map(|byte| blake3::hash(&[byte]))
                .collect::<Vec<_>>()
        };
        let found = |old, new| matched(&prints(old), &prints(new));
        assert_eq!(
            found("abcd", "aXcdY"),
            [Some(0), None, Some(2), Some(3), None]
        );
        assert_eq!(
            found("agbcg", "Xbcgg"),
            [None, Some(2), Some(3), Some(4), None]
        );
        assert_eq!(found("agbc", "Xbcg"), [None, Some(2), Some(3), None]);
        assert_eq!(found("", "a"), [None]);
    }
}
