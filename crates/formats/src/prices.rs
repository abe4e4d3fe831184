//! Prices of model calls and rules of prompt caches. The data, with dates and sources, is in
//! `datasets/prices.toml`.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::mock_name::is_mock;
use compactometer_disk::input::{InputKind, read_text};
use compactometer_engine::message::Usage;
use compactometer_text::suggest::unknown;

/// The table that this program ships.
pub const SHIPPED: &str = include_str!("../../../datasets/prices.toml");

/// Prices of models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceTable {
    /// The row that prices a mock, by name.
    pub mock_as: String,
    /// The row that prices a mock as summarizer, if another one. Usually a cheaper model writes
    /// summaries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summarizer_as: Option<String>,
    /// The row that prices a mock which writes checkpoints before turns, if not the summarizer's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpointer_as: Option<String>,
    /// One row for each model.
    pub model: Vec<PriceRow>,
}

/// The row of a model on this machine, which costs nothing.
static LOCAL: LazyLock<PriceRow> = LazyLock::new(|| {
    let prefix_order = vec![PrefixPart::Tools, PrefixPart::System, PrefixPart::Messages];
    PriceRow {
        name: "a server on this machine".to_owned(),
        source: "its calls are not billed".to_owned(),
        cache: CacheRules {
            prefix_order,
            granularity_tokens: 1,
            ..CacheRules::default()
        },
        ..PriceRow::default()
    }
});

/// What a model costs, in US dollars per million tokens, and how its prompt cache works.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// What calls with long prompts cost, the shortest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tier: Vec<PriceTier>,
    /// How prefixes are cached.
    pub cache: CacheRules,
}

/// Prices of a call whose whole input, cached or not, is longer than a limit: they hold for all of
/// its tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceTier {
    /// Tokens of input above which it holds.
    pub above_tokens: u64,
    /// Uncached input.
    pub input: f64,
    /// Input written to the cache.
    pub cache_write: f64,
    /// Input read from the cache.
    pub cache_read: f64,
    /// Output.
    pub output: f64,
}

/// How a provider caches prefixes of requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheRules {
    /// The parts of a request in the order in which they make a prefix, each once.
    pub prefix_order: Vec<PrefixPart>,
    /// Shortest prefix that is cached, in tokens.
    pub minimum_tokens: u32,
    /// The length of a cached prefix is a multiple of this many tokens; at least 1.
    pub granularity_tokens: u32,
    /// Most places of a request that a caller can mark as the end of a cached prefix; 0 if every
    /// place is one.
    pub breakpoints: u32,
    /// Seconds after which a cached prefix is gone.
    pub lifetime_s: u32,
    /// Whether a read restarts the lifetime.
    pub renewed_by_use: bool,
}

/// A part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PrefixPart {
    /// Definitions of tools.
    Tools,
    /// The system prompt.
    System,
    /// The conversation.
    Messages,
}

impl PriceTable {
    /// The shipped table.
    ///
    /// # Errors
    /// As [`PriceTable::parse`]. A test checks that the shipped table parses.
    pub fn shipped() -> Result<Self, PriceError> {
        Self::parse(SHIPPED)
    }

    /// Parses a file's text.
    ///
    /// # Errors
    /// [`PriceError`] if the text is not a table, or a row has no source or no usable figures.
    pub fn parse(text: &str) -> Result<Self, PriceError> {
        let table: PriceTable = toml::from_str(text)
            .map_err(|error| PriceError::Wrong(format!("expected a price table: {error}")))?;
        for (at, row) in table.model.iter().enumerate() {
            let is_again = table.model[..at]
                .iter()
                .any(|before| before.name == row.name);
            let once = if is_again {
                Err("there are two rows of that name; keep one".to_owned())
            } else {
                Ok(())
            };
            let wrong = |what| PriceError::Wrong(format!("prices of `{}`: {what}", row.name));
            once.and_then(|()| row.check()).map_err(wrong)?;
        }
        table.checked()
    }

    /// Itself, if it has the rows that price a mock.
    ///
    /// # Errors
    /// [`PriceError`] if one of them is missing.
    pub fn checked(self) -> Result<Self, PriceError> {
        let mocks = [
            ("mock_as", Some(&self.mock_as)),
            ("summarizer_as", self.summarizer_as.as_ref()),
            ("checkpointer_as", self.checkpointer_as.as_ref()),
        ];
        for (key, name) in mocks {
            if let Some(name) = name.filter(|name| self.row_of(name).is_none()) {
                let names = self.model.iter().map(|row| row.name.as_str());
                let unknown = unknown("model", name, names);
                return Err(PriceError::Wrong(format!("{key}: {unknown}")));
            }
        }
        Ok(self)
    }

    fn row_of(&self, name: &str) -> Option<&PriceRow> {
        self.model.iter().find(|row| row.name == name)
    }

    /// The row for a model as the log of a program names it: with or without a provider before it,
    /// a date behind it, and a window in brackets.
    pub fn row_of_log(&self, model: &str) -> Option<&PriceRow> {
        let name = model.rsplit('/').next().unwrap_or(model);
        let name = name.split('[').next().unwrap_or(name);
        let is_date =
            |ending: &str| ending.len() == 8 && ending.bytes().all(|one| one.is_ascii_digit());
        let undated = name.rsplit_once('-').filter(|(_, ending)| is_date(ending));
        self.row_of(name)
            .or_else(|| self.row_of(undated.map_or(name, |(name, _)| name)))
    }

    /// The row for that model as summarizer: a mock is priced as [`PriceTable::summarizer_as`].
    pub fn summarizer_row(&self, model: &str) -> Option<&PriceRow> {
        let other = self.summarizer_as.as_ref().filter(|_| is_mock(model));
        other.map_or_else(|| self.row(model), |name| self.row_of(name))
    }

    /// The row for that model where it writes checkpoints before turns: a mock is priced as
    /// [`PriceTable::checkpointer_as`].
    pub fn checkpointer_row(&self, model: &str) -> Option<&PriceRow> {
        let other = self.checkpointer_as.as_ref().filter(|_| is_mock(model));
        other.map_or_else(|| self.summarizer_row(model), |name| self.row_of(name))
    }

    /// Reads a file; returns the table and the text.
    ///
    /// # Errors
    /// [`PriceError`] if the file cannot be read, and as [`PriceTable::parse`].
    pub fn read(path: &Path) -> Result<(Self, String), PriceError> {
        let io = |source| PriceError::Io {
            path: path.to_owned(),
            source,
        };
        let text = read_text(path, InputKind::PRICES).map_err(io)?;
        Ok((Self::parse(&text)?, text))
    }

    /// The row for that model: its name in records, or without the provider before it. A mock is
    /// priced as [`PriceTable::mock_as`]. A server on this machine costs nothing: its name ends in
    /// `@localhost`, or holds no host if the provider ends in `-compatible`, which says that it has
    /// no service of its own.
    pub fn row(&self, model: &str) -> Option<&PriceRow> {
        let name = if is_mock(model) {
            self.mock_as.as_str()
        } else {
            model
        };
        let of_name = |name: &str| self.row_of(name);
        of_name(name).or_else(|| match name.split_once(':')? {
            (provider, model) if provider.ends_with("-compatible") => {
                (!model.contains('@')).then(|| &*LOCAL)
            }
            (_, model) => of_name(model).or_else(|| model.ends_with("@localhost").then(|| &*LOCAL)),
        })
    }
}

impl PriceTier {
    /// US dollars of one call.
    pub fn dollars(&self, usage: &Usage) -> f64 {
        let millionths = usage.input as f64 * self.input
            + usage.cache_read as f64 * self.cache_read
            + usage.cache_write as f64 * self.cache_write
            + usage.output as f64 * self.output;
        millionths / 1e6
    }

    fn prices(&self) -> [f64; 4] {
        [self.input, self.cache_write, self.cache_read, self.output]
    }
}

impl PriceRow {
    /// Whether nothing is billed.
    pub fn is_free(&self) -> bool {
        self.tiers()
            .all(|tier| tier.prices().iter().all(|price| *price == 0.0))
    }

    /// US dollars of one call.
    pub fn dollars(&self, usage: &Usage) -> f64 {
        self.at(usage.total_input()).dollars(usage)
    }

    /// The prices of a call with so many tokens of input, cached or not.
    pub fn at(&self, input: u64) -> PriceTier {
        self.tiers()
            .filter(|tier| tier.above_tokens == 0 || input > tier.above_tokens)
            .last()
            .unwrap_or_default()
    }

    /// The prices of short prompts, then those of the tiers.
    pub fn tiers(&self) -> impl Iterator<Item = PriceTier> {
        let PriceRow {
            input,
            cache_write,
            cache_read,
            output,
            ..
        } = *self;
        let base = PriceTier {
            above_tokens: 0,
            input,
            cache_write,
            cache_read,
            output,
        };
        std::iter::once(base).chain(self.tier.iter().copied())
    }

    fn check(&self) -> Result<(), String> {
        let source = self.source.trim();
        if source.is_empty() || source.to_lowercase().starts_with("assumed") {
            return Err(format!(
                "source `{source}` cannot be looked up; name a page or document"
            ));
        }
        if self.date.parse::<jiff::civil::Date>().is_err() {
            return Err(format!("date `{}` is none; write `YYYY-MM-DD`", self.date));
        }
        let mut prices = self.tiers().flat_map(|tier| tier.prices());
        if let Some(price) = prices.find(|price| !price.is_finite() || *price < 0.0) {
            return Err(format!("price `{price}` is none; choose 0 or more"));
        }
        self.check_order()?;
        self.cache.check()
    }

    fn check_order(&self) -> Result<(), String> {
        let limits = self.tiers().map(|tier| tier.above_tokens);
        let limits = limits.collect::<Vec<_>>();
        match limits.windows(2).find(|pair| pair[0] >= pair[1]) {
            None => Ok(()),
            Some(pair) => Err(format!(
                "above_tokens `{}` is not above `{}`; write tiers in ascending order",
                pair[1], pair[0]
            )),
        }
    }
}

impl CacheRules {
    fn check(&self) -> Result<(), String> {
        let mut parts = self.prefix_order.clone();
        parts.sort_unstable();
        if parts != [PrefixPart::Tools, PrefixPart::System, PrefixPart::Messages] {
            return Err(
                "prefix_order needs `tools`, `system` and `messages`, each once".to_owned(),
            );
        }
        if self.granularity_tokens == 0 {
            return Err("granularity_tokens `0` is none; choose 1 or more".to_owned());
        }
        Ok(())
    }
}

/// A price table that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PriceError {
    /// The file cannot be read.
    #[error("cannot read `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Not the TOML of a table, or a row of it cannot be used.
    #[error("{0}")]
    Wrong(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_prices_parse_and_price_the_mock() {
        let table = PriceTable::shipped().expect("the shipped table parses");
        assert!(table.row("mock:strong").is_some());
        assert_eq!(table.row("mock+empty=0.1"), table.row("mock"));
        assert!(table.row("no-such-model").is_none());
        assert_eq!(table.row("openai:gpt-5.4"), table.row("gpt-5.4"));
        assert_eq!(
            table.row("anthropic:claude-opus-4-1").map(|row| row.input),
            Some(15.0)
        );
        assert!(
            table
                .row("openai-compatible:qwen")
                .is_some_and(PriceRow::is_free),
            "a server on this machine"
        );
        assert!(
            table
                .row("anthropic:qwen@localhost")
                .is_some_and(PriceRow::is_free),
            "a server on this machine"
        );
        assert!(table.row("openai-compatible:qwen@models.example").is_none());
        assert!(
            table
                .row("anthropic:claude-sonnet-4@models.example")
                .is_none(),
            "a gateway has prices of its own"
        );
    }

    #[test]
    fn a_mock_has_the_price_of_a_cheaper_model_where_it_summarizes() {
        let table = |head: &str| PriceTable::parse(&format!("{head}\n{SHIPPED}"));
        let names = |table: &PriceTable, model: &str| {
            let rows = [
                table.row(model),
                table.summarizer_row(model),
                table.checkpointer_row(model),
            ];
            rows.map(|row| row.map(|row| row.name.clone()).unwrap_or_default())
        };
        let cheap = table("summarizer_as = \"claude-haiku-4-5\"").unwrap();
        let [agent, summarizer, checkpointer] = names(&cheap, "mock:claude-code");
        assert_ne!(agent, summarizer);
        assert_eq!(
            [summarizer.as_str(), checkpointer.as_str()],
            ["claude-haiku-4-5"; 2]
        );
        assert_eq!(
            names(&cheap, "claude-opus-4-1"),
            ["claude-opus-4-1"; 3],
            "a real model has its own"
        );
        let both =
            table("summarizer_as = \"claude-haiku-4-5\"\ncheckpointer_as = \"gpt-5.4-mini\"");
        assert_eq!(
            names(&both.unwrap(), "mock")[1..],
            ["claude-haiku-4-5", "gpt-5.4-mini"]
        );
        let wrong = table("checkpointer_as = \"claude-haiku-45\"")
            .unwrap_err()
            .to_string();
        assert!(
            wrong.contains("checkpointer_as") && wrong.contains("claude-haiku-4-5"),
            "{wrong}"
        );
    }

    #[test]
    fn a_long_prompt_has_the_price_of_its_tier_for_all_of_its_tokens() {
        let table = PriceTable::shipped().expect("the shipped table parses");
        let row = table.row("gpt-5.4").expect("it is there");
        let dollars = |input: u64, cache_read: u64| {
            row.dollars(&Usage {
                input,
                cache_read,
                output: 1_000_000,
                cache_write: 0,
            })
        };
        assert_eq!(dollars(272_000, 0), 0.272 * 2.5 + 15.0);
        assert_eq!(
            dollars(272_001, 0),
            0.272_001 * 5.0 + 22.5,
            "not only what is above the limit"
        );
        assert_eq!(
            dollars(1, 272_000),
            1e-6 * 5.0 + 0.272 * 0.5 + 22.5,
            "what is cached counts"
        );
        let free = PriceRow {
            tier: vec![PriceTier {
                above_tokens: 9,
                output: 1.0,
                ..PriceTier::default()
            }],
            ..PriceRow::default()
        };
        assert!(!free.is_free());
    }

    #[test]
    fn writing_to_a_cache_has_its_price() {
        let table = PriceTable::shipped().expect("the shipped table parses");
        let written = table
            .model
            .iter()
            .map(|row| (row.name.as_str(), row.cache_write / row.input))
            .collect::<Vec<_>>();
        assert!(
            written.contains(&("claude-opus-4-1", 1.25)) && written.contains(&("gpt-5.4", 1.0)),
            "{written:?}"
        );
    }

    #[test]
    fn rows_that_cannot_be_looked_up_or_computed_with_are_refused() {
        let refused = |from: &str, to: &str| {
            assert!(SHIPPED.contains(from), "{from}");
            PriceTable::parse(&SHIPPED.replacen(from, to, 1))
                .expect_err("refused")
                .to_string()
        };
        assert!(
            refused("source = \"docs", "source = \"assumed, docs").contains("cannot be looked up")
        );
        assert!(refused("2026-11-22", "2026-13-01").contains("date `2026-13-01`"));
        assert!(refused("input = 3.0", "input = -3.0").contains("price `-3`"));
        assert!(refused("\"tools\", \"system\"", "\"system\"").contains("each once"));
        assert!(
            refused("granularity_tokens = 1\n", "granularity_tokens = 0\n")
                .contains("granularity_tokens `0`")
        );
        assert!(
            refused("renewed_by_use = true", "renewed = true").contains("expected a price table")
        );
        assert!(
            refused("name = \"claude-opus-4-1\"", "name = \"claude-sonnet-4\"")
                .contains("two rows of that name")
        );
        assert!(refused("above_tokens = 272000", "above_tokens = 0").contains("not above `0`"));
        assert!(
            refused(
                "above_tokens = 272000\ninput = 5.0",
                "above_tokens = 272000\ninput = -5.0"
            )
            .contains("price `-5`")
        );
        assert!(
            refused("above_tokens = 272000", "above = 272000").contains("expected a price table")
        );
        assert!(
            refused(
                "mock_as = \"claude-sonnet-4\"",
                "mock_as = \"claude-sonet-4\""
            )
            .contains("did you mean")
        );
    }
}
