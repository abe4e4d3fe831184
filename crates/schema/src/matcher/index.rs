//! Where patterns stand in a text, ASCII letters of any case: a tree over the pieces that each is made of.
//!
//! A text is a row of pieces: letters, digits, single marks. What stands whole begins and ends with a piece, and does not begin
//! with letters inside a word; so one look into a table for each piece of a text, and one more for each further piece that a
//! pattern shares, find them all. An automaton of all letters reads as fast and takes many times as long to build, which on
//! short conversations was most of the work.
//!
//! Absent on purpose: what must stand beside a pattern, which is the matcher's.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::is_word;

/// The patterns by their pieces.
#[derive(Clone, Debug)]
pub(super) struct Index {
    patterns: Vec<Pattern>,
    /// From a node over a piece, by its hash, to the next node.
    edges: HashMap<(u32, u64), u32, FixedState>,
    /// The first pattern of each node.
    ends: Vec<Option<u32>>,
    /// Last bits of the hashes of first pieces: most pieces of a text begin nothing.
    first: [u64; 16],
}

#[derive(Clone, Debug)]
struct Pattern {
    text: Box<str>,
    /// The next pattern of its node.
    next: Option<u32>,
}

const ROOT: u32 = 0;
/// Pieces of a pattern that tell it from others; what follows is compared alone.
const DEPTH: usize = 32;

/// How far a text has been read; one scan is for one text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scan {
    /// Where the next piece begins, and whether letters there are inside a word.
    at: usize,
    is_in_word: bool,
    start: usize,
    walk: Option<Walk>,
    /// The next pattern of the walk's node.
    pattern: Option<u32>,
}

/// From a start into the tree.
#[derive(Clone, Copy, Debug)]
struct Walk {
    node: u32,
    at: usize,
}

impl Index {
    /// An index of patterns, each known by its place.
    pub(super) fn new(texts: Vec<String>) -> Self {
        let patterns = Vec::with_capacity(texts.len());
        let mut index = Index { patterns, edges: HashMap::default(), ends: vec![None], first: [0; 16] };
        for (place, text) in texts.into_iter().enumerate() {
            let node = index.node_of(&text);
            let next = index.ends[node as usize].replace(place as u32);
            index.patterns.push(Pattern { text: text.into(), next });
        }
        index
    }

    fn node_of(&mut self, text: &str) -> u32 {
        let (mut node, mut at) = (ROOT, 0);
        for _ in 0..DEPTH {
            let Some(piece) = Piece::at(text, at) else { break };
            if node == ROOT {
                self.first[piece.word()] |= piece.bit();
            }
            let fresh = self.ends.len() as u32;
            node = *self.edges.entry((node, piece.hash)).or_insert(fresh);
            if node == fresh {
                self.ends.push(None);
            }
            at = piece.end;
        }
        node
    }

    /// The next pattern that stands in the text: its place, and where it starts and ends.
    pub(super) fn next(&self, text: &str, scan: &mut Scan) -> Option<(usize, usize, usize)> {
        loop {
            while let Some(place) = scan.pattern {
                let pattern = &self.patterns[place as usize];
                scan.pattern = pattern.next;
                let end = scan.start + pattern.text.len();
                let found = text.as_bytes().get(scan.start..end);
                if found.is_some_and(|found| found.eq_ignore_ascii_case(pattern.text.as_bytes())) {
                    return Some((place as usize, scan.start, end));
                }
            }
            let further = scan.walk.and_then(|walk| Some((walk.node, Piece::at(text, walk.at)?)));
            let (node, piece) = match further {
                Some(further) => further,
                None => (ROOT, self.next_start(text, scan)?),
            };
            scan.walk = self.edges.get(&(node, piece.hash)).map(|node| Walk { node: *node, at: piece.end });
            scan.pattern = scan.walk.and_then(|walk| self.ends[walk.node as usize]);
        }
    }

    /// The next piece that a pattern may begin with.
    fn next_start(&self, text: &str, scan: &mut Scan) -> Option<Piece> {
        loop {
            scan.start = scan.at;
            let piece = Piece::at(text, scan.at)?;
            scan.at = piece.end;
            let is_inside = scan.is_in_word && piece.kind == Kind::Letters;
            scan.is_in_word = piece.kind != Kind::Mark;
            if !is_inside && self.first[piece.word()] & piece.bit() != 0 {
                return Some(piece);
            }
        }
    }
}

/// Letters, digits or one mark.
struct Piece {
    kind: Kind,
    end: usize,
    hash: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// All of a word but ASCII digits.
    Letters,
    Digits,
    Mark,
}

impl Piece {
    fn at(text: &str, start: usize) -> Option<Self> {
        let bytes = text.as_bytes();
        let kind = kind_at(text, start)?;
        let mut piece = Piece { kind, end: start, hash: 0xcbf2_9ce4_8422_2325 };
        loop {
            piece.take(bytes[piece.end]);
            while bytes.get(piece.end).is_some_and(|byte| matches!(byte, 0x80..=0xbf)) {
                piece.take(bytes[piece.end]);
            }
            if kind == Kind::Mark || kind_at(text, piece.end) != Some(kind) {
                return Some(piece);
            }
        }
    }

    /// Where its hash stands among first pieces.
    fn word(&self) -> usize {
        self.hash as usize >> 6 & 15
    }

    fn bit(&self) -> u64 {
        1 << (self.hash & 63)
    }

    /// Goes on by a byte: FNV-1a, ASCII letters small.
    fn take(&mut self, byte: u8) {
        self.hash = (self.hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x100_0000_01b3);
        self.end += 1;
    }
}

fn kind_at(text: &str, at: usize) -> Option<Kind> {
    Some(match text.as_bytes().get(at)? {
        b'0'..=b'9' => Kind::Digits,
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => Kind::Letters,
        0..=0x7f => Kind::Mark,
        _ if text[at..].starts_with(is_word) => Kind::Letters,
        _ => Kind::Mark,
    })
}
