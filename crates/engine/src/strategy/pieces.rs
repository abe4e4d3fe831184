//! Material cut into pieces that fit a summarizer's window, so that nothing leaves unread.

use crate::conversation::render::Material;
use crate::strategy::Context;
use crate::strategy::declined::FailReason;
use crate::tokens::total;

/// Fewest tokens of material in a piece that are worth a call.
const FEWEST: u32 = 64;

/// The material in pieces, each of which fits the summarizer's window beside a prompt of `fixed`
/// tokens, which are counted where a window binds, an answer of `most` and, from the second piece
/// on, the answer to the piece before.
///
/// # Errors
/// [`FailReason::WindowTooSmall`] where no piece would fit.
pub(crate) fn pieces(
    cx: &Context<'_>,
    material: Material,
    fixed: impl FnOnce() -> u32,
    most: u32,
) -> Result<Vec<String>, FailReason> {
    let Some(window) = cx.summarizer_window else {
        return Ok(vec![material.text]);
    };
    let fixed = fixed();
    let count = |text: &str| cx.counter.count_text(text);
    let fits = |tokens: u32| total([fixed, most, tokens, FRAME]) <= window;
    if fits(material.tokens_at_most) || fits(count(&material.text)) {
        return Ok(vec![material.text]);
    }
    let room = window.saturating_sub(total([fixed, most, most, FRAME]));
    if room < FEWEST {
        return Err(FailReason::WindowTooSmall(window));
    }
    let mut pieces = Vec::new();
    let (mut piece, mut size) = (String::new(), 0);
    let blocks = material.text.split_inclusive("\n\n");
    for (block, tokens) in blocks.flat_map(|block| halves(block, count(block), room, &count)) {
        // Two texts together may take a token more than apart.
        let tokens = tokens.saturating_add(1);
        if size + tokens > room && !piece.is_empty() {
            pieces.push(std::mem::take(&mut piece));
            size = 0;
        }
        piece.push_str(block);
        size += tokens;
    }
    pieces.push(piece);
    Ok(pieces)
}

/// The start of a text that has at most that many tokens: a model may ignore its limit.
pub(crate) fn shortened<'t>(cx: &Context<'_>, text: &'t str, most: u32) -> &'t str {
    let mut kept = text;
    while !kept.is_empty() && cx.counter.count_text(kept) > most {
        let letters = kept.chars().count();
        let end = kept
            .char_indices()
            .nth(letters * 3 / 4)
            .map_or(0, |(at, _)| at);
        kept = &kept[..end];
    }
    kept
}

/// Tokens that a request costs beside its texts: the label before an earlier answer, and why a
/// first answer was refused.
pub(crate) const FRAME: u32 = 64;

/// A block of `tokens`, cut in halves until each fits `room`; with the tokens of each.
fn halves<'b>(
    block: &'b str,
    tokens: u32,
    room: u32,
    count: &dyn Fn(&str) -> u32,
) -> Vec<(&'b str, u32)> {
    if tokens < room || block.chars().nth(1).is_none() {
        return vec![(block, tokens)];
    }
    let letters = block.chars().count();
    let middle = block
        .char_indices()
        .nth(letters / 2)
        .map_or(block.len(), |(at, _)| at);
    let (first, second) = block.split_at(middle);
    let mut all = halves(first, count(first), room, count);
    all.extend(halves(second, count(second), room, count));
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn invariant_14_halves_are_the_text_and_fit(text in "(?s)([a-z \n]{0,200}|[一-龥]{0,60}|👩‍👩‍👧‍👦|e\u{301}|.){0,12}", room in 2_u32..200) {
            let count = |text: &str| text.len().div_ceil(4) as u32;
            let pieces = halves(&text, count(&text), room, &count);
            prop_assert_eq!(pieces.iter().map(|(piece, _)| *piece).collect::<String>(), text.as_str());
            prop_assert!(pieces.iter().all(|(piece, tokens)| *tokens < room && *tokens == count(piece)));
        }
    }
}
