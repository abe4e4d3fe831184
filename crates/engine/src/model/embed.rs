//! Texts as vectors, so that what is alike can be found: the seam to an embedding model, and a
//! lexical stand-in that needs none.
//!
//! Absent on purpose: an endpoint; it comes with the clients of real models.

use std::collections::BTreeMap;

use async_trait::async_trait;

use crate::model::ChatError;

/// Turns texts into vectors whose cosine says how alike they are.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// One vector for each text, in order, all of one length.
    ///
    /// # Errors
    /// [`ChatError`] where the model did not answer.
    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ChatError>;
}

/// Texts are alike as far as they share words: hashed lower-cased words, sublinear counts, unit
/// length. The same on every platform, and never fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lexical;

/// Length of a lexical vector.
const DIMENSIONS: usize = 512;

impl Lexical {
    /// The vector of one text; all zero where it has no word.
    pub fn vector(self, text: &str) -> Vec<f32> {
        let mut counts = BTreeMap::new();
        for word in text
            .split(|letter: char| !letter.is_alphanumeric())
            .filter(|word| !word.is_empty())
        {
            *counts
                .entry(fnv1a(&word.to_lowercase()) as usize % DIMENSIONS)
                .or_insert(0_u32) += 1;
        }
        let mut vector = vec![0.0_f32; DIMENSIONS];
        for (place, count) in counts {
            // A square root, unlike a logarithm, is exact everywhere.
            vector[place] = (count as f32).sqrt();
        }
        let length = dot(&vector, &vector).sqrt();
        if length > 0.0 {
            vector.iter_mut().for_each(|value| *value /= length);
        }
        vector
    }
}

#[async_trait]
impl Embedder for Lexical {
    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ChatError> {
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }
}

/// Cosine of two vectors, -1 to 1; 0 where one of them is all zero or they differ in length.
///
/// ```
/// use compactometer_engine::embed::{Lexical, similarity};
///
/// let [port, same, other] = ["the port of the service", "port of a service", "we ate lunch"].map(|text| Lexical.vector(text));
/// assert!(similarity(&port, &same) > similarity(&port, &other));
/// ```
pub fn similarity(one: &[f32], other: &[f32]) -> f32 {
    let lengths = dot(one, one).sqrt() * dot(other, other).sqrt();
    if one.len() != other.len() || lengths == 0.0 {
        0.0
    } else {
        (dot(one, other) / lengths).clamp(-1.0, 1.0)
    }
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

/// The 64-bit FNV-1a hash.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_share_words_are_alike() {
        let alike =
            |one: &str, other: &str| similarity(&Lexical.vector(one), &Lexical.vector(other));
        assert!((alike("The auth file", "the AUTH file!") - 1.0).abs() < 1e-6);
        assert!(
            alike("which database", "database: PostgreSQL")
                > alike("which database", "cache: Redis")
        );
        assert_eq!(alike("which database", ""), 0.0);
        assert_eq!(similarity(&[1.0], &[1.0, 0.0]), 0.0);
    }

    #[test]
    fn hashes_are_those_of_the_published_function() {
        assert_eq!(
            (fnv1a(""), fnv1a("a")),
            (0xcbf2_9ce4_8422_2325, 0xaf63_dc4c_8601_ec8c)
        );
    }
}
