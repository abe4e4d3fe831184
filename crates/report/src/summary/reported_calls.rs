//! What imported files report of their own calls, beside what is computed for `full`.

use compactometer_formats::record::Record;

use crate::data::{FULL, ProtocolRun};
use crate::metrics::cost::{COST_USD, COST_USD_RECORDED, FIXED_PREFIX_TOKENS};
use crate::numbers::grouped;

/// A line for the recorded usage, if the suite holds any.
pub(super) fn note(run: &ProtocolRun) -> Option<String> {
    let of_suite = run.strategy(FULL).or(run.strategies.first())?;
    let prefix = FIXED_PREFIX_TOKENS.measure(run, of_suite).value?;
    let count = |of: fn(&Record) -> usize| of_suite.records().map(of).sum::<usize>() as f64;
    let turns = grouped(count(|record| record.turns.len()));
    let reported = grouped(count(reporting_turns));
    let prefix = grouped(prefix);
    let costs = if reported == turns {
        costs(run).unwrap_or_default()
    } else {
        String::new()
    };
    Some(format!(
        "recorded usage: {reported} of {turns} turns report their tokens; before the first call there were {prefix} tokens on \
         average that no file holds, such as system prompt and tools: costs include them, context windows and budgets do not{costs}"
    ))
}

fn reporting_turns(record: &Record) -> usize {
    let turns = record.turns.iter();
    turns.filter(|turn| turn.recorded.is_some()).count()
}

fn costs(run: &ProtocolRun) -> Option<String> {
    let full = run.strategy(FULL)?;
    let computed = COST_USD.measure(run, full).value?;
    let recorded = COST_USD_RECORDED.measure(run, full).value?;
    Some(format!(
        "; by these counts and this run's prices a conversation cost {recorded:.2} $, and {computed:.2} $ are computed for `full`, \
         which never compacts and is counted with another tokenizer"
    ))
}
