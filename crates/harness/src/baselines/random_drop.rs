//! `random-drop`: random pieces of the view fill the budget. A strategy that does not beat it has chosen nothing.

use std::sync::Arc;

use async_trait::async_trait;
use compactometer_engine::event::SkipReason;
use compactometer_engine::message::part_text;
use compactometer_engine::message::{Part, Role};
use compactometer_engine::strategy::{Compacted, Context, Declined, Strategy};
use compactometer_engine::tokens::MESSAGE_OVERHEAD;
use compactometer_engine::view::{Edit, Entry, Origin, WrittenPart};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::{keep_system, pending_ids};
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
        let pending = pending_ids(cx.log).collect::<Vec<_>>();
        let is_cut =
            |entry: &&Entry| entry.role() != Role::System && entry.message_id().is_none_or(|id| !pending.contains(&id));
        let parts = cx.view.entries().iter().filter(is_cut).flat_map(Entry::parts);
        let texts = parts.filter_map(|(part, origin)| Some((part_text(part)?, origin)));
        let pieces = texts.flat_map(|(text, origin)| pieces(text).map(move |piece| (piece, origin)));
        let mut pool = pieces.enumerate().collect::<Vec<_>>();
        if pool.is_empty() {
            return Err(SkipReason::NothingToCompact.into());
        }
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(cx.log.messages().len() as u64);
        pool.shuffle(&mut rng);
        let mut room = cx.budget.retained.unwrap_or_default().saturating_sub(MESSAGE_OVERHEAD);
        pool.retain(|(_, (piece, _))| {
            let tokens = cx.counter.count_text(piece);
            let fits = tokens <= room;
            room -= if fits { tokens } else { 0 };
            fits
        });
        pool.sort_by_key(|(place, _)| *place);
        let edits = keep_system(cx.log).into_iter().chain(turn(&pool)).chain(pending.iter().copied().map(Edit::Keep));
        Ok(Compacted::without_reading(cx, edits.collect()))
    }
}

fn turn(pieces: &[(usize, (&str, Origin))]) -> Option<Edit> {
    let part = |(_, (piece, origin)): &(usize, (&str, Origin))| WrittenPart {
        part: Part::Text { text: (*piece).to_owned() },
        origin: *origin,
    };
    (!pieces.is_empty()).then(|| Edit::Insert(Role::User, pieces.iter().map(part).collect()))
}
