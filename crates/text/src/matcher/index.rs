//! Finds patterns in a text, ignoring the case of ASCII letters and matching blanks with line
//! breaks: a trie over the pieces of each pattern.
//!
//! A text is a sequence of pieces: runs of letters of ASCII or of one other script, runs of digits, and
//! single punctuation marks. A whole match begins and ends at piece boundaries. Where a pattern may
//! be broken, the text may have one line break before or after one of its slashes.
//! The text is therefore searched for the first two bytes of patterns, and from each such piece the
//! trie is walked piece by piece. An automaton over all letters searches as fast but takes many
//! times as long to build, which was most of the work on short conversations.
//!
//! Absent on purpose: the conditions on a match's neighbours, which the matcher checks.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use unicode_script::{Script, UnicodeScript as _};

use super::is_word;

/// The patterns, indexed by their pieces.
#[derive(Clone, Debug)]
pub(super) struct FormIndex {
    patterns: Vec<FormPattern>,
    /// The next node for a node and the hash of a piece.
    edges: HashMap<(u32, u64), u32, FixedState>,
    /// The first pattern of each node.
    ends: Vec<Option<u32>>,
    /// For a pattern's first byte, a bit set of the last five bits of its second byte, which are
    /// the same for both cases of a letter. The bit of a blank also stands for a line break.
    openings: [u32; 256],
    /// A set of the first pieces by their hashes, which may have others. Most pieces of a text
    /// begin no pattern, and this set is small enough to stay in a processor's cache.
    firsts: Box<[u64]>,
}

/// A text that is sought.
#[derive(Clone, Debug)]
pub(super) struct Spelling {
    pub(super) text: String,
    /// Whether it may go over two lines.
    pub(super) may_break: bool,
}

#[derive(Clone, Debug)]
struct FormPattern {
    text: Box<str>,
    may_break: bool,
    /// The next pattern of its node.
    next: Option<u32>,
}

const ROOT: u32 = 0;
/// The most pieces in the trie per pattern. The rest of a pattern is only compared.
const DEPTH: usize = 32;

/// The bits in the set of first pieces per pattern.
const FIRSTS: usize = 8;

/// How far a text has been searched. A scan belongs to one text.
#[derive(Clone, Debug, Default)]
pub(super) struct IndexScan {
    /// The position from which the next pattern is searched.
    at: usize,
    /// The start of the walk and its current position.
    start: usize,
    walk: Option<IndexWalk>,
    /// Walks from the same start that take a line break for one that the pattern lacks.
    broken: Vec<IndexWalk>,
    /// The next pattern of its node.
    pattern: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
struct IndexWalk {
    node: u32,
    at: usize,
    /// Whether it went over a line break that the pattern lacks.
    is_broken: bool,
}

impl FormIndex {
    /// An index of non-empty patterns with single blanks between words. Each is identified by its
    /// position in the list.
    pub(super) fn new(all: Vec<Spelling>) -> Self {
        let patterns = Vec::with_capacity(all.len());
        let mut index = FormIndex {
            patterns,
            edges: HashMap::with_capacity_and_hasher(all.len(), FixedState::default()),
            ends: vec![None],
            openings: [0; 256],
            firsts: vec![0; (all.len() * FIRSTS / 64).next_power_of_two()].into(),
        };
        for spelling in all {
            index.open(spelling.text.as_bytes(), spelling.may_break);
            index.add(spelling);
        }
        index
    }

    fn open(&mut self, pattern: &[u8], may_break: bool) {
        let bit = |byte: u8| 1 << (byte & 31);
        let second = pattern.get(1).map_or(u32::MAX, |second| match second {
            b' ' => bit(b' ') | bit(b'\n'),
            b'/' if may_break => bit(b'/') | bit(b'\n'),
            other => bit(*other),
        });
        for first in pattern
            .first()
            .into_iter()
            .flat_map(|first| [first.to_ascii_lowercase(), first.to_ascii_uppercase()])
        {
            self.openings[usize::from(first)] |= second;
        }
    }

    /// Puts a pattern where no other begins like it, so that most take few nodes.
    fn add(&mut self, Spelling { text, may_break }: Spelling) {
        let (mut node, mut at) = (ROOT, 0);
        for depth in 1..=DEPTH {
            let Some(end) = piece_end(&text, at) else {
                break;
            };
            let (child, is_fresh) = self.child(node, &text.as_bytes()[at..end]);
            (node, at) = (child, end);
            if is_fresh {
                break;
            }
            if depth < DEPTH {
                self.push_down(node, at);
            }
        }
        let place = self.patterns.len() as u32;
        let next = self.ends[node as usize].replace(place);
        self.patterns.push(FormPattern {
            text: text.into(),
            may_break,
            next,
        });
    }

    /// The node after a piece, and whether it is new.
    fn child(&mut self, node: u32, piece: &[u8]) -> (u32, bool) {
        let fresh = self.ends.len() as u32;
        let hash = hash(piece);
        if node == ROOT {
            let (word, bit) = self.first(hash);
            self.firsts[word] |= bit;
        }
        let child = *self.edges.entry((node, hash)).or_insert(fresh);
        if child == fresh {
            self.ends.push(None);
        }
        (child, child == fresh)
    }

    /// Moves a pattern that goes on after its node, where nothing else began like it until now, to
    /// the next node. `at` is where the node is in it.
    fn push_down(&mut self, node: u32, at: usize) {
        let Some(place) = self.ends[node as usize] else {
            return;
        };
        let text = self.patterns[place as usize].text.clone();
        if let Some(end) = piece_end(&text, at) {
            self.ends[node as usize] = None;
            let (child, _) = self.child(node, &text.as_bytes()[at..end]);
            self.ends[child as usize] = Some(place);
        }
    }

    /// The word and the bit of a first piece in their set.
    fn first(&self, hash: u64) -> (usize, u64) {
        let word = (hash >> 6) as usize & (self.firsts.len() - 1);
        (word, 1 << (hash & 63))
    }

    fn may_begin(&self, hash: u64) -> bool {
        let (word, bit) = self.first(hash);
        self.firsts[word] & bit != 0
    }

    /// The next pattern in the text: its number, and the start and end of the match.
    pub(super) fn next(&self, text: &str, scan: &mut IndexScan) -> Option<(usize, usize, usize)> {
        loop {
            while let Some(place) = scan.pattern {
                let pattern = &self.patterns[place as usize];
                scan.pattern = pattern.next;
                if let Some(end) = pattern.end_in(text.as_bytes(), scan.start)
                    && ends_piece(text, end)
                {
                    return Some((place as usize, scan.start, end));
                }
            }
            let walk = match scan.walk.or_else(|| scan.broken.pop()) {
                Some(walk) => walk,
                None => self.next_start(text, scan)?,
            };
            if text.as_bytes().get(walk.at) == Some(&b'\n')
                && !walk.is_broken
                && walk.node != ROOT
                && is_at_slash(text.as_bytes(), walk.at)
            {
                scan.broken.push(IndexWalk {
                    at: walk.at + 1,
                    is_broken: true,
                    ..walk
                });
            }
            scan.walk = self.step(text, walk);
            scan.pattern = scan.walk.and_then(|walk| self.ends[walk.node as usize]);
        }
    }

    /// The walk after one more piece of the text, if a pattern goes on so.
    fn step(&self, text: &str, walk: IndexWalk) -> Option<IndexWalk> {
        let end = piece_end(text, walk.at)?;
        let hash = hash(&text.as_bytes()[walk.at..end]);
        if walk.node == ROOT && !self.may_begin(hash) {
            return None;
        }
        let node = *self.edges.get(&(walk.node, hash))?;
        Some(IndexWalk {
            node,
            at: end,
            ..walk
        })
    }

    /// The next piece that begins like a pattern and is not inside a word.
    fn next_start(&self, text: &str, scan: &mut IndexScan) -> Option<IndexWalk> {
        let bytes = text.as_bytes();
        loop {
            scan.start = scan.at + self.opening_in(&bytes[scan.at..])?;
            scan.at = scan.start + 1;
            // Most such beginnings are inside a word, which two ASCII letters show.
            let is_letter = |at: usize| bytes[at].is_ascii_alphabetic();
            let is_inside = scan.start > 0 && is_letter(scan.start) && is_letter(scan.start - 1);
            if !is_inside && begins(text, scan.start) {
                return Some(IndexWalk {
                    node: ROOT,
                    at: scan.start,
                    is_broken: false,
                });
            }
        }
    }

    fn opening_in(&self, bytes: &[u8]) -> Option<usize> {
        let opens =
            |first: u8, second: u8| self.openings[usize::from(first)] >> (second & 31) & 1 == 1;
        let found = bytes.windows(2).position(|pair| opens(pair[0], pair[1]));
        found.or_else(|| {
            bytes
                .last()
                .filter(|last| opens(**last, 0))
                .map(|_| bytes.len() - 1)
        })
    }
}

impl FormPattern {
    /// Where the pattern ends, if it is in the text from this position on.
    fn end_in(&self, text: &[u8], start: usize) -> Option<usize> {
        let (pattern, text) = (self.text.as_bytes(), text.get(start..)?);
        let found = text.get(..pattern.len());
        if found.is_some_and(|found| found.eq_ignore_ascii_case(pattern)) {
            return Some(start + pattern.len());
        }
        let at = same_bytes(pattern, text);
        if at == pattern.len() {
            return Some(start + at);
        }
        if !self.may_break || text.get(at) != Some(&b'\n') {
            return None;
        }
        let is_inner_slash = |at: usize| pattern.get(at) == Some(&b'/') && at > 0;
        let breaks = is_inner_slash(at) && at + 1 < pattern.len()
            || at.checked_sub(1).is_some_and(is_inner_slash) && at < pattern.len();
        let rest = &pattern[at..];
        let goes_on = breaks && same_bytes(rest, &text[at + 1..]) == rest.len();
        goes_on.then_some(start + pattern.len() + 1)
    }
}

/// Whether a slash is directly before or after a place of the text.
fn is_at_slash(text: &[u8], at: usize) -> bool {
    text.get(at + 1) == Some(&b'/') || at > 0 && text[at - 1] == b'/'
}

/// How many bytes of the pattern the text begins with.
fn same_bytes(pattern: &[u8], text: &[u8]) -> usize {
    let pairs = pattern.iter().zip(text);
    pairs
        .take_while(|(one, other)| is_same(**one, **other))
        .count()
}

fn is_same(pattern: u8, text: u8) -> bool {
    pattern.eq_ignore_ascii_case(&text) || (pattern == b' ' && text == b'\n')
}

#[derive(Clone, Copy, PartialEq)]
enum PatternKind {
    /// Any word character except an ASCII digit and those of [`PatternKind::Foreign`].
    Letter,
    /// A letter that is not of ASCII, and its script.
    Foreign(Script),
    Digit,
    Mark,
}

impl PatternKind {
    fn from_letter(letter: char) -> Self {
        match letter {
            '0'..='9' => PatternKind::Digit,
            letter if letter.is_ascii() && is_word(letter) => PatternKind::Letter,
            letter if is_word(letter) => PatternKind::Foreign(letter.script()),
            _ => PatternKind::Mark,
        }
    }
}

/// Whether a piece begins at this position, other than letters after digits or letters of ASCII.
fn begins(text: &str, at: usize) -> bool {
    let (before, after) = text.split_at(at);
    let before = before
        .chars()
        .next_back()
        .map_or(PatternKind::Mark, PatternKind::from_letter);
    match after
        .chars()
        .next()
        .map_or(PatternKind::Mark, PatternKind::from_letter)
    {
        PatternKind::Letter => matches!(before, PatternKind::Mark | PatternKind::Foreign(_)),
        foreign @ PatternKind::Foreign(_) => before != foreign,
        PatternKind::Digit => before != PatternKind::Digit,
        PatternKind::Mark => true,
    }
}

/// The end of the piece at a position, or `None` at the end of the text.
fn piece_end(text: &str, start: usize) -> Option<usize> {
    let rest = &text.as_bytes()[start..];
    let length = match rest.first()? {
        b'0'..=b'9' => rest.iter().take_while(|byte| byte.is_ascii_digit()).count(),
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => rest
            .iter()
            .take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'_')
            .count(),
        0..=0x7f => 1,
        _ => return Some(end_beyond_ascii(text, start)),
    };
    Some(start + length)
}

fn end_beyond_ascii(text: &str, start: usize) -> usize {
    let mut letters = text[start..].char_indices();
    let kind = letters.next().map_or(PatternKind::Mark, |(_, first)| {
        PatternKind::from_letter(first)
    });
    let next = letters
        .find(|(_, letter)| kind == PatternKind::Mark || PatternKind::from_letter(*letter) != kind);
    next.map_or(text.len(), |(at, _)| start + at)
}

/// Whether a piece ends at that place of the text, which is not its start.
fn ends_piece(text: &str, at: usize) -> bool {
    let (Some(before), Some(after)) = (text[..at].chars().next_back(), text[at..].chars().next())
    else {
        return true;
    };
    let kind = PatternKind::from_letter(after);
    kind == PatternKind::Mark || kind != PatternKind::from_letter(before)
}

/// FNV-1a of the bytes, with ASCII letters in lower case and a line break as a blank.
fn hash(bytes: &[u8]) -> u64 {
    let mixed = |hash: u64, byte: u8| {
        (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x100_0000_01b3)
    };
    // Both are single pieces.
    let bytes = if bytes == b"\n" { b" " } else { bytes };
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| mixed(hash, *byte))
}

/// A pattern broken over two lines, at each place where it may be.
#[cfg(test)]
pub(super) fn broken(pattern: &str) -> impl Iterator<Item = String> {
    let slashes = pattern.match_indices('/').map(|(at, _)| at);
    let inner = slashes.filter(|at| *at > 0 && at + 1 < pattern.len());
    let places = inner.flat_map(|at| [at, at + 1]);
    places.map(|at| format!("{}\n{}", &pattern[..at], &pattern[at..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The numbers of the patterns found, and where, in order of place.
    fn places_of(patterns: &[String], text: &str) -> Vec<(usize, usize, usize)> {
        found_of(patterns.iter().cloned().map(whole).collect(), text)
    }

    fn whole(text: String) -> Spelling {
        Spelling {
            text,
            may_break: false,
        }
    }

    fn found_of(sought: Vec<Spelling>, text: &str) -> Vec<(usize, usize, usize)> {
        let (index, mut scan) = (FormIndex::new(sought), IndexScan::default());
        let mut found: Vec<_> = std::iter::from_fn(|| index.next(text, &mut scan)).collect();
        found.sort_unstable();
        found
    }

    proptest! {
        /// Where a pattern lies in the trie depends on the others, but not what is found.
        #[test]
        fn patterns_do_not_hide_each_other(
            mut patterns in prop::collection::vec("[ab1é](/?[ab1é]{1,2}){0,4}", 1..12),
            text in "([ab1é]{1,2}[/ ]?){0,30}",
        ) {
            patterns.sort();
            patterns.dedup();
            let together = places_of(&patterns, &text);
            let each = patterns.iter().enumerate().flat_map(|(number, pattern)| {
                let alone = places_of(std::slice::from_ref(pattern), &text).into_iter();
                alone.map(move |(_, start, end)| (number, start, end))
            });
            prop_assert_eq!(together, each.collect::<Vec<_>>());
        }

        /// A pattern that may be broken is found where any of its broken forms is.
        #[test]
        fn a_broken_pattern_is_found_as_each_of_its_forms(
            mut patterns in prop::collection::vec("[/ab](/? ?[ab]{1,2}){0,4}/?", 1..8),
            text in "([ab]{1,2}[/ \n]{1,2}){0,20}",
        ) {
            patterns.sort();
            patterns.dedup();
            let sought = patterns.iter().map(|text| Spelling { text: text.clone(), may_break: true });
            let mut together = found_of(sought.collect(), &text);
            let mut each = Vec::new();
            for (number, pattern) in patterns.iter().enumerate() {
                let forms = broken(pattern).chain([pattern.clone()]).collect::<Vec<_>>();
                let of_forms = places_of(&forms, &text).into_iter();
                each.extend(of_forms.map(|(_, start, end)| (number, start, end)));
            }
            each.sort_unstable();
            each.dedup();
            together.dedup();
            prop_assert_eq!(together, each);
        }
    }

    #[test]
    fn a_pattern_that_no_other_begins_like_takes_few_nodes() {
        let long = "/srv/app/source/widgets/button-7.tsx".to_owned();
        let index = |all: [String; 2]| FormIndex::new(all.map(whole).into());
        let alone = index([long.clone(), "q".to_owned()]);
        let beside = index([long.clone(), format!("{long}.map")]);
        assert_eq!((alone.ends.len(), beside.ends.len() > 10), (3, true));
        assert_eq!(
            places_of(std::slice::from_ref(&long), &format!("{long}x")),
            []
        );
    }

    #[test]
    fn any_blank_may_be_a_line_break_and_nothing_else() {
        let stands_as = |pattern: &[u8], text: &[u8]| same_bytes(pattern, text) == pattern.len();
        assert!(stands_as(
            b"one two three four five",
            b"One\ntwo\nthree four\nfive"
        ));
        assert!(!stands_as(b"a b", b"a-b") && !stands_as(b"a-b", b"a\nb"));
    }
}
