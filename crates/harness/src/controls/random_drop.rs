//! `random-drop`: random pieces of the view fill the budget. A strategy that does not beat it has
//! chosen nothing.

use std::sync::Arc;

use async_trait::async_trait;
use compactometer_engine::strategy::{Compacted, Context, Declined, Strategy};
use compactometer_engine::tokens::MESSAGE_OVERHEAD;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::fill::{compacted, cut_texts};
use crate::plan::Control;
use crate::prepare::pieces;

pub(super) const CONTROL: Control = Control {
    name: "random-drop",
    about: "keeps random pieces of at most 240 characters up to the budget",
    tail_share: 0.0,
    compacts: true,
    evidence: None,
    build: |_, seed| Arc::new(RandomDrop { seed }),
};

struct RandomDrop {
    seed: u64,
}

#[async_trait]
impl Strategy for RandomDrop {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let texts = cut_texts(cx)?;
        let pieces = texts
            .iter()
            .rev()
            .flat_map(|text| pieces(text.text).map(|piece| (piece, text.origin)));
        let mut pool = pieces.enumerate().collect::<Vec<_>>();
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(cx.log.messages().len() as u64);
        pool.shuffle(&mut rng);
        let mut room = cx
            .budget
            .retained
            .unwrap_or_default()
            .saturating_sub(MESSAGE_OVERHEAD);
        pool.retain(|(_, (piece, _))| {
            let tokens = cx.counter.count_text(piece);
            let fits = tokens <= room;
            room -= if fits { tokens } else { 0 };
            fits
        });
        pool.sort_by_key(|(place, _)| *place);
        Ok(compacted(
            cx,
            pool.into_iter()
                .map(|(_, (piece, origin))| (piece.to_owned(), origin))
                .collect(),
        ))
    }
}
