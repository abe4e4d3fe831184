//! What several commands take: which suites and strategies to run, under which conditions, and at
//! which prices.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use anyhow::anyhow;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use compactometer_engine::tokens::{Encoding, TokenCounter};
use compactometer_formats::prices::{PriceTable, SHIPPED};
use compactometer_formats::protocol::Protocol;
use compactometer_formats::scenario::Split;
use compactometer_formats::suite::Header;
use compactometer_harness::plan::Shares;
use compactometer_text::suggest::unknown;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::arguments::{programs, recordings};
use crate::output::failure::Failure;

/// What runs if no strategy is named.
const DEFAULT_STRATEGIES: [&str; 3] = ["@reference", "@ideas", "@controls"];
/// What writes and answers if no model is named.
pub(crate) const DEFAULT_MODEL: &str = "mock";

/// What to run.
#[derive(clap::Args, Serialize, Deserialize)]
pub(crate) struct RunArgs {
    /// Suites: files of `import` or `generate`, specs (`.toml`), transcripts, or `agentic`, `smoke`
    /// and `standard`. Without a suite it is `agentic`, or what `--model
    /// cassette:DIR` was recorded on.
    pub(crate) suites: Vec<PathBuf>,
    /// Only the conversations of one split. Results are reported on `test`, and nothing is tuned on
    /// it.
    #[arg(hide_short_help = true, long, value_name = "SPLIT", value_parser = one_of::<Split, _>(["dev", "test", "calibration"]))]
    pub(crate) split: Option<Split>,
    /// Only N conversations, spread over split, source, tools and length by a hash of the suite's
    /// name and their ids. If there are fewer, all are taken.
    #[arg(hide_short_help = true, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) sample: Option<u32>,
    /// Strategies or sets (`@reference`, `@ideas`, `@controls`, `@faithful`, `@all`, `@ablation`),
    /// `NAME=BASE:key=value`, or `NAME=exec:COMMAND`; separate with commas or repeat. The second
    /// form is a strategy with other parameters (`terse=chained:prompt=my.md`), the third a program
    /// of yours. `@ideas` changes one idea of a strategy, `@ablation` takes its corrections back;
    /// each is compared with its own strategy. Default: the first three sets, or a recording's rows.
    #[arg(
        short = 's',
        long = "strategy",
        value_name = "NAME",
        env = "COMPACTOMETER_STRATEGY"
    )]
    pub(crate) strategies: Vec<String>,
    /// Agents of others, unmodified, as rows beside the strategies: `NAME` or `NAME@VERSION`; separate
    /// with commas or repeat. `list agents` names them, `add` installs them.
    #[arg(
        hide_short_help = true,
        long = "agent",
        value_name = "NAME",
        value_delimiter = ','
    )]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) agents: Vec<String>,
    /// Keep what agents send, what became of it, and what they print, in a folder for each play.
    #[arg(hide_short_help = true, long, value_name = "DIR")]
    #[serde(skip)]
    pub(crate) agent_log: Option<PathBuf>,
    /// Try values of a parameter, each as one more strategy; repeatable. `list parameters` names
    /// them.
    #[arg(hide_short_help = true, long, value_name = "STRATEGY.KEY=V1,V2")]
    pub(crate) set: Vec<String>,
    /// Also replay 6 short, independent conversations at other sizes (up to four times the run's)
    /// and other splits (0 and 50 % of the retained budget kept verbatim). The report adds curves
    /// of recall; no other number changes. Each strategy under test replays those conversations 5
    /// more times, with all calls. Default: `true` for `compare` without a suite, strategy, model
    /// or protocol, else `false`.
    #[arg(hide_short_help = true, long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) sweep: Option<bool>,
    /// How limits are set. Several, separated with commas, give as many parts of one report.
    #[arg(
        long,
        value_name = "PROTOCOL",
        env = "COMPACTOMETER_PROTOCOL",
        value_delimiter = ',',
        default_value = "matched",
        value_parser = protocols()
    )]
    pub(crate) protocol: Vec<Protocol>,
    /// Multiplies published limits, for conversations that are too short for them. The report names
    /// the scale that they need.
    #[arg(hide_short_help = true, long, value_name = "FACTOR", default_value_t = 1.0, value_parser = positive)]
    pub(crate) scale: f64,
    #[command(flatten)]
    pub(crate) setting: SettingArgs,
    /// The row that the strategies are compared with, a control too. It is declared with the run, so that nobody
    /// picks it after seeing the results. A row of `@ideas` or `@ablation` is compared with its own
    /// strategy. Default: `random-drop`, else the first reference strategy.
    #[arg(hide_short_help = true, long, value_name = "NAME")]
    pub(crate) reference: Option<String>,
    /// A model that judges each answer beside the grader. Its verdicts are reported and change no
    /// number. `--record DIR` keeps its calls in `DIR/judge`. Default: none.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "MODEL",
        env = "COMPACTOMETER_JUDGE"
    )]
    pub(crate) judge: Option<String>,
    /// Number of threads. Results do not depend on it. Default: one for each core.
    #[arg(short = 'j', long, value_name = "N", env = "COMPACTOMETER_JOBS", value_parser = clap::value_parser!(u16).range(1..))]
    #[serde(skip)]
    pub(crate) jobs: Option<u16>,
    /// Folder for records and report; the same command resumes there. Without this option it is a
    /// folder of its own under `reports`.
    #[arg(short, long, value_name = "DIR")]
    #[serde(skip)]
    pub(crate) out: Option<PathBuf>,
    /// Keep each session in a store while it runs, a folder of files or a SQLite database (`.db`).
    /// An interrupted conversation then continues where it stopped. The records are the same.
    #[arg(hide_short_help = true, long, value_name = "DIR|FILE.db")]
    #[serde(skip)]
    pub(crate) store: Option<PathBuf>,
    #[command(flatten)]
    #[serde(skip)]
    pub(crate) prices: PricesArg,
    /// Print the calls and the cost that the run would have, and stop. They are listed by purpose,
    /// and come from a dry run with the mock.
    #[arg(long)]
    #[serde(skip)]
    pub(crate) estimate: bool,
    /// Most US dollars that model calls may cost. What the folder's records and the recording have
    /// already cost counts too. A call that could exceed it is not made. A server that bills needs
    /// this limit, or a yes on a terminal.
    #[arg(long, value_name = "USD", env = "COMPACTOMETER_MAX_COST", value_parser = positive)]
    #[serde(skip)]
    pub(crate) max_cost: Option<f64>,
    /// Print only errors on stderr.
    #[arg(short, long)]
    #[serde(skip)]
    pub(crate) quiet: bool,
}

impl RunArgs {
    /// The strategies and controls that are named, else those of the recording that is replayed,
    /// else the default ones.
    pub(crate) fn rows(&self) -> anyhow::Result<Vec<String>> {
        if !self.strategies.is_empty() {
            return programs::rows(&self.strategies);
        }
        let recorded = recordings::about(&self.setting.model)?.rows;
        Ok(if recorded.is_empty() {
            DEFAULT_STRATEGIES.map(str::to_owned).to_vec()
        } else {
            recorded
        })
    }
}

/// The prices that costs are computed with.
#[derive(clap::Args, Default)]
pub(crate) struct PricesArg {
    /// A price table in place of the shipped one (`datasets/prices.toml` shows the form).
    #[arg(
        hide_short_help = true,
        long,
        value_name = "FILE",
        env = "COMPACTOMETER_PRICES"
    )]
    pub(crate) prices: Option<PathBuf>,
    /// Price a mock that writes summaries as this model of the table, as if a cheaper model wrote
    /// them.
    #[arg(hide_short_help = true, long, value_name = "MODEL")]
    pub(crate) summarizer_as: Option<String>,
    /// Price a mock that writes checkpoints before turns as this model. Default: as its summarizer.
    #[arg(hide_short_help = true, long, value_name = "MODEL")]
    pub(crate) checkpointer_as: Option<String>,
}

impl PricesArg {
    /// The requested table, else the shipped one, and its text.
    pub(crate) fn table(&self) -> Result<(PriceTable, String), Failure> {
        let (mut table, mut text) = match &self.prices {
            Some(path) => PriceTable::read(path).map_err(Failure::usage)?,
            None => PriceTable::shipped()
                .map(|table| (table, SHIPPED.to_owned()))
                .map_err(Failure::failed)?,
        };
        let keys = [
            (
                "summarizer_as",
                &self.summarizer_as,
                &mut table.summarizer_as,
            ),
            (
                "checkpointer_as",
                &self.checkpointer_as,
                &mut table.checkpointer_as,
            ),
        ];
        for (key, asked, known) in keys {
            if let Some(model) = asked {
                *known = Some(model.clone());
                // Tables of different prices have different hashes.
                text = format!("{key} = {model:?}\n{text}");
            }
        }
        Ok((table.checked().map_err(Failure::usage)?, text))
    }
}

/// The encoding with this name.
pub(crate) fn encoding(name: &str) -> Result<Encoding, Failure> {
    let choices = || Encoding::ALL.iter().map(|encoding| encoding.name());
    Encoding::by_name(name)
        .ok_or_else(|| Failure::usage(anyhow!(unknown("tokenizer", name, choices()))))
}

/// Under which conditions conversations are replayed.
#[derive(clap::Args, Serialize, Deserialize)]
pub(crate) struct SettingArgs {
    /// Context window in tokens, such as 12k. Without this option it is the suite's own, else one
    /// that suits the suite's lengths.
    #[arg(long, value_name = "TOKENS", env = "COMPACTOMETER_WINDOW", value_parser = tokens)]
    pub(crate) window: Option<u32>,
    /// Share of the context window at which a compaction starts, from 0.02 to 1. Published limits
    /// have their own.
    #[arg(hide_short_help = true, long, value_name = "SHARE", env = "COMPACTOMETER_TRIGGER", default_value_t = Shares::default().trigger, value_parser = trigger_share)]
    pub(crate) trigger: f64,
    /// Share of the context window that a compaction may leave. It is at least 0.01 and below the trigger's
    /// share. Several, separated with commas (`.1,.2,.3`), give each strategy a curve over sizes,
    /// of all conversations; tables, comparisons and gates use the largest. Published limits have
    /// their own retained budgets. Without this option it is the suite's own, else 0.3; of own
    /// sessions it is at most 3,000 tokens, which is what compactions in production leave.
    #[arg(long, value_name = "SHARES", env = "COMPACTOMETER_RETAIN", value_delimiter = ',', value_parser = retained_share)]
    pub(crate) retain: Vec<f64>,
    /// The model that writes summaries and answers questions (`list models`).
    /// `MODEL+FAULT=RATE,FAULT=RATE` makes it fail at times, as in `mock+empty=0.1`.
    #[arg(long, value_name = "MODEL", env = "COMPACTOMETER_MODEL", default_value = DEFAULT_MODEL)]
    pub(crate) model: String,
    /// Another model for summaries and checkpoints. `--model` then answers questions, and its
    /// prices are those of the agent's turns. Default: the model, or the summarizer recorded beside
    /// `--model`.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "MODEL",
        env = "COMPACTOMETER_SUMMARIZER"
    )]
    pub(crate) summarizer: Option<String>,
    /// Another model for the checkpoints that a strategy writes before a turn, usually a cheaper
    /// one; those that come with a summary are the summarizer's. Default: the summarizer, or the
    /// checkpointer recorded beside `--model`.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "MODEL",
        env = "COMPACTOMETER_CHECKPOINTER"
    )]
    pub(crate) checkpointer: Option<String>,
    /// Record each model call in this folder, with the conversations; calls that it already holds
    /// are answered from it. `--model cassette:DIR` replays it without the model. A summarizer's
    /// own calls are kept in `DIR/summarizer`, a checkpointer's in `DIR/checkpointer`.
    #[arg(hide_short_help = true, long, value_name = "DIR")]
    #[serde(skip)]
    pub(crate) record: Option<PathBuf>,
    /// Recordings of earlier attempts, which are read and not written.
    #[arg(skip)]
    #[serde(skip)]
    pub(crate) earlier: Vec<PathBuf>,
    /// Most requests per minute to a model behind HTTP. Default: as many as the threads make.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "N",
        env = "COMPACTOMETER_REQUESTS_PER_MINUTE"
    )]
    #[serde(skip)]
    pub(crate) requests_per_minute: Option<NonZeroU32>,
    /// The most seconds of a call to a model behind HTTP, from its request to the last byte of its
    /// answer. Default: 1800, and 600 without any content.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "SECONDS",
        env = "COMPACTOMETER_CALL_TIMEOUT"
    )]
    #[serde(skip)]
    pub(crate) call_timeout: Option<NonZeroU64>,
    /// The encoding that all token counts use: `o200k_base` or `cl100k_base`.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "ENCODING",
        env = "COMPACTOMETER_TOKENIZER",
        default_value = "o200k_base"
    )]
    pub(crate) tokenizer: String,
    /// Seed of everything random.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "N",
        env = "COMPACTOMETER_SEED",
        default_value_t = 0
    )]
    pub(crate) seed: u64,
}

impl SettingArgs {
    /// Whether neither the arguments nor the suite, as that of own sessions, says what a compaction
    /// leaves and for which window.
    pub(crate) fn is_like_production(&self, header: &Header) -> bool {
        self.retain.is_empty() && header.retained.is_none() && header.window.is_none()
    }

    /// The trigger's share with the largest retained share, and the other retained shares,
    /// descending, for a suite with this header.
    pub(crate) fn shares(&self, header: &Header) -> (Shares, Vec<f64>) {
        let mut shares = self.retain.clone();
        shares.sort_by(|one, other| other.total_cmp(one));
        shares.dedup();
        let retained = shares
            .first()
            .copied()
            .or(header.retained_share())
            .unwrap_or(Shares::default().retained);
        (
            Shares {
                trigger: self.trigger,
                retained,
            },
            shares.into_iter().skip(1).collect(),
        )
    }
}

/// The protocols, each with its line of help.
pub(crate) fn protocols() -> impl TypedValueParser<Value = Protocol> {
    let values = Protocol::ALL
        .iter()
        .map(|row| PossibleValue::new(row.name).help(row.about));
    PossibleValuesParser::new(values).try_map(|name| serde_json::from_value(name.into()))
}

/// Parses one of these names of values, by the value's name in files.
pub(crate) fn one_of<T: DeserializeOwned + Clone + Send + Sync + 'static, const N: usize>(
    names: [&'static str; N],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(names).try_map(|name| serde_json::from_value(name.into()))
}

fn trigger_share(text: &str) -> Result<f64, String> {
    share(
        text,
        "a share from 0.02 to 1, such as 0.8 or 80%",
        |share| (0.02..=1.0).contains(&share),
    )
}

fn retained_share(text: &str) -> Result<f64, String> {
    share(
        text,
        "a share from 0.01 and under 1, such as 0.3 or 30%",
        |share| (0.01..1.0).contains(&share),
    )
}

/// A share, also in per cent.
fn share(text: &str, what: &str, is_taken: impl Fn(f64) -> bool) -> Result<f64, String> {
    match text.strip_suffix('%') {
        // Division by 100 gives the number that is written as a share.
        Some(percent) => number(percent.trim(), what, |percent| is_taken(percent / 100.0))
            .map(|percent| percent / 100.0),
        None => number(text, what, is_taken),
    }
}

/// A number of tokens, also in thousands.
fn tokens(text: &str) -> Result<u32, String> {
    let (digits, factor) = text
        .strip_suffix(['k', 'K'])
        .map_or((text, 1.0), |digits| (digits, 1_000.0));
    let number = digits
        .replace(['_', ','], "")
        .parse::<f64>()
        .ok()
        .map(|number| number * factor);
    let whole = number
        .filter(|number| (1.0..=f64::from(u32::MAX)).contains(number) && number.fract() == 0.0);
    whole
        .map(|number| number as u32)
        .ok_or_else(|| "expected a number of tokens, such as 12000 or 12k".to_owned())
}

pub(crate) fn positive(text: &str) -> Result<f64, String> {
    number(text, "a number over 0", |number| {
        number.is_finite() && number > 0.0
    })
}

/// The number in the text, if it is one that the argument takes.
pub(crate) fn number(
    text: &str,
    what: &str,
    is_taken: impl Fn(f64) -> bool,
) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| is_taken(*number));
    number.ok_or_else(|| format!("expected {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_shares_are_read_as_people_write_them() {
        for (text, expected) in [
            ("12000", Some(12_000)),
            ("12k", Some(12_000)),
            ("12_000", Some(12_000)),
            ("12,000", Some(12_000)),
        ] {
            assert_eq!(tokens(text).ok(), expected, "{text}");
        }
        assert_eq!(tokens("1.5k").ok(), Some(1_500));
        for text in [
            "0",
            "-1",
            "1.5",
            "k",
            "",
            "NaN",
            "inf",
            "1e99",
            "5000000k",
            "12 k tokens",
        ] {
            assert!(tokens(text).is_err(), "{text}");
        }
        assert_eq!(
            [
                retained_share("30%").ok(),
                retained_share("0.3").ok(),
                retained_share(".3").ok()
            ],
            [Some(0.3); 3]
        );
        for text in ["30", "100%", "0%", "NaN%", "%", "3 %%"] {
            assert!(retained_share(text).is_err(), "{text}");
        }
    }
}
