//! Long lists over several pages.

use std::ops::Range;

use serde_json::Value;

use crate::render::explain::template_values::escaped;

/// Bytes of items that a page takes; with its head and its tables' markup it stays under 500 kB.
const MOST: usize = 400_000;
/// Bytes of markup around a string.
const MARKUP: usize = 60;
/// The same around a number or an absent value.
const SMALL: usize = 20;

/// At most the bytes that an item takes on a page.
pub(super) fn span(item: &Value) -> usize {
    match item {
        Value::String(text) => MARKUP + escaped(text),
        Value::Array(items) => items.iter().map(span).sum(),
        Value::Object(fields) => MARKUP + fields.values().map(span).sum::<usize>(),
        _ => SMALL,
    }
}

/// The items of each page, in order; an empty list has one page. The first page holds `head` bytes
/// beside its items.
pub(super) fn pages(head: usize, spans: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let (mut begins, mut used, mut count) = (vec![0], head, 0);
    for span in spans {
        if used > 0 && used + span > MOST {
            begins.push(count);
            used = 0;
        }
        used += span;
        count += 1;
    }
    begins.push(count);
    begins.windows(2).map(|page| page[0]..page[1]).collect()
}

/// What of this list is on the page, where its first item is the page's items' `from`-th, and where
/// the next list begins.
pub(super) fn slice<'l>(
    list: &'l [Value],
    page: &Range<usize>,
    from: usize,
) -> (&'l [Value], usize) {
    let place = |at: usize| at.saturating_sub(from).min(list.len());
    (&list[place(page.start)..place(page.end)], from + list.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn items_are_on_one_page_each_and_in_order() {
        for spans in [
            vec![],
            vec![5],
            vec![MOST, 1],
            vec![MOST / 2; 5],
            vec![2 * MOST, 2 * MOST, 1, 1],
        ] {
            let pages = pages(0, spans.iter().copied());
            assert_eq!(
                pages.iter().cloned().flatten().collect::<Vec<_>>(),
                (0..spans.len()).collect::<Vec<_>>()
            );
            for page in pages.iter().filter(|page| page.len() > 1) {
                assert!(
                    spans[page.clone()].iter().sum::<usize>() <= MOST,
                    "{pages:?} of {spans:?}"
                );
            }
        }
    }

    #[test]
    fn lists_follow_each_other() {
        let [one, two] = [vec![json!(1), json!(2)], vec![json!(3)]];
        let page = 1..3;
        let (shown, next) = slice(&one, &page, 0);
        assert_eq!((shown, slice(&two, &page, next).0), (&one[1..], &two[..]));
    }
}
