//! `value-list`: the newest exact values without a word about them. It holds many values and helps
//! nobody, so a measure that praises it can be gamed.

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use compactometer_engine::strategy::{Compacted, Context, Declined, Strategy};
use compactometer_text::exact;

use super::fill::{compacted, cut_texts, newest_that_fit};
use crate::plan::Control;

pub(super) const CONTROL: Control = Control {
    name: "value-list",
    about: "keeps the newest exact values, each once and without the words around it, up to the budget",
    tail_share: 0.0,
    compacts: true,
    evidence: None,
    build: |_, _| Arc::new(ValueList),
};

struct ValueList;

#[async_trait]
impl Strategy for ValueList {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let texts = cut_texts(cx)?;
        let values = texts.iter().flat_map(|text| {
            let of_text = exact::within(text.text)
                .map(|exact| (exact.value, text.origin))
                .collect::<Vec<_>>();
            of_text.into_iter().rev()
        });
        let mut seen = HashSet::new();
        let fresh = values.filter(|(value, _)| seen.insert(value.clone()));
        let lines = newest_that_fit(
            cx,
            fresh.map(|(value, origin)| (format!("{value}\n"), origin)),
        );
        Ok(compacted(cx, lines))
    }
}
