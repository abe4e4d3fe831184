//! The sources' own targets: each with the value that the records show, and a verdict where they
//! allow one.
//!
//! Absent on purpose: targets that the documents name without a number, and any verdict from the
//! mock's latency.

use compactometer_engine::checkpoint::LadderReading;
use compactometer_engine::event::{FailReason, Outcome};
use compactometer_engine::message::Usage;
use compactometer_formats::record::{CompactionRow, Record};
use compactometer_formats::summary::{
    Found, Latency, MetricValue, StrategySummary, Target as TargetRow,
};

use crate::data::{ProtocolRun, StrategyRecords, is_applied};
use crate::metrics::Metric;
use crate::metrics::MetricUnit;
use crate::metrics::answered::of_carried;
use crate::metrics::answers::{EXTRACTION_SUCCESS, extraction_counts};
use crate::metrics::cost::{COST_SAVING, COST_USD_COMPACTION, saving_without_cache};
use crate::metrics::engine::{NO_WAITS, waits};
use crate::metrics::recall::CONTEXT_RECALL;
use crate::metrics::storage::{FIELDS_POPULATED, STORAGE_BYTES};
use crate::metrics::survival::{drift_at, least_drift, nothing_survives};
use crate::metrics::value::ratio;
use crate::stats::mean;

/// Every target, in the order of the documents.
pub const ALL: &[SourceTarget] = &[
    SourceTarget {
        id: "extraction_success",
        target: "over 95 % of the checkpoints asked for are read",
        source: "strategic plan, part 6",
        unit: MetricUnit::Share,
        note: "",
        find: |_, _, summary| of_metric(summary, &EXTRACTION_SUCCESS, |share| share > 0.95),
    },
    SourceTarget {
        id: "added_latency_ms_mean",
        target: "under 500 ms added per message",
        source: "strategic plan, part 6",
        unit: MetricUnit::Milliseconds,
        note: "the mean over all turns of the agent, waiting or not",
        find: added_latency,
    },
    SourceTarget {
        id: "fields_populated",
        target: "over 80 % of the fields are populated",
        source: "strategic plan, part 6",
        unit: MetricUnit::Share,
        note: "of the fields that the conversation supports; the source inspects 20 checkpoints by hand",
        find: |_, _, summary| of_metric(summary, &FIELDS_POPULATED, |share| share > 0.8),
    },
    SourceTarget {
        id: "checkpoint_fields",
        target: "at least 3 fields of a checkpoint are populated",
        source: "strategic plan, phase 1",
        unit: MetricUnit::Count,
        note: "the fewest of any checkpoint that was written, of its six fields",
        find: |_, strategy, _| {
            let fewest = strategy
                .records()
                .filter_map(|record| record.storage.as_ref()?.fewest_populated)
                .min();
            let reason = "writes no checkpoint, or its records do not count each one's fields";
            verdict(fewest.map(f64::from), |fewest| fewest >= 3.0, reason)
        },
    },
    SourceTarget {
        id: "answered_given_checkpointed",
        target: "over 90 % of what a checkpoint holds is recalled",
        source: "strategic plan, part 6",
        unit: MetricUnit::Share,
        note: "answers to questions about facts that only a checkpoint or the summary beside it holds; a mock's answers are the \
               mock's",
        find: |_, strategy, _| answered_given_checkpointed(strategy),
    },
    SourceTarget {
        id: "storage_bytes",
        target: "under 1 MB of storage per user",
        source: "strategic plan, part 6",
        unit: MetricUnit::Bytes,
        note: "a conversation counts as a user; the records uncompressed, without the newest views",
        find: |_, _, summary| of_metric(summary, &STORAGE_BYTES, |bytes| bytes < 1e6),
    },
    SourceTarget {
        id: "storage_files",
        target: "under 10 files per user",
        source: "strategic plan, part 6",
        unit: MetricUnit::Count,
        note: "the most of one conversation in the folder store. The source's own code keeps 10 checkpoints and \
               `latest.json`, and so misses its target; so does the folder store, which keeps as many",
        find: |_, strategy, _| {
            verdict(
                most(strategy.records().map(files)),
                |most| most < 10.0,
                "there is no record",
            )
        },
    },
    SourceTarget {
        id: "context_after_80k",
        target: "a context of 80,000 tokens becomes one of under 20,000",
        source: "threshold plan, its test of size",
        unit: MetricUnit::Tokens,
        note: "the largest view after a compaction that started from 80,000 tokens or more",
        find: |_, strategy, _| {
            let large = strategy
                .rows()
                .filter(|row| is_applied(row) && row.event.tokens_before >= 80_000);
            let reason = "no compaction started from 80,000 tokens or more; try `--window 100000` on long conversations, as in \
                 datasets/rounds.toml";
            verdict(
                most(large.map(|row| row.event.tokens_after)),
                |most| most < 20_000.0,
                reason,
            )
        },
    },
    SourceTarget {
        id: "compaction_reduction",
        target: "a compaction takes out 80 % of the tokens",
        source: "threshold plan, expected results",
        unit: MetricUnit::Share,
        note: "the mean over compactions; under the matched protocol `--retain` fixes it",
        find: |_, strategy, _| compaction_reduction(strategy),
    },
    SourceTarget {
        id: "facts_preserved",
        target: "90 % of the context's quality is preserved",
        source: "threshold plan, expected results",
        unit: MetricUnit::Share,
        note: "facts that the context still holds (`context_recall`); the source does not say how to measure quality",
        find: |_, _, summary| of_metric(summary, &CONTEXT_RECALL, |share| share >= 0.9),
    },
    SourceTarget {
        id: "decisions_preserved",
        target: "every key decision is preserved",
        source: "threshold plan, its test of decisions",
        unit: MetricUnit::Share,
        note: "facts of the category `decision` that the context still holds",
        find: |_, _, summary| {
            let decisions = summary
                .by_category
                .get("decision")
                .and_then(|row| row.get(CONTEXT_RECALL.id)?.value);
            verdict(
                decisions,
                |share| share >= 1.0,
                "no decision is among the facts",
            )
        },
    },
    SourceTarget {
        id: "cost_reduction_uncached",
        target: "cost is cut by half, without caching",
        source: "threshold plan, its test of cost",
        unit: MetricUnit::Share,
        note: "against `full`, no token read from a cache on either side, the agent's output left out",
        find: |run, strategy, _| {
            from_value(&saving_without_cache(run, strategy), |share| share >= 0.5)
        },
    },
    SourceTarget {
        id: "cost_reduction_cached",
        target: "cost is cut by half, with caching",
        source: "threshold plan, its test of cost",
        unit: MetricUnit::Share,
        note: "against `full` with caching on both sides, as `cost_saving`; the source does not count caches",
        find: |_, _, summary| of_metric(summary, &COST_SAVING, |share| share >= 0.5),
    },
    SourceTarget {
        id: "compaction_cost_usd",
        target: "under $0.01 of compaction per session",
        source: "threshold plan, its test from end to end",
        unit: MetricUnit::Usd,
        note: "the source asks a cheap model: `--summarizer-as MODEL` gives a mock its price",
        find: |_, _, summary| of_metric(summary, &COST_USD_COMPACTION, |cost| cost < 0.01),
    },
    SourceTarget {
        id: "cost_usd_per_compaction",
        target: "about $0.001 per checkpoint",
        source: "threshold plan, expected results",
        unit: MetricUnit::Usd,
        note: "`cost_usd_compaction` over the compactions of a conversation, those that failed among them; met up to $0.0015",
        find: |_, strategy, summary| cost_per_compaction(strategy, summary),
    },
    SourceTarget {
        id: "conversations_at_once",
        target: "100 conversations at once",
        source: "strategic plan, day 14",
        unit: MetricUnit::Count,
        note: "",
        find: |_, _, _| {
            let tested =
                "one of the project's tests runs a hundred conversations at once, under faults";
            verdict(None, |_| false, format!("no record shows it; {tested}"))
        },
    },
    SourceTarget {
        id: "rounds_without_drift",
        target: "20 rounds without drift",
        source: "progressive plan, its integration test",
        unit: MetricUnit::Share,
        note: "S(1) - S(20), S the share of facts never absent up to that round since their last original left; where no fact is \
               followed so far, what S has fallen by then, which is the least; missed without a number if nothing survives the \
               first round",
        find: |_, strategy, summary| drift(strategy, summary),
    },
    SourceTarget {
        id: "context_after_100_rounds",
        target: "a context of about 8,000 tokens after 100 compactions",
        source: "progressive plan, its claim for long tasks",
        unit: MetricUnit::Tokens,
        note: "the largest view after a 100th or later compaction; met up to 8,500. The source counts 1,000 tokens of system \
               prompt, 3,000 of summaries and 4,096 of recent messages",
        find: |_, strategy, _| {
            let late = strategy.records().flat_map(|record| {
                record
                    .compactions
                    .iter()
                    .filter(|row| is_applied(row))
                    .skip(99)
            });
            let late = late.map(|row| row.event.tokens_after);
            verdict(
                most(late),
                |most| most <= 8_500.0,
                "no conversation has 100 rounds",
            )
        },
    },
];

/// One target.
pub struct SourceTarget {
    /// Its id in `summary.json`.
    pub id: &'static str,
    /// The target in words.
    pub target: &'static str,
    /// The source that sets it, and where.
    pub source: &'static str,
    /// What its value counts.
    pub unit: MetricUnit,
    /// What a reader needs to know about it; may be empty.
    pub note: &'static str,
    find: fn(&ProtocolRun, &StrategyRecords, &StrategySummary) -> Found,
}

/// Every target with what each strategy under test shows.
pub(crate) fn all(run: &ProtocolRun, strategies: &[StrategySummary]) -> Vec<TargetRow> {
    ALL.iter()
        .map(|target| target.row(run, strategies))
        .collect()
}

impl SourceTarget {
    fn row(&self, run: &ProtocolRun, strategies: &[StrategySummary]) -> TargetRow {
        let pairs = run
            .strategies
            .iter()
            .zip(strategies)
            .filter(|(strategy, _)| strategy.family.is_tested());
        let found = pairs.map(|(strategy, summary)| {
            let found = (self.find)(run, strategy, summary);
            (
                strategy.name.to_owned(),
                Found {
                    value: found.value.map(crate::stats::nine_digits),
                    ..found
                },
            )
        });
        TargetRow {
            id: self.id.to_owned(),
            target: self.target.to_owned(),
            source: self.source.to_owned(),
            unit: self.unit.name().to_owned(),
            note: self.note.to_owned(),
            strategies: found.collect(),
        }
    }
}

/// The value and whether it meets the target, or why there is none.
fn verdict(value: Option<f64>, meets: impl Fn(f64) -> bool, reason: impl Into<String>) -> Found {
    Found {
        value,
        met: value.map(meets),
        reason: value.is_none().then(|| reason.into()),
    }
}

fn from_value(found: &MetricValue, meets: impl Fn(f64) -> bool) -> Found {
    verdict(
        found.value,
        meets,
        found.reason.as_deref().unwrap_or("not computed"),
    )
}

fn of_metric(summary: &StrategySummary, metric: &Metric, meets: impl Fn(f64) -> bool) -> Found {
    metric.get(summary).map_or_else(
        || verdict(None, |_| false, "not computed"),
        |found| from_value(found, meets),
    )
}

fn most(counts: impl Iterator<Item = u32>) -> Option<f64> {
    counts.max().map(f64::from)
}

fn added_latency(run: &ProtocolRun, strategy: &StrategyRecords, _: &StrategySummary) -> Found {
    let waits = waits(strategy);
    let reason = if waits.is_none() {
        NO_WAITS
    } else {
        "the agent took no turn"
    };
    let found = verdict(
        waits.and_then(|waits| mean(&waits)),
        |value| value < 500.0,
        reason,
    );
    let reason = match run.latency() {
        Latency::Measured => return found,
        Latency::Assumed => "the mock's latency is assumed, so there is no verdict",
        Latency::NoResult => {
            "the recording says that its latencies are not a result, so there is no verdict"
        }
    };
    if found.value.is_none() {
        found
    } else {
        Found {
            met: None,
            reason: Some(reason.to_owned()),
            ..found
        }
    }
}

fn compaction_reduction(strategy: &StrategyRecords) -> Found {
    let applied = strategy
        .rows()
        .filter(|row| is_applied(row) && row.event.tokens_before > 0);
    let share = |row: &CompactionRow| {
        1.0 - f64::from(row.event.tokens_after) / f64::from(row.event.tokens_before)
    };
    verdict(
        mean(&applied.map(share).collect::<Vec<_>>()),
        |share| share >= 0.8,
        "nothing was compacted",
    )
}

fn cost_per_compaction(strategy: &StrategyRecords, summary: &StrategySummary) -> Found {
    let of_unit = |records: &[&Record]| {
        mean(
            &records
                .iter()
                .map(|it| it.compactions.len() as f64)
                .collect::<Vec<_>>(),
        )
    };
    let compactions = strategy
        .units
        .iter()
        .filter_map(|unit| of_unit(&unit.records))
        .collect::<Vec<_>>();
    let Some(each) = mean(&compactions).filter(|each| *each > 0.0) else {
        return verdict(None, |_| false, "nothing was compacted");
    };
    let found = of_metric(summary, &COST_USD_COMPACTION, |cost| cost / each <= 0.0015);
    Found {
        value: found.value.map(|cost| cost / each),
        ..found
    }
}

fn answered_given_checkpointed(strategy: &StrategyRecords) -> Found {
    let reason = match extraction_counts(strategy) {
        None => "writes no checkpoint",
        Some(_) => "no question asks for what only a checkpoint holds",
    };
    let (right, asked) = of_carried(strategy);
    let share = extraction_counts(strategy).and_then(|_| ratio(right as f64, asked as f64));
    verdict(share, |share| share > 0.9, reason)
}

fn drift(strategy: &StrategyRecords, summary: &StrategySummary) -> Found {
    /// Rounds that the source asks for.
    const ROUNDS: u32 = 20;
    let most = summary.triggered.most_rounds;
    if most < ROUNDS {
        return verdict(
            None,
            |_| false,
            format!("no conversation has {ROUNDS} rounds, the most are {most}"),
        );
    }
    let missed = |value| Found {
        value,
        met: Some(false),
        reason: None,
    };
    if nothing_survives(strategy) {
        return missed(None);
    }
    let found = drift_at(strategy, ROUNDS as usize);
    match least_drift(strategy, ROUNDS as usize) {
        Some(least) if found.value.is_none() && least > 0.0 => missed(Some(least)),
        _ => from_value(&found, |drift| drift <= 0.0),
    }
}

/// Files of a conversation's folder in the folder store: commits up to those kept, index, archive,
/// `latest.json`.
fn files(record: &Record) -> u32 {
    /// The strategic plan: "keep only last 10 checkpoints".
    const KEPT: usize = 10;
    let commits =
        record.checkpoints.len() + record.compactions.iter().filter(|row| commits(row)).count();
    let has_checkpoint = record
        .checkpoints
        .iter()
        .any(|row| row.event.failed.is_none())
        || record.compactions.iter().any(|row| {
            is_applied(row)
                && row
                    .event
                    .extractions
                    .iter()
                    .any(|of| matches!(of.reading, LadderReading::Rung(_)))
        });
    let beside =
        usize::from(commits > 0) + usize::from(commits > KEPT) + usize::from(has_checkpoint);
    (commits.min(KEPT) + beside) as u32
}

/// Whether a decision wrote to the store: a view, a failed attempt, or a paid call.
fn commits(row: &CompactionRow) -> bool {
    match row.event.outcome {
        Outcome::Applied => true,
        Outcome::Failed(FailReason::StaysAtTrigger { .. } | FailReason::Store(_)) => false,
        Outcome::Failed(_) => true,
        Outcome::Skipped(_) => row.calls.iter().any(|call| call.usage != Usage::default()),
    }
}
