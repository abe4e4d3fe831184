//! Values as punctuation and atoms. Folder, base name, relative and absolute name, and the place in
//! a file share their atoms, so that no relation has to be listed.

use std::collections::{BTreeSet, HashMap};

use compactometer_text::exact::of_argument;
use compactometer_text::generic::is_generic;

use crate::skeletons::format::{AtomKind, AtomShape, ValuePiece};
use crate::skeletons::tokens_of;
use crate::skeletons::words::{is_extension, is_of_addresses, is_root, number_of};

/// Runs of letters and digits of a text, and the characters between them one by one.
pub(super) fn runs(text: &str) -> Vec<&str> {
    let mut runs = Vec::new();
    let mut start = 0;
    for (at, letter) in text.char_indices() {
        if !letter.is_alphanumeric() {
            if start < at {
                runs.push(&text[start..at]);
            }
            start = at + letter.len_utf8();
            runs.push(&text[at..start]);
        }
    }
    if start < text.len() {
        runs.push(&text[start..]);
    }
    runs
}

/// An atom without its capitals, if lower letters are as many.
pub(super) fn folded(run: &str) -> String {
    let lower = run.to_lowercase();
    if lower.chars().count() == run.chars().count() {
        lower
    } else {
        run.to_owned()
    }
}

/// The places of capitals in an atom.
fn capitals(run: &str, folded: &str) -> Vec<u16> {
    let pairs = run.chars().zip(folded.chars()).enumerate();
    pairs
        .filter(|(_, (own, lower))| own != lower)
        .map(|(place, _)| place as u16)
        .collect()
}

/// The places that are capitals in some value, by atom.
#[derive(Default)]
pub(super) struct Humps(HashMap<String, BTreeSet<u16>>);

impl Humps {
    fn add(&mut self, atom: &str, places: &[u16]) {
        // A word in capitals has no humps.
        if places.len() < atom.chars().count() {
            self.0
                .entry(atom.to_owned())
                .or_default()
                .extend(places.iter().copied());
        }
    }

    fn of(&self, atom: &str) -> Vec<u16> {
        let places = self.0.get(atom).into_iter().flatten();
        places.copied().collect()
    }
}

/// The atoms and values of a session as they are found.
pub(super) struct AtomValues<'s> {
    shared: &'s HashMap<String, usize>,
    atoms: HashMap<String, usize>,
    in_order: Vec<String>,
    numbers: HashMap<String, u32>,
    /// The values.
    pub(super) rows: Vec<Vec<ValuePiece>>,
    humps: Humps,
}

impl<'s> AtomValues<'s> {
    /// None yet. `shared` are the atoms that projects share.
    pub(super) fn new(shared: &'s HashMap<String, usize>) -> Self {
        AtomValues {
            shared,
            atoms: HashMap::new(),
            in_order: Vec::new(),
            numbers: HashMap::new(),
            rows: Vec::new(),
            humps: Humps::default(),
        }
    }

    /// The number of a value.
    pub(super) fn number(&mut self, value: &str, shared_humps: &mut Humps) -> u32 {
        if let Some(number) = self.numbers.get(value) {
            return *number;
        }
        let is_generic = of_argument("", value)
            .first()
            .is_some_and(|exact| is_generic(&exact.value, exact.kind));
        let runs = runs(value);
        let row = runs.iter().enumerate().map(|(at, run)| {
            let before = at.checked_sub(1).map(|before| runs[before]);
            let is_known = (at > 1 && before == Some(".") && is_extension(run))
                || (at == 1 && before == Some("/") && is_root(run))
                || is_of_addresses(run)
                || is_generic;
            match number_of(run).filter(|_| is_known) {
                Some(number) => ValuePiece::Word(number),
                None => self.piece(run, shared_humps),
            }
        });
        let row = row.collect();
        self.rows.push(row);
        let number = (self.rows.len() - 1) as u32;
        self.numbers.insert(value.to_owned(), number);
        number
    }

    fn piece(&mut self, run: &str, shared_humps: &mut Humps) -> ValuePiece {
        let first = run.chars().next().unwrap_or(' ');
        if !first.is_alphanumeric() {
            return ValuePiece::Mark(first);
        }
        let atom = folded(run);
        let capitals = capitals(run, &atom);
        if let Some(number) = self.shared.get(&atom) {
            shared_humps.add(&atom, &capitals);
            return ValuePiece::Shared(*number, capitals);
        }
        self.humps.add(&atom, &capitals);
        let number = *self.atoms.entry(atom.clone()).or_insert_with(|| {
            self.in_order.push(atom);
            self.in_order.len() - 1
        });
        ValuePiece::Own(number, capitals)
    }

    /// The shapes of the atoms.
    pub(super) fn shapes(&self) -> Vec<AtomShape> {
        let hexadecimal = |atom: &&String| is_hash(atom);
        let long: Vec<&String> = self
            .in_order
            .iter()
            .filter(hexadecimal)
            .filter(|atom| atom.len() >= 32)
            .collect();
        let parent = |atom: &String| {
            let begins =
                |other: &&&String| other.len() > atom.len() && other.starts_with(atom.as_str());
            let parent = long.iter().find(begins).filter(|_| is_hash(atom))?;
            Some(self.atoms[*parent] as u32)
        };
        self.in_order
            .iter()
            .map(|atom| AtomShape {
                4: parent(atom),
                ..shape(atom, self.humps.of(atom))
            })
            .collect()
    }
}

/// Whether an atom may be a commit or the like.
fn is_hash(atom: &str) -> bool {
    let digits = atom.bytes().filter(u8::is_ascii_digit).count();
    atom.len() >= 7
        && digits > 0
        && digits < atom.len()
        && atom
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The shapes of shared atoms.
pub(super) fn shared_shapes(atoms: &[String], humps: &Humps) -> Vec<AtomShape> {
    atoms
        .iter()
        .map(|atom| shape(atom, humps.of(atom)))
        .collect()
}

fn shape(atom: &str, humps: Vec<u16>) -> AtomShape {
    let mut runs = vec![0];
    let mut in_digits = false;
    for letter in atom.chars() {
        if letter.is_ascii_digit() != in_digits {
            in_digits = !in_digits;
            runs.push(0);
        }
        if let Some(last) = runs.last_mut() {
            *last += 1;
        }
    }
    let has_digits = runs.len() > 1;
    let is_hexadecimal = has_digits
        && atom.len() >= 6
        && atom
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let tokens = if has_digits {
        0
    } else {
        tokens_of(atom, &humps)
    };
    let kind = AtomKind::new(is_hexadecimal, has_digits && atom.starts_with('0'));
    AtomShape(runs, humps, kind, tokens, None)
}
