//! What a run will cost, from a dry run of the missing cases with the mock in place of the model.
//! Nothing is written.
//!
//! The low end is what the mock used. The high end takes every request at [`TOKENS_AT_MOST`] times
//! its tokens and every reply at its request's limit. Neither includes repeated calls or a
//! provider's prompt cache.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use compactometer_engine::message::Usage;
use compactometer_engine::meter::Purpose;
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest};
use compactometer_engine::tokens::TokenCounter;
use compactometer_formats::record::{CallRow, text_hash};
use compactometer_harness::plan::PlannedCase;
use compactometer_harness::run::{Models, run_case};
use compactometer_models::cost_limit::{REPLY_AT_MOST, TOKENS_AT_MOST, Tariff};

use super::Tariffs;
use crate::output::failure::Failure;

/// Calls, tokens and cost by purpose.
pub(crate) struct CostEstimate {
    rows: BTreeMap<&'static str, EstimateRow>,
    cases: usize,
}

#[derive(Default)]
struct EstimateRow {
    calls: u64,
    used: Usage,
    /// Tokens of all replies if each is as long as its limit allows.
    longest: u64,
    /// The lowest and highest cost in US dollars; nothing if the price is unknown. It is added up
    /// call by call, since what a call costs may depend on its own length.
    dollars: Option<(f64, f64)>,
}

impl CostEstimate {
    /// The estimate for these cases. Answers are judged if the tariffs name a judge.
    ///
    /// # Errors
    /// If no runtime can be created.
    pub(crate) fn new(
        cases: &[&PlannedCase],
        counter: impl TokenCounter,
        tariffs: Tariffs,
    ) -> Result<Self, Failure> {
        let mock = compactometer_models::by_name("mock").map_err(Failure::failed)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .map_err(Failure::failed)?;
        let judge = tariffs.judge.map(|_| (JUDGE, Purpose::Judge));
        let purposes = [
            ("compaction", Purpose::Compaction),
            ("checkpoint", Purpose::Checkpoint),
            ("probe", Purpose::Probe),
        ];
        let purposes = purposes.into_iter().chain(judge);
        let row = |purpose| EstimateRow {
            dollars: tariffs.of_call(purpose).map(|_| (0.0, 0.0)),
            ..EstimateRow::default()
        };
        let mut rows: BTreeMap<&str, EstimateRow> = purposes
            .map(|(name, purpose)| (name, row(purpose)))
            .collect();
        for case in cases {
            let noting = LimitRecorder {
                model: &*mock,
                limits: Mutex::default(),
            };
            let judge = tariffs.judge.map(|_| &noting as &dyn ChatModel);
            let models = Models {
                target: &noting,
                summarizer: None,
                checkpointer: None,
                judge,
            };
            let record = runtime.block_on(run_case(case, models, &counter)).record;
            let limits = noting
                .limits
                .into_inner()
                .unwrap_or_else(PoisonError::into_inner);
            let calls = record
                .calls()
                .chain(record.probe_calls())
                .chain(record.judge_calls());
            for call in calls {
                let name = name(call.purpose, tariffs.summarizer.is_some());
                rows.entry(name).or_insert_with(|| row(call.purpose)).add(
                    call,
                    tariffs.of_call(call.purpose),
                    &limits,
                );
            }
        }
        Ok(CostEstimate {
            rows,
            cases: cases.len(),
        })
    }

    /// Calls, tokens in and out, and the lowest and highest cost in US dollars, which is unknown if
    /// a price is.
    pub(super) fn totals(&self) -> ([f64; 3], Option<[f64; 2]>) {
        let all = self.all();
        let counts = [all.calls, all.used.total_input(), all.used.output].map(|count| count as f64);
        (counts, all.dollars.map(|(low, high)| [low, high]))
    }

    fn all(&self) -> EstimateRow {
        let mut all = EstimateRow {
            dollars: Some((0.0, 0.0)),
            ..EstimateRow::default()
        };
        for row in self.rows.values() {
            all.calls += row.calls;
            all.used += row.used;
            all.longest += row.longest;
            all.dollars = all
                .dollars
                .zip(row.dollars)
                .map(|(all, row)| (all.0 + row.0, all.1 + row.1));
        }
        all
    }

    /// The table: a line for each purpose and one for all.
    pub(crate) fn table(&self) -> String {
        let mut text = format!(
            "estimate for {} replays, from a dry run with the mock: low as the mock used, high with requests of {TOKENS_AT_MOST} times its \
             tokens and the longest replies; calls made again are not in it\n",
            self.cases
        );
        let head = ["purpose", "calls", "tokens in", "tokens out", "US dollars"];
        let _ = writeln!(
            text,
            "{:<12}{:>8}{:>24}{:>24}{:>20}",
            head[0], head[1], head[2], head[3], head[4]
        );
        for (purpose, row) in &self.rows {
            line(&mut text, purpose, row);
        }
        line(&mut text, "all", &self.all());
        text
    }
}

/// The judge's row in the table.
const JUDGE: &str = "judge";

impl EstimateRow {
    fn add(&mut self, call: &CallRow, tariff: Option<Tariff>, limits: &HashMap<String, u32>) {
        let limit = call
            .reply
            .as_ref()
            .and_then(|reply| limits.get(reply))
            .copied()
            .unwrap_or(REPLY_AT_MOST);
        let (input, output) = (call.usage.total_input(), call.usage.output);
        let longest = u64::from(limit).max(output);
        self.calls += 1;
        self.used += call.usage;
        self.longest += longest;
        self.dollars = self.dollars.zip(tariff).map(|((low, high), tariff)| {
            let used = tariff.dollars(&Usage {
                input,
                output,
                ..Usage::default()
            });
            (low + used, high + tariff.at_most(input, longest))
        });
    }
}

fn line(text: &mut String, purpose: &str, row: &EstimateRow) {
    let (input, output) = (row.used.total_input(), row.used.output);
    let most_input = (input as f64 * TOKENS_AT_MOST) as u64;
    let dollars = row.dollars.map_or("unknown".to_owned(), |(low, high)| {
        format!("{low:.2}-{high:.2}")
    });
    let (input, output) = (
        format!("{input}-{most_input}"),
        format!("{output}-{}", row.longest),
    );
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{purpose:<12}{:>8}{input:>24}{output:>24}{dollars:>20}",
        row.calls
    );
}

/// A purpose's row. A recount belongs to the compaction that it follows, unless another model makes
/// it.
fn name(purpose: Purpose, has_summarizer: bool) -> &'static str {
    match purpose {
        Purpose::Recount if has_summarizer => "recount",
        Purpose::Compaction | Purpose::Recount => "compaction",
        Purpose::Checkpoint => "checkpoint",
        Purpose::Probe => "probe",
        Purpose::Judge => JUDGE,
    }
}

/// A model that notes, by the hash of each reply, the largest limit of the requests for it, which
/// records do not hold.
struct LimitRecorder<'m> {
    model: &'m dyn ChatModel,
    limits: Mutex<HashMap<String, u32>>,
}

#[async_trait]
impl ChatModel for LimitRecorder<'_> {
    fn name(&self) -> &str {
        self.model.name()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let reply = self.model.complete(request).await?;
        let mut limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        let limit = limits.entry(text_hash(&reply.text)).or_default();
        *limit = request
            .max_output_tokens
            .unwrap_or(REPLY_AT_MOST)
            .max(*limit);
        Ok(reply)
    }
}
