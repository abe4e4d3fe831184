//! The forms of values: made-up words, identifiers, numbers with a unit, paths, phrases and common
//! words. Facts, decoys, foils and incidental values of the filler are all drawn here, so that no
//! form distinguishes them.

use std::collections::HashSet;

use compactometer_formats::scenario::ValueKind;
use serde::Deserialize;

use crate::dice::SeededDice;
use crate::generate::part::SplitPart;

/// What a value looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum GeneratedForm {
    /// A made-up word: `tavorim`.
    Word,
    /// A ticket, booking or order number: `QRM-48213`.
    Ticket,
    /// A key or code: `7F3K-92QD`.
    Code,
    /// A commit or digest: `9f3c2e71ab`.
    Hash,
    /// Milliseconds.
    Millis,
    /// A count of rows, items and so on.
    Rows,
    /// Megabytes.
    Megabytes,
    /// Seconds.
    Seconds,
    /// Euros and cents.
    Euros,
    /// A percentage with two decimals.
    Percent,
    /// A file.
    Path,
    /// Three plain words in a row.
    Phrase,
    /// A plain word from a short list that many conversations share: the kind of value that a
    /// keyword search may hit by chance.
    Common,
}

impl GeneratedForm {
    /// How values of this form are matched and pooled.
    pub(crate) fn kind(self) -> ValueKind {
        match self {
            GeneratedForm::Word => ValueKind::Nonce,
            GeneratedForm::Ticket | GeneratedForm::Code | GeneratedForm::Hash => ValueKind::Id,
            GeneratedForm::Millis
            | GeneratedForm::Rows
            | GeneratedForm::Megabytes
            | GeneratedForm::Seconds
            | GeneratedForm::Euros
            | GeneratedForm::Percent => ValueKind::Number,
            GeneratedForm::Path => ValueKind::Path,
            GeneratedForm::Phrase => ValueKind::Free,
            GeneratedForm::Common => ValueKind::Enum,
        }
    }

    /// The form that a template's slot names.
    pub(crate) fn by_slot(slot: &str) -> Option<Self> {
        Some(match slot {
            "word" => GeneratedForm::Word,
            "ticket" => GeneratedForm::Ticket,
            "code" => GeneratedForm::Code,
            "hash" => GeneratedForm::Hash,
            "ms" => GeneratedForm::Millis,
            "rows" => GeneratedForm::Rows,
            "mb" => GeneratedForm::Megabytes,
            "sec" => GeneratedForm::Seconds,
            "eur" => GeneratedForm::Euros,
            "pct" => GeneratedForm::Percent,
            "path" => GeneratedForm::Path,
            "phrase" => GeneratedForm::Phrase,
            _ => return None,
        })
    }

    /// A value of this form, with plain words from the given part of the vocabulary.
    pub(crate) fn draw(self, part: SplitPart, dice: &mut SeededDice) -> String {
        match self {
            GeneratedForm::Word => word(dice),
            GeneratedForm::Ticket => format!(
                "{}-{}",
                letters(dice, CAPITALS, 3),
                number(dice, 10_000, 99_999)
            ),
            GeneratedForm::Code => format!("{}-{}", mixed(dice, CODE, 4), mixed(dice, CODE, 4)),
            GeneratedForm::Hash => mixed(dice, HEX, 10),
            GeneratedForm::Millis => format!("{} ms", number(dice, 2_101, 99_999)),
            GeneratedForm::Rows => format!("{} rows", number(dice, 10_000, 899_999)),
            GeneratedForm::Megabytes => format!("{} MB", number(dice, 2_101, 99_999)),
            GeneratedForm::Seconds => format!("{} seconds", number(dice, 2_101, 99_999)),
            GeneratedForm::Euros => format!(
                "{}.{} EUR",
                number(dice, 2_101, 99_999),
                dice.between(11, 98)
            ),
            GeneratedForm::Percent => {
                format!("{}.{}%", dice.between(11, 98), number(dice, 101, 999))
            }
            GeneratedForm::Path => path(dice),
            GeneratedForm::Phrase => {
                let mut word = |list| part.pick(list, dice);
                format!("{} {} {}", word(QUALITIES), word(QUALITIES), word(THINGS))
            }
            GeneratedForm::Common => part.pick(COMMON, dice).to_owned(),
        }
    }

    /// A value that may occur in no text. It has this form; for common words it comes from a
    /// separate list.
    pub(crate) fn draw_foil(self, part: SplitPart, dice: &mut SeededDice) -> String {
        match self {
            GeneratedForm::Common => part.pick(COMMON_FOILS, dice).to_owned(),
            other => other.draw(part, dice),
        }
    }

    /// Other accepted ways of writing the value.
    pub(crate) fn variants(self, value: &str) -> Vec<String> {
        let digits = value.bytes().take_while(u8::is_ascii_digit).count();
        if self.kind() != ValueKind::Number || digits < 4 {
            return Vec::new();
        }
        let (thousands, rest) = value.split_at(digits - 3);
        vec![format!("{thousands},{rest}")]
    }
}

/// Everything that a drawn value must not resemble: values and foils of the whole suite, and their
/// distinctive pieces.
#[derive(Default)]
pub(crate) struct Reserved(HashSet<String>);

impl Reserved {
    /// Reserves a value that is there already.
    pub(crate) fn keep(&mut self, value: &str) {
        self.0.extend(pieces(value));
    }

    /// Draws until the value shares no distinctive piece with any other reserved value, and
    /// reserves it.
    pub(crate) fn draw(
        &mut self,
        form: GeneratedForm,
        part: SplitPart,
        dice: &mut SeededDice,
    ) -> String {
        loop {
            let value = form.draw(part, dice);
            if self.is_free(&value) {
                self.0.extend(pieces(&value));
                return value;
            }
        }
    }

    /// Draws an incidental value, which resembles no reserved one.
    pub(crate) fn draw_incidental(
        &self,
        form: GeneratedForm,
        part: SplitPart,
        dice: &mut SeededDice,
    ) -> String {
        loop {
            let value = form.draw(part, dice);
            if self.is_free(&value) {
                return value;
            }
        }
    }

    fn is_free(&self, value: &str) -> bool {
        pieces(value).all(|piece| !self.0.contains(&piece))
    }
}

/// The value and each distinctive piece of it: runs of five or more letters and digits, runs of
/// four digits, and all digits of a number. The words of a phrase are distinctive only together.
fn pieces(value: &str) -> impl Iterator<Item = String> {
    let lower = value.to_lowercase();
    let digits: String = value.chars().filter(char::is_ascii_digit).collect();
    let digits = (digits.len() >= 4).then_some(digits);
    let is_phrase = value.contains(' ') && digits.is_none();
    let tells =
        |run: &&str| run.len() >= if is_number(run) { 4 } else { 5 } && !UNITS.contains(run);
    let split = lower
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(tells);
    let runs: Vec<String> = if is_phrase {
        Vec::new()
    } else {
        split.map(str::to_owned).collect()
    };
    std::iter::once(lower).chain(digits).chain(runs)
}

fn is_number(run: &str) -> bool {
    run.bytes().all(|byte| byte.is_ascii_digit())
}

fn word(dice: &mut SeededDice) -> String {
    let mut word = String::new();
    for _ in 0..3 {
        word.push_str(dice.pick(ONSETS));
        word.push_str(dice.pick(VOWELS));
    }
    word.push_str(dice.pick(CODAS));
    word
}

fn path(dice: &mut SeededDice) -> String {
    let (root, ending) = (dice.pick(ROOTS), dice.pick(ENDINGS));
    let (folder, name) = (word(dice), word(dice));
    format!("{root}/{folder}/{name}_{}.{ending}", dice.between(11, 98))
}

/// A number that is not round, so that it cannot be guessed.
fn number(dice: &mut SeededDice, low: usize, high: usize) -> usize {
    let number = dice.between(low, high);
    if number.is_multiple_of(10) {
        number - 7
    } else {
        number
    }
}

fn letters(dice: &mut SeededDice, alphabet: &[u8], count: usize) -> String {
    (0..count)
        .map(|_| char::from(dice.pick(alphabet)))
        .collect()
}

/// Letters and digits, with at least one of each.
fn mixed(dice: &mut SeededDice, alphabet: &[u8], count: usize) -> String {
    loop {
        let text = letters(dice, alphabet, count);
        if text.bytes().any(|byte| byte.is_ascii_digit())
            && text.bytes().any(|byte| byte.is_ascii_alphabetic())
        {
            return text;
        }
    }
}

const CAPITALS: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZ";
const CODE: &[u8] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
const HEX: &[u8] = b"0123456789abcdef";
const ONSETS: &[&str] = &[
    "b", "br", "d", "dr", "f", "g", "gl", "k", "kl", "l", "m", "n", "p", "pl", "qu", "r", "s",
    "sk", "st", "t", "tr", "v", "w", "z",
];
const VOWELS: &[&str] = &["a", "e", "i", "o", "u"];
const CODAS: &[&str] = &["l", "m", "n", "nd", "r", "rk", "sh", "t", "x"];
const ROOTS: &[&str] = &["src", "srv", "var", "ops", "doc", "etc", "lib", "out"];
const ENDINGS: &[&str] = &["rs", "py", "sql", "csv", "yml", "md", "log", "txt"];
const UNITS: &[&str] = &["seconds"];

const QUALITIES: &[&str] = &[
    "amber", "brisk", "candid", "dusky", "eager", "frosted", "gentle", "hollow", "ivory", "jagged",
    "keen", "lucid", "mellow", "nimble", "opal", "placid", "quaint", "rustic", "silken", "tawny",
    "umber", "velvet", "woven", "zesty", "arched", "breezy", "crimson", "dappled", "earthen",
    "flinty", "gilded", "humble", "indigo", "jovial", "knotted", "lilac", "mossy", "nutty",
    "olive", "pewter",
];
const THINGS: &[&str] = &[
    "acorn", "bellows", "cobble", "dormer", "easel", "fiddle", "gable", "hammock", "inkwell",
    "jetty", "kettle", "loom", "mitten", "napkin", "oarlock", "pebble", "quiver", "rafter",
    "saddle", "teapot", "urn", "vane", "wicker", "yoke", "anvil", "basin", "chisel", "dowel",
    "ember", "ferry", "goblet", "hinge", "ingot", "jigsaw", "kayak", "ladle", "mortar", "nozzle",
    "oboe", "pulley",
];
const COMMON: &[&str] = &[
    "walnut", "falcon", "juniper", "badger", "cedar", "heron", "maple", "otter", "poplar", "raven",
    "sparrow", "tulip", "willow", "beetle", "clover", "dolphin", "fennel", "ginger", "hazel",
    "iris", "jasmine", "lobster", "magpie", "nettle", "orchid", "panther", "quail", "rosemary",
    "salmon", "thistle", "viper", "weasel", "yarrow", "zebra", "almond", "birch",
];
const COMMON_FOILS: &[&str] = &[
    "aspen", "bison", "cactus", "daisy", "egret", "fern", "gopher", "hyacinth", "ibis", "jackal",
    "koala", "lichen", "mango", "newt", "osprey", "parsley", "quince", "rhubarb", "sorrel",
    "toucan",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Stream;

    const ALL: &[GeneratedForm] = &[
        GeneratedForm::Word,
        GeneratedForm::Ticket,
        GeneratedForm::Code,
        GeneratedForm::Hash,
        GeneratedForm::Millis,
        GeneratedForm::Rows,
        GeneratedForm::Megabytes,
        GeneratedForm::Seconds,
        GeneratedForm::Euros,
        GeneratedForm::Percent,
        GeneratedForm::Path,
        GeneratedForm::Phrase,
        GeneratedForm::Common,
    ];

    #[test]
    fn forms_look_as_pinned() {
        let mut dice = SeededDice::new(11, 0, Stream::Plan);
        let values: Vec<String> = ALL
            .iter()
            .map(|form| form.draw(SplitPart::Whole, &mut dice))
            .collect();
        insta::assert_debug_snapshot!(values);
    }

    #[test]
    fn reserved_values_share_no_digits() {
        let mut dice = SeededDice::new(3, 0, Stream::Plan);
        let mut reserved = Reserved::default();
        let mut seen = HashSet::new();
        for _ in 0..2_000 {
            let value = reserved.draw(GeneratedForm::Millis, SplitPart::Whole, &mut dice);
            assert!(seen.insert(value.clone()), "{value} twice");
            let incidental =
                reserved.draw_incidental(GeneratedForm::Megabytes, SplitPart::Whole, &mut dice);
            assert!(
                !seen.contains(&incidental.replace("MB", "ms")),
                "{incidental}"
            );
        }
    }

    #[test]
    fn numbers_have_a_form_with_separators() {
        assert_eq!(
            GeneratedForm::Rows.variants("482131 rows"),
            ["482,131 rows"]
        );
        assert_eq!(
            GeneratedForm::Euros.variants("4812.35 EUR"),
            ["4,812.35 EUR"]
        );
        assert!(GeneratedForm::Percent.variants("48.213%").is_empty());
        assert!(GeneratedForm::Ticket.variants("QRM-48213").is_empty());
    }
}
