//! Random contexts for lift: what a random choice would have kept on a strategy's own schedule and
//! at its realized sizes. They keep the strategy's own verbatim tail, and the random choice fills
//! the rest.

use compactometer_engine::log::Pending;
use compactometer_engine::message::Role;
use compactometer_formats::record::{ChanceCell, RANDOM_DRAWS};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

use super::chance::ChanceCounts;
use crate::prepare::{Checks, PreparedScenario};

/// The random contexts of one case.
pub(crate) struct RandomContexts<'l> {
    prepared: &'l PreparedScenario,
    draws: Vec<Draw>,
    /// Messages that every draw still holds whole: those pending at the last compaction, its tail,
    /// and everything after it.
    whole: Vec<usize>,
    length: usize,
    /// In how many draws a segment holds each fact, binding and foreign fact. Draws change only at
    /// compactions, so an observation need not walk over their segments.
    holding: Holding,
}

#[derive(Default)]
struct Holding {
    facts: Vec<u32>,
    bindings: Vec<u32>,
    foreign: Vec<u32>,
}

struct Draw {
    rng: ChaCha8Rng,
    segments: Vec<u32>,
}

/// What must outlive a process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct DrawnContexts {
    /// For each draw, the position of its generator in words, and its segments.
    draws: Vec<(u64, Vec<u32>)>,
    whole: Vec<usize>,
}

impl<'l> RandomContexts<'l> {
    pub(crate) fn new(prepared: &'l PreparedScenario, seed: u64) -> Self {
        let draw = |number| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(u64::from(number));
            Draw {
                rng,
                segments: Vec::new(),
            }
        };
        let draws = (0..RANDOM_DRAWS).map(draw).collect::<Vec<_>>();
        RandomContexts {
            prepared,
            holding: Holding::new(prepared, &draws),
            draws,
            whole: Vec::new(),
            length: 0,
        }
    }

    /// The current contexts, for [`RandomContexts::resumed`].
    pub(crate) fn drawn(&self) -> DrawnContexts {
        let draw = |draw: &Draw| (draw.rng.get_word_pos() as u64, draw.segments.clone());
        DrawnContexts {
            draws: self.draws.iter().map(draw).collect(),
            whole: self.whole.clone(),
        }
    }

    /// The contexts of a case that goes on after `length` messages.
    pub(crate) fn resumed(
        prepared: &'l PreparedScenario,
        seed: u64,
        drawn: DrawnContexts,
        length: usize,
    ) -> Self {
        let mut random = RandomContexts {
            whole: drawn.whole,
            length,
            ..RandomContexts::new(prepared, seed)
        };
        for (draw, (position, segments)) in random.draws.iter_mut().zip(drawn.draws) {
            draw.rng.set_word_pos(u128::from(position));
            draw.segments = segments;
        }
        random.holding = Holding::new(prepared, &random.draws);
        random
    }

    pub(crate) fn pushed(&mut self) {
        if self.prepared.messages[self.length].message.role != Role::System {
            self.whole.push(self.length);
        }
        self.length += 1;
    }

    /// The strategy left that many tokens beside the system prompt and the pending part. The draws
    /// fill them with the messages from the index `tail` on, then with random segments.
    pub(crate) fn compacted(&mut self, pending: &Pending, tail: usize, retained: u32) {
        let stays = |index: &&usize| pending.contains(**index) || **index >= tail;
        let (kept, cut): (Vec<usize>, Vec<usize>) = self.whole.iter().partition(stays);
        let of_tail = kept.iter().filter(|index| !pending.contains(**index));
        let retained = retained.saturating_sub(
            of_tail
                .map(|index| self.prepared.messages[*index].tokens)
                .sum(),
        );
        self.whole = kept;
        let segments = &self.prepared.checks().segments;
        let fresh = cut.iter().flat_map(|index| segments.of_message(*index));
        let fresh = fresh.collect::<Vec<_>>();
        for draw in &mut self.draws {
            let mut pool = draw
                .segments
                .iter()
                .chain(&fresh)
                .copied()
                .collect::<Vec<_>>();
            pool.shuffle(&mut draw.rng);
            let mut room = retained;
            pool.retain(|segment| {
                let tokens = segments.tokens[*segment as usize];
                let fits = tokens <= room;
                room -= if fits { tokens } else { 0 };
                fits
            });
            draw.segments = pool;
        }
        self.holding = Holding::new(self.prepared, &self.draws);
    }

    /// For each of these facts, how many draws hold it.
    pub(crate) fn hits(&self, facts: &[u32]) -> Vec<u32> {
        let whole = |fact: u32| {
            self.whole.iter().any(|index| {
                self.prepared.mentions[fact as usize]
                    .binary_search(index)
                    .is_ok()
            })
        };
        let hits = |fact: &u32| {
            if whole(*fact) {
                RANDOM_DRAWS
            } else {
                self.holding.facts[*fact as usize]
            }
        };
        facts.iter().map(hits).collect()
    }

    /// For each of these facts, how many draws give it to its own subject.
    pub(crate) fn bound(&self, facts: &[u32]) -> Vec<u32> {
        let Some(bindings) = &self.prepared.checks().bindings else {
            return Vec::new();
        };
        let mut draws = self.holding.bindings.clone();
        for place in self
            .whole
            .iter()
            .flat_map(|index| bindings.in_message.get(*index))
        {
            draws[*place as usize] = RANDOM_DRAWS;
        }
        let place = |fact: u32| {
            bindings
                .all
                .binary_search(&(fact, bindings.subject(fact)?))
                .ok()
        };
        facts
            .iter()
            .map(|fact| place(*fact).map_or(0, |place| draws[place]))
            .collect()
    }

    /// Chance matches in what the draws hold of messages before the index `old_before`.
    pub(crate) fn chance(&self, old_before: usize) -> Vec<ChanceCell> {
        let mut hits = self.holding.foreign.clone();
        let in_message = &self.prepared.checks().segments.foreign_in_message;
        for index in self.whole.iter().filter(|index| **index < old_before) {
            let foreign = in_message.get(*index);
            foreign
                .iter()
                .for_each(|fact| hits[*fact as usize] = RANDOM_DRAWS);
        }
        ChanceCounts::from_hits(self.prepared, hits, RANDOM_DRAWS).cells()
    }
}

impl Holding {
    fn new(prepared: &PreparedScenario, draws: &[Draw]) -> Self {
        let Checks {
            segments: pieces,
            bindings: all,
            foreign_kinds,
            ..
        } = prepared.checks();
        let drawn = || {
            draws
                .iter()
                .map(|draw| draw.segments.iter().map(|at| *at as usize))
        };
        let facts = drawn().map(|segments| segments.flat_map(|at| pieces.facts.get(at)));
        let bindings = drawn().map(|segments| segments.flat_map(|at| pieces.bindings.get(at)));
        let foreign = drawn().map(|segments| segments.flat_map(|at| pieces.foreign.get(at)));
        Holding {
            bindings: count_each(
                all.as_ref().map_or(0, |bindings| bindings.all.len()),
                bindings,
            ),
            facts: count_each(prepared.mentions.len(), facts),
            foreign: count_each(foreign_kinds.len(), foreign),
        }
    }
}

/// How many sets hold each of the items; repeats in a set count once.
fn count_each<'i, S: Iterator<Item = &'i u32>>(
    items: usize,
    sets: impl Iterator<Item = S>,
) -> Vec<u32> {
    let mut counted = vec![(0, 0); items];
    for (set, number) in sets.zip(1..) {
        for item in set {
            let (count, last) = &mut counted[*item as usize];
            *count += u32::from(*last != number);
            *last = number;
        }
    }
    counted.into_iter().map(|(count, _)| count).collect()
}
