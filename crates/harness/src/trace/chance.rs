//! Chance matches: values of foreign scenarios, which a context can hold only by accident.

use compactometer_formats::record::ChanceCell;

use crate::prepare::PreparedScenario;

/// Counts matches of foreign facts over contexts, by value kind.
pub(crate) struct ChanceCounts<'l> {
    prepared: &'l PreparedScenario,
    hits: Vec<u32>,
    contexts: u32,
}

impl<'l> ChanceCounts<'l> {
    pub(crate) fn new(prepared: &'l PreparedScenario) -> Self {
        ChanceCounts {
            prepared,
            hits: vec![0; prepared.checks().foreign_kinds.len()],
            contexts: 0,
        }
    }

    /// Matches that are counted already: for each foreign fact, in how many of the contexts it
    /// matches.
    pub(super) fn from_hits(prepared: &'l PreparedScenario, hits: Vec<u32>, contexts: u32) -> Self {
        ChanceCounts {
            prepared,
            hits,
            contexts,
        }
    }

    /// One context, by the foreign facts that match in it; repeats count once.
    pub(crate) fn add(&mut self, matching: impl Iterator<Item = u32>) {
        let mut present = vec![false; self.hits.len()];
        matching.for_each(|fact| present[fact as usize] = true);
        for (hits, present) in self.hits.iter_mut().zip(present) {
            *hits += u32::from(present);
        }
        self.contexts += 1;
    }

    pub(crate) fn cells(&self) -> Vec<ChanceCell> {
        let mut cells: Vec<ChanceCell> = Vec::new();
        for (kind, hits) in self.prepared.checks().foreign_kinds.iter().zip(&self.hits) {
            let at = cells
                .iter()
                .position(|cell| cell.kind == *kind)
                .unwrap_or_else(|| {
                    cells.push(ChanceCell {
                        kind: *kind,
                        hits: 0,
                        pairs: 0,
                    });
                    cells.len() - 1
                });
            cells[at].hits += hits;
            cells[at].pairs += self.contexts;
        }
        cells.sort_by_key(|cell| cell.kind);
        cells
    }
}
