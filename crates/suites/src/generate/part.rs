//! Held-out vocabulary: the entries of a list that a conversation may draw.
//!
//! The subjects of test conversations and the templates that state facts about them occur in no
//! other split. All splits share the rules of the system prompt, the tool definitions, the tools'
//! error messages and the frames of their results.

use compactometer_formats::scenario::Split;

use crate::dice::SeededDice;

/// The entries that a conversation may draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SplitPart {
    /// All entries, because the suite has no splits.
    Whole,
    /// Every second entry, for development and calibration.
    Open,
    /// The other entries, for the test split only.
    HeldOut,
}

impl SplitPart {
    /// The part that a split of a suite uses.
    pub(crate) fn of_split(split: Split) -> Self {
        match split {
            Split::Test => SplitPart::HeldOut,
            Split::Dev | Split::Calibration => SplitPart::Open,
        }
    }

    /// The entries of the list that belong to the part, in order.
    pub(crate) fn members(self, list: &[impl AsRef<str>]) -> Vec<&str> {
        let places = self.indices(list.len());
        places.map(|place| list[place].as_ref()).collect()
    }

    /// The indices of those entries in a list of that length.
    pub(crate) fn indices(self, length: usize) -> impl Iterator<Item = usize> {
        let (first, step) = self.places();
        (first..length).step_by(step)
    }

    /// One of those entries. In a suite with splits, the list must have at least two entries.
    pub(crate) fn pick<'t>(self, list: &'t [impl AsRef<str>], dice: &mut SeededDice) -> &'t str {
        let (first, step) = self.places();
        list[first + step * dice.below((list.len() - first).div_ceil(step))].as_ref()
    }

    fn places(self) -> (usize, usize) {
        match self {
            SplitPart::Whole => (0, 1),
            SplitPart::Open => (0, 2),
            SplitPart::HeldOut => (1, 2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Stream;
    use crate::generate::domains::{self, ResultStyle};

    #[test]
    fn the_parts_share_nothing_and_leave_nothing_out() {
        let list = ["a", "b", "c", "d", "e"];
        assert_eq!(SplitPart::Whole.members(&list), list);
        assert_eq!(
            (
                SplitPart::Open.members(&list),
                SplitPart::HeldOut.members(&list)
            ),
            (vec!["a", "c", "e"], vec!["b", "d"])
        );
        let mut dice = SeededDice::new(1, 0, Stream::Text);
        for part in [SplitPart::Whole, SplitPart::Open, SplitPart::HeldOut] {
            let mut drawn: Vec<&str> = (0..200).map(|_| part.pick(&list, &mut dice)).collect();
            drawn.sort_unstable();
            drawn.dedup();
            assert_eq!(drawn, part.members(&list));
        }
    }

    /// An entry listed twice, once in each part, would not really be held out.
    #[test]
    fn every_list_can_be_parted() {
        for domain in &*domains::ALL {
            let mut lists = vec![
                &domain.subjects,
                &domain.requests,
                &domain.remarks,
                &domain.steps,
                &domain.findings,
            ];
            lists.extend(domain.pools.iter().map(|pool| &pool.words));
            lists.extend(domain.tools.iter().map(|tool| &tool.items));
            let claims = domain.claims.iter().chain(&domain.addresses);
            lists.extend(claims.flat_map(|claim| [&claim.says, &claim.changes]));
            lists.extend(domain.tools.iter().filter_map(|tool| match &tool.style {
                ResultStyle::Code(texts) | ResultStyle::Page(texts) => Some(texts),
                ResultStyle::Log | ResultStyle::Json(_) | ResultStyle::Table(_) => None,
            }));
            for list in lists {
                assert_ne!(list.len(), 1, "{}: {list:?}", domain.name);
                let shared = SplitPart::Open
                    .members(list)
                    .into_iter()
                    .find(|text| SplitPart::HeldOut.members(list).contains(text));
                assert_eq!(shared, None, "{}", domain.name);
            }
        }
    }
}
