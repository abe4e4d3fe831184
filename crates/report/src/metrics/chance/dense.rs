//! The same statistic as sums over units, so that a selection of units is one pass over rows of
//! numbers.
//!
//! While no rate passes the highest that counts, each look keeps its weight, and a unit's value is
//! linear in 1 / (1 - q) and q / (1 - q) of its cells. Then the sum over units needs, by cell, the
//! sums of hits, pairs, weighted hits and weights.

use std::collections::BTreeSet;

use super::{ChanceRates, HIGHEST_RATE, LookSums};
use crate::metrics::value::ratio;

/// Numbers of one cell in a row: matches and pairs of foreign facts, then weighted hits and weights
/// of looks over the unit's weight.
const COLUMNS: usize = 4;

/// By unit, one row.
#[derive(Default)]
pub(super) struct UnitSums {
    /// [`COLUMNS`] for each cell that a look uses, the strategy's own first, then 1 where the unit
    /// has a value.
    rows: Vec<f64>,
    width: usize,
    /// The overall rates of these cells.
    overall: Vec<f64>,
    /// How many of them are the strategy's own.
    own: usize,
}

impl UnitSums {
    pub(super) fn new(
        terms: &[Vec<LookSums>],
        own: &ChanceRates,
        random: Option<&ChanceRates>,
    ) -> Self {
        let own_cells = used(terms, |term| term.own);
        let random_cells = random.map_or_else(Vec::new, |_| used(terms, |term| term.random));
        let of_own = own_cells.iter().map(|cell| &own.cells[*cell]);
        let of_random = random
            .into_iter()
            .flat_map(|rates| random_cells.iter().map(|cell| &rates.cells[*cell]));
        let cells: Vec<_> = of_own.chain(of_random).collect();
        let width = cells.len() * COLUMNS + 1;
        let mut rows = vec![0.0; width * terms.len()];
        for (unit, (row, terms)) in rows.chunks_exact_mut(width).zip(terms).enumerate() {
            for (columns, cell) in row.chunks_exact_mut(COLUMNS).zip(&cells) {
                (columns[0], columns[1]) = cell.units[unit];
            }
            let whole: f64 = terms.iter().map(|term| term.weight).sum();
            if whole <= 0.0 {
                continue;
            }
            row[width - 1] = 1.0;
            for term in terms {
                let mut add = |place: usize, hits: f64| {
                    row[place * COLUMNS + 2] += hits / whole;
                    row[place * COLUMNS + 3] += term.weight / whole;
                };
                add(place(&own_cells, term.own), term.hits);
                if random.is_some() {
                    add(
                        own_cells.len() + place(&random_cells, term.random),
                        term.random_hits,
                    );
                }
            }
        }
        UnitSums {
            rows,
            width,
            overall: cells.iter().map(|cell| cell.overall).collect(),
            own: own_cells.len(),
        }
    }

    /// The statistic over the drawn units; `Err` if a rate is too high in this draw, so that looks
    /// must be left out.
    pub(super) fn value(&self, times: &[u32]) -> Result<Option<f64>, TooHigh> {
        let mut sums = vec![0.0; self.width];
        for (row, times) in self
            .rows
            .chunks_exact(self.width)
            .zip(times)
            .filter(|(_, times)| **times > 0)
        {
            let times = f64::from(*times);
            sums.iter_mut()
                .zip(row)
                .for_each(|(sum, number)| *sum += times * number);
        }
        let mut value = 0.0;
        for (at, (columns, overall)) in sums.chunks_exact(COLUMNS).zip(&self.overall).enumerate() {
            let q = ratio(columns[0], columns[1]).unwrap_or(*overall);
            if q > HIGHEST_RATE {
                return Err(TooHigh);
            }
            let corrected = (columns[2] - columns[3] * q) / (1.0 - q);
            value += if at < self.own { corrected } else { -corrected };
        }
        Ok(ratio(value, sums[self.width - 1]))
    }
}

/// A rate passes the highest that counts.
pub(super) struct TooHigh;

fn used(terms: &[Vec<LookSums>], cell: impl Fn(&LookSums) -> usize) -> Vec<usize> {
    terms
        .iter()
        .flatten()
        .map(cell)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

fn place(cells: &[usize], cell: usize) -> usize {
    cells.partition_point(|other| *other < cell)
}
