//! What the material shows of each exact value: who said it, how often, where last, and what calls
//! did with it.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::profile::Weights;
use crate::reading::AnswerShape;
use crate::reading::pieces::{MaterialTurn, Voice, without_place};
use crate::reading::read_calls::Touch;
use crate::reading::statements::Statement;
use crate::reading::terms::{has_extension, number, stem};

/// What the material shows of a value.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    messages: u32,
    /// The message of its latest mention, and where the mention is, in bytes of the material.
    last_message: usize,
    last_at: usize,
    /// The number of distinct values in the message of its mentions that has the fewest.
    sparsest: u32,
    is_typed: bool,
    is_pasted: bool,
    /// Whether anything but results of tools mentions it.
    is_said: bool,
    is_address: bool,
    has_extension: bool,
    touch: Option<Touch>,
}

impl Value {
    fn new(text: &str) -> Self {
        Value {
            messages: 0,
            last_message: usize::MAX,
            last_at: 0,
            sparsest: u32::MAX,
            is_typed: false,
            is_pasted: false,
            is_said: false,
            is_address: false,
            has_extension: has_extension(text),
            touch: None,
        }
    }
}

/// The values of a material.
pub(crate) struct MaterialValues {
    /// The index of each value, by the number of its stem, in the order of their first mention.
    places: HashMap<u64, usize, FixedState>,
    values: Vec<Value>,
    bytes: usize,
}

/// Bytes of a token, about. Only logarithms of tokens count.
pub(crate) const BYTES_PER_TOKEN: f64 = 4.0;

impl MaterialValues {
    /// The values of these statements, in the order of the material.
    pub(crate) fn new(turns: &[MaterialTurn<'_>], statements: &[Statement<'_>]) -> Self {
        let bytes = turns.iter().map(|turn| turn.text.len()).sum();
        let mut found = MaterialValues {
            places: HashMap::default(),
            values: Vec::new(),
            bytes,
        };
        let messages = turns.last().map_or(0, |turn| turn.message + 1);
        let mut distinct = vec![0_u32; messages];
        let said = || {
            statements
                .iter()
                .filter(|statement| statement.touch.is_none())
        };
        for statement in said() {
            found.add(statement, turns[statement.turn].message, &mut distinct);
        }
        for statement in said() {
            let number = distinct[turns[statement.turn].message];
            for word in statement.piece.words.iter().filter(|word| word.is_value) {
                if let Some(at) = found.places.get(&word.stem) {
                    let value = &mut found.values[*at];
                    value.sparsest = value.sparsest.min(number);
                }
            }
        }
        for file in statements {
            for word in &file.piece.words {
                if let Some(at) = found.places.get(&word.stem) {
                    let known = &mut found.values[*at].touch;
                    *known = (*known).max(file.touch);
                }
            }
        }
        found
    }

    fn add(&mut self, statement: &Statement<'_>, message: usize, distinct: &mut [u32]) {
        for word in statement.piece.words.iter().filter(|word| word.is_value) {
            let text = word.term(statement.text).text;
            self.mention(word.stem, text, statement, message, distinct);
            // A place in a file is a mention of the file.
            let file = without_place(text);
            if file.len() < text.len() {
                self.mention(number(&stem(file)), file, statement, message, distinct);
            }
        }
    }

    fn mention(
        &mut self,
        stem: u64,
        text: &str,
        statement: &Statement<'_>,
        message: usize,
        distinct: &mut [u32],
    ) {
        let piece = statement.piece;
        let at = *self.places.entry(stem).or_insert_with(|| {
            self.values.push(Value::new(text));
            self.values.len() - 1
        });
        let value = &mut self.values[at];
        if value.last_message != message {
            value.messages += 1;
            distinct[message] += 1;
        }
        value.last_message = message;
        value.last_at = statement.at;
        let is_user = piece.speaker == Voice::User;
        value.is_typed |= is_user && !piece.pasted;
        value.is_pasted |= piece.pasted;
        value.is_said |= piece.speaker != Voice::Tool;
        value.is_address |= piece.is_address;
    }

    /// The number of values.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// The value at an index.
    pub(crate) fn at(&self, place: usize) -> &Value {
        &self.values[place]
    }

    /// The index of the value whose stem has this number.
    pub(crate) fn place(&self, stem: u64) -> Option<usize> {
        self.places.get(&stem).copied()
    }

    /// What each value is worth, in the order of their first mention.
    pub(crate) fn worth(&self, weights: &Weights, shape: &AnswerShape) -> Vec<f64> {
        let of_features = weights.of_features();
        let worth = |value: &Value| {
            let features = self.features(value);
            let summed = features
                .iter()
                .zip(of_features)
                .map(|(feature, weight)| feature * weight);
            let when = |holds: bool, weight: f64| if holds { weight } else { 0.0 };
            weights.value
                + summed.sum::<f64>()
                + when(!value.is_said && shape.without_tools, weights.tool_excluded)
                + when(!shape.with_values, weights.values_unasked)
                + when(
                    value.touch.is_some() && !shape.with_files,
                    weights.files_unasked,
                )
        };
        self.values.iter().map(worth).collect()
    }

    /// The features of a value, in the order of [`Weights::FEATURES`].
    pub(crate) fn features(&self, value: &Value) -> [f64; Weights::FEATURES.len()] {
        let when = |holds: bool| if holds { 1.0 } else { 0.0 };
        [
            when(value.is_typed),
            when(value.is_pasted && !value.is_typed),
            when(!value.is_said),
            when(value.is_address),
            when(value.touch == Some(Touch::Read)),
            when(matches!(
                value.touch,
                Some(Touch::Created | Touch::Modified)
            )),
            when(value.has_extension),
            libm::log(f64::from(value.messages.max(1))),
            libm::log(f64::from(value.sparsest.max(1))),
            self.distance(value.last_at),
        ]
    }

    /// The natural logarithm of 50 and the tokens from a place to the end of the material, about.
    pub(crate) fn distance(&self, at: usize) -> f64 {
        let tokens = self.bytes.saturating_sub(at) as f64 / BYTES_PER_TOKEN;
        libm::log(50.0 + tokens)
    }
}
