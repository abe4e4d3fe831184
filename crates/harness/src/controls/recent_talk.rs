//! `recent-talk`: the newest words of user and agent. A summary that does not beat it is not worth
//! its calls.

use std::sync::Arc;

use async_trait::async_trait;
use compactometer_engine::strategy::{Compacted, Context, Declined, Strategy};

use super::fill::{compacted, cut_texts, newest_that_fit};
use crate::plan::Control;
use crate::prepare::pieces;

pub(super) const CONTROL: Control = Control {
    name: "recent-talk",
    about: "keeps the newest text that is neither a call nor the result of one, up to the budget",
    tail_share: 0.0,
    compacts: true,
    evidence: None,
    build: |_, _| Arc::new(RecentTalk),
};

struct RecentTalk;

#[async_trait]
impl Strategy for RecentTalk {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let texts = cut_texts(cx)?;
        let talk = texts.iter().filter(|text| text.is_talk);
        let newest = talk.flat_map(|text| {
            let pieces = pieces(text.text)
                .map(|piece| (piece.to_owned(), text.origin))
                .collect::<Vec<_>>();
            pieces.into_iter().rev()
        });
        Ok(compacted(cx, newest_that_fit(cx, newest)))
    }
}
