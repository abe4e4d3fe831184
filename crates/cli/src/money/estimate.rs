//! What a run will cost, from a dry run: the cases that are missing, with the mock in the model's place and nothing written.
//!
//! The low end is what the mock used. The high end takes every request at [`TOKENS_AT_MOST`] of its tokens and every reply at
//! the limit that its request sets. Calls that fail and are made again are in neither, nor is a provider's prompt cache.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use compactometer_engine::message::Usage;
use compactometer_engine::meter::Purpose;
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest};
use compactometer_engine::tokens::TokenCounter;
use compactometer_harness::plan::Plan;
use compactometer_harness::replay::run_case;
use compactometer_llm::cap::{REPLY_AT_MOST, TOKENS_AT_MOST, Tariff};
use compactometer_schema::record::{CallRow, Record, text_hash};

use crate::failure::Failure;

/// Calls, tokens and cost by purpose.
pub(crate) struct Estimate {
    rows: BTreeMap<&'static str, Row>,
    tariff: Option<Tariff>,
    cases: usize,
}

#[derive(Default)]
struct Row {
    calls: u64,
    used: Usage,
    /// Tokens of all replies, were each as long as it may be.
    longest: u64,
}

impl Estimate {
    /// Of the plan's cases without those that are done; no tariff where the price is unknown.
    ///
    /// # Errors
    /// Where no runtime can be had.
    pub(crate) fn of(
        plan: &Plan,
        done: &[Record],
        counter: impl TokenCounter,
        tariff: Option<Tariff>,
    ) -> Result<Self, Failure> {
        let done = done.iter().map(|record| record.key.as_str()).collect::<HashSet<_>>();
        let missing = || plan.cases.iter().filter(|case| !done.contains(case.key.as_str()));
        let mock = compactometer_llm::by_name("mock").map_err(Failure::failed)?;
        let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(Failure::failed)?;
        let mut rows: BTreeMap<&str, Row> =
            ["compaction", "checkpoint", "probe"].map(|purpose| (purpose, Row::default())).into_iter().collect();
        for case in missing() {
            let noting = Noting { model: &*mock, limits: Mutex::default() };
            let record = runtime.block_on(run_case(case, &noting, &counter)).record;
            let limits = noting.limits.into_inner().unwrap_or_else(PoisonError::into_inner);
            record.calls().chain(record.probe_calls()).for_each(|call| add(&mut rows, call, &limits));
        }
        Ok(Estimate { rows, tariff, cases: missing().count() })
    }

    /// The table, a line each purpose and one for all.
    pub(crate) fn table(&self) -> String {
        let mut text = format!(
            "estimate for {} cases, from a dry run with the mock: low as it used, high with requests of {TOKENS_AT_MOST} times its \
             tokens and the longest replies; calls made again are not in it\n",
            self.cases
        );
        let head = ["purpose", "calls", "tokens in", "tokens out", "US dollars"];
        let _ = writeln!(text, "{:<12}{:>8}{:>24}{:>24}{:>20}", head[0], head[1], head[2], head[3], head[4]);
        let mut all = Row::default();
        for (purpose, row) in &self.rows {
            self.line(&mut text, purpose, row);
            all.calls += row.calls;
            all.used += row.used;
            all.longest += row.longest;
        }
        self.line(&mut text, "all", &all);
        text
    }

    fn line(&self, text: &mut String, purpose: &str, row: &Row) {
        let (input, output) = (row.used.total_input(), row.used.output);
        let most_input = (input as f64 * TOKENS_AT_MOST) as u64;
        let dollars = self.tariff.map_or("unknown".to_owned(), |tariff| {
            let low = tariff.dollars(&Usage { input, output, ..Usage::default() });
            format!("{low:.2}-{:.2}", tariff.at_most(input, row.longest))
        });
        let (input, output) = (format!("{input}-{most_input}"), format!("{output}-{}", row.longest));
        // A text takes every line.
        let _ = writeln!(text, "{purpose:<12}{:>8}{input:>24}{output:>24}{dollars:>20}", row.calls);
    }
}

fn add(rows: &mut BTreeMap<&'static str, Row>, call: &CallRow, limits: &HashMap<String, u32>) {
    let purpose = match call.purpose {
        // A recount belongs to the compaction after which it counts.
        Purpose::Compaction | Purpose::Recount => "compaction",
        Purpose::Checkpoint => "checkpoint",
        Purpose::Probe => "probe",
    };
    let row = rows.entry(purpose).or_default();
    let limit = call.reply.as_ref().and_then(|reply| limits.get(reply)).copied().unwrap_or(REPLY_AT_MOST);
    row.calls += 1;
    row.used += call.usage;
    row.longest += u64::from(limit).max(call.usage.output);
}

/// A model, and by the hash of each reply the largest limit that a request for it set: records do not hold it.
struct Noting<'m> {
    model: &'m dyn ChatModel,
    limits: Mutex<HashMap<String, u32>>,
}

#[async_trait]
impl ChatModel for Noting<'_> {
    fn name(&self) -> &str {
        self.model.name()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let reply = self.model.complete(request).await?;
        let mut limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        let limit = limits.entry(text_hash(&reply.text)).or_default();
        *limit = request.max_output_tokens.unwrap_or(REPLY_AT_MOST).max(*limit);
        Ok(reply)
    }
}
