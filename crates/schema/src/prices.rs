//! Prices of model calls, dated and sourced: data in `datasets/prices.toml`.

use serde::{Deserialize, Serialize};

/// The table that this program ships.
pub const SHIPPED: &str = include_str!("../../../datasets/prices.toml");

/// Prices of models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceTable {
    /// The row that prices a mock, by name.
    pub mock_as: String,
    /// One row for each model.
    pub model: Vec<PriceRow>,
}

/// What a model costs, in US dollars per million tokens, and how its prompt cache works.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceRow {
    /// The model's name.
    pub name: String,
    /// The day on which the source was read, `YYYY-MM-DD`.
    pub date: String,
    /// Where the figures come from.
    pub source: String,
    /// Uncached input.
    pub input: f64,
    /// Input written to the cache.
    pub cache_write: f64,
    /// Input read from the cache.
    pub cache_read: f64,
    /// Output.
    pub output: f64,
    /// Shortest prefix that is cached, in tokens.
    pub cache_minimum_tokens: u32,
    /// Seconds without use after which a cached prefix is gone; a use renews it.
    pub cache_lifetime_s: u32,
}

impl PriceTable {
    /// The shipped table.
    ///
    /// # Errors
    /// What the TOML parser says; a test holds that the shipped table parses.
    pub fn shipped() -> Result<Self, toml::de::Error> {
        toml::from_str(SHIPPED)
    }

    /// The row for that model; a mock is priced as [`PriceTable::mock_as`].
    pub fn row(&self, model: &str) -> Option<&PriceRow> {
        let is_mock = model == "mock" || model.starts_with("mock:");
        let name = if is_mock { self.mock_as.as_str() } else { model };
        self.model.iter().find(|row| row.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_prices_parse_and_price_the_mock() {
        let table = PriceTable::shipped().expect("the shipped table parses");
        assert!(table.row("mock:strong").is_some());
        assert!(table.row("no-such-model").is_none());
    }
}
