//! Finds patterns in a text, ignoring the case of ASCII letters and matching blanks with line
//! breaks: a trie over the pieces of each pattern.
//!
//! A text is a sequence of pieces: runs of letters of ASCII or of one other script, runs of digits, and
//! single punctuation marks. A whole match begins and ends at piece boundaries.
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
pub(super) struct Index {
    patterns: Vec<Pattern>,
    /// The next node for a node and the hash of a piece.
    edges: HashMap<(u32, u64), u32, FixedState>,
    /// The first pattern of each node.
    ends: Vec<Option<u32>>,
    /// For a pattern's first byte, a bit set of the last five bits of its second byte, which are
    /// the same for both cases of a letter. The bit of a blank also stands for a line break.
    openings: [u32; 256],
}

#[derive(Clone, Debug)]
struct Pattern {
    text: Box<str>,
    /// The next pattern of its node.
    next: Option<u32>,
}

const ROOT: u32 = 0;
/// The most pieces in the trie per pattern. The rest of a pattern is only compared.
const DEPTH: usize = 32;

/// How far a text has been searched. A scan belongs to one text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scan {
    /// The position from which the next pattern is searched.
    at: usize,
    /// The start of the walk and its current position.
    start: usize,
    walk: Option<Walk>,
    /// The next pattern of its node.
    pattern: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Walk {
    node: u32,
    at: usize,
}

impl Index {
    /// An index of non-empty patterns with single blanks between words. Each is identified by its
    /// position in the list.
    pub(super) fn new(texts: Vec<String>) -> Self {
        let patterns = Vec::with_capacity(texts.len());
        let mut index = Index {
            patterns,
            edges: HashMap::default(),
            ends: vec![None],
            openings: [0; 256],
        };
        for text in texts {
            index.open(text.as_bytes());
            index.add(text.into());
        }
        index
    }

    fn open(&mut self, pattern: &[u8]) {
        let bit = |byte: u8| 1 << (byte & 31);
        let second = pattern.get(1).map_or(u32::MAX, |second| match second {
            b' ' => bit(b' ') | bit(b'\n'),
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
    fn add(&mut self, text: Box<str>) {
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
        self.patterns.push(Pattern { text, next });
    }

    /// The node after a piece, and whether it is new.
    fn child(&mut self, node: u32, piece: &[u8]) -> (u32, bool) {
        let fresh = self.ends.len() as u32;
        let child = *self.edges.entry((node, hash(piece))).or_insert(fresh);
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

    /// The next pattern in the text: its number, and the start and end of the match.
    pub(super) fn next(&self, text: &str, scan: &mut Scan) -> Option<(usize, usize, usize)> {
        loop {
            while let Some(place) = scan.pattern {
                let pattern = &self.patterns[place as usize];
                scan.pattern = pattern.next;
                let end = scan.start + pattern.text.len();
                let found = text.as_bytes().get(scan.start..end);
                let is_same = |found| stands_as(pattern.text.as_bytes(), found);
                if found.is_some_and(is_same) && ends_piece(text, end) {
                    return Some((place as usize, scan.start, end));
                }
            }
            let walk = match scan.walk {
                Some(walk) => walk,
                None => self.next_start(text, scan)?,
            };
            scan.walk = piece_end(text, walk.at).and_then(|end| {
                let node = self
                    .edges
                    .get(&(walk.node, hash(&text.as_bytes()[walk.at..end])))?;
                Some(Walk {
                    node: *node,
                    at: end,
                })
            });
            scan.pattern = scan.walk.and_then(|walk| self.ends[walk.node as usize]);
        }
    }

    /// The next piece that begins like a pattern and is not inside a word.
    fn next_start(&self, text: &str, scan: &mut Scan) -> Option<Walk> {
        let bytes = text.as_bytes();
        loop {
            scan.start = scan.at + self.opening_in(&bytes[scan.at..])?;
            scan.at = scan.start + 1;
            // Most such beginnings are inside a word, which two ASCII letters show.
            let is_letter = |at: usize| bytes[at].is_ascii_alphabetic();
            let is_inside = scan.start > 0 && is_letter(scan.start) && is_letter(scan.start - 1);
            if !is_inside && begins(text, scan.start) {
                return Some(Walk {
                    node: ROOT,
                    at: scan.start,
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

/// Whether the text, which is as long as the pattern, matches it.
fn stands_as(pattern: &[u8], text: &[u8]) -> bool {
    let is_same = |(one, other): (&u8, &u8)| {
        one.eq_ignore_ascii_case(other) || (*one == b' ' && *other == b'\n')
    };
    text.eq_ignore_ascii_case(pattern) || pattern.iter().zip(text).all(is_same)
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Any word character except an ASCII digit and those of [`Kind::Foreign`].
    Letter,
    /// A letter that is not of ASCII, and its script.
    Foreign(Script),
    Digit,
    Mark,
}

impl Kind {
    fn from_letter(letter: char) -> Self {
        match letter {
            '0'..='9' => Kind::Digit,
            letter if letter.is_ascii() && is_word(letter) => Kind::Letter,
            letter if is_word(letter) => Kind::Foreign(letter.script()),
            _ => Kind::Mark,
        }
    }
}

/// Whether a piece begins at this position, other than letters after digits or letters of ASCII.
fn begins(text: &str, at: usize) -> bool {
    let (before, after) = text.split_at(at);
    let before = before
        .chars()
        .next_back()
        .map_or(Kind::Mark, Kind::from_letter);
    match after.chars().next().map_or(Kind::Mark, Kind::from_letter) {
        Kind::Letter => matches!(before, Kind::Mark | Kind::Foreign(_)),
        foreign @ Kind::Foreign(_) => before != foreign,
        Kind::Digit => before != Kind::Digit,
        Kind::Mark => true,
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
    let kind = letters
        .next()
        .map_or(Kind::Mark, |(_, first)| Kind::from_letter(first));
    let next = letters.find(|(_, letter)| kind == Kind::Mark || Kind::from_letter(*letter) != kind);
    next.map_or(text.len(), |(at, _)| start + at)
}

/// Whether a piece ends at that place of the text, which is not its start.
fn ends_piece(text: &str, at: usize) -> bool {
    let (Some(before), Some(after)) = (text[..at].chars().next_back(), text[at..].chars().next())
    else {
        return true;
    };
    let kind = Kind::from_letter(after);
    kind == Kind::Mark || kind != Kind::from_letter(before)
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The numbers of the patterns found, and where, in order of place.
    fn found(patterns: &[String], text: &str) -> Vec<(usize, usize, usize)> {
        let (index, mut scan) = (Index::new(patterns.to_vec()), Scan::default());
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
            let together = found(&patterns, &text);
            let each = patterns.iter().enumerate().flat_map(|(number, pattern)| {
                let alone = found(std::slice::from_ref(pattern), &text).into_iter();
                alone.map(move |(_, start, end)| (number, start, end))
            });
            prop_assert_eq!(together, each.collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_pattern_that_no_other_begins_like_takes_few_nodes() {
        let long = "/srv/app/source/widgets/button-7.tsx".to_owned();
        let alone = Index::new(vec![long.clone(), "q".to_owned()]);
        let beside = Index::new(vec![long.clone(), format!("{long}.map")]);
        assert_eq!((alone.ends.len(), beside.ends.len() > 10), (3, true));
        assert_eq!(found(std::slice::from_ref(&long), &format!("{long}x")), []);
    }

    #[test]
    fn any_blank_may_be_a_line_break_and_nothing_else() {
        assert!(stands_as(
            b"one two three four five",
            b"One\ntwo\nthree four\nfive"
        ));
        assert!(!stands_as(b"a b", b"a-b") && !stands_as(b"a-b", b"a\nb"));
    }
}
