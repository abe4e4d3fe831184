//! Many short lists of numbers, most of them empty, in two allocations.

use std::ops::Range;

/// Lists of numbers, found by index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lists {
    items: Vec<u32>,
    /// Where each list ends among the items.
    ends: Vec<u32>,
}

impl Lists {
    /// Reserves space for that many lists.
    pub(crate) fn with_capacity(lists: usize) -> Self {
        Lists {
            items: Vec::new(),
            ends: Vec::with_capacity(lists),
        }
    }

    /// Appends a list.
    pub(crate) fn push(&mut self, list: impl IntoIterator<Item = u32>) {
        self.items.extend(list);
        self.ends.push(self.items.len() as u32);
    }

    /// The list at that index.
    pub fn get(&self, index: usize) -> &[u32] {
        self.between(index..index + 1)
    }

    /// The lists at these indices, joined.
    pub fn between(&self, indices: Range<usize>) -> &[u32] {
        let end = |index: usize| {
            index
                .checked_sub(1)
                .map_or(0, |last| self.ends[last] as usize)
        };
        &self.items[end(indices.start)..end(indices.end)]
    }

    /// All lists, joined.
    pub fn all(&self) -> &[u32] {
        &self.items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_found_by_their_place() {
        let mut lists = Lists::with_capacity(3);
        [vec![4, 2], vec![], vec![7]]
            .into_iter()
            .for_each(|list| lists.push(list));
        assert_eq!(
            [0, 1, 2].map(|index| lists.get(index).to_vec()),
            [vec![4, 2], vec![], vec![7]]
        );
        assert_eq!(
            (lists.between(1..3), lists.between(0..0)),
            ([7].as_slice(), [].as_slice())
        );
        assert_eq!(lists.all(), [4, 2, 7]);
    }
}
