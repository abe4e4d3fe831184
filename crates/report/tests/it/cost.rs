//! What conversations cost under a provider's rules, each worked out by hand. Prices a million
//! tokens: input 4, written 5, read 1, output 20.

use crate::common::{call, compaction, manifest, prices, record, turn};
use compactometer_engine::event::CheckpointEvent;
use compactometer_engine::message::{MessageId, Usage};
use compactometer_engine::meter::Purpose;
use compactometer_formats::prices::{PriceTable, PriceTier};
use compactometer_formats::record::{CheckpointRow, Family, Record, Stages};
use compactometer_formats::summary::MetricValue;
use compactometer_report::summarize;

fn metric_at(records: &[Record], id: &str, prices: &PriceTable) -> MetricValue {
    let mut names: Vec<&str> = records
        .iter()
        .map(|record| record.case.strategy.as_str())
        .collect();
    names.dedup();
    let mut summary = summarize(
        &manifest(&names, records.len(), records.len()),
        records,
        prices,
    );
    summary.groups[0].strategies[0].metrics.remove(id).unwrap()
}

fn metric(records: &[Record], id: &str) -> MetricValue {
    metric_at(records, id, &prices())
}

fn near(found: &MetricValue, expected: f64) {
    let value = found.value.unwrap_or_else(|| panic!("{:?}", found.reason));
    assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
}

/// 9,000 tokens become 3,000 before the third turn, of which 1,500 are the same; the call costs
/// 8,000 x 4 + 500 x 20.
fn compacted() -> Record {
    let mut made = record("summarize", Family::Reference, "s0", "g0");
    let mut row = compaction(Stages::default(), 2_500, vec![call(8_000, 500)]);
    row.event.after = MessageId(25);
    (row.event.tokens_before, row.event.tokens_after) = (9_000, 3_000);
    made.compactions = vec![row];
    made.turns = vec![
        turn(7_000, 0, 100),
        turn(8_000, 7_000, 100),
        turn(3_000, 1_500, 100),
        turn(4_000, 3_000, 100),
    ];
    for (at, turn) in made.turns.iter_mut().enumerate() {
        turn.message = MessageId(10 * at as u32 + 10);
    }
    made
}

#[test]
fn a_gap_of_ten_minutes_finds_every_cache_cold() {
    let records = [compacted()];
    let calls = 8_000.0 * 4.0 + 500.0 * 20.0;
    let output = 400.0 * 20.0;
    // Written, then read and written.
    let warm =
        7_000.0 * 5.0 + (7_000.0 + 5_000.0) + (1_500.0 + 1_500.0 * 5.0) + (3_000.0 + 5_000.0);
    near(&metric(&records, "cost_usd"), (warm + output + calls) / 1e6);
    near(
        &metric(&records, "cost_usd_10min"),
        (22_000.0 * 5.0 + output + calls) / 1e6,
    );
    // Times that are known stand as they are.
    let mut timed = compacted();
    timed
        .turns
        .iter_mut()
        .zip([0, 1, 2, 3])
        .for_each(|(turn, at)| turn.at_ms = Some(at * 20_000));
    near(
        &metric(&[timed], "cost_usd_10min"),
        (warm + output + calls) / 1e6,
    );
}

#[test]
fn a_long_prompt_costs_the_prices_of_its_tier_and_a_short_one_does_not() {
    let mut tiered = prices();
    let double = PriceTier {
        above_tokens: 7_500,
        input: 8.0,
        cache_write: 10.0,
        cache_read: 2.0,
        output: 30.0,
    };
    tiered.model[0].tier = vec![double];
    // The second of four turns and the call of the compaction are above the limit.
    let agent =
        7_000.0 * 5.0 + 2.0 * (7_000.0 + 5_000.0) + (1_500.0 + 1_500.0 * 5.0) + (3_000.0 + 5_000.0);
    let output = 300.0 * 20.0 + 100.0 * 30.0;
    let calls = 8_000.0 * 8.0 + 500.0 * 30.0;
    near(
        &metric_at(&[compacted()], "cost_usd", &tiered),
        (agent + output + calls) / 1e6,
    );
    near(
        &metric_at(&[compacted()], "cost_usd_compaction", &tiered),
        calls / 1e6,
    );
}

#[test]
fn savings_are_against_full_under_the_same_gaps_without_output() {
    let mut full = record("full", Family::Control, "s0", "g0");
    full.turns = vec![
        turn(7_000, 0, 100),
        turn(8_000, 7_000, 100),
        turn(9_000, 8_000, 100),
        turn(10_000, 9_000, 100),
    ];
    let records = [compacted(), full];
    let calls = 8_000.0 * 4.0 + 500.0 * 20.0;
    let warm = 35_000.0 + 12_000.0 + 9_000.0 + 8_000.0 + calls;
    let warm_full = 35_000.0 + 12_000.0 + (8_000.0 + 5_000.0) + (9_000.0 + 5_000.0);
    near(&metric(&records, "cost_saving"), 1.0 - warm / warm_full);
    near(
        &metric(&records, "cost_saving_10min"),
        1.0 - (110_000.0 + calls) / 170_000.0,
    );
}

#[test]
fn a_compaction_pays_when_shorter_inputs_have_saved_its_calls_and_the_voided_prefix() {
    // The turn after it costs 1,500 + 1,500 x 5 = 9,000; uncompacted 8,000 + 1,000 x 5 = 13,000.
    // Each later turn saves 6,000 x 1, so the void is 9,000 - 13,000 + 6,000 = 2,000.
    let calls = 8_000.0 * 4.0 + 500.0 * 20.0;
    near(
        &metric(&[compacted()], "break_even_turns"),
        (calls + 2_000.0) / 6_000.0,
    );
    // Cold at every turn, nothing is voided and each turn saves 6,000 x 5.
    let mut cold = compacted();
    cold.turns
        .iter_mut()
        .zip([0, 1, 2, 3])
        .for_each(|(turn, at)| turn.at_ms = Some(at * 600_000));
    near(&metric(&[cold], "break_even_turns"), calls / 30_000.0);
    // A whole prefix that is kept and calls that cost nothing: paid for at once.
    let mut free = compacted();
    free.compactions[0].calls.clear();
    free.turns[2].shared_prefix = 2_000;
    near(&metric(&[free], "break_even_turns"), 0.0);
}

#[test]
fn what_never_pays_says_why() {
    let reason = |record: Record, prices: &PriceTable| {
        let found = metric_at(&[record], "break_even_turns", prices);
        assert_eq!(found.value, None);
        found.reason.unwrap()
    };
    let mut same = compacted();
    same.compactions[0].event.tokens_after = 9_000;
    assert!(reason(same, &prices()).contains("none ever pays"));
    // Where a read costs nothing, a shorter input saves nothing.
    let mut free = prices();
    free.model[0].cache_read = 0.0;
    assert!(reason(compacted(), &free).contains("none ever pays"));
    let mut idle = compacted();
    idle.compactions.clear();
    assert!(reason(idle, &prices()).contains("nothing was compacted"));
    let mut unpriced = compacted();
    unpriced.case.summarizer = "unknown".to_owned();
    let without = PriceTable {
        mock_as: "none".to_owned(),
        ..prices()
    };
    assert!(reason(unpriced, &without).contains("no row for model"));
}

#[test]
fn checkpoints_are_paid_for_apart() {
    let mut made = compacted();
    let event = CheckpointEvent {
        after: MessageId(15),
        tokens: 7_500,
        extraction: None,
        failed: None,
    };
    let mut paid = call(2_000, 50);
    paid.purpose = Purpose::Checkpoint;
    paid.usage.cache_read = 1_000;
    made.checkpoints = vec![CheckpointRow {
        event,
        calls: vec![paid],
    }];
    let checkpoint = 2_000.0 * 4.0 + 1_000.0 + 50.0 * 20.0;
    near(
        &metric(&[made.clone()], "cost_usd_checkpoint"),
        checkpoint / 1e6,
    );
    near(
        &metric(&[made.clone()], "cost_usd_compaction"),
        42_000.0 / 1e6,
    );
    let without = metric(&[compacted()], "cost_usd").value.unwrap();
    near(&metric(&[made], "cost_usd"), without + checkpoint / 1e6);
}

#[test]
fn checkpoints_before_turns_cost_the_checkpointers_prices() {
    let mut both = prices();
    let mut dear = both.model[0].clone();
    dear.name = "dear".to_owned();
    (dear.input, dear.output) = (40.0, 200.0);
    both.model.push(dear);
    let mut made = compacted();
    let event = CheckpointEvent {
        after: MessageId(15),
        tokens: 7_500,
        extraction: None,
        failed: None,
    };
    let mut paid = call(2_000, 50);
    paid.purpose = Purpose::Checkpoint;
    made.checkpoints = vec![CheckpointRow {
        event,
        calls: vec![paid],
    }];
    made.case.checkpointer = Some("dear".to_owned());
    near(
        &metric_at(&[made.clone()], "cost_usd_checkpoint", &both),
        (2_000.0 * 40.0 + 50.0 * 200.0) / 1e6,
    );
    near(
        &metric_at(&[made.clone()], "cost_usd_compaction", &both),
        42_000.0 / 1e6,
    );
    // One whose price is unknown leaves the cost unknown.
    made.case.checkpointer = Some("nobody".to_owned());
    assert_eq!(metric_at(&[made], "cost_usd", &both).value, None);
}

#[test]
fn turns_cost_the_target_models_prices_and_what_is_written_the_summarizers() {
    let mut both = prices();
    let mut cheap = both.model[0].clone();
    cheap.name = "cheap".to_owned();
    for price in [
        &mut cheap.input,
        &mut cheap.cache_write,
        &mut cheap.cache_read,
        &mut cheap.output,
    ] {
        *price /= 4.0;
    }
    cheap.cache.minimum_tokens = u32::MAX;
    both.model.push(cheap);
    let mut made = compacted();
    let target = std::mem::replace(&mut made.case.summarizer, "cheap".to_owned());
    made.case.target = Some(target);
    let mut recount = call(3_000, 1);
    recount.purpose = Purpose::Recount;
    made.compactions[0].calls.push(recount);
    let turns = metric(&[compacted()], "cost_usd").value.unwrap() - 42_000.0 / 1e6;
    let calls = (42_000.0 / 4.0 + 3_000.0 * 4.0 + 20.0) / 1e6;
    near(
        &metric_at(&[made.clone()], "cost_usd_compaction", &both),
        calls,
    );
    near(
        &metric_at(&[made.clone()], "cost_usd", &both),
        turns + calls,
    );
    near(
        &metric_at(&[made.clone()], "break_even_turns", &both),
        (calls * 1e6 + 2_000.0) / 6_000.0,
    );
    made.case.target = Some("unknown".to_owned());
    let without = PriceTable {
        mock_as: "none".to_owned(),
        ..both
    };
    assert_eq!(metric_at(&[made], "cost_usd", &without).value, None);
}

#[test]
fn breakpoints_decide_what_of_a_shared_prefix_is_read() {
    let mut marked = prices();
    marked.model[0].cache.breakpoints = 4;
    let mut made = compacted();
    (made.case.tool_tokens, made.case.system_tokens) = (200, 1_000);
    let plain = metric(&[made.clone()], "cost_usd").value.unwrap();
    // Of the 1,500 shared tokens 1,200 end at a mark; 300 more are written.
    near(
        &metric_at(&[made], "cost_usd", &marked),
        plain + 300.0 * 4.0 / 1e6,
    );
}

#[test]
fn a_recorded_agents_fixed_prefix_is_written_once_then_read_and_its_own_usage_priced_beside() {
    let mut made = compacted();
    assert!(
        metric(&[made.clone()], "cost_usd_recorded")
            .reason
            .unwrap()
            .contains("reports the tokens of every call")
    );
    assert_eq!(metric(&[made.clone()], "fixed_prefix_tokens").value, None);
    let without = metric(&[made.clone()], "cost_usd").value.unwrap();
    let paid = metric(&[made.clone()], "break_even_turns").value.unwrap();
    made.case.fixed_prefix_tokens = 25_000;
    made.turns[0].recorded = Some(Usage {
        input: 10,
        cache_read: 1_000,
        cache_write: 31_000,
        output: 200,
    });
    made.turns[2].recorded = Some(Usage {
        input: 10,
        cache_read: 33_000,
        cache_write: 0,
        output: 100,
    });
    // Some of a conversation's calls are not its cost.
    assert_eq!(metric(&[made.clone()], "cost_usd_recorded").value, None);
    let told = usage_note(&made);
    assert!(
        told.contains("2 of 4 turns") && told.contains("25,000 tokens") && !told.contains('$'),
        "{told}"
    );
    (made.turns[1].recorded, made.turns[3].recorded) =
        (made.turns[2].recorded, made.turns[2].recorded);
    near(
        &metric(&[made.clone()], "cost_usd"),
        without + (25_000.0 * 5.0 + 3.0 * 25_000.0) / 1e6,
    );
    let reported = 40.0 * 4.0 + 100_000.0 + 31_000.0 * 5.0 + 500.0 * 20.0;
    near(
        &metric(&[made.clone()], "cost_usd_recorded"),
        reported / 1e6,
    );
    near(&metric(&[made.clone()], "fixed_prefix_tokens"), 25_000.0);
    // No compaction voids the prefix, so what one pays for does not change.
    near(&metric(&[made.clone()], "break_even_turns"), paid);
    made.case.strategy = "full".to_owned();
    let told = usage_note(&made);
    assert!(
        told.contains("4 of 4 turns") && told.contains("cost 0.27 $"),
        "{told}"
    );
}

fn usage_note(record: &Record) -> String {
    let manifest = manifest(&[&record.case.strategy], 1, 1);
    let mut warnings = summarize(&manifest, std::slice::from_ref(record), &prices())
        .groups
        .remove(0)
        .warnings;
    warnings.retain(|line| line.starts_with("recorded usage"));
    warnings.remove(0)
}
