//! Material cut into pieces that fit a summarizer's window, so that nothing leaves unread.

use crate::event::FailReason;
use crate::render::Material;
use crate::strategy::Context;
use crate::tokens::total;

/// Fewest tokens of material in a piece that are worth a call.
const FEWEST: u32 = 64;

/// The material in pieces, each of which fits the summarizer's window beside a prompt of `fixed` tokens, which are counted where
/// a window binds, an answer of `most` and, from the second piece on, the answer to the piece before.
///
/// # Errors
/// [`FailReason::WindowTooSmall`] where no piece would fit.
pub(crate) fn pieces(
    cx: &Context<'_>,
    material: Material,
    fixed: impl FnOnce() -> u32,
    most: u32,
) -> Result<Vec<String>, FailReason> {
    let Some(window) = cx.summarizer_window else { return Ok(vec![material.text]) };
    let fixed = fixed();
    let count = |text: &str| cx.counter.count_text(text);
    let fits = |tokens: u32| total([fixed, most, tokens, FRAME]) <= window;
    if fits(material.tokens_at_most) {
        return Ok(vec![material.text]);
    }
    let blocks = counted_blocks(&material.text, &count);
    if fits(total_of(&material.text, &blocks, &count)) {
        return Ok(vec![material.text]);
    }
    let room = window.saturating_sub(total([fixed, most, most, FRAME]));
    if room < FEWEST {
        return Err(FailReason::WindowTooSmall(window));
    }
    let mut pieces = Vec::new();
    let (mut piece, mut size) = (String::new(), 0);
    for (block, tokens) in blocks.into_iter().flat_map(|(block, tokens)| halves(block, tokens, room, &count)) {
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
        let end = kept.char_indices().nth(letters * 3 / 4).map_or(0, |(at, _)| at);
        kept = &kept[..end];
    }
    kept
}

/// Tokens that a request costs beside its texts: the label before an earlier answer, and why a first answer was refused.
pub(crate) const FRAME: u32 = 64;

/// The paragraphs of a text, each with its tokens.
fn counted_blocks<'t>(text: &'t str, count: &dyn Fn(&str) -> u32) -> Vec<(&'t str, u32)> {
    text.split_inclusive("\n\n").map(|block| (block, count(block))).collect()
}

/// The tokens of the text that these blocks are: their sum, since before a letter, a digit or a mark every encoding ends a piece
/// at a line end; but those that begin with something else are counted with what stands before them, and a slash may belong to
/// the line end.
fn total_of(text: &str, blocks: &[(&str, u32)], count: &dyn Fn(&str) -> u32) -> u32 {
    let begins = |block: &str| block.starts_with(|letter: char| letter.is_ascii_graphic() && letter != '/');
    let mut start = 0;
    let counted = blocks.chunk_by(|_, (next, _)| !begins(next)).map(|joined| {
        let length = joined.iter().map(|(block, _)| block.len()).sum::<usize>();
        let whole = &text[start..start + length];
        start += length;
        if let [(_, tokens)] = joined { *tokens } else { count(whole) }
    });
    total(counted)
}

/// A block of so many tokens, cut in halves until each fits; with the tokens of each.
fn halves<'b>(block: &'b str, tokens: u32, room: u32, count: &dyn Fn(&str) -> u32) -> Vec<(&'b str, u32)> {
    if tokens < room || block.chars().nth(1).is_none() {
        return vec![(block, tokens)];
    }
    let letters = block.chars().count();
    let middle = block.char_indices().nth(letters / 2).map_or(block.len(), |(at, _)| at);
    let (first, second) = block.split_at(middle);
    let mut all = halves(first, count(first), room, count);
    all.extend(halves(second, count(second), room, count));
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tokens::{Encoding, TokenCounter};

    proptest! {
        #[test]
        fn blocks_add_up_to_their_whole(
            lines in prop::collection::vec("([a-zA-Z0-9 .,/'\\[\\](){}=\\-é数|#*<_\r\t\u{301}]{0,20}:?|)", 0..20),
        ) {
            let text = lines.join("\n");
            for encoding in Encoding::ALL {
                let count = |text: &str| encoding.count_text(text);
                let blocks = counted_blocks(&text, &count);
                prop_assert_eq!(blocks.iter().map(|(block, _)| *block).collect::<String>(), text.as_str());
                prop_assert_eq!(total_of(&text, &blocks, &count), count(&text), "{:?}", text);
            }
        }

        #[test]
        fn invariant_14_halves_are_the_text_and_fit(text in "(?s)([a-z \n]{0,200}|[一-龥]{0,60}|👩‍👩‍👧‍👦|e\u{301}|.){0,12}", room in 2_u32..200) {
            let count = |text: &str| text.len().div_ceil(4) as u32;
            let pieces = halves(&text, count(&text), room, &count);
            prop_assert_eq!(pieces.iter().map(|(piece, _)| *piece).collect::<String>(), text.as_str());
            prop_assert!(pieces.iter().all(|(piece, tokens)| *tokens < room && *tokens == count(piece)));
        }
    }
}
