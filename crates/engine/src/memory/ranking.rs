//! Which texts fit a query: BM25 over words, without an index and without a word of the query ever
//! being an operator.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How fast a repeated word stops counting: the usual value, which SQLite's full text search has
/// too.
const K1: f64 = 1.2;
/// How much a long text is held back: likewise.
const B: f64 = 0.75;

/// For each query, the texts that share a word with it, best first; of equals the later one, since
/// it was said later.
pub(super) fn rank(texts: &[&str], queries: &[&str]) -> Vec<Vec<usize>> {
    let asked = queries.iter().map(|query| words(query)).collect::<Vec<_>>();
    let terms = asked
        .iter()
        .flatten()
        .map(String::as_str)
        .collect::<BTreeSet<_>>();
    let places = TermPlaces::new(&terms);
    let counted = texts
        .iter()
        .map(|text| TermCounts::new(text, &places))
        .collect::<Vec<_>>();
    let mut with_term = vec![0_usize; terms.len()];
    for place in counted.iter().flat_map(|counts| counts.of_term.keys()) {
        with_term[*place] += 1;
    }
    let mean = counted.iter().map(|counts| counts.words).sum::<f64>() / (texts.len().max(1) as f64);
    let rarity = with_term
        .iter()
        .map(|with| rarity(*with, texts.len()))
        .collect::<Vec<_>>();
    let of_query = |query: &BTreeSet<String>| {
        let asked = query
            .iter()
            .filter_map(|word| places.get(word))
            .collect::<Vec<_>>();
        let scores = counted
            .iter()
            .map(|counts| counts.score(&asked, &rarity, mean));
        let mut found = scores
            .enumerate()
            .filter(|(_, score)| *score > 0.0)
            .collect::<Vec<_>>();
        found.sort_by(|(one, score), (other, than)| than.total_cmp(score).then(other.cmp(one)));
        found.into_iter().map(|(place, _)| place).collect()
    };
    asked.iter().map(of_query).collect()
}

/// The place of each term. Most words are not terms; first byte and length rule them out.
struct TermPlaces<'t> {
    of: HashMap<&'t str, usize>,
    /// For each first byte, the lengths that terms have, as bits.
    lengths: [u32; 256],
}

impl<'t> TermPlaces<'t> {
    fn new(terms: &BTreeSet<&'t str>) -> Self {
        let mut places = TermPlaces {
            of: HashMap::new(),
            lengths: [0; 256],
        };
        for (place, term) in terms.iter().enumerate() {
            places.of.insert(term, place);
            places.lengths[first(term)] |= length_bit(term);
        }
        places
    }

    fn get(&self, word: &str) -> Option<usize> {
        let may_be = self.lengths[first(word)] & length_bit(word) != 0;
        may_be.then(|| self.of.get(word).copied()).flatten()
    }
}

fn first(word: &str) -> usize {
    word.bytes().next().unwrap_or_default().into()
}

fn length_bit(word: &str) -> u32 {
    1 << word.len().min(31)
}

/// How often the terms of all queries occur in one text.
struct TermCounts {
    words: f64,
    of_term: BTreeMap<usize, f64>,
}

impl TermCounts {
    fn new(text: &str, places: &TermPlaces<'_>) -> Self {
        let mut counts = TermCounts {
            words: 0.0,
            of_term: BTreeMap::new(),
        };
        each_word(text, |word| {
            counts.words += 1.0;
            if let Some(place) = places.get(word) {
                *counts.of_term.entry(place).or_default() += 1.0;
            }
        });
        counts
    }

    fn score(&self, asked: &[usize], rarity: &[f64], mean: f64) -> f64 {
        let held_back = K1 * (1.0 - B + B * self.words / mean);
        let of_term = |place: &usize| {
            let times = self.of_term.get(place)?;
            Some(rarity[*place] * times * (K1 + 1.0) / (times + held_back))
        };
        asked.iter().filter_map(of_term).sum()
    }
}

/// Over 0 also for a word of every text.
fn rarity(with: usize, texts: usize) -> f64 {
    let (with, texts) = (with as f64, texts as f64);
    libm::log(1.0 + (texts - with + 0.5) / (with + 0.5))
}

fn words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    each_word(text, |word| words.extend([word.to_owned()]));
    words
}

/// Runs of letters and digits in lower case; each sign of a script that puts no blanks between
/// words is one.
fn each_word(text: &str, mut take: impl FnMut(&str)) {
    if text.is_ascii() {
        return each_word_in_ascii(text, take);
    }
    for run in text
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|run| !run.is_empty())
    {
        // Nearly every word is small already.
        if is_small(run) {
            take(run)
        } else {
            each_word_of(run, &mut take)
        }
    }
}

fn is_small(run: &str) -> bool {
    run.bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

fn each_word_in_ascii(text: &str, mut take: impl FnMut(&str)) {
    let mut start = 0;
    // A run ends at what is none of it, and at the end of the text.
    for (end, byte) in text.bytes().chain([b' ']).enumerate() {
        if byte.is_ascii_alphanumeric() {
            continue;
        }
        let run = &text[start..end];
        start = end + 1;
        match run {
            "" => {}
            small if is_small(small) => take(small),
            mixed => take(&mixed.to_ascii_lowercase()),
        }
    }
}

/// The same of a run of letters and digits.
fn each_word_of(run: &str, take: &mut impl FnMut(&str)) {
    let mut word = String::new();
    for letter in run.chars() {
        let stands_alone = letter >= FIRST_WITHOUT_BLANKS;
        if stands_alone && !word.is_empty() {
            take(&word);
            word.clear();
        }
        word.extend(letter.to_lowercase());
        if stands_alone {
            take(&word);
            word.clear();
        }
    }
    if !word.is_empty() {
        take(&word);
    }
}

/// The Chinese, Japanese and Korean scripts begin here.
const FIRST_WITHOUT_BLANKS: char = '\u{2e80}';

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rare_words_weigh_more_and_equals_stand_newest_first() {
        let texts = [
            "the port is open",
            "the port of the service svc-7",
            "the end",
            "nothing",
        ];
        assert_eq!(
            rank(&texts, &["what is the port of SVC-7?"]),
            [vec![1, 0, 2]]
        );
        assert_eq!(
            rank(&["a b", "a b", "c"], &["b", "none of these", ""]),
            [vec![1, 0], vec![], vec![]]
        );
        assert_eq!(rank(&["端口是8080", "没有"], &["哪个端口"]), [vec![0]]);
        assert_eq!(rank(&[], &["a"]), [Vec::<usize>::new()]);
    }

    /// Computed by hand from the formula of BM25 with k1 1.2 and b .75.
    #[test]
    fn a_text_of_twice_the_usual_length_counts_less() {
        let counts = TermCounts {
            words: 20.0,
            of_term: [(0, 2.0)].into(),
        };
        let expected = 0.5 * 2.0 * 2.2 / (2.0 + 1.2 * (0.25 + 0.75 * 2.0));
        assert!((counts.score(&[0, 1], &[0.5, 9.0], 10.0) - expected).abs() < 1e-12);
    }

    #[test]
    fn words_are_small_and_signs_without_blanks_stand_alone() {
        let mut found = Vec::new();
        each_word("Port_8042 of ÉTÉ2端Ab口svc. İx-é！", |word| {
            found.push(word.to_owned())
        });
        assert_eq!(
            found,
            [
                "port",
                "8042",
                "of",
                "été2",
                "端",
                "ab",
                "口",
                "svc",
                "i\u{307}x",
                "é"
            ]
        );
    }

    proptest! {
        #[test]
        fn ascii_has_the_words_that_it_has_beside_other_letters(text in "[a-cA-C0-1 _.]{0,20}") {
            let of = |text: &str| {
                let mut found = Vec::new();
                each_word(text, |word| found.push(word.to_owned()));
                found
            };
            let mut beside = of(&format!("{text} é"));
            prop_assert_eq!(beside.pop(), Some("é".to_owned()));
            prop_assert_eq!(of(&text), beside);
        }
    }

    #[test]
    fn no_text_of_a_query_is_an_operator() {
        let texts = ["alpha", "beta"];
        for query in [
            "alpha NOT alpha",
            "\"alpha",
            "alpha*",
            "text:alpha",
            "(alpha OR",
            "-alpha",
            "NEAR(alpha",
        ] {
            assert_eq!(rank(&texts, &[query]), [vec![0]], "{query}");
        }
    }

    proptest! {
        #[test]
        fn what_is_found_shares_a_word_and_several_queries_do_not_touch_each_other(
            texts in proptest::collection::vec("[a-d ]{0,8}", 0..6), queries in proptest::collection::vec("[a-e ]{0,5}", 1..4),
        ) {
            let texts = texts.iter().map(String::as_str).collect::<Vec<_>>();
            let queries = queries.iter().map(String::as_str).collect::<Vec<_>>();
            let together = rank(&texts, &queries);
            for (query, found) in queries.iter().zip(&together) {
                prop_assert_eq!(std::slice::from_ref(found), &rank(&texts, &[*query])[..]);
                let shares = |text: &&str| !words(text).is_disjoint(&words(query));
                let expected = texts.iter().enumerate().filter(|(_, text)| shares(text)).map(|(place, _)| place);
                let mut sorted = found.clone();
                sorted.sort_unstable();
                prop_assert_eq!(sorted, expected.collect::<Vec<_>>());
            }
        }
    }
}
